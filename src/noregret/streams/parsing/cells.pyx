"""Cells of text as numbers: equal cells have the same one."""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

import numpy as np

from noregret.base.compiled.prefetch cimport noregret_prefetch


cdef enum:
    MAX_COLUMNS = 64
    AHEAD = 32                  # cells whose places in the table are fetched into the cache together


cdef struct Cell:
    const char* text
    Py_ssize_t size
    uint64_t hash


cdef struct Text:
    Py_ssize_t start
    Py_ssize_t size
    uint64_t hash


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
    cdef Text* texts                        # where each text is
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
        free(self.texts)
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
        cdef Cell[AHEAD] cells
        cdef int ahead = 0
        try:
            with nogil:
                while at < end:
                    if at[0] == b"\n" or (at[0] == b"\r" and at + 1 < end and at[1] == b"\n"):
                        at += 1 if at[0] == b"\n" else 2
                        continue
                    number = self.line(&at, end, &joined, &wide, &cells[ahead]) if row < rows else -1
                    if number < 0:
                        break
                    row += 1
                    ahead += 1
                    # Joined cells are in one buffer.
                    if ahead == AHEAD or self.width > 1:
                        number = self.number_all(cells, ahead, &codes[row - ahead])
                        ahead = 0
                        if number < 0:
                            break
                if number >= 0 and ahead:
                    number = self.number_all(cells, ahead, &codes[row - ahead])
        finally:
            free(joined)
        if number == -2:
            raise MemoryError
        return found if row == rows and at >= end and number >= 0 else None

    cdef int64_t number_all(self, Cell* cells, int count, int64_t* codes) noexcept nogil:
        """Fill in the numbers of cells; −2 without memory."""
        cdef int k
        cdef int32_t known
        for k in range(count):
            cells[k].hash = hashed(cells[k].text, cells[k].size)
            noregret_prefetch(self.table + (cells[k].hash & <uint64_t> (self.slots - 1)))
        for k in range(count):
            known = self.table[cells[k].hash & <uint64_t> (self.slots - 1)]
            if known >= 0:
                noregret_prefetch(self.texts + known)
        for k in range(count):
            codes[k] = self.number(&cells[k])
            if codes[k] < 0:
                return codes[k]
        return 0

    cdef int64_t line(self, const char** at, const char* end, char** joined, Py_ssize_t* wide, Cell* found) noexcept nogil:
        """Fill in the cell of the row at hand, and go to the next row; −1 if it is none, −2 without memory."""
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
            found.text, found.size = starts[0], sizes[0]
            return 0
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
        found.text, found.size = joined[0], total
        return 0

    cdef int64_t number(self, const Cell* cell) noexcept nogil:
        """Return the number of a text, a new one if need be; −2 without memory."""
        cdef uint64_t h = cell.hash
        cdef Py_ssize_t at = <Py_ssize_t> (h & <uint64_t> (self.slots - 1)), size = cell.size
        cdef int32_t known = self.table[at]
        while known >= 0:
            if self.texts[known].hash == h and self.texts[known].size == size:
                if memcmp(self.arena + self.texts[known].start, cell.text, size) == 0:
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
        memcpy(self.arena + self.filled, cell.text, size)
        self.texts[self.count].start, self.texts[self.count].size, self.texts[self.count].hash = self.filled, size, h
        self.filled += size
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
            moved = realloc(self.texts, room * sizeof(Text))
            if moved == NULL:
                return False
            self.texts, self.spare = <Text*> moved, room
        return True

    cdef bint widen(self) noexcept nogil:
        """Make the table twice as large."""
        cdef Py_ssize_t slots = 2 * self.slots, k, at
        cdef int32_t* table = <int32_t*> malloc(slots * sizeof(int32_t))
        if table == NULL:
            return False
        memset(table, 0xFF, slots * sizeof(int32_t))
        for k in range(self.count):
            at = <Py_ssize_t> (self.texts[k].hash & <uint64_t> (slots - 1))
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
        text = PyUnicode_DecodeUTF8(self.arena + self.texts[code].start, self.texts[code].size, "replace")
        return text.split(chr(self.delimiter)) if self.width > 1 else [text]

    def single_cells(self, Py_ssize_t first) -> list[str] | None:
        """Return the cells of all numbers from one on; None if a number has several, or if one is not UTF-8 text."""
        cdef Py_ssize_t code
        if self.width > 1:
            return None
        try:
            return [
                PyUnicode_DecodeUTF8(self.arena + self.texts[code].start, self.texts[code].size, NULL)
                for code in range(max(0, first), self.count)
            ]
        except UnicodeDecodeError:
            return None

    def all_cells(self, Py_ssize_t first) -> list[list[str]]:
        """Return the cells of all numbers from one on."""
        return [self.cells(code) for code in range(first, self.count)]
