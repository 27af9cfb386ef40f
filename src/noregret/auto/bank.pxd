from libc.stdint cimport int32_t

from noregret.auto.layout cimport Round
from noregret.auto.members cimport Members
from noregret.auto.mixer cimport Mixer
from noregret.base.compiled.state_parts cimport StateParts
from noregret.linear.engine.engine cimport Engine, Row


cdef class Bank(Engine):
    cdef readonly Members members
    cdef readonly Mixer mixer
    cdef readonly int delay, edition
    cdef int known_numbers                 # what members know of earlier outcomes, in notes
    cdef int weighed                       # members and mixtures
    cdef double opening                    # loss of the first round
    cdef bint learning                     # whether the current round will be learned
    cdef Round* now                        # the round being played
    cdef Round* judged                     # predictions by which members are weighted; NULL for the current ones
    cdef bint late                         # whether that round was predicted before others were learned,
    cdef double served                     # with this score

    cdef int list_state(self, StateParts* parts) except -1
    cdef void restored(self) noexcept nogil
    cdef double look(self, const Row* row, Round* r, int offset) noexcept nogil


cdef struct Held:
    # A round that the bank behind has still to learn.
    double* values
    int32_t* indices            # meaningful if sparse
    Py_ssize_t count
    Py_ssize_t room             # entries that fit
    Py_ssize_t size             # features known in that round
    bint sparse
    double[48] says             # the members' predictions as served
    double outcome
    double importance


cdef class DelayedBank(Bank):
    cdef readonly Bank behind               # the same bank, ``delay`` rounds behind
    cdef Held* held                         # ring buffer of the rounds that it has still to learn
    cdef long long first, waiting           # start and length of the ring buffer
    cdef double[::1] served                 # cumulative losses of the members as served
    cdef Round then                         # predictions served in the current round,
    cdef Round recalled                     # and in the one that the bank behind learns

    cdef double serve(self, const Row* row) noexcept nogil
    cdef bint make_room(self, const Row* row) noexcept nogil
    cdef bint grow_behind(self, Py_ssize_t size) noexcept nogil
    cdef void hold(self, const Row* row, double y) noexcept nogil
    cdef void catch_up(self) noexcept nogil
