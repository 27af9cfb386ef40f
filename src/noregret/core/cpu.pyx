"""The level of vector instructions that the compiled core runs at."""

import os

from noregret.errors import NoRegretError

cdef extern from "dispatch.h" nogil:
    enum: NOREGRET_LEVELS
    const int noregret_cpu
    const char* const noregret_levels[NOREGRET_LEVELS]

VARIABLE = "NOREGRET_CPU"
LEVELS = tuple([noregret_levels[k].decode() for k in range(NOREGRET_LEVELS)])


def level():
    """Return the level in use: the highest that the processor has and ``NOREGRET_CPU`` allows."""
    return LEVELS[noregret_cpu]


def check_variable():
    """Refuse a value of ``NOREGRET_CPU`` that names no level."""
    wanted = os.environ.get(VARIABLE)
    if wanted and wanted not in LEVELS:
        raise NoRegretError(f"{VARIABLE}={wanted} names no level of vector instructions; choose one of {', '.join(LEVELS)}, or leave it unset")
