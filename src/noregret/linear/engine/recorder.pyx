"""The record of a game: every learned row, in pages, and the quantities that theorems need.

A page is an array of 8-byte words, row after row, as ``noregret_pack`` writes them: two rows have the
same words if and only if they have the same numbers, dense or sparse. Pages are passed on when they
are full, and at marks, which are rounds at growing distances. Page boundaries depend only on the rows,
not on the calls.
"""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cimport numpy as cnp

from noregret.linear.engine.engine cimport MEASURES, Engine, Row
from noregret import limits
from noregret.linear.engine.engine import MEASURE_NAMES

cnp.import_array()

cdef extern from "row_loops.h" nogil:
    Py_ssize_t noregret_pack(double* out, const double* x, const int32_t* at, Py_ssize_t n, double y) noexcept

# Words per page, about: few enough for the cache, enough to hide Python's overhead.
cdef Py_ssize_t PAGE = 2**17
cdef Py_ssize_t FIRST_PAGE = 2**10
cdef uint64_t MAX_POSITIONS = limits.MAX_POSITIONS
# From one mark to the next.
cdef double MARK_GROWTH = 1.025
# Later marks wait for the end of a page.
cdef long long LAST_EAGER_ROUND = 2**14

WATCHED = (*MEASURE_NAMES, "loss")
NOT_ROWS = "these are not rows that were written down"


