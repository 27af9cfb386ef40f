from noregret.linear.engine.engine cimport Engine, Row


cdef class SecondOrder(Engine):
    cdef bint full
    cdef double penalty                 # λ: the first A is λ I
    cdef double* spreads                # D of P = A⁻¹ = U D Uᵀ
    cdef double* factors                # U, packed by columns; NULL in the diagonal form
    cdef object scratch                 # for updates only: predictions may be made meanwhile
    cdef double* through                # Uᵀ x of the row at hand
    cdef double* gain                   # P x
    cdef public double reach            # no |U_ij| is larger

    cdef int build(self, object form, object penalty) except -1
    cdef double quadratic(self, const Row* row) noexcept nogil
    cdef double weigh(self, const Row* row) noexcept nogil
    cdef double grown(self, double curvature, double amount) noexcept nogil
    cdef int learn(self, const Row* row, double curvature, double amount) noexcept nogil
    cdef bint fits_diagonal(self, const Row* row, double curvature, double before, double after) noexcept nogil
    cdef int learn_diagonal(self, const Row* row, double curvature, double before, double after) noexcept nogil


cdef class Forward(SecondOrder):
    cdef double forgetting
    cdef public double log_det          # ln det(A/λ), rounded up

    cdef void forget(self) noexcept nogil
