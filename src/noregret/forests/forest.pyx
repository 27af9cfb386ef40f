"""The engine of Mondrian forests for numbers and labels, and the trees that it shares with the one for classes."""

from libc.math cimport INFINITY, NAN, log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

cimport cython

from noregret.base.compiled.losses cimport as_loss
from noregret.linear.engine.engine cimport FINE, NO_MEMORY, Engine, Row, position

from noregret.base.compiled.machine import zeros
from noregret.checks import one_of, state_arrays

LOSSES: tuple[str, ...] = ("square", "logistic")
# Numbers of the state besides the nodes.
WHOLE = ("rounds", "low", "high", "scale", "outcome_mean", "outcome_spread")


cdef enum:
    MAX_LISTED = 512  # predictions of members that need no memory of their own


cdef class Grove:
    """The trees of a forest.

    Parameters
    ----------
    trees
        Their number.
    nodes
        The number of nodes that each may have.
    seed
        The seed of the random numbers.
    classes
        2 for labels, 0 for numbers and for classes that join later.
    edition
        2, or 1 for the arithmetic of earlier models.
    """

    def __cinit__(self, trees, nodes, seed, classes=0, edition=1):
        self.params = (trees, nodes, seed, classes, edition)
        if not noregret_forest_begin(&self.forest, trees, nodes, classes, seed, edition):
            raise MemoryError("no memory left for the trees")

    def __dealloc__(self):
        noregret_forest_end(&self.forest)

    cdef int resize(self, Py_ssize_t size) except -1:
        """Make room for features; in edition 1 the first ones only, if there are too many."""
        cdef Py_ssize_t before = self.forest.features, j
        if not noregret_forest_widen(&self.forest, self.split(size), self.forest.classes):
            raise MemoryError("no memory left for the boxes of the nodes")
        for j in range(self.forest.features, before):  # refused features leave nothing behind
            memset(self.forest.column + COLUMN_FIELDS * j, 0, COLUMN_FIELDS * sizeof(double))
        return 0

    cdef Py_ssize_t split(self, Py_ssize_t size) noexcept nogil:
        """Return how many of so many features trees split by."""
        return size if self.forest.edition > 1 else min(size, FOREST_DENSE)

    cdef void take_row(self, const Row* row) noexcept nogil:
        """Write the row out for learning, absent features as 0."""
        cdef Py_ssize_t k, i, n = self.forest.features
        for k in range(self.forest.present):
            self.forest.row[self.forest.nonzero[k]] = 0
        self.forest.present = 0
        if not self.forest.wide:
            memset(self.forest.row, 0, n * sizeof(double))
        for k in range(row.count):
            i = position(row, k)
            if i >= n:
                break
            self.forest.row[i] = row.values[k]
            if n > FOREST_DENSE and row.values[k] != 0:
                self.forest.nonzero[self.forest.present] = <int32_t> i
                self.forest.present += 1

    cdef void foresee(self, const Row* row, double* out) noexcept nogil:
        """Fill in the prediction, or the probabilities of the classes, of a row that is learned next."""
        self.take_row(row)
        noregret_forest_predict(&self.forest, self.forest.row, self.forest.said, out)
        self.foreseen = True

    cdef bint predict(self, const Row* row, double* out) noexcept nogil:
        """Do the same, and change nothing; return False if there is no memory."""
        cdef double[MAX_LISTED] few
        cdef noregret_row given
        cdef Py_ssize_t said_room = noregret_forest_says(&self.forest)
        cdef double* said = few
        if said_room > MAX_LISTED:
            said = <double*> malloc(said_room * sizeof(double))
        if said == NULL:
            return False
        given.values, given.at, given.count = row.values, row.indices, row.count
        noregret_forest_predict_row(&self.forest, &given, said, out)
        if said != few:
            free(said)
        return True

    cdef int learn(self, const Row* row, double y) noexcept nogil:
        """Learn from a row, or return NO_MEMORY."""
        cdef bint foreseen = self.foreseen
        self.foreseen = False
        if not foreseen:
            self.take_row(row)
        return FINE if noregret_forest_learn(&self.forest, y, foreseen) else NO_MEMORY

    # Findings.

    def best(self, double unit) -> Floats:
        """Return, per tree, the best pruning at a price per nat, in the order of the fields BEST_LOSS to BEST_LEAST."""
        cdef double[:, ::1] found = np.zeros((self.forest.trees, BEST_FIELDS))
        cdef int i
        for i in range(self.forest.trees):
            noregret_tree_best(&self.forest, &self.forest.tree[i], unit, &found[i, 0])
        return np.asarray(found)

    def accounts(self) -> dict[str, Floats]:
        """Return the evidence for the theorems, a number per tree in most arrays.

        Losses of numbers, the forest's and the prunings', are without that of the first round.
        """
        cdef int i, n = self.forest.trees
        unit = noregret_forest_unit(&self.forest)
        found = self.best(unit)
        # Rounds that widen the range of the outcomes: in edition 1 at most this, of the trees and of their mixture.
        growth = 8.0 / 3.0 * self.forest.scale ** 2 if self.forest.edition == 1 and not self.forest.classes else self.forest.growth
        # What the forest had lost when a tree started counts as that tree's loss.
        since = np.array([self.forest.tree[i].since for i in range(n)])
        prior = np.array([self.forest.prior[FOREST_RATES * (2 + i)] for i in range(n)])
        return {
            "lost": np.array([self.forest.lost]),
            "pruned": since + found[:, BEST_LOSS], "least": since + found[:, BEST_LEAST], "leaves": found[:, BEST_LEAVES].copy(),
            "price": found[:, BEST_PRICE] - unit * prior + growth,
            "collapsed": found[:, BEST_EXCESS].copy(), "range": np.array([self.forest.high - self.forest.low]),
        }

    def tables(self) -> list[Floats]:
        """Return the nodes of each tree, one per row, in the order of the fields, counts and boxes."""
        cdef noregret_forest* f = &self.forest
        cdef double[:, ::1] table
        cdef Py_ssize_t k, own = FOREST_FIELDS + f.class_room
        cdef Py_ssize_t counts = max(1, f.classes)
        cdef Py_ssize_t boxed = min(f.features, FOREST_DENSE)
        cdef Py_ssize_t wide = FOREST_FIELDS + counts + (3 * FOREST_SLOTS if f.wide else 2 * boxed)
        cdef int i
        made = []
        for i in range(f.trees):
            table = np.zeros((f.tree[i].count, wide))
            for k in range(f.tree[i].count):
                node = f.tree[i].node + k * f.stride
                memcpy(&table[k, 0], node, (FOREST_FIELDS + counts) * sizeof(double))
                if f.wide:
                    memcpy(&table[k, FOREST_FIELDS + counts], node + own, 3 * FOREST_SLOTS * sizeof(double))
                elif boxed:
                    memcpy(&table[k, FOREST_FIELDS + counts], node + own, boxed * sizeof(double))
                    memcpy(&table[k, FOREST_FIELDS + counts + boxed], node + own + f.width, boxed * sizeof(double))
            made.append(np.asarray(table))
        return made

    # The state.

    def get_state(self):
        """Return the state as arrays."""
        cdef noregret_forest* f = &self.forest
        cdef int i
        tables = self.tables()
        columns = np.array([f.column[k] for k in range(COLUMN_FIELDS * f.features)])
        halves = [(f.tree[i].random >> 32, f.tree[i].random & 0xFFFFFFFF) for i in range(f.trees)]
        return {
            "nodes": np.concatenate([table.ravel() for table in tables]),
            "counts": np.array([float(len(table)) for table in tables]),
            "random": np.array(halves, dtype=np.float64).ravel(),
            "since": np.array([f.tree[i].since for i in range(f.trees)]),
            "paid": np.array([f.paid[k] for k in range(noregret_forest_members(f))]),
            "priors": np.array([f.prior[k] for k in range(noregret_forest_members(f))]),
            "before": np.array([f.before[k] for k in range(noregret_forest_members(f))]),
            "fresh": np.array([f.lost, <double> f.generation, <double> f.born]),
            "columns": columns,
            "outcomes": np.array([<double> f.rounds, f.low, f.high, f.scale, f.outcome_mean, f.outcome_spread]),
            **({"interval": np.array([f.near, f.far, f.growth])} if f.edition > 1 else {}),
            **({
                "wide": np.array([f.most, f.best, f.shares, f.measured]),
                "seen": np.array([<double> f.seen[k] for k in range(f.known)]),
                "rates": np.array([f.rates[f.seen[k]] for k in range(f.known)]),
            } if f.wide else {}),
        }

    def take(self, arrays, Py_ssize_t size, Py_ssize_t classes):
        """Return new trees with a state, or raise ValueError if it does not fit."""
        trees, nodes, seed, first, edition = self.params
        cdef Grove made = Grove(trees, nodes, seed, first, edition)
        cdef noregret_forest* f = &made.forest
        cdef Py_ssize_t n = made.split(size), counts, wide, at = 0, k, own, boxed = min(n, FOREST_DENSE)
        cdef double[:, ::1] table
        cdef int i
        if first and classes != first:
            raise ValueError("the state has other classes")
        if not noregret_forest_widen(f, n, <int> classes):
            raise MemoryError("no memory left for the nodes")
        f.classes = <int> classes
        if "wide" in arrays and ("seen" not in arrays or n <= FOREST_DENSE or not noregret_wide_begin(f)):
            raise ValueError("the state's features make no sense")
        counts, own = max(1, f.classes), FOREST_FIELDS + f.class_room
        wide = FOREST_FIELDS + counts + (3 * FOREST_SLOTS if f.wide else 2 * boxed)
        per_tree = np.asarray(arrays.get("counts", ()))
        if per_tree.shape != (f.trees,) or not ((per_tree >= 0) & (per_tree <= nodes) & (per_tree == np.floor(per_tree))).all():
            raise ValueError("the state's numbers of nodes make no sense")
        state_arrays(arrays, {
            "nodes": int(per_tree.sum()) * wide, "counts": f.trees, "random": 2 * f.trees, "since": f.trees,
            **dict.fromkeys(("paid", "priors", "before"), noregret_forest_members(f)), "fresh": 3,
            "columns": COLUMN_FIELDS * n, "outcomes": len(WHOLE), **({"interval": 3} if edition > 1 else {}),
            **({"wide": 4, "seen": np.size(arrays["seen"]), "rates": np.size(arrays["seen"])} if f.wide else {}),
        })
        if f.wide:
            seen, rates = arrays["seen"], arrays["rates"]
            fits = ((seen >= 0) & (seen < n) & (seen == np.floor(seen))).all() and len(np.unique(seen)) == len(seen)
            if not (fits and (rates >= 0).all() and (arrays["wide"] >= 0).all()):
                raise ValueError("the state's rates of features make no sense")
            f.most, f.best, f.shares, f.measured = arrays["wide"].tolist()
            f.known = len(seen)
            for k in range(f.known):
                f.seen[k] = <int32_t> int(seen[k])
                f.rates[f.seen[k]] = rates[k]
        halves = arrays["random"]
        if not ((halves >= 0) & (halves < 2.0**32) & (halves == np.floor(halves))).all():
            raise ValueError("the state's random numbers make no sense")
        for i in range(f.trees):
            count = int(per_tree[i])
            table = np.ascontiguousarray(arrays["nodes"][at:at + count * wide].reshape(count, wide))
            at += count * wide
            check_nodes(np.asarray(table), n, counts, f.classes > 0)
            if f.wide:
                check_slots(np.asarray(table)[:, FOREST_FIELDS + counts:], n)
            if not noregret_forest_room(&f.tree[i], max(count, 1), f.stride):
                raise MemoryError("no memory left for the nodes")
            f.tree[i].count = count
            memset(f.tree[i].node, 0, f.tree[i].room * f.stride * sizeof(double))
            for k in range(count):
                node = f.tree[i].node + k * f.stride
                memcpy(node, &table[k, 0], (FOREST_FIELDS + counts) * sizeof(double))
                if f.wide:
                    memcpy(node + own, &table[k, FOREST_FIELDS + counts], 3 * FOREST_SLOTS * sizeof(double))
                elif boxed:
                    memcpy(node + own, &table[k, FOREST_FIELDS + counts], boxed * sizeof(double))
                    memcpy(node + own + f.width, &table[k, FOREST_FIELDS + counts + boxed], boxed * sizeof(double))
            f.tree[i].since = arrays["since"][i]
            f.tree[i].random = (<uint64_t> int(halves[2 * i]) << 32) | <uint64_t> int(halves[2 * i + 1])
        for k in range(noregret_forest_members(f)):
            f.paid[k], f.prior[k], f.before[k] = arrays["paid"][k], arrays["priors"][k], arrays["before"][k]
        f.lost, generation, born = arrays["fresh"].tolist()
        for k in range(COLUMN_FIELDS * n):
            f.column[k] = arrays["columns"][k]
        rounds, f.low, f.high, f.scale, f.outcome_mean, f.outcome_spread = arrays["outcomes"].tolist()
        if edition > 1:
            f.near, f.far, f.growth = arrays["interval"].tolist()
            if not (f.near <= f.low and f.high <= f.far and f.scale == f.far - f.near and f.growth >= 0) and not first and not classes:
                raise ValueError("the state's interval of outcomes makes no sense")
        if not (0 <= rounds < 2**53 and rounds == int(rounds) and f.scale >= 0 and f.low <= f.high and f.outcome_spread >= 0):
            raise ValueError("the state's outcomes make no sense")
        if not (1 <= generation < 2**53 and generation == int(generation) and 0 <= born <= rounds and born == int(born)):
            raise ValueError("the state's generations of trees make no sense")
        f.rounds, f.generation, f.born = int(rounds), int(generation), int(born)
        for i in range(f.trees):
            if (per_tree[i] > 0) != (rounds > (0 if i < f.old else born)):
                raise ValueError("a tree has nodes after its first round, and none before")
        if not (arrays["priors"] < 0).all():
            raise ValueError("the state's prior probabilities make no sense")
        return made


