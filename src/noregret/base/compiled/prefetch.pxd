"""Fetching memory into the cache before it is needed."""

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define noregret_prefetch(p) __builtin_prefetch(p)
    #else
    #define noregret_prefetch(p) ((void)(p))
    #endif
    """
    void noregret_prefetch(const void*) noexcept nogil
