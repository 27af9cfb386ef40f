"""Batches of JSON lines that differ only in an id and in numbers, read without a parser of JSON."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memchr, memcpy

import numpy as np

cdef extern from "numbers.h" nogil:
    void noregret_prepare_numbers()

cdef extern from "id_digests.h" nogil:
    ctypedef struct noregret_id:
        const char* start
        Py_ssize_t size

    void noregret_digest_ids(const noregret_id* ids, Py_ssize_t count, uint64_t* out)

cdef extern from "plain_lines.h" nogil:
    enum:
        NOREGRET_MAX_PLAIN_ID

    ctypedef struct noregret_text:
        const char* text
        size_t size

    ctypedef struct noregret_shape:
        noregret_text* texts
        Py_ssize_t numbers
        Py_ssize_t id

    void noregret_prepare_shape(noregret_shape* shape)
    const char* noregret_read_plain(
        const noregret_shape* shape, const char* at, const char* end, double* numbers, noregret_id* id)

cdef enum:
    MAX_DIGITS = 20  # of a number of 64 bits

noregret_prepare_numbers()


cdef class Shape:
    """The text that lines have in common: all of it but an id and numbers.

    Parameters
    ----------
    texts
        The text before each id or number, and after the last.
    id
        The number of numbers before the id.
    names
        The name of each number, None for the outcome.
    """

    cdef noregret_shape shape
    cdef list texts
    cdef readonly list names  # type: list[str]
    cdef readonly Py_ssize_t outcome
    cdef Py_ssize_t least

    def __cinit__(self, texts: list[bytes], id: int, names: list[str | None]):
        cdef Py_ssize_t k, count = len(texts)
        if count != len(names) + 2 or not 0 <= id <= len(names) or None not in names:
            raise ValueError("texts and numbers do not fit each other")
        self.texts, self.outcome = [bytes(text) for text in texts], names.index(None)
        self.names = [name for name in names if name is not None]
        self.least = count + sum(map(len, texts))  # bytes of a line with its end
        self.shape.numbers, self.shape.id = len(names), id
        self.shape.texts = <noregret_text*> PyMem_Calloc(count, sizeof(noregret_text))
        if self.shape.texts == NULL:
            raise MemoryError
        for k, text in enumerate(self.texts):
            self.shape.texts[k].text, self.shape.texts[k].size = PyBytes_AS_STRING(text), len(text)
        noregret_prepare_shape(&self.shape)

    def __dealloc__(self):
        PyMem_Free(self.shape.texts)

    def read(self, bytes body not None, Py_ssize_t most) -> PlainLines | None:
        """Read lines; None if there are none or more than ``most``, or if one is of another shape."""
        cdef const char* at = PyBytes_AS_STRING(body)
        cdef const char* end = at + len(body)
        cdef const char* stop
        cdef Py_ssize_t count = 0, filled = 0, room = min(most, len(body) // self.least + 1)
        cdef double[:, ::1] numbers
        cdef uint32_t[::1] sizes
        cdef uint64_t[::1] digests
        cdef PlainLines found = PlainLines(self, body)
        found.ids = <noregret_id*> PyMem_Calloc(room, sizeof(noregret_id))
        if found.ids == NULL:
            raise MemoryError
        found.numbers, found.sizes = np.empty((room, self.shape.numbers)), np.empty(room, np.uint32)
        numbers, sizes = found.numbers, found.sizes
        found.text = PyBytes_FromStringAndSize(NULL, len(body))
        cdef char* out = PyBytes_AS_STRING(found.text)
        while at < end:
            if at[0] == 10 or at[0] == 13:
                at += 1
                continue
            if count == room:
                return None
            stop = noregret_read_plain(&self.shape, at, end, &numbers[count, 0], &found.ids[count])
            if stop == NULL or (stop < end and stop[0] != 10 and stop[0] != 13):
                return None
            memcpy(out + filled, at, stop - at)
            sizes[count] = <uint32_t> (stop - at)
            filled += stop - at
            count += 1
            at = stop
        if not count:
            return None
        found.numbers, found.sizes, found.text = found.numbers[:count], found.sizes[:count], found.text[:filled]
        found.count, found.digests = count, np.empty(count, np.uint64)
        digests = found.digests
        noregret_digest_ids(found.ids, count, &digests[0])
        return found


cdef class PlainLines:
    """Lines of one shape, one behind the other, with the digests of their ids, and their numbers."""

    cdef readonly Shape shape
    cdef bytes body
    cdef noregret_id* ids  # in the body
    cdef readonly Py_ssize_t count
    cdef readonly object digests  # type: NDArray[np.uint64]
    cdef readonly object numbers  # type: Floats
    cdef readonly object sizes  # type: NDArray[np.uint32]
    cdef readonly bytes text

    def __cinit__(self, Shape shape not None, bytes body not None):
        self.shape, self.body = shape, body

    def __dealloc__(self):
        PyMem_Free(self.ids)

    def lines(self, Py_ssize_t first) -> list[bytes]:
        """Return the lines from one on."""
        sizes = self.sizes.tolist()
        start, found = sum(sizes[:first]), []
        for size in sizes[first:]:
            found.append(self.text[start:start + size])
            start += size
        return found

    def replies(self, bytes predictions not None, long long first) -> bytes:
        """Return the replies to the first lines, as lines of JSON.

        Parameters
        ----------
        predictions
            A JSON array of numbers, without spaces.
        first
            The number of the first in the journal.
        """
        cdef const char* at = PyBytes_AS_STRING(predictions) + 1
        cdef const char* last = at + len(predictions) - 2
        cdef const char* stop
        cdef Py_ssize_t k, count = 0 if last <= at else predictions.count(b",") + 1
        cdef bytes made = PyBytes_FromStringAndSize(NULL, len(predictions) + count * (
            len(b'{"id":"","prediction":,"seq":}\n') + NOREGRET_MAX_PLAIN_ID + MAX_DIGITS))
        cdef char* out = PyBytes_AS_STRING(made)
        if count > self.count:
            raise ValueError("more replies than lines")
        for k in range(count):
            stop = <const char*> memchr(at, c",", last - at)
            if stop == NULL:
                stop = last
            out = put(out, b'{"id":"', 7)
            out = put(out, self.ids[k].start, self.ids[k].size)
            out = put(out, b'","prediction":', 15)
            out = put(out, at, stop - at)
            out = put(out, b',"seq":', 7)
            out = put_number(out, first + k)
            out = put(out, b"}\n", 2)
            at = stop + 1
        return made[:out - PyBytes_AS_STRING(made)]


cdef inline char* put(char* out, const char* text, Py_ssize_t size) noexcept:
    memcpy(out, text, size)
    return out + size


cdef inline char* put_number(char* out, unsigned long long number) noexcept:
    cdef char[20] digits
    cdef int at = MAX_DIGITS
    while True:
        at -= 1
        digits[at] = <char> (48 + number % 10)
        number //= 10
        if not number:
            return put(out, digits + at, MAX_DIGITS - at)