def check_nodes(table, Py_ssize_t features, Py_ssize_t counts, bint labels):
    """Raise ValueError if nodes are not those of a tree."""
    cdef Py_ssize_t n = len(table)
    if n == 0:
        return
    left, right, parent = table[:, LEFT], table[:, RIGHT], table[:, PARENT]
    places = table[:, [LEFT, RIGHT, PARENT]]
    fits = ((places >= 0) & (places < n) & (places == np.floor(places))).all() and ((left > 0) == (right > 0)).all()
    inner = np.flatnonzero(left > 0)
    children = np.concatenate([left[inner], right[inner]])
    fits = fits and np.array_equal(np.sort(children), np.arange(1.0, n)) and parent[0] == 0
    split = table[inner, FEATURE]
    fits = fits and ((split >= 0) & (split < features) & (split == np.floor(split))).all()
    fits = fits and (parent[children.astype(int)] == np.concatenate([inner, inner])).all()
    if fits:  # times increase from a node to its children, so that no node is its own ancestor
        below = inner[inner > 0]
        fits = (table[inner, TIME] > 0).all() and (table[below, TIME] > table[parent[below].astype(int), TIME]).all()
    odds = table[:, STOP:GO + FOREST_RATES]
    fits = fits and ((odds >= 0) & (odds <= 1 + 1e-9)).all() and (table[inner][:, STOP:GO + FOREST_RATES] > 0).all()
    own = table[:, FOREST_FIELDS:FOREST_FIELDS + counts]
    if not fits or (labels and not ((own > 0).any(axis=1) & (own >= 0).all(axis=1)).all()):
        raise ValueError("the state's nodes are not those of a tree")


