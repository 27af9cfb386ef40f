"""Named examples: numbers, strings as indicators ``key=value``, booleans as 0 and 1.

None and NaN are missing values: the indicator ``key=missing``. Dates become features of the calendar.

Names get positions in order of appearance, and alphabetically within one example, so that the order
of keys never matters.
"""

from cpython.dict cimport PyDict_Contains, PyDict_GetItem, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND
from libc.math cimport NAN, fabs, isfinite, isnan
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp

cimport cython

import datetime
import reprlib

import numpy as np

from noregret import limits
from noregret.errors import BadExample


MAX_VALUE = limits.MAX_VALUE
cdef str INTERCEPT = limits.INTERCEPT
cdef str MISSING = limits.MISSING
cdef tuple TIMES = (datetime.date, np.datetime64)
# The type of the missing value of pandas.
cdef str NOT_AVAILABLE = "NAType"


cdef enum:
    UNPLACED = -1

cdef extern from "Python.h":
    Py_ssize_t PyLong_AsSsize_t(object) except? -1
    bint PyLong_CheckExact(object)
    long long PyLong_AsLongLongAndOverflow(object, int* overflow) except? -1
    void Py_XINCREF(PyObject*)


def check_text(str name):
    """Raise BadExample for a name that is not valid UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BadExample(f"the feature name {name!r} is not valid text", feature=name) from None


cdef void* grown(void* block, size_t size) except NULL:
    cdef void* moved = realloc(block, size)
    if moved == NULL:
        raise MemoryError
    return moved


cdef inline bint is_same(PyObject* known, PyObject* key) noexcept:
    """Return True if two strings are equal, and so their widths and bytes; most often they are one object."""
    if known == key:
        return True
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(<object> known), width = PyUnicode_KIND(<object> known)
    return length == PyUnicode_GET_LENGTH(<object> key) and width == PyUnicode_KIND(<object> key) \
        and memcmp(PyUnicode_DATA(<object> known), PyUnicode_DATA(<object> key), <size_t> (length * width)) == 0


cdef inline bint is_integer(object item, double* number) except -1:
    """Read a Python integer of up to 64 bits, which is no boolean."""
    cdef int overflow = 1
    cdef long long value = PyLong_AsLongLongAndOverflow(item, &overflow) if PyLong_CheckExact(item) else 0
    number[0] = <double> value
    return not overflow


@cython.final
cdef class Features:
    """The features seen so far: a fixed number of columns, or names that may still grow."""

    def __cinit__(self):
        self.names, self.index, self.categories, self.unseen = [], {}, {}, []

    def __dealloc__(self):
        self.forget_layout()
        free(self.values)
        free(self.indices)
        free(self.layout)

    cdef void forget_layout(self) noexcept:
        cdef Py_ssize_t k
        cdef Slot old
        for k in range(self.room):
            old = self.layout[k]
            self.layout[k] = Slot(NULL, UNPLACED, NULL)
            Py_XDECREF(old.key)
            Py_XDECREF(old.values)

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Allocate room for a row of this many entries."""
        if size <= self.room:
            return 0
        self.values = <double*> grown(self.values, size * sizeof(double))
        self.indices = <int32_t*> grown(self.indices, size * sizeof(int32_t))
        self.layout = <Slot*> grown(self.layout, size * sizeof(Slot))
        while self.room < size:
            self.layout[self.room] = Slot(NULL, UNPLACED, NULL)
            self.room += 1
        return 0

    cdef int read(self, dict example, long long round) except -1:
        """Read an example into the current row; unknown names are set aside."""
        cdef PyObject* key
        cdef PyObject* item
        cdef Slot* slot
        cdef Py_ssize_t at = 0, filled = 0, size = len(example)
        cdef int32_t last = UNPLACED
        cdef bint unordered = self.constant != 0, repeats = False
        if self.index_behind:
            self.catch_up()
        if size >= self.room:
            self.reserve(size + 1)
        self.filled, self.unseen_sum, self.unseen_norm2 = 0, 0, 0
        if self.unseen:
            self.unseen = []
        while PyDict_Next(example, &at, &key, &item):
            slot = &self.layout[filled]
            # Usually the key is that of the last example, and the value a number.
            if slot.key == key and slot.position >= 0 and PyFloat_CheckExact(<object> item) \
                    and fabs(PyFloat_AS_DOUBLE(<object> item)) < MAX_VALUE:
                self.values[filled], self.indices[filled] = PyFloat_AS_DOUBLE(<object> item), slot.position
                unordered |= slot.position < last
                last = slot.position
                filled += 1
                continue
            self.filled, unordered = filled, True
            repeats |= self.read_entry(key, item, round)
            filled = self.filled
            if len(example) != size or filled >= self.room:  # code of a value may change the dict
                raise BadExample("the example changed while it was being read", round=round)
        self.filled = filled
        if self.constant != 0 and not PyDict_Contains(example, INTERCEPT):
            self.read_constant()
        return self.order(repeats, round) if unordered else 0

    cdef int read_entry(self, PyObject* key, PyObject* item, long long round) except -1:
        """Read any entry; return whether another one may have its name."""
        cdef PyObject* found
        cdef Slot* slot
        cdef int32_t position
        cdef double number
        if PyFloat_CheckExact(<object> item) and PyUnicode_CheckExact(<object> key):
            number = PyFloat_AS_DOUBLE(<object> item)
        elif PyUnicode_CheckExact(<object> item) and PyUnicode_CheckExact(<object> key):
            self.read_text(key, item)
            return True
        elif not is_integer(<object> item, &number) or not PyUnicode_CheckExact(<object> key):
            self.read_other(<object> key, <object> item, round)
            return True
        if not fabs(number) < MAX_VALUE:
            self.read_gap(<object> key, number, round)
            return True
        slot = &self.layout[self.filled]
        if slot.position >= 0 and is_same(slot.key, key):
            self.put(slot.position, number)
            return False
        found = PyDict_GetItem(self.index, <object> key)
        if found == NULL:
            self.unseen.append((<object> key, number))
            self.unseen_sum += number
            self.unseen_norm2 += number * number
            return False
        position = <int32_t> PyLong_AsSsize_t(<object> found)
        self.remember(key, position, NULL)
        self.put(position, number)
        return False

    cdef int read_constant(self) except -1:
        """Add the constant feature to the current row."""
        cdef PyObject* found = PyDict_GetItem(self.index, INTERCEPT)
        if found != NULL:
            self.put(<int32_t> PyLong_AsSsize_t(<object> found), self.constant)
            return 0
        self.unseen.append((INTERCEPT, self.constant))
        self.unseen_sum += self.constant
        self.unseen_norm2 += self.constant * self.constant
        return 0

    cdef void put(self, int32_t position, double number) noexcept:
        self.values[self.filled], self.indices[self.filled] = number, position
        self.filled += 1

    cdef void remember(self, PyObject* key, int32_t position, PyObject* values) noexcept:
        """Keep the key of the next entry, and what it stands for."""
        cdef Slot old = self.layout[self.filled]
        Py_XINCREF(key)
        Py_XINCREF(values)
        self.layout[self.filled] = Slot(key, position, values)
        Py_XDECREF(old.key)
        Py_XDECREF(old.values)

    cdef int read_text(self, PyObject* key, PyObject* item) except -1:
        """Read an indicator. There is room for it, and both are exactly strings, which run no code of others."""
        cdef Slot* slot = &self.layout[self.filled]
        cdef PyObject* values
        cdef PyObject* found = NULL
        if slot.values != NULL and is_same(slot.key, key):
            values = slot.values
        else:
            values = PyDict_GetItem(self.categories, <object> key)
            if values != NULL:
                self.remember(key, UNPLACED, values)
        if values != NULL:
            found = PyDict_GetItem(<object> values, <object> item)
        if found != NULL:
            self.put(<int32_t> PyLong_AsSsize_t(<object> found), 1.0)
            return 0
        return self.read_new_text(<str> key, <str> item)

    cdef int read_new_text(self, str key, str item) except -1:
        """Read an indicator that may never have been learned from."""
        cdef str name = f"{key}={item}"
        position = self.index.get(name)
        if position is None:
            self.unseen.append((name, 1.0))
            self.unseen_sum += 1
            self.unseen_norm2 += 1
            return 0
        self.categories.setdefault(key, {})[item] = position
        self.put(position, 1.0)
        return 0

    cdef int read_other(self, object key, object item, long long round) except -1:
        """Read an entry that is not a string and a float, an integer or a string."""
        cdef double number
        if not isinstance(key, str):
            raise BadExample(f"feature names are strings: got {reprlib.repr(key)}", round=round)
        if type(key) is not str:
            key = str.__str__(key)
        if isinstance(item, str):
            if self.filled == self.room:
                raise BadExample("the example changed while it was being read", round=round)
            return self.read_new_text(key, str.__str__(item))
        if isinstance(item, TIMES):
            return self.read_time(key, item, round)
        number = NAN if item is None or type(item).__name__ == NOT_AVAILABLE else self.read_number(key, item, round)
        if not fabs(number) < MAX_VALUE:
            return self.read_gap(key, number, round)
        return self.read_named(key, number, round)

    cdef int read_named(self, str key, double number, long long round) except -1:
        """Read a number by its name."""
        position = self.index.get(key)
        if position is None:
            self.unseen.append((key, number))
            self.unseen_sum += number
            self.unseen_norm2 += number * number
        elif self.filled == self.room:
            raise BadExample("the example changed while it was being read", round=round)
        else:
            self.put(position, number)
        return 0

    cdef int read_gap(self, object key, double number, long long round) except -1:
        """Read a missing value, as an indicator besides 0; refuse infinities and numbers too large."""
        if not isnan(number):
            self.refuse_number(key, number, round)
        if self.filled == self.room:
            raise BadExample("the example changed while it was being read", round=round)
        self.gaps = True
        return self.read_new_text(key, MISSING)

    cdef int read_time(self, str key, object item, long long round) except -1:
        """Read a date or a time as features of the calendar."""
        from noregret.base.calendar_features import time_features

        made = time_features(key, item)
        if made is None:
            return self.read_gap(key, NAN, round)
        self.reserve(self.room + len(made))
        if self.times is None:
            self.times = set()
        self.times.add(key)
        for name, number in made.items():
            self.read_named(name, number, round)
        return 0

    cdef double read_number(self, object key, object item, long long round) except? -1:
        """Convert any number: integers, booleans, NumPy scalars, decimals."""
        try:
            if isinstance(item, (bytes, bytearray, complex, np.complexfloating)):
                raise TypeError
            return float(item)
        except (TypeError, ValueError, OverflowError):
            raise BadExample(
                f"feature {key!r} is {reprlib.repr(item)}, a {type(item).__name__}",
                "give a number, a string, a boolean or a date, or leave the key out",
                round=round, feature=key,
            ) from None

    def refuse_number(self, key, double number, long long round):
        """Raise BadExample for an invalid number."""
        what, cure = ("too large to be squared", "scale it down") if isfinite(number) else ("every value must be finite", ())
        raise BadExample(f"feature {key!r} is {number:g}: {what}", cure, round=round, feature=key)

    cdef int order(self, bint repeats, long long round) except -1:
        """Sort the row by position (mostly sorted already), and refuse a feature given twice."""
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
            self.refuse_repeats(round)
        return 0

    cdef int refuse_repeats(self, long long round) except -1:
        """Refuse a row, now in order, in which a feature is given twice."""
        cdef Py_ssize_t k
        for k in range(1, self.filled):
            if self.indices[k] == self.indices[k - 1]:
                self.refuse_repeat(self.called(self.indices[k]), round)
        if len(self.unseen) > 1:
            new = sorted([name for name, _ in self.unseen])
            for name, other in zip(new, new[1:]):
                if name == other:
                    self.refuse_repeat(name, round)
        return 0

    def refuse_repeat(self, name, long long round):
        """Say which feature is given twice."""
        raise BadExample(f"feature {name!r} is given twice", round=round, feature=name)

    cdef int admit(self) except -1:
        """Give the unknown names positions and complete the current row."""
        if self.unseen:
            self.reserve(self.filled + len(self.unseen))
            for name, _ in self.unseen:
                check_text(name)
            if self.count + len(self.unseen) >= limits.MAX_POSITIONS:
                raise BadExample("more than 2^31 features", "use fewer, or hash them")
            for name, value in sorted(self.unseen):
                self.index[name] = self.count
                self.names.append(name)
                self.values[self.filled], self.indices[self.filled] = value, <int32_t> self.count
                self.filled += 1
                self.count += 1
            self.unseen, self.unseen_sum, self.unseen_norm2 = [], 0, 0
        self.kind = BY_NAME
        return 0

    cdef int catch_up(self) except -1:
        """Index the names that a stream has added; done only when names are looked up."""
        cdef Py_ssize_t k
        for k in range(len(self.index), len(self.names)):
            self.index[self.names[k]] = k
        self.index_behind = False
        return 0

    cdef int join(self, list names) except -1:
        """Add names to which a stream has given the next positions."""
        self.names += names
        self.count, self.kind, self.index_behind = len(self.names), BY_NAME, True
        return 0

    cdef void grow(self, Py_ssize_t count) noexcept:
        """Add columns found in a stream."""
        self.count, self.kind = count, BY_POSITION

    cdef int forget(self, Py_ssize_t count, int kind) except -1:
        """Remove the latest features, whose example was refused."""
        if self.index_behind:
            self.catch_up()
        if count != self.count:
            for name in self.names[count:]:
                self.index.pop(name, None)
            del self.names[count:]
            self.categories = {}
            self.forget_layout()
        self.count, self.kind = count, kind
        return 0

    cdef void row(self, Row* row) noexcept:
        row.values, row.indices, row.count = self.values, self.indices, self.filled
        row.unseen, row.unseen_sum, row.unseen_norm2 = len(self.unseen), self.unseen_sum, self.unseen_norm2
        row.spread = 0

    def describe(self, Py_ssize_t position):
        """Describe a feature for a message."""
        return f"feature {self.called(position)!r}" if self.kind == BY_NAME else f"column {position}"

    def called(self, position):
        """Return the name of a feature, or its position."""
        return self.names[position] if self.kind == BY_NAME and 0 <= position < len(self.names) else str(position)
