"""Progress of long operations: a bar on a terminal, a line from time to time elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

PATIENCE = 1.0
# Seconds between two lines of progress without a terminal.
SECONDS_PER_LINE = 10.0


class Progress:
    """Rows, speed and running loss of a game.

    Parameters
    ----------
    learner
        The learner.
    rows
        The total number of rows, if known.
    wanted
        If True, show it; None: on a terminal after a second.
    """

    def __init__(self, learner: Learner, rows: int | None, wanted: bool | None) -> None:
        self.learner, self.rows = learner, rows
        self.patience = PATIENCE if wanted is None else 0.0
        self.shown = sys.stderr is not None and sys.stderr.isatty() if wanted is None else wanted
        self.bar: Meter | None = None

    def __enter__(self) -> Progress:
        self.began = time.monotonic()
        self.before, self.loss_before = self.learner.rounds, self.learner.total_loss
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.look()
            self.bar.close()
            self.shown = False  # later rows would draw it again

    def look(self) -> None:
        """Update the display."""
        if not self.shown or time.monotonic() - self.began < self.patience:
            return
        rounds = self.learner.rounds - self.before
        if self.bar is None:
            self.bar = Meter(self.rows, "rows/s", 1.0)
        paid = (self.learner.total_loss - self.loss_before) / max(1, rounds)
        seconds = max(1e-9, time.monotonic() - self.began)
        self.bar.show(rounds, rounds, rounds / seconds, f"mean loss {paid:.4g}")


class Meter:
    """A bar: rows, speed, loss, and the time remaining if the total is known.

    Parameters
    ----------
    size
        The total, such as bytes to read; None if not known.
    unit, per
        The unit of the speed, and its size.
    """

    def __init__(self, size: int | None, unit: str = "MB/s", per: float = 1e6) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        ends = [BarColumn(bar_width=12), TimeRemainingColumn()] if size else []
        self.bar = Bar(
            TextColumn("{task.fields[rows]:,} rows"),
            TextColumn("{task.fields[speed]:,.0f} " + unit),
            *ends,
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.per, self.task = per, self.bar.add_task("", total=size, rows=0, speed=0.0)

    def show(self, rows: int, size: int, speed: float, words: str) -> None:
        """Show rows and bytes so far, bytes per second, and a short text."""
        speed /= self.per
        self.bar.update(self.task, completed=size, rows=rows, speed=speed, description=words)
        self.bar.start()

    def close(self) -> None:
        """Remove the bar."""
        self.bar.stop()


class Lines:
    """Progress as plain lines, for logs and pipes.

    A thread writes them, so that they appear while the main thread is busy, as with hindsight.

    Parameters
    ----------
    every
        Seconds until the first line, and between two; ``SECONDS_PER_LINE`` if None.
    """

    def __init__(self, every: float | None = None) -> None:
        self.every = SECONDS_PER_LINE if every is None else every
        self.latest = "reading"
        self.began, self.over = time.monotonic(), threading.Event()
        self.thread = threading.Thread(target=self.write, daemon=True, name="progress")
        self.thread.start()

    def write(self) -> None:
        """Write lines until closed."""
        while not self.over.wait(self.every):
            spent = time.monotonic() - self.began
            with suppress(OSError, ValueError):  # progress is optional
                print(f"noregret: {self.latest}; {spent:.0f} s so far", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Stop writing."""
        self.over.set()
        self.thread.join()