def check_slots(boxes, Py_ssize_t features):
    """Raise ValueError if boxes of a few features make no sense."""
    numbers = boxes[:, :FOREST_SLOTS]
    empty = numbers == 2.0**31
    known = (numbers >= 0) & (numbers < features) & (numbers == np.floor(numbers))
    rising = (numbers[:, 1:] > numbers[:, :-1]) | empty[:, 1:]
    low, high = boxes[:, FOREST_SLOTS:2 * FOREST_SLOTS], boxes[:, 2 * FOREST_SLOTS:]
    if not ((known | empty).all() and (rising & (~empty[:, :-1] | empty[:, 1:])).all() and (low <= high).all()):
        raise ValueError("the state's boxes of features make no sense")


@cython.final
cdef class Forest(Engine):
    """A Mondrian forest for numbers, or for two labels.

    Parameters
    ----------
    loss
        ``square`` or ``logistic``.
    trees, nodes, seed, edition
        As in ``Grove``.
    """

    ADVICE = "scale the outcomes down"

    def __cinit__(self, loss="square", trees=10, nodes=3500, seed=0, edition=2):
        one_of("loss", loss, LOSSES)
        self.loss = as_loss(loss, None)
        self.grove = Grove(trees, nodes, seed, 2 if loss == "logistic" else 0, edition)

    cdef int resize(self, Py_ssize_t size) except -1:
        if size > self.capacity:
            self.arrays["stored"] = zeros(max(size, 2 * self.size, 16))
            self.relocate()
        self.grove.resize(size)
        self.size = size
        return 0

    cdef double score(self, Row* row) noexcept nogil:
        cdef double[2] out
        Engine.score(self, row)
        if not row.norm2 < 1e300:
            return NAN
        if self.learning:
            self.grove.foresee(row, out)
        elif not self.grove.predict(row, out):
            return INFINITY
        return log(out[1]) - log(out[0]) if self.loss.table.labels else self.origin + out[0]

    cdef int play(self, Row* row, double y) noexcept nogil:
        cdef int status
        self.learning, self.grove.foreseen = True, False
        status = Engine.play(self, row, y)
        self.learning = False
        return status

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef int status
        if self.loss.table.labels:
            return self.grove.learn(row, 1.0 if y > 0 else 0.0)
        if self.grove.forest.rounds == 0:
            self.origin = y
        status = self.grove.learn(row, y - self.origin)
        if self.grove.forest.rounds == 0:  # no memory
            self.origin = 0
        return status

    def accounts(self) -> dict[str, Floats]:
        """Return the evidence for the theorems, a number per tree in each array."""
        return self.grove.accounts()

    @property
    def linear(self):
        """False: predictions are not weights times features."""
        return False

    # The state.

    def get_state(self):
        """Return the state: (arrays, numbers)."""
        return self.grove.get_state() | {"origin": np.array([self.origin])}, self.scalars()

    def set_state(self, arrays, numbers):
        """Restore a state, or raise ValueError and stay unchanged."""
        if numbers["mean_kept"]:
            raise ValueError("the state's numbers make no sense")
        size, trees = numbers["size"], dict(arrays)
        origin = {"origin": trees.pop("origin", np.zeros(1))}  # 0 in states without it, whose trees learned outcomes as they are
        state_arrays(origin, {"origin": 1})
        grove = self.grove.take(trees, size, self.grove.params[3])
        self.restore(numbers)
        self.origin = origin["origin"][0]
        self.grove, self.size, self.arrays = grove, size, {"stored": zeros(size)}
        self.relocate()