cdef class Recorder:
    """The record of a game, page by page.

    Parameters
    ----------
    engine
        The engine that plays.
    sink
        Called as sink(words, rows) with every page.
    """

    def __cinit__(self, Engine engine not None, sink: Callable[[Floats, int], Any]):
        self.engine, self.sink = engine, sink
        self.spare, self.outbox = [], []
        self.largest_loss = -INFINITY
        self.mark = engine.rounds + 1
        self.enough = FIRST_PAGE
        self.make_room(FIRST_PAGE)

    cdef void make_room(self, Py_ssize_t count) except *:
        """Allocate room for words."""
        page = np.empty(count)
        if self.used:
            page[:self.used] = self.page[:self.used]
        self.page, self.room = page, count
        self.words = <double*> cnp.PyArray_DATA(<cnp.ndarray> page)

    cdef int reserve(self, const Row* row) noexcept nogil:
        """Allocate room for a row before it is played; return whether that succeeded."""
        cdef Py_ssize_t needed = self.used + 2 * row.count + 2
        return needed <= self.room or self.extend(needed)

    cdef int extend(self, Py_ssize_t needed) noexcept with gil:
        """Allocate room for that many words; a function of its own, as it takes the GIL on entry."""
        try:
            self.make_room(max(needed, 2 * self.room))
        except BaseException as failure:  # also Ctrl-C, which must not be lost
            self.failure = failure
            return False
        return True

    cdef bint write(self, const Row* row, double y) noexcept nogil:
        """Record a played row; return whether the page is complete."""
        self.weight += row.count + 3
        self.used += noregret_pack(self.words + self.used, row.values, row.indices, row.count, y)
        self.rows += 1
        return self.note() or self.weight >= self.enough

    cdef bint note(self) noexcept nogil:
        """Update the quantities that theorems need; return whether the round is a mark."""
        cdef double square = self.engine.last_gradient * self.engine.last_gradient
        cdef double total = self.gradient_squares + square
        cdef int k
        if not isfinite(total):
            self.gradient_rest = 0  # the rest of a sum that overflowed is NaN
        elif self.gradient_squares >= square:
            self.gradient_rest += (self.gradient_squares - total) + square
        else:
            self.gradient_rest += (square - total) + self.gradient_squares
        self.gradient_squares = total
        if self.engine.size > self.expected and self.late == 0:
            if self.expected == 0:
                self.expected = self.engine.size
            else:
                self.late = self.engine.rounds
        if self.engine.last_loss > self.largest_loss:
            self.largest_loss = self.engine.last_loss
        for k in range(self.watches):
            if self.first_over[k] == 0 and self.reading(self.measure[k]) > self.limit[k]:
                self.first_over[k] = self.engine.rounds
        return self.engine.rounds >= self.mark and self.engine.rounds <= LAST_EAGER_ROUND

    cdef double reading(self, int measure) noexcept nogil:
        return self.engine.most[measure] if measure < MEASURES else self.largest_loss

    cpdef hand_over(self):
        """Pass the page to the sink and begin another."""
        self.next_mark()
        self.weight = 0
        if not self.rows:
            self.deliver()
            return
        words, rows = self.page[:self.used], self.rows
        if 2 * self.used < self.room:  # the page goes on being used
            words = words.copy()
            self.used = self.rows = 0
        else:
            self.used = self.rows = 0
            self.turn_page()
        # Small pages at first, so that a short game costs little.
        if self.enough < PAGE and 2 * len(words) > self.enough:
            self.enough *= 2
        self.outbox.append((words, rows))
        self.deliver()

    cpdef deliver(self):
        """Flush pending pages; after an interruption, the next call tries again."""
        while self.outbox:
            self.sink(*self.outbox[0])
            del self.outbox[0]

    cdef void next_mark(self) noexcept:
        """Set the next mark if this one is reached."""
        cdef double after = self.engine.rounds * MARK_GROWTH
        if self.engine.rounds >= self.mark:
            self.mark = max(self.engine.rounds + 1, <long long> after)

    cdef int turn_page(self) except -1:
        """Begin another page, reusing a returned one if possible."""
        if self.spare:
            self.page = self.spare.pop()
            self.room = len(self.page)
            self.words = <double*> cnp.PyArray_DATA(<cnp.ndarray> self.page)
        else:
            self.make_room(self.room)
        return 0

    def give_back(self, words: Floats) -> None:
        """Take back a page that is no longer read."""
        base = words.base
        if isinstance(base, np.ndarray) and base.dtype == np.float64 and base.ndim == 1 and base.flags.carray \
                and base is not self.page and len(self.spare) < 16 and not any(base is page for page in self.spare):
            self.spare.append(base)

    @property
    def sum_of_squared_gradients(self) -> float:
        """Σ‖g_t‖² over the recorded rounds."""
        return self.gradient_squares + self.gradient_rest

    @property
    def first_late(self) -> int | None:
        """The round in which an unexpected feature joined, or None."""
        return self.late or None

    def get_state(self) -> tuple[Floats, dict[str, Any]]:
        """Return the current page and the numbers of the state; all pages must be flushed."""
        return self.page[:self.used].copy(), {
            "rows": self.rows, "weight": self.weight, "enough": self.enough, "mark": self.mark, "expected": self.expected,
            "late": self.late, "weighted": self.weighted,
            "gradient_squares": self.gradient_squares.hex(), "gradient_rest": self.gradient_rest.hex(),
            "largest_loss": self.largest_loss.hex(),
            "first_over": [self.first_over[k] for k in range(self.watches)],
        }

    def set_state(self, page: Floats, numbers: dict[str, Any]) -> None:
        """Restore a state, or raise ValueError if invalid."""
        cdef int k
        self.check_state(page, numbers)
        self.used = 0
        self.make_room(max(FIRST_PAGE, 2 * len(page)))
        self.page[:len(page)] = page
        self.used, self.rows, self.enough = len(page), numbers["rows"], numbers["enough"]
        self.weight = numbers["weight"]
        self.mark, self.expected, self.late = numbers["mark"], numbers["expected"], numbers["late"]
        self.weighted = numbers["weighted"]
        self.gradient_squares = float.fromhex(numbers["gradient_squares"])
        self.gradient_rest = float.fromhex(numbers["gradient_rest"])
        self.largest_loss = float.fromhex(numbers["largest_loss"])
        for k in range(self.watches):
            self.first_over[k] = numbers["first_over"][k]

    def check_state(self, page, numbers):
        """Raise ValueError for an invalid state."""
        like = self.get_state()[1]
        if not isinstance(numbers, dict) or numbers.keys() != like.keys():
            raise ValueError(f"a record's state has {', '.join(like)}")
        rounds = numbers["first_over"]
        if not isinstance(rounds, list) or len(rounds) != self.watches:
            raise ValueError("other limits were watched")
        counts = {name: value for name, value in numbers.items() if type(like[name]) is int}
        for name, value in [*counts.items(), *(("first_over", value) for value in rounds)]:
            if type(value) is not int or not 0 <= value < 2**62:
                raise ValueError(f"{name} is {value!r}: it counts rounds or numbers")
        for name in numbers.keys() - counts.keys() - {"first_over"}:
            if not isinstance(numbers[name], str) or float.fromhex(numbers[name]) != float.fromhex(numbers[name]):
                raise ValueError(f"{name} is {numbers[name]!r}: it is a number in hexadecimal digits")
        if not isinstance(page, np.ndarray) or page.dtype != np.float64 or page.ndim != 1:
            raise ValueError("a page is one row of float64")
        unpacked(np.ascontiguousarray(page), numbers["rows"])

    def watch(self, measure: str, double limit) -> int:
        """Watch for the first round in which a measurement exceeds a limit; return the watch's index."""
        if self.watches == 16:
            raise ValueError("at most 16 limits can be watched")
        self.measure[self.watches] = WATCHED.index(measure)
        self.limit[self.watches], self.first_over[self.watches] = limit, 0
        self.watches += 1
        return self.watches - 1

    def first_violation(self, int number) -> int | None:
        """Return the first round over the limit of a watch, or None."""
        if not 0 <= number < self.watches:
            raise ValueError(f"there is no watch {number}: there are {self.watches}")
        return self.first_over[number] or None


