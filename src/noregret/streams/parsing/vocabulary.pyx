"""Names to positions, kept or hashed, and columns of text to rows of them."""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint64_t, uint8_t, uintptr_t
from libc.string cimport memset

import operator

import numpy as np

from noregret.errors import BadExample
from noregret.linear.engine.features import check_text

# Which feature has which position: names kept exactly, or hashed into a fixed number of slots.


PADDING = b"\0" * 8  # names are compared by words


cdef int refuse(int status) except -1:
    """Raise the exception for a negative return value of the C functions."""
    if status == NOREGRET_FULL:
        raise BadExample("more than 2^31 features", "use fewer, or hash them")
    raise MemoryError


def hash_name(str name) -> int:
    """Hash a name to 64 bits: XXH64 with seed 0 of its UTF-8 bytes.

    Its slot is that number modulo the number of slots.
    """
    cdef bytes text = name.encode()
    return noregret_hash(text, <size_t> len(text))


cdef int64_t serials = 0  # given so far
LOOKED_UP_PER_COPY = 8  # names looked up for each one copied


cdef class KnownNames:
    """A copy of a vocabulary to search in other threads while names are added to the original."""

    def __dealloc__(self):
        noregret_free_names(&self.c_names)


cdef class Vocabulary:
    """Names of features and their positions, 0, 1, …, in order of first appearance.

    Parameters
    ----------
    bits
        None keeps every name. From 1 to 30: names are hashed into 2**bits slots, and it is the
        slots that get positions; names that share a slot are one feature.
    """

    def __cinit__(self, bits: int | None = None):
        memset(&self.c_names, 0, sizeof(self.c_names))
        self.renew()
        if bits is not None:
            bits = operator.index(bits)
            if not 1 <= bits <= 30:
                raise ValueError(f"bits must be from 1 to 30: got {bits}")
            self.c_names.bits = bits

    def __dealloc__(self):
        noregret_free_names(&self.c_names)

    @property
    def bits(self) -> int | None:
        """The base-2 logarithm of the number of slots; None if names are kept."""
        return self.c_names.bits or None

    @property
    def shared(self) -> int:
        """The number of slots that several names share; 0 if names are kept."""
        return self.c_names.shared

    def __len__(self) -> int:
        return self.c_names.count

    cdef void renew(self):
        """Make copies made so far those of another vocabulary."""
        global serials
        serials += 1
        self.serial, self.known, self.looked_up = serials, None, 0

    cdef int note(self, int64_t entries) except -1:
        """Note that names were looked up; copy the names again once that is worth it."""
        cdef KnownNames known
        self.looked_up += entries
        if self.looked_up < LOOKED_UP_PER_COPY * self.c_names.count and self.known is not None:
            return 0
        self.looked_up = 0
        if self.known is None or self.known.c_names.count < self.c_names.count:
            known = KnownNames()
            if not noregret_copy_names(&known.c_names, &self.c_names):
                raise MemoryError
            known.serial, self.known = self.serial, known
        return 0

    cdef int enter(self) except -1:
        """Raise an error if another thread is using it without the GIL."""
        if self.busy:
            raise RuntimeError("this vocabulary is in use by another thread")
        return 0

    cdef int admit_utf8(self, const char* name, size_t length, bint admit) except? -1:
        """Look a name up that is followed by padding."""
        cdef int32_t at = noregret_find_name(
            &self.c_names, name, length, noregret_name_hash(self.c_names.bits, name, length), admit,
        )
        if at < NOREGRET_UNKNOWN:
            refuse(at)
        return at

    def positions(self, names: Sequence[str], bint admit=False) -> Indices:
        """Look names up; those unknown are admitted in the order given, or get -1."""
        cdef Py_ssize_t k
        cdef bytes text
        self.enter()
        names = list(names)
        found = np.empty(len(names), np.int32)
        cdef int32_t[::1] at = found
        for k, name in enumerate(names):
            if not isinstance(name, str):
                raise TypeError(f"feature names are strings: got {name!r}")
            check_text(name)
            text = name.encode() + PADDING
            at[k] = self.admit_utf8(text, <size_t> (len(text) - len(PADDING)), admit)
        return found

    def names(self, Py_ssize_t start=0, stop: int | None = None) -> list[str]:
        """Return the names of the positions from start up to stop."""
        self.enter()
        cdef Py_ssize_t k
        cdef int64_t begin, end
        cdef list names = []
        start, end_at, _ = slice(start, stop).indices(self.c_names.count)
        for k in range(start, end_at):
            if self.c_names.bits:
                names.append(f"#{self.c_names.owners[k] & ((<uint64_t> 1 << self.c_names.bits) - 1)}")
            else:
                begin, end = self.c_names.ends[k - 1] if k else 0, self.c_names.ends[k]
                names.append(self.c_names.bytes[begin:end].decode("utf-8"))
        return names

    def cut(self, size: int) -> None:
        """Forget all positions from size on."""
        self.enter()
        size = operator.index(size)
        if size < 0:
            raise ValueError(f"a vocabulary cannot have {size} names")
        if size < self.c_names.count:
            noregret_cut_names(&self.c_names, size)
            self.renew()

    def get_state(self, size: int | None = None) -> dict[str, NDArray[Any]]:
        """Return all of it, or the first positions only, as plain arrays."""
        self.enter()
        cdef int64_t count = self.c_names.count if size is None else min(max(operator.index(size), 0), self.c_names.count)
        cdef int64_t used
        if self.c_names.bits:
            return {
                "owners": copied(<char*> self.c_names.owners, count * 8, np.uint64),
                "taken": copied(<char*> self.c_names.taken, count, np.uint8),
            }
        used = self.c_names.ends[count - 1] if count else 0
        return {
            "bytes": copied(self.c_names.bytes, used, np.uint8),
            "ends": copied(<char*> self.c_names.ends, count * 8, np.int64),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, NDArray[Any]], bits: int | None) -> Vocabulary:
        """Make a copy from a state; a ValueError says what in it does not fit together."""
        cdef Vocabulary copy = cls(bits)
        wanted = {"owners": np.uint64, "taken": np.uint8} if bits is not None else {"bytes": np.uint8, "ends": np.int64}
        if set(state) != set(wanted):
            raise ValueError(f"a vocabulary is made of {' and '.join(sorted(wanted))}: got {', '.join(sorted(state)) or 'nothing'}")
        for key, dtype in wanted.items():
            if not isinstance(state[key], np.ndarray) or state[key].dtype != dtype or state[key].ndim != 1:
                raise ValueError(f"a vocabulary's {key} must be one row of {np.dtype(dtype)}")
        if bits is not None:
            admit_slots(copy, np.ascontiguousarray(state["owners"]), np.ascontiguousarray(state["taken"]))
        else:
            admit_names(copy, np.ascontiguousarray(state["bytes"]), np.ascontiguousarray(state["ends"]))
        return copy


