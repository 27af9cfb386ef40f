"""Vector instructions, forks and memory of the machine."""

from cpython.pythread cimport PyThread_get_thread_ident
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

import contextlib
import mmap
import os
from time import monotonic, sleep

import numpy as np

from noregret.errors import NoRegretError


# The level of vector instructions that the compiled loops use.

cdef extern from "cpu_dispatch.h" nogil:
    enum: NOREGRET_LEVELS
    const int noregret_cpu
    const char* const noregret_levels[NOREGRET_LEVELS]

VARIABLE: str = "NOREGRET_CPU"
LEVELS: tuple[str, ...] = tuple([noregret_levels[k].decode() for k in range(NOREGRET_LEVELS)])


def level() -> str:
    """Return the level in use: the highest that the processor has and ``NOREGRET_CPU`` allows."""
    return LEVELS[noregret_cpu]


def check_variable() -> None:
    """Raise NoRegretError if ``NOREGRET_CPU`` names no level."""
    wanted = os.environ.get(VARIABLE)
    if wanted and wanted not in LEVELS:
        raise NoRegretError(f"{VARIABLE}={wanted} names no level of vector instructions; choose one of {', '.join(LEVELS)}, or leave it unset")


# A gate that a fork closes: threads within a round finish it, others wait until the fork is done.
#
# A forked process has a copy of all memory, but only of the thread that forked. Data that another
# thread was changing at that moment would stay half changed in the copy, and its locks would stay
# locked. So the thread that forks closes the gate, waits until all others are out, and opens it
# afterwards in both processes. Every count here is changed with the GIL held.

cdef extern from *:
    """
    static _Thread_local long noregret_depth = 0;
    static long noregret_deeper(long by) { return noregret_depth += by; }
    """
    long noregret_deeper(long by) noexcept

# Seconds between two polls, and the most that a fork waits for rounds of other threads: one that
# itself waits for the forking thread would never finish.
POLL_SECONDS = 1e-4
MAX_FORK_SECONDS = 30.0

cdef long inside = 0            # entries of all threads not yet left
cdef unsigned long closer = 0   # the thread that forks, or 0
cdef long forks = 0             # number of forks from the first process to this one


cdef int come_in() except -1:
    """Begin a change; wait while another thread forks, unless this one is inside already."""
    global inside
    if closer and noregret_deeper(0) == 0 and closer != PyThread_get_thread_ident():
        while closer:
            sleep(POLL_SECONDS)
    noregret_deeper(1)
    inside += 1
    return 0


cdef void go_out() noexcept:
    """End a change."""
    global inside
    noregret_deeper(-1)
    inside -= 1


cdef long generation() noexcept:
    """Return the number of forks down to this process: locks from before a fork may be stuck."""
    return forks


def close() -> None:
    """Close the gate before a fork, after all other threads have left."""
    global closer
    end = monotonic() + MAX_FORK_SECONDS
    while closer and monotonic() < end:  # another fork
        sleep(POLL_SECONDS)
    closer = PyThread_get_thread_ident()
    while inside > noregret_deeper(0) and monotonic() < end:
        sleep(POLL_SECONDS)


def reopen():
    """Open the gate after a fork, in the process that forked."""
    global closer
    closer = 0


def open_copy():
    """Open the gate in the child, which has no other thread."""
    global closer, inside, forks
    closer, inside = 0, noregret_deeper(0)
    forks += 1


class Inside:
    """A block of code that no fork may interrupt: ``with Inside(): …``."""

    def __enter__(self) -> None:
        come_in()

    def __exit__(self, *_: object) -> None:
        go_out()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=close, after_in_parent=reopen, after_in_child=open_copy)


# Memory that is freed and used again.

cdef extern from *:
    """
    #if defined(__GLIBC__)
    #include <malloc.h>
    #endif

    static void noregret_keep_memory(void) {
    #if defined(__GLIBC__)
        mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the largest value that every version accepts */
        mallopt(M_TRIM_THRESHOLD, 128 << 20);
    #endif
    }
    """
    void noregret_keep_memory() noexcept


def keep_freed_memory() -> None:
    """Keep freed memory for the next block of rows: the system would clear every page again."""
    noregret_keep_memory()


# Arrays whose pages take memory only once they are written.
#
# The state of a learner has room for every feature up to the largest position, and a single row may
# name position 16,777,215. A fresh array is all zero and costs nothing until it is written to, page by
# page; so nothing here writes zeros where there are zeros already.

# Numbers per page: 4,096 bytes.
PAGE_NUMBERS: int = 512
cdef enum:
    PAGE = 512
# Longer arrays are kept out of huge pages, which would take 2 MB for each number written.
cdef Py_ssize_t MIN_LARGE_ARRAY = 2**23


def zeros(Py_ssize_t count) -> Floats:
    """Return zeros whose pages take memory only once they are written."""
    if count < MIN_LARGE_ARRAY or not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(count)
    held = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system without huge pages
        held.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(held, dtype=np.float64)


cdef bint is_zero(const double* page, Py_ssize_t count) noexcept nogil:
    """Return whether all bits are 0, so that −0 counts as nonzero."""
    cdef const uint64_t* words = <const uint64_t*> page
    cdef uint64_t found = 0
    cdef Py_ssize_t k
    for k in range(count):
        found |= words[k]
    return found == 0


def copied(const double[::1] array, Py_ssize_t length=-1) -> Floats:
    """Return a copy, padded with zeros to a length, that takes memory only for nonzero pages."""
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


def used_pages(const double[::1] array) -> Counts:
    """Return the indices of the nonzero pages."""
    cdef Py_ssize_t n = array.shape[0], start = 0
    used = np.zeros((n + PAGE - 1) // PAGE, dtype=np.uint8)
    cdef unsigned char[::1] marks = used
    with nogil:
        while start < n:
            marks[start // PAGE] = not is_zero(&array[start], min(PAGE, n - start))
            start += PAGE
    return np.flatnonzero(used)


def any_negative(const double[::1] array) -> bool:
    """Return whether any number is negative."""
    cdef Py_ssize_t k
    for k in range(array.shape[0]):
        if array[k] < 0:
            return True
    return False
