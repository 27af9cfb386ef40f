"""Blocks of text files, read into rows of numbers with the GIL released.

A block holds whole lines. Lines that cannot be read are skipped, each with a fault that says where
and why; the caller decides what to do about them.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from noregret.streams.parsing.vocabulary cimport KnownNames, Vocabulary, noregret_names, refuse

import numpy as np

from noregret.streams.parsing.parsed_rows import MESSAGES, Csv, Fault, Rows


cdef extern from "numbers.h" nogil:
    int NOREGRET_BEHIND_FIELD
    void noregret_prepare_numbers()
    const char* noregret_read_number(const char* at, const char* end, double* value)
    int noregret_read_field(const char* at, const char* end, double* value)


cdef extern from "text.h" nogil:
    ctypedef struct noregret_fault:
        int64_t row
        int64_t line
        int64_t start
        int64_t at
        int kind

    ctypedef struct noregret_lines:
        int64_t* starts
        double* outcomes
        double* importances
        double* bases
        int64_t* lines
        int64_t* tags
        int64_t count
        noregret_fault* faults
        int64_t fault_count
        int64_t line_count
        int weighted
        int based
        int tagged
        int failed

    ctypedef struct noregret_rows:
        noregret_lines lines
        int32_t* indices
        double* data
        int64_t count
        int64_t room

    ctypedef struct noregret_scanned:
        noregret_lines lines
        int hashed
        const noregret_names* known
        int32_t* indices
        double* data
        int64_t filled

    ctypedef struct noregret_table:
        double* X
        double* outcomes
        int64_t* lines
        int64_t width
        int64_t rows
        int64_t line_count
        int64_t asleep
        int returns

    int NOREGRET_STOP, NOREGRET_ZERO, NOREGRET_ASLEEP
    void noregret_read_svmlight(noregret_rows* rows, const char* text, size_t size, int intercept, int scored)
    void noregret_scan_svmlight(noregret_scanned* scanned, const char* text, size_t size, int intercept, int scored)
    void noregret_scan_vw(noregret_scanned* scanned, const char* text, size_t size, int intercept, int scored)
    int noregret_resolve(noregret_scanned* scanned, noregret_names* names, int admitting, const double* outcomes)
    int noregret_read_csv(noregret_table* table, const char* text, size_t size, int64_t columns, const int32_t* places, char delimiter, int missing)
    int64_t noregret_count_lines(const char* text, size_t size)
    void noregret_free_rows(noregret_rows* rows)
    void noregret_free_scanned(noregret_scanned* scanned)


noregret_prepare_numbers()

cdef dict MISSING = {"stop": NOREGRET_STOP, "zero": NOREGRET_ZERO, "asleep": NOREGRET_ASLEEP}


cdef class Memory:
    """A C buffer owned by an array, and freed with it."""

    cdef void* data
    cdef Py_ssize_t size

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.data, self.size, 0, flags)


cdef object take(void** data, int64_t count, size_t item, object dtype):
    """Make an array of a block of memory, cut to what is used of it, which it then owns."""
    cdef Memory memory = Memory.__new__(Memory)
    cdef void* smaller
    if count == 0:
        return np.zeros(0, dtype)
    smaller = realloc(data[0], <size_t> count * item)
    memory.data, memory.size = smaller if smaller != NULL else data[0], <Py_ssize_t> (<size_t> count * item)
    data[0] = NULL
    return np.frombuffer(memory, dtype)


cdef class Text:
    """The bytes of any object that has some, for as long as they are read."""

    cdef Py_buffer buffer
    cdef const char* start
    cdef size_t size

    def __cinit__(self, source):
        PyObject_GetBuffer(source, &self.buffer, PyBUF_SIMPLE)
        self.start, self.size = <const char*> self.buffer.buf, <size_t> self.buffer.len

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)

    cdef bytes part(self, int64_t start, int64_t end):
        return self.start[start:end] if end > start else b""

    cdef str word(self, int64_t at):
        """The text at the fault, for a message."""
        cdef int64_t end = at
        while end < <int64_t> self.size and end - at < 40 and self.start[end] not in b" \t\r\n":
            if self.start[end] == b"|" and end > at:
                break
            end += 1
        word = self.part(at, end).decode("utf-8", "replace")
        return repr(word if len(word) <= 30 else word[:29] + "…")


cdef list faults_of(noregret_lines* lines, Text text, int64_t first_line):
    cdef list faults = []
    cdef int64_t k
    cdef noregret_fault fault
    for k in range(lines.fault_count):
        fault = lines.faults[k]
        message = MESSAGES[fault.kind].format(word=text.word(fault.at))
        column = 1 + len(text.part(fault.start, fault.at).decode("utf-8", "replace"))
        faults.append(Fault(fault.row, first_line + fault.line, column, message))
    return faults


cdef list tags_of(noregret_lines* lines, Text text):
    cdef int64_t k
    if not lines.tagged:
        return None
    return [text.part(lines.tags[2 * k], lines.tags[2 * k + 1]).decode("utf-8") for k in range(lines.count)]


cdef object numbered(noregret_lines* lines, int64_t first_line):
    """The lines' numbers, counted from the first."""
    cdef int64_t k
    for k in range(lines.count):
        lines.lines[k] += first_line
    return take(<void**> &lines.lines, lines.count, 8, np.int64)


