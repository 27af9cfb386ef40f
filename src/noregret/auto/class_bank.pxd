from noregret.auto.class_members cimport ClassMembers, ClassRound
from noregret.auto.mixer cimport Snapshots
from noregret.base.compiled.weigher cimport Weigher
from noregret.linear.engine.class_engine cimport ClassEngine


cdef class ClassBank(ClassEngine):
    cdef readonly ClassMembers members
    cdef readonly Weigher tracker, final   # over the members; over these and the mixture of the tracker
    cdef readonly Snapshots snapshots
    cdef ClassRound now                    # the round that is learned,
    cdef double* held                      # and its numbers
    cdef bint learning

    cdef void mix(self, const ClassRound* r, double* out) noexcept nogil
    cdef double weight_of(self, int k) noexcept nogil
    cdef int hold(self, Py_ssize_t stride) except -1
