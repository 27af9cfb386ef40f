"""Named examples: numbers as they are, strings as indicators ``key=value``, booleans 0 and 1.

Names get their positions in order of appearance, those new in one example in alphabetical order,
so that the order of keys never matters.
"""

from cpython.dict cimport PyDict_GetItem, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport fabs, isfinite
from libc.stdlib cimport free, realloc

import reprlib

from noregret.errors import BadExample


LARGEST = 1e150


cdef extern from "Python.h":
    Py_ssize_t PyLong_AsSsize_t(object) except? -1
    bint PyLong_Check(object)
    double PyLong_AsDouble(object) noexcept
    PyObject* PyErr_Occurred()
    void PyErr_Clear()


cdef void* grown(void* block, size_t size) except NULL:
    cdef void* moved = realloc(block, size)
    if moved == NULL:
        raise MemoryError
    return moved


cdef class Features:
    """The features seen so far: a fixed number of columns, or names that may still grow."""

    def __cinit__(self):
        self.names, self.index, self.categories, self.unseen = [], {}, {}, []

    def __dealloc__(self):
        self.forget_layout()
        free(self.values)
        free(self.indices)
        free(self.layout)
        free(self.layout_at)

    cdef void forget_layout(self) noexcept:
        cdef Py_ssize_t k
        for k in range(self.room):
            Py_XDECREF(self.layout[k])
            self.layout[k] = NULL

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Make room for a row of that many entries."""
        if size <= self.room:
            return 0
        self.values = <double*> grown(self.values, size * sizeof(double))
        self.indices = <int32_t*> grown(self.indices, size * sizeof(int32_t))
        self.layout = <PyObject**> grown(self.layout, size * sizeof(PyObject*))
        self.layout_at = <int32_t*> grown(self.layout_at, size * sizeof(int32_t))
        while self.room < size:
            self.layout[self.room] = NULL
            self.room += 1
        return 0

    cdef int read(self, dict example, long long round) except -1:
        """Turn an example into the row at hand; names never learned from are set aside."""
        cdef PyObject *key, *item, *found
        cdef Py_ssize_t at = 0, size = len(example), k = 0
        cdef int32_t position
        cdef double number
        cdef bint repeats = False
        if size > self.room:
            self.reserve(size)
        self.filled, self.unseen_sum = 0, 0
        if self.unseen:
            self.unseen = []
        while PyDict_Next(example, &at, &key, &item):
            if PyFloat_CheckExact(<object> item):
                number = PyFloat_AS_DOUBLE(<object> item)
            elif PyLong_Check(<object> item):  # booleans too
                number = PyLong_AsDouble(<object> item)
                if number == -1 and PyErr_Occurred() != NULL:
                    PyErr_Clear()
                    number = self.read_number(<object> key, <object> item, round)
            elif isinstance(<object> item, str):
                repeats = True
                self.read_category(<object> key, <object> item, round)
                continue
            else:
                number = self.read_number(<object> key, <object> item, round)
            if not fabs(number) < LARGEST:
                what = "too large to be squared: scale it down" if isfinite(number) else "every value must be finite"
                raise BadExample(f"round {round}: feature {<object> key!r} is {number:g}: {what}",
                                 round=round, feature=<object> key)
            if k == self.room or self.filled == self.room:
                raise BadExample(f"round {round}: the example changed while it was being read", round=round)
            if self.layout[k] == key:
                self.values[self.filled], self.indices[self.filled] = number, self.layout_at[k]
                self.filled += 1
                k += 1
                continue
            found = PyDict_GetItem(self.index, <object> key)
            if found != NULL:
                position = <int32_t> PyLong_AsSsize_t(<object> found)
                self.values[self.filled], self.indices[self.filled] = number, position
                self.filled += 1
                if PyUnicode_CheckExact(<object> key):
                    Py_INCREF(<object> key)
                    Py_XDECREF(self.layout[k])
                    self.layout[k], self.layout_at[k] = key, position
                k += 1
            else:
                if not isinstance(<object> key, str):
                    raise BadExample(f"round {round}: feature names are strings: got {<object> key!r}", round=round)
                self.unseen.append((<object> key, number))
                self.unseen_sum += number
        return self.order(repeats, round)

    def read_category(self, key, value, round):
        """A string is an indicator feature of its own; its position is remembered by key and value."""
        known = self.categories.get(key)
        position = None if known is None else known.get(value)
        if position is None:
            if not isinstance(key, str):
                raise BadExample(f"round {round}: feature names are strings: got {key!r}", round=round)
            name = f"{key}={str.__str__(value)}"
            position = self.index.get(name)
            if position is None:
                self.unseen.append((name, 1.0))
                self.unseen_sum += 1
                return
            self.categories.setdefault(key, {})[value] = position
        if self.filled == self.room:
            raise BadExample(f"round {round}: the example changed while it was being read", round=round)
        self.values[self.filled] = 1.0
        self.indices[self.filled] = position
        self.filled += 1

    def read_number(self, key, item, round):
        """Take anything else that is a number."""
        try:
            if item is None or isinstance(item, (bytes, bytearray)):
                raise TypeError
            return float(item)
        except (TypeError, ValueError, OverflowError):
            what = "missing (None)" if item is None else f"{reprlib.repr(item)}, a {type(item).__name__}"
            raise BadExample(
                f"round {round}: feature {key!r} is {what}: give a number, a string or a boolean, or leave the key out",
                round=round, feature=key,
            ) from None

    cdef int order(self, bint repeats, long long round) except -1:
        """Sort the row by position (it mostly is) and refuse a feature given twice."""
        cdef Py_ssize_t i, j
        cdef int32_t position
        cdef double value
        for i in range(1, self.filled):
            if self.indices[i] < self.indices[i - 1]:
                break
        else:
            i = self.filled
        if i < self.filled and self.filled > 64:
            pairs = sorted([(self.indices[j], self.values[j]) for j in range(self.filled)])
            for j, (position, value) in enumerate(pairs):
                self.indices[j], self.values[j] = position, value
        elif i < self.filled:
            for i in range(i, self.filled):
                position, value, j = self.indices[i], self.values[i], i
                while j > 0 and self.indices[j - 1] > position:
                    self.indices[j], self.values[j] = self.indices[j - 1], self.values[j - 1]
                    j -= 1
                self.indices[j], self.values[j] = position, value
        if repeats:
            twice = [self.names[self.indices[i]] for i in range(1, self.filled) if self.indices[i] == self.indices[i - 1]]
            new = sorted([name for name, _ in self.unseen])
            twice += [name for name, other in zip(new, new[1:]) if name == other]
            if twice:
                raise BadExample(f"round {round}: feature {twice[0]!r} is given twice", round=round, feature=twice[0])
        return 0

    cdef int admit(self) except -1:
        """Give the set-aside names their positions and complete the row at hand."""
        if self.unseen:
            if self.count + len(self.unseen) >= 2**31 - 1:
                raise BadExample("more than 2^31 features: use fewer, or hash them")
            for name, value in sorted(self.unseen):
                self.index[name] = self.count
                self.names.append(name)
                self.values[self.filled], self.indices[self.filled] = value, <int32_t> self.count
                self.filled += 1
                self.count += 1
            self.unseen, self.unseen_sum = [], 0
        self.kind = BY_NAME
        return 0

    def forget(self, Py_ssize_t count, int kind):
        """Undo the latest admissions: the example that brought them was refused."""
        if count != self.count:
            for name in self.names[count:]:
                del self.index[name]
            del self.names[count:]
            self.forget_layout()
        self.count, self.kind = count, kind

    cdef void row(self, Row* row) noexcept:
        row.values, row.indices, row.count = self.values, self.indices, self.filled
        row.unseen, row.unseen_sum = len(self.unseen), self.unseen_sum
        row.spread = 0

    def describe(self, Py_ssize_t position):
        """Name a feature for a message."""
        return f"feature {self.names[position]!r}" if self.kind == BY_NAME else f"column {position}"