cdef object starts_of(noregret_lines* lines):
    return take(<void**> &lines.starts, lines.count + 1, 8, np.int64) if lines.count else np.zeros(1, np.int64)


cdef class Scanned:
    """Lines whose features still go by their names."""

    cdef noregret_scanned c_scanned
    cdef KnownNames known
    cdef bint resolved
    cdef readonly object outcomes  # type: Floats
    cdef readonly object importances  # type: Floats | None
    cdef readonly object bases  # type: Floats | None
    cdef readonly object lines  # type: Counts
    cdef readonly object tags  # type: list[str] | None
    cdef readonly object faults  # type: list[Fault]
    cdef readonly object line_count  # type: int

    def __cinit__(self):
        memset(&self.c_scanned, 0, sizeof(self.c_scanned))

    def __dealloc__(self):
        noregret_free_scanned(&self.c_scanned)

    cdef void look_up(self, bint hashed, KnownNames known):
        """Set how names are hashed, and which of them have positions already."""
        self.c_scanned.hashed = hashed
        if known is not None and bool(known.c_names.bits) == hashed:
            self.known, self.c_scanned.known = known, &known.c_names

    cdef int finish(self, Text text, int64_t first_line) except -1:
        cdef noregret_lines* lines = &self.c_scanned.lines
        if lines.failed:
            raise MemoryError
        self.faults, self.tags = faults_of(lines, text, first_line), tags_of(lines, text)
        self.outcomes = take(<void**> &lines.outcomes, lines.count, 8, np.float64)
        self.importances = take(<void**> &lines.importances, lines.count, 8, np.float64) if lines.weighted else None
        self.bases = take(<void**> &lines.bases, lines.count, 8, np.float64) if lines.based else None
        self.lines, self.line_count = numbered(lines, first_line), lines.line_count
        return 0


def scan_svmlight(text: Buffer, int64_t first_line, bint intercept, bint scored=False, bint hashed=False,
                  KnownNames known=None) -> Scanned:
    """Read lines of positions and values, to be looked up by name: stateless, for any thread."""
    cdef Text source = Text(text)
    cdef Scanned scanned = Scanned()
    scanned.look_up(hashed, known)
    with nogil:
        noregret_scan_svmlight(&scanned.c_scanned, source.start, source.size, intercept, scored)
    scanned.finish(source, first_line)
    return scanned


def scan_vw(text: Buffer, int64_t first_line, bint intercept, bint scored=False, bint hashed=False,
            KnownNames known=None) -> Scanned:
    """Read lines in Vowpal Wabbit's format: stateless, for any thread.

    Names that are known, from an earlier state of the vocabulary, are looked up here.
    """
    cdef Text source = Text(text)
    cdef Scanned scanned = Scanned()
    scanned.look_up(hashed, known)
    with nogil:
        noregret_scan_vw(&scanned.c_scanned, source.start, source.size, intercept, scored)
    scanned.finish(source, first_line)
    return scanned


def resolve_vw(Scanned scanned not None, Vocabulary vocabulary not None, bint admit=True, bint learning=False) -> Rows:
    """Assign positions to the other names, block by block in order, and each block once.

    Names not admitted are left out of the rows. In learning, rows without an outcome admit none.
    """
    cdef const double[::1] outcomes = scanned.outcomes
    cdef const double* given = &outcomes[0] if learning and outcomes.shape[0] else NULL
    cdef noregret_scanned* found = &scanned.c_scanned
    cdef int status
    if found.hashed != (vocabulary.c_names.bits != 0):
        raise ValueError("these lines were scanned for a vocabulary of the other kind, hashed or not")
    if scanned.known is not None and scanned.known.serial != vocabulary.serial:
        raise ValueError("these lines were scanned for another vocabulary")
    if scanned.resolved:
        raise ValueError("these lines have their positions already")
    vocabulary.enter()
    scanned.resolved = vocabulary.busy = True
    try:
        with nogil:
            status = noregret_resolve(found, &vocabulary.c_names, admit, given)
        if status < 0:
            refuse(status)
        vocabulary.note(found.filled)
    finally:
        vocabulary.busy = False
    return Rows(
        starts_of(&found.lines),
        take(<void**> &found.indices, found.filled, 4, np.int32),
        take(<void**> &found.data, found.filled, 8, np.float64),
        scanned.outcomes, scanned.importances, scanned.lines, scanned.tags, scanned.faults, scanned.line_count,
        scanned.bases,
    )


