"""Which feature is which: names or columns, and a named example as a sparse row."""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t

from noregret.linear.engine.engine cimport Row


# Outcomes and values up to here can be squared and added up in float64.
cdef double MAX_VALUE

cdef enum:  # Kind
    UNKNOWN
    BY_POSITION
    BY_NAME


ctypedef struct Slot:
    PyObject* key
    int32_t position        # of the key; UNPLACED where it had no number yet
    PyObject* values        # its entry in `categories`, or NULL


@cython.final
cdef class Features:
    cdef int kind
    cdef Py_ssize_t count
    cdef readonly list[str] names
    cdef dict index                 # name -> position
    cdef bint index_behind          # whether names joined that it does not hold yet
    cdef dict categories            # key -> {string value -> position}
    cdef double* values             # the row at hand
    cdef int32_t* indices
    cdef Py_ssize_t room, filled
    cdef Slot* layout               # the keys of recent examples, in their order: streams tend to repeat themselves
    cdef list unseen                # [(name, value)] of the row at hand
    cdef double unseen_sum, unseen_norm2
    cdef readonly bint gaps         # whether a value was missing
    # The keys whose values were dates or times; None for none.
    cdef readonly set times  # type: set[str] | None
    cdef double constant            # the value of one more feature of every example; 0 for none

    cdef int catch_up(self) except -1
    cdef int read(self, dict example, long long round) except -1
    cdef int reserve(self, Py_ssize_t size) except -1
    cdef int read_entry(self, PyObject* key, PyObject* item, long long round) except -1
    cdef int read_constant(self) except -1
    cdef void remember(self, PyObject* key, int32_t position, PyObject* values) noexcept
    cdef int read_text(self, PyObject* key, PyObject* item) except -1
    cdef int read_new_text(self, str key, str item) except -1
    cdef int read_other(self, object key, object item, long long round) except -1
    cdef int read_named(self, str key, double number, long long round) except -1
    cdef int read_gap(self, object key, double number, long long round) except -1
    cdef int read_time(self, str key, object item, long long round) except -1
    cdef double read_number(self, object key, object item, long long round) except? -1
    cdef void put(self, int32_t position, double number) noexcept
    cdef int admit(self) except -1
    cdef void forget_layout(self) noexcept
    cdef int join(self, list names) except -1
    cdef void grow(self, Py_ssize_t count) noexcept
    cdef int forget(self, Py_ssize_t count, int kind) except -1
    cdef int order(self, bint repeats, long long round) except -1
    cdef int refuse_repeats(self, long long round) except -1
    cdef void row(self, Row* row) noexcept
