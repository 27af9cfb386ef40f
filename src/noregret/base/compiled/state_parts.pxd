"""The places in memory that make the state of a learner, for copies of it."""

cdef enum:
    MAX_STATE_PARTS = 64
    MAX_OWNERS = 3


cdef struct Allocated:
    # Memory that a state owns besides its parts.
    char* at
    Py_ssize_t bytes


cdef struct Memory:
    # How to copy and to free what a state owns, if that is more than bytes in a row; NULL if there is no memory.
    char* (*copy)(const char* at) noexcept nogil
    void (*drop)(char* at) noexcept nogil
    Py_ssize_t (*pack)(const char* at, char* out) noexcept nogil  # returns the bytes; only counts them if out is NULL
    char* (*unpack)(const char* packed) noexcept nogil


cdef struct StateParts:
    int count                              # beyond the limit if there were too many
    char *starts[64]
    Py_ssize_t[64] sizes
    int owners
    Allocated *owned[3]                    # each in one of the parts
    const Memory *memory[3]                # NULL for plain bytes


cdef inline void add_part(StateParts* parts, const void* start, Py_ssize_t size) noexcept nogil:
    """Add a part of so many bytes."""
    if parts.count < MAX_STATE_PARTS:
        parts.starts[parts.count], parts.sizes[parts.count] = <char*> start, size
    parts.count += 1


cdef inline void add_range(StateParts* parts, const void* start, const void* stop) noexcept nogil:
    """Add the bytes from one address up to another."""
    add_part(parts, start, <const char*> stop - <const char*> start)


cdef inline void add_owned(StateParts* parts, Allocated* owned, const Memory* memory) noexcept nogil:
    """Add memory that a state owns; ``owned`` lies in one of the parts."""
    parts.owned[parts.owners], parts.memory[parts.owners] = owned, memory
    parts.owners += 1
