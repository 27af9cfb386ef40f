"""The record of a game."""

from noregret.linear.engine.engine cimport Engine, Row


cdef class Recorder:
    cdef Engine engine
    cdef object sink                # called with every page
    cdef object page                # the array being written to,
    cdef list spare                 # others that may be written to,
    cdef list outbox                # (words, rows) of pages that are not handed over yet,
    cdef readonly object failure    # what went wrong where nothing could be raised
    cdef double* words              # its numbers,
    cdef Py_ssize_t used, room      # how many are written, and how many there are
    cdef Py_ssize_t rows            # rows on the page
    cdef Py_ssize_t weight          # numbers and rows since the page began,
    cdef Py_ssize_t enough          # and how many are enough to hand it over
    cdef readonly long long mark    # or the round in which it is
    cdef readonly double gradient_squares
    cdef double gradient_rest
    cdef readonly double largest_loss
    cdef public Py_ssize_t expected         # features, or 0 for: as many as the first row has
    cdef long long late                     # the round in which the first one too many joined
    cdef public long long weighted          # the first round that stands for more or less than itself
    cdef int watches
    cdef int[16] measure
    cdef double[16] limit
    cdef long long[16] first_over

    cdef int reserve(self, const Row* row) noexcept nogil
    cdef int extend(self, Py_ssize_t needed) noexcept with gil
    cdef bint note(self) noexcept nogil
    cdef bint write(self, const Row* row, double y) noexcept nogil
    cdef void next_mark(self) noexcept
    cdef double reading(self, int measure) noexcept nogil
    cdef void make_room(self, Py_ssize_t count) except *
    cdef int turn_page(self) except -1
    cpdef hand_over(self)
    cpdef deliver(self)
