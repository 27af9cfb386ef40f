from libc.stdint cimport int32_t, uint64_t

from noregret.linear.engine.engine cimport Engine, Row


cdef extern from "forest.h" nogil:
    int FOREST_RATES, FOREST_FIELDS, FOREST_DENSE, FOREST_SLOTS, COLUMN_FIELDS, PARENT, LEFT, RIGHT, FEATURE, TIME, STOP, GO
    int BEST_LOSS, BEST_PRICE, BEST_LEAVES, BEST_EXCESS, BEST_LEAST, BEST_FIELDS
    ctypedef struct noregret_tree:
        double* node
        Py_ssize_t count, room
        uint64_t random
        double since
    ctypedef struct noregret_forest:
        noregret_tree* tree
        int edition, trees, old, classes, class_room
        Py_ssize_t budget, features, width, columns, stride
        int wide
        long long rounds
        double low, high, near, far, scale, growth
        double* column
        double lost
        long long generation, born
        double* paid
        double* prior
        double* before
        double most, best, shares, measured
        double* row
        double* rates
        int32_t* nonzero
        int32_t* seen
        Py_ssize_t known
        Py_ssize_t present
        double* said
        double outcome_mean, outcome_spread
    int noregret_forest_begin(noregret_forest* f, int trees, Py_ssize_t budget, int classes, uint64_t seed, int edition)
    void noregret_forest_end(noregret_forest* f)
    int noregret_forest_widen(noregret_forest* f, Py_ssize_t features, int classes)
    int noregret_forest_room(noregret_tree* t, Py_ssize_t room, Py_ssize_t stride)
    void noregret_forest_admit(noregret_forest* f)
    int noregret_forest_members(const noregret_forest* f)
    Py_ssize_t noregret_forest_says(const noregret_forest* f)
    void noregret_forest_predict(const noregret_forest* f, const double* row, double* said, double* out)
    ctypedef struct noregret_row:
        const double* values
        const int32_t* at
        Py_ssize_t count
    void noregret_forest_predict_row(const noregret_forest* f, const noregret_row* row, double* said, double* out)
    int noregret_forest_reserve(noregret_forest* f, int* foreseen)
    noregret_forest* noregret_forest_new(int trees, Py_ssize_t budget, int classes, uint64_t seed)
    void noregret_forest_delete(noregret_forest* f)
    Py_ssize_t noregret_forest_bytes(const noregret_forest* f)
    Py_ssize_t noregret_forest_pack(const noregret_forest* f, char* out)
    noregret_forest* noregret_forest_unpack(const char* at)
    int noregret_wide_begin(noregret_forest* f)
    int noregret_forest_learn(noregret_forest* f, double y, int foreseen)
    void noregret_tree_learn(noregret_forest* f, noregret_tree* t, const double* row, double y)
    double noregret_forest_unit(const noregret_forest* f)
    void noregret_tree_best(const noregret_forest* f, noregret_tree* t, double unit, double* out)


# The trees of a forest, for engines that have forests as members. Rounds have no Python objects, and no allocation
# but for trees that grow, up to the budget of nodes. A round is
#
#     grove.foresee(&row, out)      # the prediction; what each tree predicts is kept for the mixture
#     grove.learn(&row, y)          # the outcome; without foresee() before, the row is predicted first
#
# `out` has room for one number, or for a probability per class (2 for labels). Outcomes are numbers, or classes 0, 1, ….
# A row is dense or sparse, with indices that increase; those beyond forest.features are not used. resize() says how many
# features there are, before the first row that has them. With more than FOREST_DENSE of them, rounds cost what is not 0. predict() changes nothing, and may be called in between.
# get_state() and take() have the state as arrays; as trees grow, it is not a fixed list of StateParts.
cdef class Grove:
    cdef noregret_forest forest
    cdef readonly object params
    cdef bint foreseen  # whether the next row to learn was predicted by foresee()

    cdef int resize(self, Py_ssize_t size) except -1
    cdef Py_ssize_t split(self, Py_ssize_t size) noexcept nogil
    cdef void take_row(self, const Row* row) noexcept nogil
    cdef void foresee(self, const Row* row, double* out) noexcept nogil
    cdef bint predict(self, const Row* row, double* out) noexcept nogil
    cdef int learn(self, const Row* row, double y) noexcept nogil


cdef class Forest(Engine):
    cdef readonly Grove grove
    cdef bint learning  # whether the row at hand will be learned
    cdef double origin  # the first number: the trees learn what the others are above it
