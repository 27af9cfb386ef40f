from libc.stdint cimport int32_t

from noregret.base.compiled.losses cimport Loss
from noregret.base.compiled.state_parts cimport StateParts


cdef extern from "row_loops.h" nogil:
    ctypedef struct noregret_scan:
        double dot
        double norm2
        double low
        double high
    noregret_scan noregret_scan_dense(const double* v, const double* x, Py_ssize_t n) noexcept
    noregret_scan noregret_scan_sparse(const double* v, const double* x, const int32_t* at, Py_ssize_t n) noexcept
    bint noregret_ordered(const int32_t* at, Py_ssize_t n, Py_ssize_t size) noexcept
    void noregret_add_dense(double* v, double a, const double* x, Py_ssize_t n) noexcept
    void noregret_add_sparse(double* v, double a, const double* x, const int32_t* at, Py_ssize_t n) noexcept


cdef enum:  # Status
    FINE = 0
    BAD_VALUE        # NaN, infinite, or too large to be squared
    BAD_OUTCOME
    BAD_LABEL
    MIXED_LABELS     # both 0 and -1 were seen
    DIVERGED
    LOSS_FAILED
    NOT_BOOLEAN      # the rule takes only 0 and 1
    BAD_INDICES      # of a sparse row: not increasing, or outside
    OVERFLOWED       # the prediction is too large
    NO_MEMORY        # for the record of the game


cdef enum:  # Labels
    # Which labels were seen, as a set of bits.
    SEEN_ZERO = 1
    SEEN_MINUS = 2
    SEEN_BOOL = 4


cdef enum:  # Measure
    NORM             # |x|_2
    PEAK             # |x|_inf
    SPREAD           # max x - min x, absent features counting as 0; 2 U |x|_inf with signed weights
    OUTCOME          # |y|
    GRADIENT         # |gradient|_2
    GRADIENT_PEAK    # |gradient|_inf
    MEASURES


cdef struct Row:
    const double* values
    const int32_t* indices      # increasing; NULL where values are columns 0, 1, ...
    Py_ssize_t count
    Py_ssize_t unseen           # features never learned from (in predictions only),
    double unseen_sum           # the sum of their values,
    double unseen_norm2         # and of their squares
    double dot                  # filled in by score(): stored . values,
    double norm2                # |x|^2,
    double peak                 # |x|_inf,
    double spread               # and max x - min x, absent features counting as 0


cdef struct Rate:
    int schedule
    double value
    double horizon


cdef class Engine:
    cdef readonly Loss loss
    cdef readonly Py_ssize_t size, dimension
    cdef Py_ssize_t capacity
    cdef object arrays                     # name -> NumPy array; the pointers below look into them
    cdef double* stored
    cdef double factor
    cdef double offset                     # added to every score
    cdef double initial                    # the stored number of a feature not seen yet
    cdef readonly bint mean_kept           # whether predictions use the mean of the weights so far
    cdef double* mean_sum                  # sum over rounds of factor * stored, up to
    cdef double* mean_clock                # this reading of the clock
    cdef double clock                      # sum of the factor over the rounds
    cdef long long clock_rounds            # since the clock was last restarted
    cdef double offset_sum
    cdef long long rounds
    cdef double loss_sum, loss_rest        # compensated: loss_sum + loss_rest
    cdef long long mistakes
    cdef double last_score, last_loss, last_gradient   # of the latest round
    cdef double importance                 # of the round at hand: how many copies it stands for
    cdef readonly bint weighs_late         # whether late outcomes are learned with a note of their prediction
    cdef double[6] most
    cdef double[6] limit
    cdef long long[6] first_over

    cdef int list_state(self, StateParts* parts) except -1
    cdef void restored(self) noexcept nogil
    cdef double score(self, Row* row) noexcept nogil
    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil
    cdef void relocate(self)
    cdef void begin(self, Py_ssize_t start) noexcept nogil
    cdef void flush(self) noexcept nogil
    cdef double mean_score(self, Row* row) noexcept nogil
    cdef double outside_mean(self) noexcept nogil
    cdef int play(self, Row* row, double y) noexcept nogil
    cdef Py_ssize_t note_size(self) noexcept nogil
    cdef bint is_note(self, const double* note, Py_ssize_t size) noexcept nogil
    cdef double score_noting(self, Row* row, double* note) noexcept nogil
    cdef int play_late(self, Row* row, double served, const double* note, Py_ssize_t size, double y) noexcept nogil
    cdef void book(self, const Row* row, double score, double value, double slope, double steepest, double outcome, bint mistaken) noexcept nogil
    cdef int resize(self, Py_ssize_t size) except -1
    cdef inline void touch(self, Py_ssize_t i) noexcept nogil:
        """Credit feature i to the mean before its stored number changes."""
        self.mean_sum[i] += (self.clock - self.mean_clock[i]) * self.stored[i]
        self.mean_clock[i] = self.clock
    cdef void touch_row(self, const Row* row) noexcept nogil


cdef inline Py_ssize_t position(const Row* row, Py_ssize_t k) noexcept nogil:
    return row.indices[k] if row.indices != NULL else k

cdef double rate_at(const Rate* rate, long long t) noexcept nogil
cdef Rate as_rate(object rate, object schedule, object horizon)