cdef object copied(const char* data, int64_t size, object dtype):
    """An array with a copy of the bytes."""
    return np.frombuffer(data[:size], dtype).copy() if size else np.empty(0, dtype)


cdef int admit_slots(Vocabulary copy, const uint64_t[::1] owners, const uint8_t[::1] taken) except -1:
    cdef Py_ssize_t k
    if owners.shape[0] != taken.shape[0]:
        raise ValueError(f"{owners.shape[0]} owners of slots, but {taken.shape[0]} marks of those taken twice")
    for k in range(owners.shape[0]):
        at = noregret_find_name(&copy.c_names, NULL, 0, owners[k], True)
        if at < 0:
            refuse(at)
        if at != k:
            raise ValueError(f"positions {at} and {k} of the vocabulary stand for the same slot")
        if taken[k] > 1:
            raise ValueError(f"position {k} of the vocabulary is marked {taken[k]}: a mark is 0 or 1")
        copy.c_names.taken[k] = taken[k]
        copy.c_names.shared += taken[k]
    return 0


cdef int admit_names(Vocabulary copy, const uint8_t[::1] text, const int64_t[::1] ends) except -1:
    cdef Py_ssize_t k
    cdef int64_t start = 0
    cdef bytes padded = bytes(text) + PADDING
    cdef const char* first = padded
    for k in range(ends.shape[0]):
        if not start <= ends[k] <= text.shape[0]:
            raise ValueError(f"name {k} of the vocabulary ends at {ends[k]}, outside of its text")
        if ends[k] - start > 0:
            try:
                first[start:ends[k]].decode("utf-8")
            except UnicodeDecodeError:
                raise ValueError(f"name {k} of the vocabulary is not valid text") from None
        at = copy.admit_utf8(first + start, <size_t> (ends[k] - start), True)
        if at != k:
            raise ValueError(f"positions {at} and {k} of the vocabulary have the same name")
        start = ends[k]
    if start != text.shape[0]:
        raise ValueError(f"the names of the vocabulary take {start} bytes, but there are {text.shape[0]}")
    return 0


# Rows put together from columns, and what a row comes to: its mean and its median.

cdef Py_ssize_t TILE = 64
# Up to this many numbers are sorted by insertion; for more, the middle is searched for.
cdef Py_ssize_t MAX_INSERTION_SORT = 48


