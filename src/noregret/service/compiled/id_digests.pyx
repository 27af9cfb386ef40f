"""Digests of ids, tables of recent ones, and the bits of a Bloom filter over the others."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

import numpy as np

cdef extern from "id_digests.h" nogil:
    ctypedef struct noregret_id:
        const char* start
        Py_ssize_t size

    void noregret_digest_ids(const noregret_id* ids, Py_ssize_t count, uint64_t* out)

cdef extern from "bits.h" nogil:
    void PREFETCH(const void* address)

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

cdef enum:
    PROBES = 5  # bits of each digest
    LEAST_ROOM = 1024  # digests of a table, at first
    AHEAD = 12         # digests whose first bit is fetched before it is needed


def digest_of(str name not None) -> int:
    """Return 64 bits of an id that hardly any other has: those of BLAKE2b."""
    cdef uint64_t found
    cdef noregret_id id
    id.start = PyUnicode_AsUTF8AndSize(name, &id.size)
    noregret_digest_ids(&id, 1, &found)
    return found


def digests_of(list names not None) -> Digests:
    """Return the digests of ids."""
    return np.array([digest_of(name) for name in names], np.uint64)


cdef class IdTable:
    """The entries of ids by their digests, in the order in which they came."""

    cdef uint64_t* digests
    cdef int64_t* entries
    cdef int32_t* slots  # the places of digests, at most half of them taken; -1 for none
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t room

    def __cinit__(self):
        self.reserve(LEAST_ROOM)

    def __dealloc__(self):
        free(self.digests)
        free(self.entries)
        free(self.slots)

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Make room for a number of digests."""
        cdef Py_ssize_t k, room = max(self.room, LEAST_ROOM)
        while room < size:
            room *= 2
        if room == self.room:
            return 0
        digests = <uint64_t*> realloc(self.digests, room * sizeof(uint64_t))
        if digests != NULL:
            self.digests = digests
        entries = <int64_t*> realloc(self.entries, room * sizeof(int64_t))
        if entries != NULL:
            self.entries = entries
        slots = <int32_t*> malloc(2 * room * sizeof(int32_t))
        if digests == NULL or entries == NULL or slots == NULL:
            free(slots)
            raise MemoryError
        free(self.slots)
        self.slots, self.room = slots, room
        memset(slots, 0xff, 2 * room * sizeof(int32_t))
        for k in range(self.count):
            self.slots[self.free_slot(self.digests[k])] = <int32_t> k
        return 0

    cdef inline Py_ssize_t first_slot(self, uint64_t digest) noexcept nogil:
        return <Py_ssize_t> (digest & (2 * <uint64_t> self.room - 1))

    cdef inline Py_ssize_t next_slot(self, Py_ssize_t slot) noexcept nogil:
        return (slot + 1) & (2 * self.room - 1)

    cdef inline Py_ssize_t free_slot(self, uint64_t digest) noexcept nogil:
        cdef Py_ssize_t slot = self.first_slot(digest)
        while self.slots[slot] >= 0:
            slot = self.next_slot(slot)
        return slot

    cdef inline Py_ssize_t new_slot(self, uint64_t digest) noexcept nogil:
        """Return the slot for a digest, or -1 if it is there."""
        cdef Py_ssize_t slot = self.first_slot(digest)
        while self.slots[slot] >= 0:
            if self.digests[self.slots[slot]] == digest:
                return -1
            slot = self.next_slot(slot)
        return slot

    def are_new(self, const uint64_t[::1] digests not None) -> bool:
        """Return whether digests differ from each other and from all that are here."""
        cdef Py_ssize_t k, slot, before = self.count
        self.reserve(before + digests.shape[0])
        for k in range(digests.shape[0]):  # added, and taken away again
            slot = self.new_slot(digests[k])
            if slot < 0:
                break
            self.digests[self.count] = digests[k]
            self.slots[slot] = <int32_t> self.count
            self.count += 1
        cdef bint new = self.count - before == digests.shape[0]
        while self.count > before:
            self.count -= 1
            slot = self.first_slot(self.digests[self.count])
            while self.slots[slot] != self.count:
                slot = self.next_slot(slot)
            self.slots[slot] = -1
        return new

    def add(self, uint64_t digest, int64_t entry) -> None:
        """Add an entry."""
        self.reserve(self.count + 1)
        self.put(digest, entry)

    def add_all(self, const uint64_t[::1] digests not None, int64_t first) -> None:
        """Add entries, which are numbered from ``first`` on."""
        cdef Py_ssize_t k
        self.reserve(self.count + digests.shape[0])
        for k in range(digests.shape[0]):
            self.put(digests[k], first + k)

    cdef inline void put(self, uint64_t digest, int64_t entry) noexcept nogil:
        self.digests[self.count], self.entries[self.count] = digest, entry
        self.slots[self.free_slot(digest)] = <int32_t> self.count
        self.count += 1

    def find(self, uint64_t digest) -> list[int]:
        """Return the entries of a digest."""
        cdef Py_ssize_t slot = self.first_slot(digest)
        found = []
        while self.slots[slot] >= 0:
            if self.digests[self.slots[slot]] == digest:
                found.append(self.entries[self.slots[slot]])
            slot = self.next_slot(slot)
        return found

    def clear(self) -> None:
        """Forget all, and keep the room for as many."""
        memset(self.slots, 0xff, 2 * self.room * sizeof(int32_t))
        self.count = 0

    def columns(self) -> tuple[Digests, Counts]:
        """Return all digests, and their entries."""
        cdef Py_ssize_t k
        digests, entries = np.empty(self.count, np.uint64), np.empty(self.count, np.int64)
        cdef uint64_t[::1] some = digests
        cdef int64_t[::1] others = entries
        for k in range(self.count):
            some[k], others[k] = self.digests[k], self.entries[k]
        return digests, entries


