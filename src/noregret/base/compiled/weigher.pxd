from noregret.base.compiled.state_parts cimport StateParts


cdef extern from "weights.h" nogil:
    ctypedef struct noregret_survey:
        double dot
        double low
        double high
        double sane
    noregret_survey noregret_survey_of(const double* p, const double* x, Py_ssize_t n) noexcept
    noregret_survey noregret_scaled_survey(double* p, double scale, const double* x, Py_ssize_t n) noexcept
    double noregret_decayed(const double* v, double rate, const double* x, double low, double* out, Py_ssize_t n) noexcept
    double noregret_lost(const double* v, double rate, const double* x, double low, double* mean, Py_ssize_t n) noexcept
    double noregret_tracked(const double* v, double rate, const double* x, double low, double* out, double* mean, Py_ssize_t n) noexcept
    void noregret_shared(const double* p, double stays, double share, const double* prior, double* held, Py_ssize_t n) noexcept
    double noregret_lag(double* gap, const double* x, double low, double before, double most, Py_ssize_t n) noexcept
    double noregret_advance(double* gap, const double* x, double low, double before, double most, double rate, double* out, double* smallest, Py_ssize_t n) noexcept
    double noregret_leaning(const double* prior, const double* regret, double unit, const double* squares, double* out, Py_ssize_t n) noexcept
    double noregret_regretted(double* regret, double* squares, const double* prior, const double* x, double own, double unit, double factor, Py_ssize_t n) noexcept
    double noregret_total(const double* x, Py_ssize_t n) noexcept
    double noregret_dot(const double* p, const double* x, Py_ssize_t n) noexcept
    void noregret_extent(const double* x, double* low, double* high, Py_ssize_t n) noexcept
    void noregret_squared(const double* x, double y, double scale, double* out, Py_ssize_t n) noexcept
    void noregret_multiples(const double* x, double scale, double* out, Py_ssize_t n) noexcept
    void noregret_fetch(const double* x, Py_ssize_t n) noexcept
    void noregret_excess(double* total, const double* x, double paid, Py_ssize_t n) noexcept
    void noregret_multiply(double* x, double a, Py_ssize_t n) noexcept
    double noregret_exp(double x) noexcept


cdef class Weigher:
    cdef readonly Py_ssize_t n
    cdef public object given_prior
    cdef long long rounds
    cdef dict arrays                    # name -> NumPy array; the pointers below point into them
    cdef double* prior                  # of each expert, adding up to 1
    cdef double* p                      # the weights of the next round, if they are fresh

    cdef bint fresh

    cdef void weigh(self, double* p, const unsigned char* awake) noexcept nogil
    cdef double weigh_all(self, double* p) noexcept nogil
    cdef bint knows_excess(self) noexcept nogil
    cdef void update(self, double own, const double* losses, const unsigned char* awake, double low, double high) noexcept nogil
    cdef void relocate(self)
    cdef double* look_up(self, str name)
    cdef double normalise(self, double* p, const unsigned char* awake) noexcept nogil
    cdef void next_weights(self) noexcept nogil
    cdef void list_state(self, StateParts* parts)

cdef class Holding(Weigher):
    cdef double* held


cdef class Sharing(Holding):
    cdef public double rate, share
    cdef public bint variable

    cdef void decay_from_the_best(self, const double* losses) noexcept nogil
