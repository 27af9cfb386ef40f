from noregret.auto.boosted cimport Boosted
from noregret.auto.first_order cimport noregret_feature
from noregret.auto.forward cimport Forward
from noregret.auto.layout cimport Layout, Round
from noregret.auto.memory_filters cimport Filters
from noregret.auto.trees cimport Trees
from noregret.base.compiled.losses cimport Loss
from noregret.base.compiled.state_parts cimport StateParts
from noregret.linear.engine.engine cimport Row


cdef class Members:
    cdef readonly Filters plain, lagged, combining, following, seeing
    cdef readonly Trees trees              # None without a forest
    cdef readonly Boosted boosted          # None without boosted trees
    cdef readonly Forward forward          # None without a promise
    cdef readonly bint recent
    cdef readonly int delay, edition
    cdef long long settled                 # rounds before which no outcome counts as outlying
    cdef Loss loss
    cdef Layout at
    cdef Py_ssize_t size                   # features
    cdef double tilt                       # the quantile
    # The numbers of the state, in a row.
    cdef long long rounds                  # learned so far
    cdef long long slot                    # where the next entry of the ring buffers goes
    # Of the outcomes: the first one, and relative to it their range, mean and mean absolute deviation.
    cdef double origin, low, high, mean, deviation
    cdef double error                      # usual absolute error of the base
    cdef double row_sizes                  # sum of the numbers of features of all rows
    cdef double streak                     # consecutive outlying outcomes
    cdef double[4] averages                # moving averages of outcomes, fast and slow; the same after the delay
    cdef double plain_mean                 # of the outcomes as they were, never clipped
    cdef double[8] highest                 # outcomes, in rising order,
    cdef double[8] lowest                  # and in falling order
    cdef double floor, ceiling             # the range of plausible predictions, within that of the outcomes
    cdef double flukes                     # outlying outcomes of late
    cdef double[8] apart                   # distances of outcomes to those of a period before, summed, for each candidate,
    cdef double[8] halves                  # and to those of half a period before
    cdef double period, found_at           # what was found, and the rounds learned then; 0 for nothing
    cdef double before, before_at          # the same of what was found before that
    cdef object past_array
    cdef float* past                       # ring buffer of outcomes as they were; NULL if there is none
    cdef int past_length
    cdef dict arrays                       # name -> NumPy array; the pointers below point into them
    cdef noregret_feature* features        # the constant one first
    cdef double* outcomes                  # ring buffers of the latest outcomes,
    cdef double* foreseen                  # and of the base's predictions of them;
    cdef double* unclipped                 # and of the outcomes as they were: not in edition 1
    cdef int ring                          # their length
    cdef double* steps                     # scratch: four per value of a row
    cdef Py_ssize_t steps_room

    cdef void relocate(self)
    cdef void list_state(self, StateParts* parts)
    cdef int resize(self, Py_ssize_t size) except -1
    cdef bint is_full(self) noexcept nogil
    cdef bint is_lagged(self) noexcept nogil
    cdef void predict_base(self, const Row* row, Round* r) noexcept nogil
    cdef void look_back(self, Round* r, int offset) noexcept nogil
    cdef void predict_above(self, Round* r) noexcept nogil
    cdef void say_plain(self, const Row* row, Round* r) noexcept nogil
    cdef void say_first(self, const Row* row, Round* r) noexcept nogil
    cdef void say_trees(self, Round* r) noexcept nogil
    cdef void say_boosted(self, Round* r) noexcept nogil
    cdef int unseasonal(self) noexcept nogil
    cdef void say_lagged(self, Round* r) noexcept nogil
    cdef void say_forward(self, Round* r) noexcept nogil
    cdef void say_several(self, Round* r) noexcept nogil
    cdef void say_filter(self, Filters filters, const double* x, double* scores, double* z, double* says, bint wide) noexcept nogil
    cdef double held(self, double score) noexcept nogil
    cdef void hold(self, const double* scores, bint wide, double* says) noexcept nogil
    cdef double moderated(self, double score, double z) noexcept nogil
    cdef double recall_past(self, long long back) noexcept nogil
    cdef double period_at(self, double rounds) noexcept nogil
    cdef void use_period(self) noexcept nogil
    cdef void look_for_period(self, double y) noexcept nogil
    cdef void choose_period(self) noexcept nogil
    cdef double recall(self, const double* ring, int back) noexcept nogil
    cdef bint countable(self, double y, double importance) noexcept nogil
    cdef bint make_room(self, Py_ssize_t count) noexcept nogil
    cdef bint room_for_steps(self, Py_ssize_t count) noexcept nogil
    cdef double outlying_error(self) noexcept nogil
    cdef double nearer(self, const Round* r, double y) noexcept nogil
    cdef bint lasts(self, const Round* r, double y) noexcept nogil
    cdef double widest_error(self) noexcept nogil
    cdef void learn(self, const Row* row, Round* r, double y, double near, double importance) noexcept nogil
    cdef void teach(self, Filters filters, const double* x, const double* scores, const double* z, int code, double y, double importance) noexcept nogil
    cdef void correct(self, Filters filters, int row, const double* scores, const double* z, int code, double y, double importance) noexcept nogil
    cdef void teach_first(self, const Row* row, Round* r, double y, double near, double importance) noexcept nogil
    cdef double slope_after(self, double score, double slope, double move, double y, double importance) noexcept nogil
    cdef void teach_boosted(self, Round* r, double y) noexcept nogil
    cdef void errors_of(self, int code, const double* scores, double y, bint clips, double* errors) noexcept nogil
    cdef void restrict(self, double y) noexcept nogil
    cdef void remember(self, const Round* r, double y, double far) noexcept nogil