def parse_svmlight(text: Buffer, int64_t first_line, bint intercept, Vocabulary vocabulary=None,
                   bint scored=False) -> Rows:
    """Read lines of positions and values; with a vocabulary, it says where each index goes."""
    cdef Text source
    cdef noregret_rows rows
    cdef noregret_lines* lines = &rows.lines
    if vocabulary is not None:
        return resolve_vw(scan_svmlight(text, first_line, intercept, scored, vocabulary.bits is not None), vocabulary)
    source = Text(text)
    memset(&rows, 0, sizeof(rows))
    try:
        with nogil:
            noregret_read_svmlight(&rows, source.start, source.size, intercept, scored)
        if lines.failed:
            raise MemoryError
        faults = faults_of(lines, source, first_line)
        return Rows(
            starts_of(lines),
            take(<void**> &rows.indices, rows.count, 4, np.int32),
            take(<void**> &rows.data, rows.count, 8, np.float64),
            take(<void**> &lines.outcomes, lines.count, 8, np.float64),
            None, numbered(lines, first_line), None, faults, lines.line_count,
        )
    finally:
        noregret_free_rows(&rows)


def parse_csv(text: Buffer, int64_t columns, const int32_t[::1] places not None, int64_t width, bytes delimiter,
              str missing: Literal["stop", "zero", "asleep"], int64_t first_line=1) -> Csv:
    """Read a table in which every cell that is used is a plain number, or empty; else give up.

    `places` says for each column where it goes in the output, -1 for nowhere, -2 for the outcome.
    Output columns that nothing fills are 1. With missing="asleep" empty cells and words for nothing
    are NaN, the outcome's too; their number is `asleep`.
    """
    cdef Text source = Text(text)
    cdef noregret_table table
    cdef int64_t room
    cdef int plain
    cdef int empty
    cdef char between
    cdef Py_ssize_t c
    cdef double[:, ::1] X
    cdef double[::1] outcomes
    cdef int64_t[::1] lines
    if len(delimiter) != 1 or delimiter in b"\r\n\"":
        raise ValueError(f"a delimiter is one byte, no quote and no line break: got {delimiter!r}")
    if missing not in MISSING:
        raise ValueError(f"missing must be 'stop', 'zero' or 'asleep': got {missing!r}")
    empty = MISSING[missing]
    if columns < 1 or width < 0 or places.shape[0] != columns:
        raise ValueError(f"{places.shape[0]} places for {columns} columns and a width of {width}")
    for c in range(columns):
        if not -2 <= places[c] < width:
            raise ValueError(f"column {c} cannot go to place {places[c]} of {width}")
    between = delimiter[0]
    with nogil:
        room = noregret_count_lines(source.start, source.size)
    all_X, all_outcomes, all_lines = np.empty((room, width)), np.empty(room), np.empty(room, np.int64)
    X, outcomes, lines = all_X, all_outcomes, all_lines
    memset(&table, 0, sizeof(table))
    table.width = width
    if room:
        table.outcomes, table.lines = &outcomes[0], &lines[0]
        table.X = &X[0, 0] if width else &outcomes[0]
    with nogil:
        plain = noregret_read_csv(&table, source.start, source.size, columns, &places[0], between, empty)
    if plain < 0:
        raise MemoryError
    rows = table.rows if plain else 0
    every = rows == room
    if not every:
        all_lines = all_lines[:rows] + first_line
    return Csv(all_X[:rows], all_outcomes[:rows], None if every else all_lines, table.line_count, [], bool(plain), table.asleep, bool(table.returns))


def count_lines(text: Buffer) -> int:
    """Count the lines of a text; the last may lack its newline."""
    cdef Text source = Text(text)
    cdef int64_t count
    with nogil:
        count = noregret_count_lines(source.start, source.size)
    return count


cdef const char* newline_from(const char* at, const char* end) noexcept nogil:
    while at < end and at[0] != b"\n":
        at += 1
    return at


def read_numbers(text: Buffer, bint fields=False) -> Floats:
    """Parse one number per line, as the parsers above do; NaN if a line is not a number.

    With fields, the end of each is found first.
    """
    cdef Text source = Text(text)
    cdef int64_t room = noregret_count_lines(source.start, source.size), k = 0
    numbers = np.empty(room)
    cdef double[::1] out = numbers
    cdef const char* at = source.start
    cdef const char* end = source.start + source.size
    cdef const char* after
    with nogil:
        for k in range(room):
            after = newline_from(at, end)
            if fields and after > at and end - after >= NOREGRET_BEHIND_FIELD:
                if not noregret_read_field(at, after, &out[k]):
                    out[k] = NAN
            elif noregret_read_number(at, end, &out[k]) != after:
                out[k] = NAN
            at = after + 1
    return numbers
