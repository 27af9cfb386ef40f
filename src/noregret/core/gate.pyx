"""A gate that a fork closes: threads in the middle of a round finish it, others wait until it is done.

A process that forks has a copy of everything, but only of the thread that forked. What another thread
was changing at that moment would stay half changed in the copy, and what it had locked locked for
ever. So the thread that forks closes the gate, waits until all others are out, and opens it
afterwards in both processes. Every count here is changed with the GIL held.
"""

from cpython.pythread cimport PyThread_get_thread_ident

import os
from time import monotonic, sleep

cdef extern from *:
    """
    static _Thread_local long noregret_depth = 0;
    static long noregret_deeper(long by) { return noregret_depth += by; }
    """
    long noregret_deeper(long by) noexcept

# Seconds between looks, and how long a fork waits for a round of another thread: a thread that
# waits for the one that forks would never be done.
WAIT = 1e-4
PATIENCE = 30.0

cdef long inside = 0            # how often threads have come in and not gone out
cdef unsigned long closer = 0   # the thread that forks, or 0
cdef long forks = 0             # how often this process is a copy


cdef int come_in() except -1:
    """Begin a change; wait while another thread forks, unless this one is inside already."""
    global inside
    if closer and noregret_deeper(0) == 0 and closer != PyThread_get_thread_ident():
        while closer:
            sleep(WAIT)
    noregret_deeper(1)
    inside += 1
    return 0


cdef void go_out() noexcept:
    """End a change."""
    global inside
    noregret_deeper(-1)
    inside -= 1


cdef long generation() noexcept:
    """How often this process is a copy: what a thread of before has locked stays so."""
    return forks


def close():
    """Have the gate closed before a fork, when all other threads are out."""
    global closer
    end = monotonic() + PATIENCE
    while closer and monotonic() < end:  # another fork
        sleep(WAIT)
    closer = PyThread_get_thread_ident()
    while inside > noregret_deeper(0) and monotonic() < end:
        sleep(WAIT)


def reopen():
    """Open the gate after a fork, in the process that forked."""
    global closer
    closer = 0


def open_copy():
    """Open the gate in the copy, in which no other thread is left."""
    global closer, inside, forks
    closer, inside = 0, noregret_deeper(0)
    forks += 1


class Inside:
    """A change that no fork should come in the middle of: ``with Inside(): …``."""

    def __enter__(self):
        come_in()

    def __exit__(self, *_):
        go_out()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=close, after_in_parent=reopen, after_in_child=open_copy)
