"""Workers give memory back between tasks, so that what they take does not grow with their number.

Large arrays of a task may be part of reference cycles, which Python collects only after many new
objects, and allocators keep what was freed. Each further task would find a little less of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from noregret.errors import NoRegretError
from noregret.scale.pool import name_of

T = TypeVar("T")
R = TypeVar("R")
# Seconds of a task after which it is worth the time, some hundredths of a second.
WORTH_SECONDS = 0.25


def carried_out(function: Callable[[T], R], task: T) -> R:
    """Return the result of a task, with the memory that it needed given back."""
    began = time.perf_counter()
    try:
        return function(task)
    except MemoryError as error:
        raise out_of_memory(task, error) from None
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise out_of_memory(task, error) from None
    finally:
        if time.perf_counter() - began > WORTH_SECONDS:
            give_back()


def out_of_memory(task: object, error: Exception) -> NoRegretError:
    """Return the error of a task for which there is not enough memory."""
    return NoRegretError(
        f"a worker ran out of memory{name_of(task)}: {error}",
        "use fewer workers, or machines with more memory",
    )


def give_back() -> None:
    """Give unused memory back to the system, where it can be."""
    gc.collect()
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):  # of glibc only
        ctypes.CDLL(None).malloc_trim(0)
