from libc.stdint cimport uint64_t

cimport numpy as cnp

from noregret.base.compiled.losses cimport Loss
from noregret.base.compiled.weigher cimport Weigher


cdef enum:  # Status
    FINE
    BAD_ADVICE
    BAD_OUTCOME
    BAD_LOSS
    ALL_ASLEEP
    NO_SLEEP
    NOT_BOOLEAN
    NOT_PROBABILITY
    ZERO_OUTCOME
    HOPELESS
    OVERFLOWED
    LOSS_FAILED

cdef class ExpertRound:
    cdef readonly Weigher weigher
    cdef readonly Loss cost
    cdef readonly bint linearised
    cdef readonly double floor, ceiling      # of forecasts and outcomes, where a range is assumed
    cdef readonly double allowed             # difference between two losses of a round, likewise
    cdef readonly bint may_sleep, votes
    cdef int manner
    cdef bint built                          # whether __init__ has run
    cdef Py_ssize_t seats                    # experts that there is room for
    cdef uint64_t seed
    cdef public list[str] experts            # their names; empty where they are numbered
    # The names of columns that come before the experts.
    cdef public tuple before  # type: tuple[str, ...]
    cdef bint advised                        # whether rounds come with advice; else with losses
    cdef double total, rest                  # of the losses paid: total + rest
    cdef public double drawn_loss
    cdef public double lowest, highest       # of forecasts and outcomes
    cdef public double widest                # difference between two losses of a round
    cdef public long long first_outside, first_wide, naps, first_nap
    cdef public double worst                 # loss of a round
    cdef object held                         # arrays that live as long as their pointers
    cdef double* excess                      # what each lost more than the mixture,
    cdef bint by_gap                         # unless the weigher knows that
    cdef double* asleep_rounds
    cdef double* paid                        # scratch: what each paid in the round
    cdef double* counted                     # scratch: what is counted against each
    cdef double* q                           # scratch: the weights among those awake
    cdef unsigned char* awake
    cdef Py_ssize_t culprit
    cdef int sleepers                        # in the round at hand
    cdef unsigned long player                # the thread that plays a block, or 0
    cdef long since                          # the process, by its number of forks, in which that began
    cdef cnp.ndarray row                     # the latest, as long as it is looked at

    cdef int wait(self) except -1
    cdef int settle(self) except -1
    cdef int play(self, const double* x, double y, double* prediction, double* used) noexcept nogil
    cdef int play_losses(self, const double* x, double* prediction, double* used) noexcept nogil
    cdef void settle_round(
        self, double own, const double* losses, int asleep, double* used, const double* q, double low, double high
    ) noexcept nogil
    cdef void measure(self, double low, double high) noexcept nogil
    cdef void pay(self, double own) noexcept nogil
    cdef int refuse(self, int status, double value) except -1
    cdef int keep_kind(self, bint losses) except -1
    cdef int run(self, const double* x, double y, bint losses, double* prediction, double* used) except -1
    cdef int come_along(self) except -1
    cdef int hold_row(self, object row) except -1
    cdef double forecast(self) except? -1


cdef class RoundCalls:
    cdef readonly ExpertRound _round

    cdef const double* row_of(self, object x) except NULL
