cdef class Store:
    cdef dict arrays
    cdef float* room(self, str name, ptrdiff_t count) except NULL
