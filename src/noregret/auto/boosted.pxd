from libc.stdint cimport int16_t, int64_t, uint8_t

from noregret.base.compiled.state_parts cimport Allocated, StateParts

cdef extern from "boosting.h" nogil:
    enum:
        NOREGRET_BOOST_TREES
        NOREGRET_BOOST_FEWEST_BINS
        NOREGRET_BOOST_COUNTS
        NOREGRET_BOOST_ROWS

    ctypedef struct noregret_boost_node:
        double value
        float threshold
        int16_t feature, left

    ctypedef struct noregret_boost:
        int64_t features, room, rows, next, rounds, fits, bin_at, labels
        double debt, unit

    ctypedef struct noregret_boost_arrays:
        noregret_boost_node* nodes
        int64_t per_tree, per_input
        double* origin
        double* scale
        double* outcomes
        double* fitted
        float* x
        float* edges
        uint8_t* edge_count

    int64_t noregret_boost_nodes(int64_t rows)
    int64_t noregret_boost_bins(int64_t room)
    int64_t noregret_boost_room(int64_t rows)
    noregret_boost_arrays noregret_boost_at(const noregret_boost* b)
    Py_ssize_t noregret_boost_bytes(int64_t features, int64_t room)
    noregret_boost* noregret_boost_sized(const noregret_boost* source, int64_t features, int64_t room)
    double noregret_boost_predict(const noregret_boost* b, const double* x, float* own, uint8_t* leaf)
    bint noregret_boost_reserve(noregret_boost** b)
    bint noregret_boost_due(const noregret_boost* b)
    Py_ssize_t noregret_boost_scratch()
    void noregret_boost_learn(noregret_boost* b, const double* x, float* own, const uint8_t* leaf, double y, void* scratch)
    void noregret_boost_restore(noregret_boost* b)


cdef class Boosted:
    cdef readonly bint labels
    cdef void* scratch                     # while a fit is due
    # Of the state, in a row.
    cdef Allocated owned                   # the block; NULL before it begins and with too many features

    cdef noregret_boost* block(self) noexcept nogil
    cdef bint knows(self, Py_ssize_t size) noexcept nogil
    cdef bint speaks(self, Py_ssize_t size) noexcept nogil
    cdef double say(self, const double* x, float* own, uint8_t* leaf) noexcept nogil
    cdef bint make_room(self, Py_ssize_t size, double rounds, double extent) noexcept nogil
    cdef void learn(self, const double* x, Py_ssize_t size, float* own, uint8_t* leaf, double y) noexcept nogil
    cdef int resize(self, Py_ssize_t size) except -1
    cdef void use(self, noregret_boost* block) noexcept nogil
    cdef void list_state(self, StateParts* parts)
    cdef noregret_boost* made(self, arrays, numbers) except NULL
