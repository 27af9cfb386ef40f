"""The boosted trees of ``auto``: a member that is fitted again and again to the latest rows.

Sixty-four small trees are kept, and the latest 32,768 rows. Every few rounds, one tree after the other is
fitted again to what the rest leave of the outcomes, at most as often as a budget of time per round allows.
Inputs are the prediction of the linear mixture and the features, in units of their first differences from
the first row: so neither units nor signs matter.
"""

from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

cimport cython
cimport numpy as cnp

import numpy as np

from noregret.auto.first_order cimport MAX_FILTER_FEATURES
from noregret.auto.layout cimport clip
from noregret.base.compiled.state_parts cimport StateParts, add_owned, add_range

from noregret.checks import state_arrays, state_numbers

cnp.import_array()

cdef enum:
    FIRST_ROUNDS = 64          # learned before it begins
    SILENT_ROUNDS = 96         # that it has learned before it takes part
# The unit of outcomes, in ranges of those before, and the most that count.
cdef double UNIT_RANGES = 1.25, MAX_UNITS = 1e15
# The most that trees may say in a state: sums of fits to such outcomes stay far below.
cdef double MAX_SAID = 1e18
NUMBERS = ("features", "rows", "next", "rounds", "fits", "bin_at")


@cython.final
cdef class Boosted:
    """Boosted trees for numbers, or for two labels.

    Parameters
    ----------
    labels
        True for labels, which it predicts as log-odds.
    """

    def __cinit__(self, labels):
        self.labels = labels

    def __dealloc__(self):
        free(self.owned.at)
        free(self.scratch)

    cdef noregret_boost* block(self) noexcept nogil:
        return <noregret_boost*> self.owned.at

    cdef void use(self, noregret_boost* block) noexcept nogil:
        """Take a block, or NULL for none; the one before is not freed."""
        self.owned.at = <char*> block
        self.owned.bytes = noregret_boost_bytes(block.features, block.room) if block != NULL else 0

    cdef bint knows(self, Py_ssize_t size) noexcept nogil:
        """Return whether there are trees, over so many features."""
        return self.owned.at != NULL and self.block().features == size + 1

    cdef bint speaks(self, Py_ssize_t size) noexcept nogil:
        """Return whether it takes part in predictions."""
        return self.knows(size) and self.block().rounds >= SILENT_ROUNDS

    cdef double say(self, const double* x, float* own, uint8_t* leaf) noexcept nogil:
        """Return the prediction of a row; fill in what learning it needs."""
        return noregret_boost_predict(self.block(), x, own, leaf) * self.block().unit

    # Learning.

    cdef bint make_room(self, Py_ssize_t size, double rounds, double extent) noexcept nogil:
        """Begin if it is time, and make room for a round; return whether there was memory.

        ``extent`` is the range of the outcomes so far.
        """
        cdef noregret_boost* made
        if self.owned.at == NULL and size <= MAX_FILTER_FEATURES and rounds >= FIRST_ROUNDS and (self.labels or extent > 0):
            made = noregret_boost_sized(NULL, size + 1, noregret_boost_room(0))
            if made == NULL:
                return False
            made.labels, made.unit = self.labels, 1 if self.labels else UNIT_RANGES * extent
            self.use(made)
        if not self.knows(size):
            return True
        made = self.block()
        if not noregret_boost_reserve(&made):
            return False
        self.use(made)
        if self.scratch == NULL and noregret_boost_due(made):
            self.scratch = malloc(noregret_boost_scratch())
            return self.scratch != NULL
        return True

    cdef void learn(self, const double* x, Py_ssize_t size, float* own, uint8_t* leaf, double y) noexcept nogil:
        """Learn from a row, for which there is room; ``own`` and ``leaf`` are NULL if it was not predicted."""
        cdef float[264] found
        cdef uint8_t[64] leaves
        if self.owned.at != NULL and size > MAX_FILTER_FEATURES:
            free(self.owned.at)
            self.use(NULL)
        if not self.knows(size):
            return
        if own == NULL:
            own, leaf = found, leaves
            self.say(x, own, leaf)
        y = (1 if y > 0 else 0) if self.labels else clip(y / self.block().unit, -MAX_UNITS, MAX_UNITS)
        noregret_boost_learn(self.block(), x, own, leaf, y, self.scratch)
        free(self.scratch)
        self.scratch = NULL

    cdef int resize(self, Py_ssize_t size) except -1:
        """Change the number of features; with too many, what is learned stays as it is, and takes no part."""
        cdef noregret_boost* before = self.block()
        cdef noregret_boost* made
        if before == NULL or size > MAX_FILTER_FEATURES or size + 1 == before.features:
            return 0
        made = noregret_boost_sized(before, size + 1, before.room)
        if made == NULL:
            raise MemoryError("no memory left for the rows of boosted trees")
        free(before)
        self.use(made)
        return 0

    # The state.

    cdef void list_state(self, StateParts* parts):
        """Add the places of all numbers that rounds change."""
        add_range(parts, &self.owned, &self.owned + 1)
        add_owned(parts, &self.owned, NULL)

    @property
    def n(self) -> int:
        """The number of features; −1 if it has not begun."""
        return self.block().features - 1 if self.owned.at != NULL else -1

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the state: (arrays, numbers); without arrays if it has not begun."""
        cdef noregret_boost* b = self.block()
        cdef noregret_boost_arrays at
        cdef noregret_boost_node* node
        cdef Py_ssize_t p, k, nodes
        if b == NULL:
            return {}, dict.fromkeys(NUMBERS, 0) | {"debt": 0.0, "unit": 0.0}
        at, p = noregret_boost_at(b), b.features
        nodes = noregret_boost_nodes(b.rows)
        trees = np.zeros((NOREGRET_BOOST_TREES * nodes, 4))
        for k in range(NOREGRET_BOOST_TREES * nodes):
            if k % nodes >= at.per_tree:
                continue
            node = at.nodes + k // nodes * at.per_tree + k % nodes
            trees[k] = node.value, node.threshold, node.feature, node.left
        arrays = {
            "origin": np.array(<double[:p]> at.origin), "scale": np.array(<double[:p]> at.scale),
            "outcomes": np.array(<double[:b.room]> at.outcomes)[:b.rows], "fitted": np.array(<double[:b.room]> at.fitted)[:b.rows],
            "x": np.array(<float[:p * b.room]> at.x)[:p * b.rows].astype(float),
            "edges": np.array(<float[:p * at.per_input]> at.edges).astype(float),
            "counts": np.array(<uint8_t[:p]> at.edge_count).astype(float), "trees": trees.ravel(),
        }
        numbers = {"features": p, "rows": b.rows, "next": b.next, "rounds": b.rounds, "fits": b.fits, "bin_at": b.bin_at}
        return arrays, numbers | {"debt": b.debt, "unit": b.unit}

    def set_state(self, arrays: dict[str, Floats], numbers: dict[str, Any]) -> None:
        """Restore a state, or raise ValueError if invalid."""
        cdef noregret_boost* made = NULL
        state_numbers(numbers, dict.fromkeys(NUMBERS, 0) | {"debt": 0.0, "unit": 0.0})
        if arrays:
            made = self.made(arrays, numbers)
        free(self.owned.at)
        self.use(made)

    cdef noregret_boost* made(self, arrays, numbers) except NULL:
        """Return a block with a state, or raise ValueError if invalid."""
        cdef noregret_boost* b
        cdef noregret_boost_node* node
        cdef Py_ssize_t k, nodes
        p, rows = numbers["features"], numbers["rows"]
        if not (1 <= p <= MAX_FILTER_FEATURES + 1 and 0 <= rows <= NOREGRET_BOOST_ROWS and numbers["unit"] > 0):
            raise ValueError("the state's numbers make no sense")
        if rows != min(numbers["rounds"], NOREGRET_BOOST_ROWS) or numbers["next"] != numbers["rounds"] % NOREGRET_BOOST_ROWS:
            raise ValueError("the state's numbers make no sense")
        nodes, bins = noregret_boost_nodes(rows), noregret_boost_bins(noregret_boost_room(rows))
        state_arrays(arrays, {
            "origin": p, "scale": p, "outcomes": rows, "fitted": rows, "x": p * rows, "edges": p * bins,
            "counts": p, "trees": NOREGRET_BOOST_TREES * nodes * 4,
        })
        if (np.abs(arrays["x"]) > 2e38).any() or (np.abs(arrays["edges"]) > 4e38).any() or np.abs(arrays["outcomes"]).max(initial=0) > MAX_UNITS:
            raise ValueError("the rows of boosted trees are out of range")
        if np.abs(arrays["fitted"]).max(initial=0) > MAX_SAID or np.abs(arrays["trees"][::4]).max(initial=0) > MAX_SAID:
            raise ValueError("what boosted trees say is out of range")
        checked_edges(arrays["edges"].reshape(p, -1), arrays["counts"])
        trees = checked_trees(arrays["trees"].reshape(NOREGRET_BOOST_TREES, -1, 4), p)
        b = noregret_boost_sized(NULL, p, noregret_boost_room(rows))
        if b == NULL:
            raise MemoryError
        b.rows, b.next, b.rounds, b.fits, b.bin_at = (numbers[name] for name in NUMBERS[1:])
        b.debt, b.unit, b.labels = numbers["debt"], numbers["unit"], self.labels
        at = noregret_boost_at(b)
        fill(at.origin, arrays["origin"])
        fill(at.scale, arrays["scale"])
        fill(at.outcomes, arrays["outcomes"])
        fill(at.fitted, arrays["fitted"])
        fill_floats(at.x, arrays["x"])
        fill_floats(at.edges, arrays["edges"])
        for k in range(<Py_ssize_t> p):
            at.edge_count[k] = <uint8_t> arrays["counts"][k]
        for k, (value, threshold, feature, left) in enumerate(trees.reshape(-1, 4).tolist()):
            if k % nodes >= at.per_tree:
                continue
            node = at.nodes + k // nodes * at.per_tree + k % nodes
            node.value, node.threshold, node.feature, node.left = value, threshold, int(feature), int(left)
        noregret_boost_restore(b)
        return b


def checked_edges(edges, counts):
    """Raise ValueError if the edges of bins are invalid."""
    bins = edges.shape[1]
    of_a_tree = np.sort((counts + 1) * (counts > 0))[-(NOREGRET_BOOST_COUNTS // NOREGRET_BOOST_FEWEST_BINS):]
    if (counts != np.floor(counts)).any() or (counts < 0).any() or (counts >= bins).any() or of_a_tree.sum() > NOREGRET_BOOST_COUNTS:
        raise ValueError("the numbers of edges make no sense")
    inside = np.arange(bins - 1) + 1 < counts[:, None]
    if (inside & (np.diff(edges, axis=1) <= 0)).any():
        raise ValueError("the edges of bins do not increase")


def checked_trees(trees, features):
    """Return the nodes of trees, or raise ValueError if invalid: a node is a leaf, or its children come after it."""
    feature, left = trees[..., 2], trees[..., 3]
    places = np.arange(trees.shape[1])
    whole = (feature == np.floor(feature)) & (left == np.floor(left)) & (feature >= 0) & (feature < features)
    fits = (left == places) | ((left > places) & (left + 1 < trees.shape[1])) | (left == 0)
    never_right = (left != places) | (trees[..., 1] >= 2.9e38)
    if not (whole & fits & never_right).all():
        raise ValueError("the nodes of boosted trees make no sense")
    return trees


cdef void fill(double* to, const double[::1] numbers):
    cdef Py_ssize_t k
    for k in range(numbers.shape[0]):
        to[k] = numbers[k]


cdef void fill_floats(float* to, const double[::1] numbers):
    cdef Py_ssize_t k
    for k in range(numbers.shape[0]):
        to[k] = <float> numbers[k]