def assembled(const double[:, ::1] numbers not None, const int32_t[::1] places not None,
              const int32_t[:, ::1] indicators not None) -> tuple[Counts, Indices, Floats]:
    """Return (starts, indices, data) of rows with numbers at their places and indicators of 1.

    What is at −1 is absent. What falls in one place is added up.
    """
    cdef Py_ssize_t rows = max(numbers.shape[0], indicators.shape[0]), n = places.shape[0], c = indicators.shape[1]
    cdef Py_ssize_t r, k, j, first, filled = 0
    cdef int32_t place
    cdef double value
    if numbers.shape[0] != (rows if n else numbers.shape[0]) or numbers.shape[1] < n or (c and indicators.shape[0] != rows):
        raise ValueError(f"{rows} rows, but not as many numbers and indicators as there are places for")
    made_starts = np.zeros(rows + 1, dtype=np.int64)
    made_indices, made_data = np.empty(rows * (n + c), dtype=np.int32), np.empty(rows * (n + c))
    cdef int64_t[::1] starts = made_starts
    cdef int32_t[::1] indices = made_indices
    cdef double[::1] data = made_data
    with nogil:
        for r in range(rows):
            first = filled
            for k in range(n + c):
                if k < n:
                    place, value = places[k], numbers[r, k]
                else:
                    place, value = indicators[r, k - n], 1.0
                if place < 0:
                    continue
                j = filled
                while j > first and indices[j - 1] > place:
                    j -= 1
                if j > first and indices[j - 1] == place:
                    data[j - 1] += value
                    continue
                insert(&indices[0], &data[0], j, filled, place, value)
                filled += 1
            starts[r + 1] = filled
    return made_starts, made_indices[:filled], made_data[:filled]


def stacked(columns: Sequence[Floats | None], Py_ssize_t rows) -> tuple[Floats, bool]:
    """Return columns of float64 side by side as rows, and whether any number is NaN; None is a column of ones."""
    columns = list(columns)
    cdef Py_ssize_t n = len(columns), k, r, first = 0, last
    cdef double value
    cdef bint odd = False
    ones = np.ones(rows)
    held = [np.ascontiguousarray(ones if given is None else given, dtype=np.float64) for given in columns]
    if any(given.shape != (rows,) for given in held):
        raise ValueError("the columns have different lengths")
    made = np.empty((rows, n))
    cdef double[:, ::1] X = made
    cdef double* out = &X[0, 0] if rows and n else NULL
    cdef uintptr_t[::1] starts = np.array([given.ctypes.data for given in held], dtype=np.uintp)
    with nogil:
        # A few rows at a time, so that those being written stay in cache.
        while first < rows:
            last = min(first + TILE, rows)
            for k in range(n):
                for r in range(first, last):
                    value = (<const double*> starts[k])[r]
                    out[r * n + k] = value
                    odd |= value != value
            first = last
    return made, bool(odd)


def summarise(double[:, ::1] X not None, const int32_t[::1] columns not None, Py_ssize_t mean_at,
              Py_ssize_t median_at) -> int:
    """Write the mean and the median of some columns into others, −1 for nowhere.

    NaN does not count; of nothing but NaN both are NaN. Returns how many rows are so.
    """
    cdef Py_ssize_t rows = X.shape[0], width = X.shape[1], n = columns.shape[0], r, k, count, empty = 0
    cdef double value, total
    cdef double* x
    if not (-1 <= mean_at < width and -1 <= median_at < width):
        raise ValueError(f"there are no columns {mean_at} and {median_at} of {width}")
    for k in range(n):
        if not 0 <= columns[k] < width:
            raise ValueError(f"there is no column {columns[k]} of {width}")
    cdef double[::1] held = np.empty(n + 1)
    cdef double* awake = &held[0]
    with nogil:
        for r in range(rows):
            x = &X[r, 0]
            count, total = 0, 0.0
            for k in range(n):
                value = x[columns[k]]
                if value == value:
                    awake[count] = value
                    total += value
                    count += 1
            if mean_at >= 0:
                x[mean_at] = total / count if count else NAN
            if median_at >= 0:
                x[median_at] = median(awake, count) if count else NAN
            empty += count == 0
    return empty


cdef double median(double* x, Py_ssize_t count) noexcept nogil:
    """The middle number, or the mean of the two; their order changes."""
    cdef Py_ssize_t half = count // 2, k
    cdef double below
    if count <= MAX_INSERTION_SORT:
        sort_few(x, count)
        return x[half] if count % 2 else 0.5 * (x[half - 1] + x[half])
    part_at(x, count, half)
    if count % 2:
        return x[half]
    below = x[0]
    for k in range(1, half):
        below = max(below, x[k])
    return 0.5 * (below + x[half])


cdef inline void sort_few(double* x, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k, j
    cdef double value
    for k in range(1, count):
        value, j = x[k], k
        while j > 0 and x[j - 1] > value:
            x[j] = x[j - 1]
            j -= 1
        x[j] = value


cdef void part_at(double* x, Py_ssize_t count, Py_ssize_t wanted) noexcept nogil:
    """Partition numbers so that none before a place is larger, and none after it smaller."""
    cdef Py_ssize_t low = 0, high = count - 1, i, j
    cdef double pivot
    while low < high:
        pivot = x[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            return


cdef inline void insert(int32_t* indices, double* data, Py_ssize_t at, Py_ssize_t end, int32_t place, double value) noexcept nogil:
    """Insert an entry at its sorted position."""
    cdef Py_ssize_t k = end
    while k > at:
        indices[k], data[k] = indices[k - 1], data[k - 1]
        k -= 1
    indices[at], data[at] = place, value
