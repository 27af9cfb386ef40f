"""Which feature has which position: names kept exactly, or hashed into a fixed number of slots."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

import operator

import numpy as np

from noregret.core.features import check_text
from noregret.errors import BadExample


PADDING = b"\0" * 8  # names are compared by words


cdef int refuse(int status) except -1:
    """Raise what a negative answer of the collection of names means."""
    if status == NOREGRET_FULL:
        raise BadExample("more than 2^31 features: use fewer, or hash them")
    raise MemoryError


def hash_name(str name):
    """Hash a name to 64 bits: XXH64 with seed 0 of its UTF-8 bytes.

    Its slot is that number modulo the number of slots.
    """
    cdef bytes text = name.encode()
    return noregret_hash(text, <size_t> len(text))


cdef class Vocabulary:
    """Names of features and their positions, 0, 1, …, in order of first appearance.

    Parameters
    ----------
    bits
        None keeps every name. From 1 to 30: names are hashed into 2**bits slots, and it is the
        slots that get positions; names that share a slot are one feature.
    """

    def __cinit__(self, bits=None):
        memset(&self.c_names, 0, sizeof(self.c_names))
        if bits is not None:
            bits = operator.index(bits)
            if not 1 <= bits <= 30:
                raise ValueError(f"bits must be from 1 to 30: got {bits}")
            self.c_names.bits = bits

    def __dealloc__(self):
        noregret_free_names(&self.c_names)

    @property
    def bits(self):
        """How many slots there are, as a power of two; None where names are kept."""
        return self.c_names.bits or None

    @property
    def shared(self):
        """How many slots more than one name fell into; 0 where names are kept."""
        return self.c_names.shared

    def __len__(self):
        return self.c_names.count

    cdef int enter(self) except -1:
        """Refuse a second thread while one is at work without the lock."""
        if self.busy:
            raise RuntimeError("this vocabulary is in use by another thread")
        return 0

    cdef int admit_utf8(self, const char* name, size_t length, bint admit) except? -1:
        """Look a name up that is followed by padding."""
        cdef int32_t at = noregret_find_name(&self.c_names, name, length, noregret_hash(name, length), admit)
        if at < NOREGRET_UNKNOWN:
            refuse(at)
        return at

    def positions(self, names, bint admit=False):
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

    def names(self, Py_ssize_t start=0, stop=None):
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

    def cut(self, size):
        """Forget all positions from size on."""
        self.enter()
        size = operator.index(size)
        if size < 0:
            raise ValueError(f"a vocabulary cannot have {size} names")
        if size < self.c_names.count:
            noregret_cut_names(&self.c_names, size)

    def get_state(self, size=None):
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
    def from_state(cls, state, bits):
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