cdef inline uint64_t place(uint64_t digest, uint64_t probe, uint64_t mask) noexcept nogil:
    return (digest + probe * (digest >> 32 | 1)) & mask


cdef inline bint is_in(const unsigned char* bits, uint64_t mask, uint64_t digest) noexcept nogil:
    cdef uint64_t at, probe
    for probe in range(PROBES):
        at = place(digest, probe, mask)
        if not bits[at >> 3] >> (at & 7) & 1:
            return False
    return True


# The number of bits is a power of two.

def may_have(bytearray bits not None, const uint64_t[::1] digests not None) -> NDArray[np.bool_]:
    """Return, for each of some digests, False if it was never added."""
    cdef const unsigned char* each = <const unsigned char*> PyByteArray_AS_STRING(bits)
    cdef uint64_t mask = 8 * <uint64_t> len(bits) - 1
    cdef Py_ssize_t k
    found = np.empty(digests.shape[0], np.bool_)
    cdef unsigned char[::1] out = found.view(np.uint8)
    for k in range(min(AHEAD, digests.shape[0])):
        PREFETCH(each + (place(digests[k], 0, mask) >> 3))
    for k in range(digests.shape[0]):
        if k + AHEAD < digests.shape[0]:
            PREFETCH(each + (place(digests[k + AHEAD], 0, mask) >> 3))
        out[k] = is_in(each, mask, digests[k])
    return found


def has(bytearray bits not None, uint64_t digest) -> bool:
    """Return False if a digest was never added."""
    return is_in(<const unsigned char*> PyByteArray_AS_STRING(bits), 8 * <uint64_t> len(bits) - 1, digest)


def add(bytearray bits not None, const uint64_t[::1] digests not None) -> None:
    """Add digests."""
    cdef unsigned char* each = <unsigned char*> PyByteArray_AS_STRING(bits)
    cdef uint64_t at, probe, mask = 8 * <uint64_t> len(bits) - 1
    cdef Py_ssize_t k
    for k in range(digests.shape[0]):
        for probe in range(PROBES):
            at = place(digests[k], probe, mask)
            each[at >> 3] |= <unsigned char> (1 << (at & 7))
