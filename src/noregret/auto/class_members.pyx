"""The members of ``auto`` with several classes: their probabilities and updates.

Filters and first-order learners score each class by the row. The covariance of a filter serves all
classes, as they have the same inputs. The curvature of the softmax loss is at most 2 max p(1 − p) in
any direction and less in most; observations weigh a quarter of that. Two small combinations take the
logarithms of others' probabilities as inputs, the forest's too, and two more those of the latest classes as well.

Probabilities are at least 1/((t + 2) K), and then normalised. None depends on the unit of a feature.
"""

from libc.math cimport M_PI, copysign, fabs, log, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

cimport cython
cimport numpy as cnp

from noregret.auto.class_chances cimport chances_of, extend_chances, floor_at, moved_by, settle_chances, weight_of
from noregret.auto.first_order cimport (
    FEATURE_NUMBERS, MAX_FILTER_FEATURES, NOREGRET_CLASS_LANES, noregret_classes_learn, noregret_classes_meet,
    noregret_classes_score, noregret_feature, noregret_lanes_observe,
)
from noregret.auto.class_trees cimport ClassTrees
from noregret.auto.layout cimport clip, usable
from noregret.auto.memory_filters cimport MAX_INPUTS, Filters
from noregret.linear.engine.engine cimport Row, position

from noregret.auto.settings import (
    GRANT, GRANT_FIRST, KEEP, KEEP_COMBINED, KEEP_FIRST, LABEL_STEPS, check_features, constant_feature,
)
from noregret.base.compiled.machine import copied, zeros

cnp.import_array()

cdef enum:
    MAX_FOLLOWED = 64          # classes up to which the latest one is used
    SCRATCH = 20               # doubles per class of a round
    FEW_INPUTS = 9             # of a combination without the latest classes and the forest,
    MAX_INPUTS_COMBINED = 12   # and with them

cdef double[4] STEP_SIZES, KEPT_FIRST, GRANTED_FIRST
for lane in range(4):
    STEP_SIZES[lane], KEPT_FIRST[lane], GRANTED_FIRST[lane] = LABEL_STEPS[lane], KEEP_FIRST[lane], GRANT_FIRST[lane]
cdef double[2] KEPT_COMBINED
for lane in range(2):
    KEPT_COMBINED[lane] = KEEP_COMBINED[lane]
# Members that all combinations have, in order; the filters' place is taken by diagonal ones if there are none.
cdef int[FEW_INPUTS] COMBINED_MEMBERS = [0, 1, 2, 3, 4, 5, 6, 7, 12]
# Initial variance of the constant feature's weight.
cdef double CONSTANT_VARIANCE = 100.0
# Inputs of filters are clipped to this many times their root mean square, after this many values.
cdef double OUTLYING = 3.0, SETTLED_VALUES = 8.0
# Limits of variances, and of slopes times values, so that float64 does not overflow.
cdef double MAX_VARIANCE = 1e300, MAX_GRADIENT = 1e140
# The initial weight of each of the first four inputs of a combination, the precision of weights, and their limit.
cdef double COMBINED_START = 0.25, COMBINED_PRECISION = 5.0, MAX_COMBINED_WEIGHT = 1e3
# Counts are added to by this before they are divided: of all rounds, of the latest, and after a class.
cdef double COUNT_PRIOR = 0.5, LATEST_PRIOR = 1.0, FOLLOWING_PRIOR = 2.0
# The share of the latest counts kept per round.
cdef double LATEST_KEPT = 0.95
# Smaller changes of a score are found by one step of Newton's method.
cdef double SMALL_MOVE = 1e-3


cdef inline int combined_at(int which) noexcept nogil:
    """Return the place of a combination among the members."""
    return COMBINED + which if which < 2 else TOGETHER + which - 2


