"""Updates of the members of a bank, and of their weights."""

from noregret.linear.engine.engine cimport Row
from noregret.auto.memory_filters cimport Filters
from noregret.auto.predicting cimport PredictingBank, Round
from noregret.base.compiled.weigher cimport Weigher


cdef class LearningBank(PredictingBank):
    cdef double error                      # usual absolute error of the base
    cdef double sizes                      # sum of the numbers of features of all rows
    cdef double streak                     # consecutive outlying outcomes
    cdef double opening                    # loss of the first round
    cdef double widest                     # largest range of the members' losses in a round
    cdef Round* judged                     # predictions by which members are weighted; NULL for the current ones
    cdef double* steps                     # scratch: four per value of a row
    cdef Py_ssize_t steps_room

    cdef double nearer(self, const Round* r, double y) noexcept nogil
    cdef void weigh_members(self, Round* r, double y, double near) noexcept nogil
    cdef double settle(self, Weigher weigher, const double* losses, double own, int n) noexcept nogil
    cdef bint countable(self, double y) noexcept nogil
    cdef double worst(self, double y) noexcept nogil
    cdef void teach_all(self, const Row* row, Round* r, double y) noexcept nogil
    cdef double loss_of(self, const Round* r, int k, double y) noexcept nogil
    cdef void teach(self, Filters filters, const double* x, const double* scores, const double* z, int code, double y) noexcept nogil
    cdef void correct(self, Filters filters, int row, const double* scores, int code) noexcept nogil
    cdef void teach_first(self, const Row* row, Round* r, double y) noexcept nogil
    cdef double slope_after(self, double score, double slope, double move, double y) noexcept nogil
    cdef int room_for_steps(self, Py_ssize_t count) noexcept nogil
    cdef double error_of(self, int code, double score, double y) noexcept nogil
    cdef void remember(self, const Round* r, double y) noexcept nogil
    cdef void take_snapshot(self) noexcept nogil
    cdef double weight_of(self, int k) noexcept nogil
