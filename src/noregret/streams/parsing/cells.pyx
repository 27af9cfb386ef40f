"""Cells of text as numbers: equal cells have the same one."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

import numpy as np


cdef enum:
    MAX_COLUMNS = 64


cdef inline uint64_t hashed(const char* text, Py_ssize_t size) noexcept nogil:
    """Return a hash, eight bytes at a time."""
    cdef uint64_t h = 0x9E3779B97F4A7C15ULL ^ <uint64_t> size, word
    while size >= 8:
        memcpy(&word, text, 8)
        h = (h ^ word) * 0xFF51AFD7ED558CCDULL
        h ^= h >> 32
        text, size = text + 8, size - 8
    word = 0
    memcpy(&word, text, size)
    h = (h ^ word) * 0xC4CEB9FE1A85EC53ULL
    h ^= h >> 29
    h *= 0xFF51AFD7ED558CCDULL
    return h ^ (h >> 32)


cdef class CellCodes:
    """Numbers for the cells of some columns of CSV: 0, 1, … in order of appearance.

    Parameters
    ----------
    columns
        The positions of the columns; several cells of a row have one number together.
    delimiter
        The byte between cells.
    """

    cdef readonly Py_ssize_t count          # texts so far
    cdef Py_ssize_t width                   # columns
    cdef Py_ssize_t[64] columns
    cdef Py_ssize_t last                    # the last column that matters
    cdef char delimiter
    cdef char* arena                        # the texts, one after the other; cells joined by the delimiter
    cdef Py_ssize_t filled, room
    cdef int64_t* ends                      # where each text ends
    cdef uint64_t* hashes                   # of each text
    cdef Py_ssize_t spare                   # texts that there is room for
    cdef int32_t* table                     # open addressing: the number of a text, or −1
    cdef Py_ssize_t slots

    def __cinit__(self, columns: Sequence[int], delimiter: bytes):
        if len(delimiter) != 1 or not 0 < len(columns) <= MAX_COLUMNS or min(columns) < 0:
            raise ValueError("cells are separated by one byte, and of 1 to 64 columns")
        self.delimiter, self.width = delimiter[0], len(columns)
        for k, column in enumerate(columns):
            self.columns[k] = column
        self.last = max(columns)
        self.slots = 1024
        self.table = <int32_t*> malloc(self.slots * sizeof(int32_t))
        if self.table == NULL:
            raise MemoryError
        memset(self.table, 0xFF, self.slots * sizeof(int32_t))

    def __dealloc__(self):
        free(self.arena)
        free(self.ends)
        free(self.hashes)
        free(self.table)

    @property
    def size(self) -> int:
        """The bytes of all texts."""
        return self.filled

    def code(self, bytes text not None, Py_ssize_t rows) -> Counts | None:
        """Return the number of each row of a text of lines without quotes.

        None if there are not as many rows, or if one has too few cells; empty lines are no rows.
        """
        found = np.empty(rows, dtype=np.int64)
        cdef int64_t[::1] codes = found
        cdef const char* at = text
        cdef const char* end = at + len(text)
        cdef Py_ssize_t row = 0
        cdef int64_t number = 0
        cdef char* joined = NULL
        cdef Py_ssize_t wide = 0
        try:
            with nogil:
                while at < end:
                    if at[0] == b"\n" or (at[0] == b"\r" and at + 1 < end and at[1] == b"\n"):
                        at += 1 if at[0] == b"\n" else 2
                        continue
                    number = self.line(&at, end, &joined, &wide) if row < rows else -1
                    if number < 0:
                        break
                    codes[row] = number
                    row += 1
        finally:
            free(joined)
        if number == -2:
            raise MemoryError
        return found if row == rows and at >= end and number >= 0 else None

    cdef int64_t line(self, const char** at, const char* end, char** joined, Py_ssize_t* wide) noexcept nogil:
        """Return the number of the row at hand, and go to the next; −1 if it is none, −2 without memory."""
        cdef const char* newline = <const char*> memchr(at[0], b"\n", end - at[0])
        cdef const char* stop = end if newline == NULL else newline
        cdef const char* cell = at[0]
        cdef const char* close
        cdef const char *starts[64]
        cdef Py_ssize_t[64] sizes
        cdef Py_ssize_t column = 0, k, total
        at[0] = end if newline == NULL else newline + 1
        if stop > cell and (stop - 1)[0] == b"\r":
            stop -= 1
        while True:
            close = <const char*> memchr(cell, self.delimiter, stop - cell)
            if close == NULL:
                close = stop
            for k in range(self.width):
                if self.columns[k] == column:
                    starts[k], sizes[k] = cell, close - cell
            if column == self.last:
                break
            if close == stop:
                return -1
            cell, column = close + 1, column + 1
        if self.width == 1:
            return self.number(starts[0], sizes[0])
        total = self.width - 1
        for k in range(self.width):
            total += sizes[k]
        if total > wide[0]:
            free(joined[0])
            joined[0], wide[0] = <char*> malloc(total), total
            if joined[0] == NULL:
                wide[0] = 0
                return -2
        total = 0
        for k in range(self.width):
            if k:
                joined[0][total] = self.delimiter
                total += 1
            memcpy(joined[0] + total, starts[k], sizes[k])
            total += sizes[k]
        return self.number(joined[0], total)

    cdef int64_t number(self, const char* text, Py_ssize_t size) noexcept nogil:
        """Return the number of a text, a new one if need be; −2 without memory."""
        cdef uint64_t h = hashed(text, size)
        cdef Py_ssize_t at = <Py_ssize_t> (h & <uint64_t> (self.slots - 1)), start
        cdef int32_t known = self.table[at]
        while known >= 0:
            if self.hashes[known] == h:
                start = self.ends[known - 1] if known else 0
                if self.ends[known] - start == size and memcmp(self.arena + start, text, size) == 0:
                    return known
            at = (at + 1) & (self.slots - 1)
            known = self.table[at]
        if not self.reserve(size):
            return -2
        if 2 * self.count >= self.slots:
            if not self.widen():
                return -2
            at = <Py_ssize_t> (h & <uint64_t> (self.slots - 1))
            while self.table[at] >= 0:
                at = (at + 1) & (self.slots - 1)
        memcpy(self.arena + self.filled, text, size)
        self.filled += size
        self.ends[self.count], self.hashes[self.count] = self.filled, h
        self.table[at] = <int32_t> self.count
        self.count += 1
        return self.count - 1

    cdef bint reserve(self, Py_ssize_t size) noexcept nogil:
        """Make room for one more text."""
        cdef void* moved
        cdef Py_ssize_t room
        if self.count >= 1 << 30:
            return False
        if self.filled + size > self.room or self.arena == NULL:
            room = max(self.filled + size, 2 * self.room, 4096)
            moved = realloc(self.arena, room)
            if moved == NULL:
                return False
            self.arena, self.room = <char*> moved, room
        if self.count == self.spare:
            room = max(2 * self.spare, 512)
            moved = realloc(self.ends, room * sizeof(int64_t))
            if moved == NULL:
                return False
            self.ends = <int64_t*> moved
            moved = realloc(self.hashes, room * sizeof(uint64_t))
            if moved == NULL:
                return False
            self.hashes, self.spare = <uint64_t*> moved, room
        return True

    cdef bint widen(self) noexcept nogil:
        """Make the table twice as large."""
        cdef Py_ssize_t slots = 2 * self.slots, k, at
        cdef int32_t* table = <int32_t*> malloc(slots * sizeof(int32_t))
        if table == NULL:
            return False
        memset(table, 0xFF, slots * sizeof(int32_t))
        for k in range(self.count):
            at = <Py_ssize_t> (self.hashes[k] & <uint64_t> (slots - 1))
            while table[at] >= 0:
                at = (at + 1) & (slots - 1)
            table[at] = <int32_t> k
        free(self.table)
        self.table, self.slots = table, slots
        return True

    def cells(self, Py_ssize_t code) -> list[str]:
        """Return the cells that have a number."""
        if not 0 <= code < self.count:
            raise IndexError(code)
        cdef int64_t start = self.ends[code - 1] if code else 0
        cdef bytes text = PyBytes_FromStringAndSize(self.arena + start, self.ends[code] - start)
        return text.decode("utf-8", "replace").split(chr(self.delimiter)) if self.width > 1 else [
            text.decode("utf-8", "replace")
        ]

    def all_cells(self, Py_ssize_t first) -> list[list[str]]:
        """Return the cells of all numbers from one on."""
        return [self.cells(code) for code in range(first, self.count)]
