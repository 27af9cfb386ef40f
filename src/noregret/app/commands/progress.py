"""Signals and progress display while a command works."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from noregret.proof.game.progress import PATIENCE

# A second signal within this many seconds is the same request to stop.
SAME_REQUEST = 0.5
STOPPING = b"\nstopping: everything asked for is written; again to give up\n"


class Going(Protocol):
    """Work that can be watched and stopped."""

    stopping: bool
    looking_back: bool
    size: int
    stream: Any
    told: Any

    @property
    def rounds(self) -> int:
        """Number of rounds played."""
        ...

    @property
    def standing(self) -> str:
        """The error so far in a few words."""
        ...


@contextmanager
def handling(handler: Callable[[int, Any], None], *numbers: int) -> Iterator[None]:
    """Handle signals; in another thread than the main one, leave that to the caller."""
    try:
        before = {number: signal.signal(number, handler) for number in numbers}
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


@contextmanager
def stoppable(run: Going) -> Iterator[None]:
    """Let SIGINT and SIGTERM end the run after the current block; a second one at once."""
    asked = 0.0

    def stop(number: int, frame: Any) -> None:
        nonlocal asked
        if run.stopping and time.monotonic() - asked > SAME_REQUEST:
            raise KeyboardInterrupt
        if run.stopping:  # one request may come as two signals, to a process and its group
            return
        run.stopping, asked = True, time.monotonic()
        if os.isatty(2):  # past Python's own buffer, which may be at work just now
            os.write(2, STOPPING)

    with handling(stop, signal.SIGINT, signal.SIGTERM):
        yield


@contextmanager
def shown(run: Going, hidden: bool) -> Iterator[None]:
    """Show progress: a bar on a terminal after a second, elsewhere a line every ten seconds."""
    if hidden or sys.stderr is None:
        yield
        return
    with barred(run) if sys.stderr.isatty() else lined(run):
        yield


@contextmanager
def lined(run: Going) -> Iterator[None]:
    """Write a plain line of progress now and then."""
    from noregret.proof.game.progress import Lines

    lines = Lines()

    def look(run: Going) -> None:
        learned = run.standing  # of a tournament, whose learners play before a row is mixed
        if run.rounds or not learned:
            learned = f"{run.rounds:,} rows learned, {learned}"
        lines.latest = f"{learned}, {hindsight(run)}" if run.looking_back else learned

    run.told = look
    try:
        yield
    finally:
        lines.close()


def hindsight(run: Going) -> str:
    """Say how far the best in hindsight is known."""
    gap = getattr(run, "open_gap", None)
    words = "computing the best in hindsight"
    return words if gap is None else f"{words}, known to {gap:.1e} of its loss"


@contextmanager
def barred(run: Going) -> Iterator[None]:
    """Show a bar, for what takes longer than a second."""
    began, before = time.monotonic(), 0
    bar: Any = None

    def look(run: Going) -> None:
        nonlocal bar, before
        before = before or run.size  # a resumed run begins with what was read before
        seconds = time.monotonic() - began
        if seconds < PATIENCE:
            return
        if bar is None:
            from noregret.proof.game.progress import Meter

            bar = Meter(run.stream.size)
        words = hindsight(run) if run.looking_back else run.standing
        bar.show(run.rounds, run.size, (run.size - before) / seconds, words)

    run.told = look
    try:
        yield
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def politely() -> Iterator[None]:
    """Let SIGTERM clean up like Ctrl-C: nothing is left half written."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    with handling(stop, signal.SIGTERM):
        yield


@contextmanager
def sound_progress(*, hidden: bool) -> Iterator[Callable[[float, float], None] | None]:
    """Show progress on a terminal, for what takes longer than a second."""
    if hidden or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    began = time.monotonic()
    text = TextColumn("{task.completed:,.0f} s of sound, {task.fields[speed]:,.0f}× real time")
    bar = Progress(
        text, BarColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    )
    task = bar.add_task("", total=None, speed=0.0)

    def look(done: float, total: float) -> None:
        spent = time.monotonic() - began
        if spent >= PATIENCE:
            bar.update(task, completed=done, total=total, speed=done / spent)
            bar.start()

    try:
        yield look
    finally:
        bar.stop()
