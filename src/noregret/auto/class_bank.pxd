from noregret.auto.class_members cimport ClassMembers, ClassRound
from noregret.auto.mixer cimport Snapshots
from noregret.base.compiled.weigher cimport Weigher
from noregret.linear.engine.class_engine cimport ClassEngine
from noregret.linear.engine.engine cimport Row


cdef class ClassBank(ClassEngine):
    cdef readonly ClassMembers members
    cdef readonly Weigher tracker, final   # over the members; over these and the mixture of the tracker
    cdef readonly Snapshots snapshots
    cdef ClassRound now                    # the round that is learned,
    cdef double* held                      # and its numbers
    cdef bint learning
    cdef const double* then                # its members' predictions of earlier, as in its note; NULL if the class came in time
    cdef Py_ssize_t known                  # classes of these
    cdef double last_then                  # the latest class then,
    cdef Py_ssize_t came                   # and the one that came

    cdef void look(self, Row* row, double* out, Py_ssize_t count, double* note) noexcept nogil
    cdef void mix(self, const ClassRound* r, double* out) noexcept nogil
    cdef void write_note(self, const ClassRound* r, const double* scores, double* out) noexcept nogil
    cdef void serve_again(self, double* out, Py_ssize_t count) noexcept nogil
    cdef double weight_of(self, int k) noexcept nogil
    cdef int hold(self, Py_ssize_t stride) except -1