def unpacked(const double[::1] words not None, Py_ssize_t rows) -> tuple[Counts, Indices, Floats, Floats]:
    """Return (starts, indices, data, outcomes) of the rows on a page."""
    cdef Py_ssize_t most = words.shape[0], filled
    if not 0 <= 2 * rows <= most:  # each takes two words at least
        raise ValueError(NOT_ROWS)
    starts, outcomes = np.zeros(rows + 1, dtype=np.int64), np.empty(rows)
    indices, data = np.empty(most, dtype=np.int32), np.empty(most)
    filled = unpack(words, starts, indices, data, outcomes)
    return starts, indices[:filled].copy(), data[:filled].copy(), outcomes


def unpack(const double[::1] words not None, int64_t[::1] starts not None, int32_t[::1] indices not None,
           double[::1] data not None, double[::1] outcomes not None) -> int:
    """Write the rows of a page, one per outcome, into arrays; return how many numbers they have.

    The first of the starts stays: later ones continue from it, while the numbers are written from
    the beginning of their arrays.
    """
    cdef Py_ssize_t r, k, j, i, at = 0, filled = 0, rows = outcomes.shape[0], most = words.shape[0]
    cdef Py_ssize_t room = min(indices.shape[0], data.shape[0])
    cdef uint32_t runs, count, start, length, ended
    cdef const uint64_t* raw = <const uint64_t*> &words[0] if most else NULL
    if starts.shape[0] != rows + 1:
        raise ValueError(NOT_ROWS)
    with nogil:
        for r in range(rows):
            if at >= most:
                at = most + 1
                break
            runs, count = <uint32_t> raw[at], <uint32_t> (raw[at] >> 32)
            if at + 2 + runs + count > most or filled + count > room:
                at = most + 1
                break
            outcomes[r] = words[at + 1 + runs]
            k, ended = filled, 0
            for j in range(runs):
                start, length = <uint32_t> raw[at + 1 + j], <uint32_t> (raw[at + 1 + j] >> 32)
                # Increasing, within int32, and no more than there are numbers.
                if k - filled + length > count or <uint64_t> start + length > MAX_POSITIONS or start < ended:
                    at = most + 1
                    break
                ended = start + length
                # Most runs are short: four at once need no branch, and what is too much is overwritten.
                i = 0
                if k + 4 <= room:
                    indices[k], indices[k + 1] = <int32_t> start, <int32_t> (start + 1)
                    indices[k + 2], indices[k + 3] = <int32_t> (start + 2), <int32_t> (start + 3)
                    i = 4
                for i in range(i, length):
                    indices[k + i] = <int32_t> (start + i)
                k += length
            if at > most or k - filled != count:
                at = most + 1
                break
            at += 2 + runs
            if count:
                memcpy(&data[filled], &words[at], count * sizeof(double))
            at += count
            filled += count
            starts[r + 1] = starts[0] + filled
    if at != most:
        raise ValueError(NOT_ROWS)
    return filled


def packed(const int64_t[::1] starts not None, const int32_t[::1] indices not None,
           const double[::1] data not None, const double[::1] outcomes not None) -> Floats:
    """Return the words of rows, as they were before ``unpack``; the first of the starts counts as 0."""
    cdef Py_ssize_t r, k, count, used = 0, rows = outcomes.shape[0]
    cdef Py_ssize_t numbers = min(indices.shape[0], data.shape[0])
    cdef double* out
    cdef bint fits = starts.shape[0] == rows + 1
    for r in range(rows if fits else 0):
        fits = fits and starts[0] <= starts[r] <= starts[r + 1] <= starts[0] + numbers
    if not fits:
        raise ValueError(NOT_ROWS)
    words = np.empty(2 * (numbers + rows))
    out = <double*> cnp.PyArray_DATA(<cnp.ndarray> words)
    with nogil:
        for r in range(rows):
            k, count = starts[r] - starts[0], starts[r + 1] - starts[r]
            used += noregret_pack(out + used, &data[0] + k, &indices[0] + k, count, outcomes[r])
    return words[:used].copy()