@cython.final
cdef class ClassMembers:
    """The learners of a bank with several classes, and the statistics that they share."""

    def __cinit__(self, recent: bool, stride: int, trees: bool):
        cdef int lane, which
        self.recent, self.members = recent, MEMBERS if recent else ALONE
        self.trees = ClassTrees() if trees else None
        self.list_combined()
        self.last = -1
        self.filters = Filters(KEEP, GRANT, CONSTANT_VARIANCE, stride, direct=False)
        self.stride = stride
        self.arrays = {name: np.zeros(length) for name, length in self.lengths(0, stride).items()}
        self.relocate()
        self.widen(stride)
        self.features.count = self.features.sum = self.features.sum2 = self.features.size = 1
        self.features.prior = CONSTANT_VARIANCE
        for lane in range(4):
            self.features.variance[lane] = GRANTED_FIRST[lane] * CONSTANT_VARIANCE
            for which in range(self.combinations):
                self.combining[which * self.combination + lane] = COMBINED_START

    def __dealloc__(self):
        free(self.steps)
        free(self.scratch)

    # The layout.

    cdef void list_combined(self):
        """List the inputs of the combinations: the forest, if there is one, is the last member."""
        cdef int k
        for k in range(FEW_INPUTS):
            self.combined[k] = COMBINED_MEMBERS[k]
        self.few, self.combinations, self.forest = FEW_INPUTS, 2, -1
        if self.trees is not None:
            self.forest = self.combined[self.few] = self.members
            self.members += 1
            self.few += 1
        self.inputs = self.few
        if self.recent:
            self.combined[self.few], self.combined[self.few + 1] = LATEST, FOLLOWING
            self.inputs, self.combinations = self.few + 2, 4
        self.combination = (self.few + 2) * (self.few + 3)

    def lengths(self, size, classes):
        """Return the length of each array, by the numbers of features and classes."""
        found = {
            "features": (size + 1) * FEATURE_NUMBERS, "lanes": (size + 1) * classes * NOREGRET_CLASS_LANES,
            "counts": classes, "combining": self.combinations * self.combination,
        }
        return found | ({"latest": classes, "after": MAX_FOLLOWED * MAX_FOLLOWED} if self.recent else {})

    cdef void relocate(self):
        """Update the pointers after the arrays moved."""
        self.features = <noregret_feature*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["features"])
        self.lanes = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["lanes"])
        self.counts = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["counts"])
        self.combining = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["combining"])
        if self.recent:
            self.latest = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["latest"])
            self.after = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.arrays["after"])

    cdef Py_ssize_t block(self, Py_ssize_t count) noexcept nogil:
        """Return how many numbers the predictions of a round take."""
        return MAX_INPUTS + (12 + self.members + self.inputs) * count

    cdef void place(self, ClassRound* r, double* block, Py_ssize_t count) noexcept nogil:
        """Lay a round out in a block of memory."""
        r.count, r.x, r.second = count, block, block + MAX_INPUTS
        r.first = r.second + 4 * count
        r.chance = r.first + 8 * count
        r.logs = r.chance + self.members * count
        r.last, r.then, r.known = self.last, NULL, 0

    cdef int resize(self, Py_ssize_t size) except -1:
        """Allocate room for more features, or remove the latest, which were never learned."""
        cdef Py_ssize_t room = cnp.PyArray_DIM(<cnp.ndarray> self.arrays["features"], 0) // FEATURE_NUMBERS
        if size + 1 > room:
            room = max(size + 1, 2 * room, 16)
            self.arrays["features"] = copied(self.arrays["features"], room * FEATURE_NUMBERS)
            self.arrays["lanes"] = copied(self.arrays["lanes"], room * self.stride * NOREGRET_CLASS_LANES)
            self.relocate()
        self.size = size
        if size <= MAX_FILTER_FEATURES:
            self.filters.grow(size + 1)
        if self.trees is not None:
            self.trees.resize(size)
        return 0

    cdef int widen(self, Py_ssize_t stride) except -1:
        """Make room for ``stride`` classes."""
        cdef double* scratch = <double*> malloc(SCRATCH * stride * sizeof(double))
        if scratch == NULL:
            raise MemoryError("no memory left for the classes")
        free(self.scratch)
        self.scratch, self.steps_room = scratch, 0
        room = len(self.arrays["features"]) // FEATURE_NUMBERS
        wide = zeros(room * stride * NOREGRET_CLASS_LANES).reshape(room, stride, NOREGRET_CLASS_LANES)
        wide[:, :self.stride] = self.arrays["lanes"][:room * self.stride * NOREGRET_CLASS_LANES].reshape(room, self.stride, -1)
        self.arrays["lanes"] = wide.reshape(-1)
        for name in ("counts", "latest") if self.recent else ("counts",):
            self.arrays[name] = copied(self.arrays[name], stride)
        self.filters.widen(stride)
        self.stride = stride
        self.relocate()
        return 0

    cdef void welcome(self, Py_ssize_t c, double rounds) noexcept nogil:
        """Add a class, about as likely as one that did not occur in ``rounds`` rounds."""
        cdef int lane
        cdef double unlikely = -log(1 + rounds)
        self.counts[c] = 0
        for lane in range(8):
            self.lanes[NOREGRET_CLASS_LANES * c + lane] = unlikely
        for lane in range(4):
            self.filters.w[4 * self.filters.n * c + lane] = unlikely
        if self.recent:
            self.latest[c] = 0

    cdef bint is_full(self) noexcept nogil:
        """Return whether the features are few enough for filters."""
        return self.size <= MAX_FILTER_FEATURES and self.filters.n == self.size + 1

    # Predictions.

    cdef void predict(self, const Row* row, ClassRound* r, double rounds, bint learning) noexcept nogil:
        """Fill in the probabilities of all members; ``learning`` if the row is learned next."""
        cdef Py_ssize_t k, c, count = r.count
        cdef double floor = floor_at(rounds, count), z
        cdef int lane
        # New features of this row count, as they will when it is learned.
        r.full = self.is_full() and self.size + row.unseen <= MAX_FILTER_FEATURES
        for lane in range(4):
            r.first_z[lane] = self.features.variance[lane]
        for c in range(count):
            for lane in range(8):
                r.first[8 * c + lane] = self.lanes[NOREGRET_CLASS_LANES * c + lane]
        r.present = noregret_classes_score(
            self.features + 1, self.lanes + self.stride * NOREGRET_CLASS_LANES, self.stride, count,
            row.values, row.indices, row.count, r.first, r.first_z)
        if r.full:
            r.x[0] = 1
            memset(r.x + 1, 0, self.size * sizeof(double))
            for k in range(row.count):
                r.x[1 + position(row, k)] = self.tamed(1 + position(row, k), row.values[k])
            self.filters.scores_of(r.x, r.second, count)
            self.filters.spread(r.x, r.second_z)
        for lane in range(4):
            chances_of(r.first + lane, 8, 1, count, floor, r.chance + (ADAGRAD + lane) * count)
            z = r.first_z[lane] = r.first_z[lane] if r.first_z[lane] < MAX_VARIANCE else MAX_VARIANCE
            chances_of(r.first + 4 + lane, 8, 1 / sqrt(1 + M_PI / 8 * z), count, floor, r.chance + (DIAGONAL + lane) * count)
            if r.full:
                z = r.second_z[lane] = r.second_z[lane] if r.second_z[lane] < MAX_VARIANCE else MAX_VARIANCE
                chances_of(r.second + lane, 4, 1 / sqrt(1 + M_PI / 8 * z), count, floor, r.chance + lane * count)
            else:  # inactive filters repeat the diagonal ones
                for c in range(count):
                    r.chance[lane * count + c] = r.chance[(DIAGONAL + lane) * count + c]
        self.say_counts(r, floor)
        if self.trees is not None:
            self.say_trees(row, r, floor, learning)
        self.combine(r, floor)

    cdef void say_trees(self, const Row* row, ClassRound* r, double floor, bint learning) noexcept nogil:
        """Fill in the probabilities of the forest; where it takes no part, those of the first filter."""
        cdef double* out = r.chance + self.forest * r.count
        r.grown = self.trees.say(row, self.size, r.count, learning, out)
        if r.grown:
            settle_chances(out, r.count, floor)
        else:
            memcpy(out, r.chance, r.count * sizeof(double))

    cdef double tamed(self, Py_ssize_t i, double value) noexcept nogil:
        """Return the value of a filter's input, clipped to OUTLYING times its root mean square where not zero.

        Otherwise a single outlier would determine the input's weights for good.
        """
        cdef double count = self.filters.count[i], squares = self.filters.squares[i]
        if count < SETTLED_VALUES or not value * value * count > OUTLYING * OUTLYING * squares:
            return value
        return copysign(OUTLYING * sqrt(squares / count), value)

    cdef void say_counts(self, ClassRound* r, double floor) noexcept nogil:
        """Fill in the probabilities of the members that only count classes."""
        cdef Py_ssize_t c, count = r.count
        cdef double* p = r.chance + FREQUENCY * count
        cdef double* latest = r.chance + LATEST * count
        cdef double* after
        cdef double total = LATEST_PRIOR, here = FOLLOWING_PRIOR
        cdef int k
        for c in range(count):
            p[c] = (self.counts[c] + COUNT_PRIOR) / (self.counted + COUNT_PRIOR * count)
            r.chance[EVEN * count + c] = 1.0 / count
        settle_chances(p, count, floor)
        if not self.recent:
            return
        if r.then != NULL:  # the classes known when it was predicted, not the latest ones
            for k in range(LATEST, FOLLOWING + 1):
                extend_chances(r.then + k * r.known, r.known, count, floor, r.chance + k * count)
            return
        for c in range(count):
            total += self.latest[c]
        for c in range(count):
            latest[c] = (self.latest[c] + LATEST_PRIOR * p[c]) / total
        settle_chances(latest, count, floor)
        latest = r.chance + FOLLOWING * count
        if r.last < 0 or count > MAX_FOLLOWED:
            for c in range(count):
                latest[c] = p[c]
            return
        after = self.after + <Py_ssize_t> r.last * MAX_FOLLOWED
        for c in range(count):
            here += after[c]
        for c in range(count):
            latest[c] = (after[c] + FOLLOWING_PRIOR * p[c]) / here
        settle_chances(latest, count, floor)

    cdef void combine(self, ClassRound* r, double floor) noexcept nogil:
        """Fill in the probabilities of the combinations: the softmax of weighted logarithms."""
        cdef Py_ssize_t c, count = r.count
        cdef int m, which
        cdef const double* weights
        cdef double* out
        for m in range(self.inputs):
            for c in range(count):
                r.logs[m * count + c] = log(r.chance[self.combined[m] * count + c])
        if self.forest >= 0 and not r.grown:  # it has no say in the combinations
            memset(r.logs + FEW_INPUTS * count, 0, count * sizeof(double))
        for which in range(self.combinations):
            weights = self.combining + which * self.combination
            out = r.chance + combined_at(which) * count
            memset(out, 0, count * sizeof(double))
            for m in range(self.few if which < 2 else self.inputs):
                for c in range(count):
                    out[c] += weights[m] * r.logs[m * count + c]
            chances_of(out, 1, 1, count, floor, out)

    # Updates.

    cdef bint make_room(self, Py_ssize_t count, Py_ssize_t classes, double rounds) noexcept nogil:
        """Allocate what a round with so many values needs; return whether there was memory."""
        return self.room_for_steps(count) and (self.trees is None or self.trees.make_room(self.size, classes, rounds))

    cdef bint room_for_steps(self, Py_ssize_t count) noexcept nogil:
        """Allocate four steps per value of a row and class; return whether there was memory."""
        cdef double* found
        if count > self.steps_room:
            found = <double*> realloc(self.steps, 4 * 2 * count * self.stride * sizeof(double))
            if found == NULL:
                return False
            self.steps, self.steps_room = found, 2 * count
        return True

    cdef void learn(self, const Row* row, ClassRound* r, Py_ssize_t y, double importance, double rounds) noexcept nogil:
        """Update all members with the class y of a row."""
        cdef int which
        self.row_sizes += 1 + r.present
        if not importance > 0:
            return
        self.teach_first(row, r, y, importance, rounds)
        if r.full:
            self.teach_filters(self.filters, r, y, importance, floor_at(rounds, r.count))
        for which in range(self.combinations):
            self.teach_combination(r, which, y, importance)
        if self.trees is not None:
            self.trees.learn(row, self.size, r.count, y)
        self.count_class(y, r, importance)

    cdef void teach_filters(self, Filters filters, ClassRound* r, Py_ssize_t y, double importance, double floor) noexcept nogil:
        """Queue a row for the filters, and let them learn those that wait when it is time."""
        cdef double[4] weights
        cdef int lane, row
        filters.observe(r.x)
        for lane in range(4):
            weights[lane] = importance * weight_of(r.chance + lane * r.count, r.count)
        if not filters.queue(r.x, y, importance, r.second_z, weights):
            return
        if filters.learn(filters.rows, filters.worth, filters.waiting):
            for row in range(filters.waiting):
                if filters.waiting > 1:
                    filters.scores_of(filters.rows + row * MAX_INPUTS, r.second, r.count)
                self.correct(row, r.second, r.count, floor)
        filters.waiting = 0

    cdef void correct(self, int row, const double* scores, Py_ssize_t count, double floor) noexcept nogil:
        """Update the weights of filters by their errors on a queued row."""
        cdef double importance = self.filters.told[2 * row + 1], shrink
        cdef Py_ssize_t y = <Py_ssize_t> self.filters.told[2 * row], c
        cdef double* errors = self.scratch
        cdef double* chances = self.scratch + 4 * count
        cdef int lane
        for lane in range(4):
            shrink = 1 / sqrt(1 + M_PI / 8 * self.filters.unsure[4 * row + lane])
            chances_of(scores + lane, 4, shrink, count, floor, chances)
            for c in range(count):
                errors[4 * c + lane] = usable(importance * ((1.0 if c == y else 0.0) - chances[c]))
        self.filters.step_of(row, errors, count)

    cdef void teach_first(self, const Row* row, ClassRound* r, Py_ssize_t y, double importance, double rounds) noexcept nogil:
        """Update AdaGrad, by implicit steps, and the diagonal filters."""
        cdef Py_ssize_t c, count = r.count
        cdef double* slopes = self.scratch
        cdef double* errors = slopes + 4 * count
        cdef double* moves = errors + 4 * count
        cdef double* own = moves + 4 * count  # the steps of the constant feature
        cdef double* lanes = self.lanes + self.stride * NOREGRET_CLASS_LANES
        cdef const double* p
        cdef double[4] rates
        cdef double[4] weights
        cdef double one = 1, size, came, move, steepest = MAX_GRADIENT / max(1.0, row.peak)
        cdef int k
        size = self.row_sizes / (rounds + 1)  # of a row, on average
        noregret_lanes_observe(self.features + 1, row.values, row.indices, row.count, 1 / sqrt(size), GRANTED_FIRST)
        for k in range(4):
            rates[k] = STEP_SIZES[k] / sqrt(size)
            p = r.chance + (DIAGONAL + k) * count
            weights[k] = importance * weight_of(p, count)
            for c in range(count):
                came = 1.0 if c == y else 0.0
                slopes[4 * c + k] = clip(importance * (r.chance[(ADAGRAD + k) * count + c] - came), -steepest, steepest)
                errors[4 * c + k] = usable((came - p[c]) * (importance / (KEPT_FIRST[k] + weights[k] * r.first_z[k])))
        memset(moves, 0, 4 * count * sizeof(double))
        noregret_classes_meet(self.features + 1, lanes, self.stride, count, row.values, row.indices, row.count, slopes, rates, self.steps, moves)
        noregret_classes_meet(self.features, self.lanes, self.stride, count, &one, NULL, 1, slopes, rates, own, moves)
        for k in range(4):
            p = r.chance + (ADAGRAD + k) * count
            for c in range(count):
                # The other classes move the opposite way, about as far.
                move = 2 * moves[4 * c + k]
                came = 1.0 if c == y else -1.0
                if not move > 0 or p[c] >= 1:
                    continue
                if move * fabs(slopes[4 * c + k]) < SMALL_MOVE:
                    slopes[4 * c + k] /= 1 + move * importance * p[c] * (1 - p[c])
                else:
                    slopes[4 * c + k] = -came * moved_by(came * log(p[c] / (1 - p[c])), slopes[4 * c + k] / importance, importance * move) / move
        noregret_classes_learn(self.features + 1, lanes, self.stride, count, row.values, row.indices, row.count, self.steps, slopes, errors, weights, KEPT_FIRST, GRANTED_FIRST)
        noregret_classes_learn(self.features, self.lanes, self.stride, count, &one, NULL, 1, own, slopes, errors, weights, KEPT_FIRST, GRANTED_FIRST)

    cdef void teach_combination(self, const ClassRound* r, int which, Py_ssize_t y, double importance) noexcept nogil:
        """Take a Newton step for the weights of a combination, by the mean of the curvature and the squared gradient."""
        cdef int n = self.few if which < 2 else self.inputs, i, j, k
        cdef Py_ssize_t c, count = r.count
        cdef const double* p = r.chance + combined_at(which) * count
        cdef double* weights = self.combining + which * self.combination
        cdef double* curvature = weights + n
        cdef double* centred = r.logs
        cdef double[MAX_INPUTS_COMBINED] gradient
        cdef double[MAX_INPUTS_COMBINED * MAX_INPUTS_COMBINED] root
        cdef double total
        for i in range(n):
            total = 0
            for c in range(count):
                total += p[c] * centred[i * count + c]
            for c in range(count):  # later combinations find them centred already, which changes nothing
                centred[i * count + c] -= total
            gradient[i] = centred[i * count + y]
            for j in range(i + 1):
                total = 0
                for c in range(count):
                    total += p[c] * centred[i * count + c] * centred[j * count + c]
                total = 0.5 * importance * (total + gradient[i] * gradient[j])
                curvature[n * i + j] = KEPT_COMBINED[which % 2] * curvature[n * i + j] + total
        # (curvature + precision) step = gradient, by Cholesky's factors.
        for i in range(n):
            for j in range(i + 1):
                total = curvature[n * i + j] + (COMBINED_PRECISION if i == j else 0.0)
                for k in range(j):
                    total -= root[n * i + k] * root[n * j + k]
                if i > j:
                    root[n * i + j] = total / root[n * j + j]
                elif 0 < total < MAX_VARIANCE:
                    root[n * i + i] = sqrt(total)
                else:
                    memset(curvature, 0, n * n * sizeof(double))
                    return
            total = gradient[i]
            for k in range(i):
                total -= root[n * i + k] * gradient[k]
            gradient[i] = total / root[n * i + i]
        for i in range(n - 1, -1, -1):
            total = gradient[i]
            for k in range(i + 1, n):
                total -= root[n * k + i] * gradient[k]
            gradient[i] = total / root[n * i + i]
            total = weights[i] + importance * gradient[i]
            if total == total:
                weights[i] = clip(total, -MAX_COMBINED_WEIGHT, MAX_COMBINED_WEIGHT)

    cdef void count_class(self, Py_ssize_t y, const ClassRound* r, double importance) noexcept nogil:
        cdef Py_ssize_t c
        self.counts[y] += importance
        self.counted += importance
        if not self.recent:
            return
        for c in range(r.count):
            self.latest[c] *= LATEST_KEPT
        self.latest[y] += 1
        if 0 <= r.last < MAX_FOLLOWED and y < MAX_FOLLOWED:
            self.after[<Py_ssize_t> r.last * MAX_FOLLOWED + y] += 1
        self.last = y

    # Findings.

    def features_seen(self):
        """Return the table of all features but the constant one, and the indices of those ever present."""
        table = self.arrays["features"][FEATURE_NUMBERS:(self.size + 1) * FEATURE_NUMBERS].reshape(-1, FEATURE_NUMBERS)
        return table, np.flatnonzero(table[:, 16] > 0)

    def weights(self, classes, rounds):
        """Return a linear predictor, a column per class: the filter without forgetting, or its diagonal form."""
        table, seen = self.features_seen()
        if self.is_full():
            found = np.array([self.filters.weights(c, 0) for c in range(classes)]).reshape(classes, self.size + 1).T
            constant, found = found[0], np.ascontiguousarray(found[1:])
        else:
            lanes = self.arrays["lanes"][:(self.size + 1) * self.stride * NOREGRET_CLASS_LANES].reshape(-1, self.stride, NOREGRET_CLASS_LANES)
            constant, found = lanes[0, :classes, 4], np.zeros((self.size, classes))
            found[seen] = lanes[1:][seen, :classes, 4]
        same = constant_feature(table, seen, rounds)
        if same is not None:
            found[same[0]] += constant * rounds / same[1]
        return found

    def influence(self, classes, rounds):
        """Return the standard deviation of each feature's contribution to the scores of ``weights``."""
        table, seen = self.features_seen()
        count, total, squares = table[seen, 16:19].T
        spread = np.maximum(0.0, squares / max(1, rounds) - (total / max(1, rounds)) ** 2)
        own = self.weights(classes, rounds)[seen]
        found = zeros(self.size)
        found[seen] = np.sqrt(((own - own.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) * spread)
        return found

    # The state.

    def state(self, classes):
        """Return copies of all arrays, for the classes known."""
        lengths = self.lengths(self.size, classes)
        found = {name: copied(self.arrays[name][:length]) for name, length in lengths.items() if name != "lanes"}
        length = (self.size + 1) * self.stride * NOREGRET_CLASS_LANES
        lanes = self.arrays["lanes"][:length].reshape(-1, self.stride, NOREGRET_CLASS_LANES)
        return found | {"lanes": lanes[:, :classes].flatten(), "outlook": np.array([self.row_sizes, self.counted, self.last])}

    def check(self, arrays, classes):
        """Raise ValueError if the arrays of a state, which have the right lengths, are invalid."""
        check_features(arrays["features"].reshape(-1, FEATURE_NUMBERS))
        if (arrays["lanes"].reshape(-1, NOREGRET_CLASS_LANES)[:, 8:] < 0).any():
            raise ValueError("array lanes holds a negative sum of squares")
        for name in ("counts", "latest", "after"):
            if name in arrays and (arrays[name] < 0).any():
                raise ValueError(f"array {name} holds a negative number")
        row_sizes, counted, last = arrays["outlook"].tolist()
        if row_sizes < 0 or counted < 0 or not -1 <= last < max(classes, 1) or last != int(last) or (classes == 0 and last != -1):
            raise ValueError("the state's numbers make no sense")

    def take(self, arrays, size, classes, stride):
        """Replace the arrays, which were checked."""
        wide = zeros((size + 1) * stride * NOREGRET_CLASS_LANES).reshape(size + 1, stride, NOREGRET_CLASS_LANES)
        wide[:, :classes] = arrays["lanes"].reshape(size + 1, classes, NOREGRET_CLASS_LANES)
        made = {name: copied(arrays[name]) for name in self.arrays}
        made["lanes"] = wide.reshape(-1)
        for name in ("counts", "latest") if self.recent else ("counts",):
            made[name] = copied(arrays[name], stride)
        self.row_sizes, self.counted, self.last = arrays["outlook"].tolist()
        self.arrays, self.size, self.stride = made, size, stride
        self.relocate()
        self.widen(stride)
