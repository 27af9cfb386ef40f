"""The places in memory that make the state of a learner, for copies of it."""

cdef enum:
    MAX_STATE_PARTS = 64


cdef struct Allocated:
    # Memory that a state owns besides its parts.
    char* at
    Py_ssize_t bytes


cdef struct StateParts:
    int count                              # beyond the limit if there were too many
    char *starts[64]
    Py_ssize_t[64] sizes
    Allocated* owned                       # in one of the parts; NULL for none


cdef inline void add_part(StateParts* parts, const void* start, Py_ssize_t size) noexcept nogil:
    """Add a part of so many bytes."""
    if parts.count < MAX_STATE_PARTS:
        parts.starts[parts.count], parts.sizes[parts.count] = <char*> start, size
    parts.count += 1


cdef inline void add_range(StateParts* parts, const void* start, const void* stop) noexcept nogil:
    """Add the bytes from one address up to another."""
    add_part(parts, start, <const char*> stop - <const char*> start)
