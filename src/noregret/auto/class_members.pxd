from noregret.auto.class_trees cimport ClassTrees
from noregret.auto.memory_filters cimport Filters
from noregret.auto.members cimport noregret_feature
from noregret.linear.engine.engine cimport Row


cdef enum:  # The order of the members
    SECOND = 0                 # four filters over the row,
    ADAGRAD = 4                # four of AdaGrad,
    DIAGONAL = 8               # and four diagonal filters
    FREQUENCY = 12             # frequencies of the classes,
    EVEN = 13                  # and even odds
    COMBINED = 14              # two combinations of others
    LATEST = 16                # frequencies in the latest rounds,
    FOLLOWING = 17             # and after the latest class
    TOGETHER = 18              # two combinations of all
    ALONE = 16                 # members without the latest classes,
    MEMBERS = 20               # and with them; the forest comes after these
    MAX_MEMBERS = 21


cdef struct ClassRound:
    # The predictions of all members in one round.
    Py_ssize_t count           # classes
    double* x                  # 1, then the features
    double* second             # scores of the filters, four per class,
    double* first              # and of AdaGrad and the diagonal filters, eight per class
    double* chance             # probabilities of the members, ``count`` of each
    double* logs               # and logarithms of those that are combined
    double[4] second_z         # variances of the scores
    double[4] first_z
    Py_ssize_t present         # nonzero features
    bint full, grown           # whether the filters and the forest take part
    double last                # the latest class, or −1
    const double* then         # probabilities of the members when the row was predicted, or NULL,
    Py_ssize_t known           # of the classes known then


cdef class ClassMembers:
    cdef readonly Filters filters
    cdef readonly ClassTrees trees         # or None
    cdef readonly bint recent
    cdef readonly int members
    cdef int forest                        # its place among them, or −1
    cdef int combinations, inputs          # their number, and the inputs of those that have most,
    cdef int few                           # and of the first two
    cdef int[12] combined                  # which members those are
    cdef int combination                   # numbers of a combination: weights and curvatures
    cdef Py_ssize_t size, stride           # features; classes that there is room for
    cdef double row_sizes                  # sum of the numbers of features of all rows
    cdef double counted                    # sum of the counts of the classes
    cdef double last                       # the latest class, or −1
    cdef dict arrays                       # name -> NumPy array; the pointers below point into them
    cdef noregret_feature* features        # the constant one first
    cdef double* lanes                     # twelve numbers per feature and class
    cdef double* counts                    # of each class,
    cdef double* latest                    # the same with forgetting,
    cdef double* after                     # and of each class after each other
    cdef double* combining                 # weights and curvatures of the combinations
    cdef double* scratch                   # of one round,
    cdef double* steps                     # and four per value of a row and class
    cdef Py_ssize_t steps_room

    cdef void list_combined(self)
    cdef void relocate(self)
    cdef Py_ssize_t block(self, Py_ssize_t count) noexcept nogil
    cdef void place(self, ClassRound* r, double* block, Py_ssize_t count) noexcept nogil
    cdef int resize(self, Py_ssize_t size) except -1
    cdef int widen(self, Py_ssize_t stride) except -1
    cdef void welcome(self, Py_ssize_t c, double rounds) noexcept nogil
    cdef bint is_full(self) noexcept nogil
    cdef void predict(self, const Row* row, ClassRound* r, double rounds, bint learning) noexcept nogil
    cdef void say_trees(self, const Row* row, ClassRound* r, double floor, bint learning) noexcept nogil
    cdef double tamed(self, Py_ssize_t i, double value) noexcept nogil
    cdef void say_counts(self, ClassRound* r, double floor) noexcept nogil
    cdef void combine(self, ClassRound* r, double floor) noexcept nogil
    cdef bint make_room(self, Py_ssize_t count, Py_ssize_t classes, double rounds) noexcept nogil
    cdef bint room_for_steps(self, Py_ssize_t count) noexcept nogil
    cdef void learn(self, const Row* row, ClassRound* r, Py_ssize_t y, double importance, double rounds) noexcept nogil
    cdef void teach_filters(self, Filters filters, ClassRound* r, Py_ssize_t y, double importance, double floor) noexcept nogil
    cdef void correct(self, int row, const double* scores, Py_ssize_t count, double floor) noexcept nogil
    cdef void teach_first(self, const Row* row, ClassRound* r, Py_ssize_t y, double importance, double rounds) noexcept nogil
    cdef void teach_combination(self, const ClassRound* r, int which, Py_ssize_t y, double importance) noexcept nogil
    cdef void count_class(self, Py_ssize_t y, const ClassRound* r, double importance) noexcept nogil
