from noregret.linear.engine.engine cimport Engine, Row


cdef enum:
    MOST_VECTORS = 1024


cdef class Support(Engine):
    cdef int kernel, degree
    cdef double width, shift               # of rbf, and c of (x·s + c)^degree
    cdef readonly Py_ssize_t budget        # support vectors, at most,
    cdef readonly Py_ssize_t vectors       # and how many there are
    cdef double* values                    # ``budget`` numbers per feature: its value in each of them
    cdef double* coefficients              # times the factor
    cdef double[::1] squares               # |s|², which follow from the values

    cdef double kernel_of(self, double dot, double one, double other) noexcept nogil
    cdef double square_of(self, const Row* row) noexcept nogil
    cdef double own_kernel(self, double square) noexcept nogil
    cdef void kernels_at(self, const Row* row, double square, double* out) noexcept nogil
    cdef void kernels_of(self, Py_ssize_t j, double* out) noexcept nogil
    cdef void write(self, Py_ssize_t j, const Row* row, double square) noexcept nogil
