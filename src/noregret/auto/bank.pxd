from libc.stdint cimport int32_t

from noregret.auto.learning cimport LearningBank
from noregret.auto.predicting cimport Round
from noregret.linear.engine.engine cimport Row


cdef class Bank(LearningBank):
    pass

cdef struct Held:
    # A round whose outcome is still out: the row, and what will be learned from it.
    double* values
    int32_t* indices            # meaningful if sparse
    Py_ssize_t count
    Py_ssize_t room             # entries that fit
    Py_ssize_t size             # features known in that round
    bint sparse
    double[48] says             # what everyone was served as saying
    double outcome
    double importance


cdef class DelayedBank(Bank):
    cdef readonly Bank behind               # the same bank, as many rounds behind as outcomes are out
    cdef Held* held                         # a ring of the rounds that it has still to learn from
    cdef long long first, waiting           # where the ring begins, and how many are in it
    cdef double* served                     # what each member has lost as it was served
    cdef Round then                         # what was served in the round at hand,
    cdef Round recalled                     # and in the one that the bank behind learns from

    cdef double serve(self, const Row* row) noexcept nogil
    cdef bint make_room(self, const Row* row) noexcept nogil
    cdef bint grow_behind(self, Py_ssize_t size) noexcept nogil
    cdef void hold(self, const Row* row, double y) noexcept nogil
    cdef void catch_up(self) noexcept nogil
