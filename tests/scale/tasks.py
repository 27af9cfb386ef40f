"""Functions that workers run in the tests: they must be importable."""

import os
import signal
from pathlib import Path

from noregret.errors import BadExample


def square(x: int) -> int:
    return x * x


def once(place: tuple[str, int], number: int, by: signal.Signals) -> int:
    """Send this process a signal, the first time that a task comes here."""
    folder, task = place
    mark = Path(folder) / f"{task}"
    if task == number and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), by)
    return task


def killed_once(place: tuple[str, int]) -> int:
    return once(place, 3, signal.SIGKILL)


def stopped_once(place: tuple[str, int]) -> int:
    return once(place, 2, signal.SIGSTOP)


def always_killed(task: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return task


class Named:
    def __str__(self) -> str:
        return "a.csv from byte 7"


Named.__module__ = "noregret.tests"


def without_memory(task: object) -> None:
    raise MemoryError("1 GiB")


def refused(task: int) -> int:
    if task == 3:
        raise BadExample("it is odd", "leave it out", file="a.csv", line=7)
    return task
