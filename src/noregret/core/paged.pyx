"""Arrays that take memory only where something was written.

The state of a learner has room for every feature up to the largest position, and a single row may
name position 16,777,215. A fresh array is all zero and costs nothing until it is written to, page by
page; so nothing here writes zeros where there are zeros already.
"""

from libc.math cimport isfinite
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

import contextlib
import mmap

import numpy as np

# Numbers per page: 4,096 bytes.
PAGE_NUMBERS = 512
cdef enum:
    PAGE = 512
# Numbers from which on an array is kept out of huge pages, which would take 2 MB for each number written.
cdef Py_ssize_t LARGE = 2**23


def zeros(Py_ssize_t count):
    """Return zeros that take memory only where they are written to."""
    if count < LARGE or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(count)
    held = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system without huge pages
        held.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(held, dtype=np.float64)


cdef bint is_zero(const double* page, Py_ssize_t count) noexcept nogil:
    """Whether all bits are 0: −0 counts as written."""
    cdef const uint64_t* words = <const uint64_t*> page
    cdef uint64_t found = 0
    cdef Py_ssize_t k
    for k in range(count):
        found |= words[k]
    return found == 0


def copied(const double[::1] array, Py_ssize_t length=-1):
    """Return a copy, with zeros at its end up to a length, that takes memory where the array is not zero."""
    cdef Py_ssize_t n = array.shape[0], start = 0, count
    made = zeros(max(n, length))
    cdef double[::1] out = made
    with nogil:
        while start < n:
            count = min(PAGE, n - start)
            if not is_zero(&array[start], count):
                memcpy(&out[start], &array[start], count * sizeof(double))
            start += PAGE
    return made


def used_pages(const double[::1] array):
    """Return the numbers of the pages that are not all zero."""
    cdef Py_ssize_t n = array.shape[0], start = 0
    used = np.zeros((n + PAGE - 1) // PAGE, dtype=np.uint8)
    cdef unsigned char[::1] marks = used
    with nogil:
        while start < n:
            marks[start // PAGE] = not is_zero(&array[start], min(PAGE, n - start))
            start += PAGE
    return np.flatnonzero(used)


def all_finite(const double[::1] array):
    """Whether no number is infinite or NaN."""
    cdef Py_ssize_t k
    for k in range(array.shape[0]):
        if not isfinite(array[k]):
            return False
    return True


def any_negative(const double[::1] array):
    """Whether a number is below 0."""
    cdef Py_ssize_t k
    for k in range(array.shape[0]):
        if array[k] < 0:
            return True
    return False
