from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t


cdef extern from "names.h" nogil:
    enum: NOREGRET_UNKNOWN, NOREGRET_NO_MEMORY, NOREGRET_FULL

    ctypedef struct noregret_names:
        int bits
        int64_t count
        int64_t room
        uint64_t* hashes
        int64_t* ends
        uint64_t* owners
        uint8_t* taken
        int64_t shared
        char* bytes
        size_t used
        size_t size

    uint64_t noregret_hash(const char* name, size_t length)
    uint64_t noregret_name_hash(int bits, const char* name, size_t length)
    void noregret_free_names(noregret_names* names)
    int32_t noregret_find_name(noregret_names* names, const char* name, size_t length, uint64_t hash, int admit)
    int noregret_copy_names(noregret_names* to, const noregret_names* from_)
    void noregret_cut_names(noregret_names* names, int64_t size)


cdef class KnownNames:
    cdef noregret_names c_names
    cdef int64_t serial


cdef class Vocabulary:
    cdef noregret_names c_names
    cdef bint busy
    cdef int64_t serial
    cdef int64_t looked_up
    cdef readonly KnownNames known  # type: KnownNames | None
    cdef void renew(self)
    cdef int note(self, int64_t entries) except -1
    cdef int enter(self) except -1
    cdef int admit_utf8(self, const char* name, size_t length, bint admit) except? -1


cdef int refuse(int status) except -1
