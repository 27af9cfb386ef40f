"""Carrying out ``noregret run``: signals, progress, and what is printed at the end."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from noregret.app.commands.exit_codes import INTERRUPTED
from noregret.app.commands.run.runner import Run
from noregret.app.commands.run.writing import Outputs
from noregret.app.results import DEFAULT_LEARNER
from noregret.app.results.loss_choice import is_open
from noregret.app.results.run import Result
from noregret.base.registry import built, families_with, find
from noregret.errors import Diverged, NoRegretError, WrongUsage
from noregret.streams import stream_of
from noregret.streams.options import ASLEEP, Options
from noregret.streams.source import STDIN

# Seconds within which a second signal is the same wish.
TWICE = 0.5
CURES = "-p rate=…, -p step=implicit, --scale unit, or --learner auto, which needs none of these"
STOPPING = b"\nstopping: everything asked for is written; again to give up\n"


class Going(Protocol):
    """What can be watched while it goes, and stopped."""

    stopping: bool
    looking_back: bool
    size: int
    stream: Any
    told: Any

    @property
    def rounds(self) -> int:
        """How many rounds were played."""
        ...

    @property
    def mean(self) -> float:
        """What a round cost."""
        ...


def carry_out(
    data: list[str],
    options: Options,
    learner: str,
    params: dict[str, Any],
    outputs: dict[str, str | None],
    *,
    hindsight: bool,
    quiet: bool,
    as_json: bool,
    checkpoint: str | None,
    every: int,
    resume: str | None,
) -> None:
    """Do the run that a command line asks for."""
    if every < 1:
        raise WrongUsage(f"--every is a number of rows, at least 1: got {every}")
    if outputs["certificate"] is not None and not hindsight:
        raise WrongUsage("a certificate compares with hindsight: leave --no-hindsight out")
    if options.missing == ASLEEP:
        raise WrongUsage("--missing asleep is for forecasts: ‘noregret mix’ reads them so")
    made = learner_of(learner, params)
    if resume is not None and resume == checkpoint and not os.path.exists(resume):
        resume = None  # it was interrupted before the first one: begin again
    run = Run(
        stream_of(data, options),
        made,
        Outputs(**outputs),
        hindsight=hindsight,
        checkpoint=checkpoint,
        every=every,
        resume=resume,
        command=shlex.join(["noregret", *sys.argv[1:]]),
        open_loss=is_open(learner, params),
    )
    with stoppable(run), shown(run, quiet or as_json):
        try:
            result = run.go()
        except Diverged as error:
            if "rate" not in made.params:
                raise
            raise NoRegretError(f"{error}. On the command line: {CURES}") from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(way_on(run)) from None
    if as_json:
        show_json(result)
    elif not quiet:
        show(result)
    if run.failures:
        raise NoRegretError("\n".join(run.failures))
    if result.interrupted:
        if quiet:
            raise SystemExit(INTERRUPTED)
        raise KeyboardInterrupt(way_on(run))


def learner_of(learner: str, params: dict[str, Any]) -> Any:
    """Return the learner that a command line asks for."""
    try:
        return built(find(learner, "learners"), params)
    except (TypeError, ValueError, LookupError) as error:
        known = learner if families_with(learner) else ""
        named = (
            f"; --learner names others than {DEFAULT_LEARNER}" if learner == DEFAULT_LEARNER else ""
        )
        raise WrongUsage(f"{error} (see ‘{f'noregret learners {known}'.strip()}’{named})") from None


def way_on(run: Run) -> str:
    """Return how to go on after an interruption, or what that would have needed."""
    if run.checkpoint is None:
        return "it cannot go on from here: with --checkpoint FILE it could" if run.rounds else ""
    if run.saved is None:
        return ""
    again = "" if " --resume" in run.command else f" --resume {shlex.quote(run.checkpoint)}"
    same = ", with the same input" if STDIN in run.stream.paths else ""
    return f"to go on{same}: {run.command}{again}"


@contextmanager
def stoppable(run: Going) -> Iterator[None]:
    """Let Ctrl-C and a polite kill end the run after the block at hand; a second one at once."""
    asked = 0.0

    def stop(number: int, frame: Any) -> None:
        nonlocal asked
        if run.stopping and time.monotonic() - asked > TWICE:
            raise KeyboardInterrupt
        if run.stopping:  # one wish to stop may come as two signals, to a process and its group
            return
        run.stopping, asked = True, time.monotonic()
        if os.isatty(2):  # past Python's own buffer, which may be at work just now
            os.write(2, STOPPING)

    try:
        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: whoever calls from there sees to it
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
        learned = f"{run.rounds:,} rows learned, mean loss {run.mean:.4g}"
        back = ", looking back for the best in hindsight" if run.looking_back else ""
        lines.latest = learned + back

    run.told = look
    try:
        yield
    finally:
        lines.close()


@contextmanager
def barred(run: Going) -> Iterator[None]:
    """Show a bar, for what takes longer than a second."""
    from noregret.proof.game.progress import PATIENCE

    began, before = time.monotonic(), 0
    bar: Any = None

    def look(run: Going) -> None:
        nonlocal bar, before
        before = before or run.size  # a run that goes on begins with what was read before
        seconds = time.monotonic() - began
        if seconds < PATIENCE:
            return
        if bar is None:
            from noregret.proof.game.progress import Meter

            bar = Meter(run.stream.size)
        words = "looking back" if run.looking_back else f"mean loss {run.mean:.4g}"
        bar.show(run.rounds, run.size, (run.size - before) / seconds, words)

    run.told = look
    try:
        yield
    finally:
        if bar is not None:
            bar.close()


def show(result: Result) -> None:
    """Print the summary."""
    from rich.console import Console

    from noregret.app.report.run.text import summary

    console = Console(highlight=False)
    console.width = max(40, min(console.width, 100))
    console.print(summary(result))


def show_json(result: Result) -> None:
    """Print the figures for machines."""
    import json

    from noregret.app.report.run.json import as_dict

    print(json.dumps(as_dict(result), indent=1, ensure_ascii=False, allow_nan=False))
