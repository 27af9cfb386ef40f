"""Carrying out ``noregret echo``: what the command line means, and what is printed at the end."""

from __future__ import annotations

import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.app.commands.run.writing import check_place
from noregret.base.atomic_files import same_file, write_whole
from noregret.echo.canceller import HIGHEST, LONGEST_TAIL, LOWEST
from noregret.echo.sound import soundfile
from noregret.errors import NoRegretError, WrongUsage
from noregret.proof.game.progress import PATIENCE

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult

# Where the demo writes, if not told.
FOLDER = "noregret-echo-demo"
DEMO = ("far.wav", "mic.wav", "near.wav", "clean.wav", "report.html")


@dataclass(frozen=True)
class Wanted:
    """What a command line asks for."""

    far: str | None
    mic: str | None
    out: str | None
    tail: float
    linear: bool
    channel: int | None
    rate: int | None
    report: str | None
    certificate: str | None
    hindsight: bool
    seed: int | None
    input: str | None
    output: str | None


def carry_out(wanted: Wanted, *, demo: bool, live: bool, quiet: bool, as_json: bool) -> None:
    """Do what a command line asks for."""
    check(wanted, demo, live)
    soundfile()
    with politely(), progress(hidden=quiet or as_json) as told:
        if demo:
            result = demonstrated(wanted, told)
        elif live:
            result = live_result(wanted)
        else:
            result = cancelled(wanted, told)
    result, failures = written(result, wanted)
    if as_json:
        show_json(result)
    elif not quiet:
        show(result)
    if failures:
        raise NoRegretError("\n".join(failures))


def check(wanted: Wanted, demo: bool, live: bool) -> None:
    """Refuse a command line that makes no sense."""
    if demo and live:
        raise WrongUsage("--demo needs no devices: leave --live out")
    if not (math.isfinite(wanted.tail) and 0 < wanted.tail <= LONGEST_TAIL):
        hint = (
            f"; {wanted.tail:g} ms are {wanted.tail / 1000:g}" if wanted.tail > LONGEST_TAIL else ""
        )
        hint = hint if math.isfinite(wanted.tail) else ""
        raise WrongUsage(
            f"--tail is in seconds, above 0 and at most {LONGEST_TAIL:g}: got {wanted.tail:g}{hint}"
        )
    if wanted.certificate is not None and not wanted.hindsight:
        raise WrongUsage("a certificate compares with hindsight: leave --no-hindsight out")
    if wanted.rate is not None and not LOWEST <= wanted.rate <= HIGHEST:
        raise WrongUsage(f"--rate is from {LOWEST:,} to {HIGHEST:,}: got {wanted.rate:,}")
    if wanted.seed is not None and (not demo or wanted.seed < 0):
        raise WrongUsage("--seed is a whole number, 0 or above, and for --demo only")
    if (wanted.input is not None or wanted.output is not None) and not live:
        raise WrongUsage("--input and --output name devices: they are for --live")
    if demo and (wanted.far or wanted.mic or wanted.channel is not None):
        raise WrongUsage("--demo makes up its own far end and microphone: leave yours out")
    if live and (wanted.mic is not None or wanted.channel is not None):
        raise WrongUsage("--live records the microphone itself: leave --mic and --channel out")
    needed = {"far": wanted.far, "out": wanted.out} | ({} if live else {"mic": wanted.mic})
    missing = [f"--{name} FILE" for name, path in needed.items() if not path]
    if missing and not demo:
        raise WrongUsage(
            f"{' and '.join(missing)} missing: noregret echo --far PLAYED --mic RECORDED --out"
            " CLEAN; or try noregret echo --demo"
        )
    check_outputs(wanted, demo)


def check_outputs(wanted: Wanted, demo: bool) -> None:
    """Refuse at once what could not be written at the end."""
    sources = [path for path in (wanted.far, wanted.mic) if path is not None]
    outputs = {"report": wanted.report, "certificate": wanted.certificate}
    if not demo:
        outputs = {"clean": wanted.out, **outputs}
    taken: list[tuple[str, str]] = [(path, "what is read") for path in sources]
    if demo:
        folder = Path(wanted.out or FOLDER)
        taken += [
            (str(folder / name), "what the demo writes")
            for name in DEMO[: 4 if wanted.report else 5]
        ]
    for kind, path in outputs.items():
        if path is None:
            continue
        what = "the output" if kind == "clean" else f"the {kind}"
        if not path:
            raise WrongUsage(f"name a file for {what}: got an empty name")
        check_place(path, what)
        for other, by in taken:
            if same_file(path, other):
                raise WrongUsage(f"{path}: already taken, by {by}: name another file for {what}")
        taken.append((path, what))


def cancelled(wanted: Wanted, told: Callable[[float, float], None] | None) -> EchoResult:
    """Take the echo out of a file."""
    from noregret.echo.cancelling import cancel_file

    assert wanted.far is not None
    assert wanted.mic is not None
    assert wanted.out is not None
    return cancel_file(
        wanted.far,
        wanted.mic,
        wanted.out,
        tail=wanted.tail,
        suppress=not wanted.linear,
        channel=wanted.channel,
        rate=wanted.rate,
        certify=wanted.hindsight,
        told=told,
    )


def demonstrated(wanted: Wanted, told: Callable[[float, float], None] | None) -> EchoResult:
    """Make up a room and two voices, and take the echo out."""
    from noregret.echo.showing import demonstration

    folder = Path(wanted.out or FOLDER)
    if folder.exists() and not folder.is_dir():
        raise NoRegretError(f"{folder}: a file: --out names the folder that the demo writes to")
    if not folder.parent.is_dir():
        raise NoRegretError(f"{folder}: there is no folder {folder.parent}")
    for name in DEMO if wanted.out else ():
        if (folder / name).exists():
            raise NoRegretError(
                f"{folder / name}: is there already, and the demo would write it: name another"
                " folder, or remove it"
            )
    return demonstration(
        folder,
        rate=wanted.rate or 16_000,
        seed=wanted.seed or 0,
        tail=wanted.tail,
        suppress=not wanted.linear,
        certify=wanted.hindsight,
        told=told,
    )


def live_result(wanted: Wanted) -> EchoResult:
    """Take the echo out of what is heard now."""
    from noregret.echo.live import cancel_live

    assert wanted.far is not None
    assert wanted.out is not None
    return cancel_live(
        wanted.far,
        wanted.out,
        tail=wanted.tail,
        suppress=not wanted.linear,
        rate=wanted.rate,
        certify=wanted.hindsight,
        input=wanted.input,
        output=wanted.output,
    )


def written(result: EchoResult, wanted: Wanted) -> tuple[EchoResult, list[str]]:
    """Write report and certificate; return the result with what was written, and what failed."""
    from noregret.app.report.echo.html import page

    command = shlex.join(["noregret", *sys.argv[1:]])
    result = replace(result, command=command)
    failures: list[str] = []
    outputs = dict(result.outputs)
    report = wanted.report or outputs.get("report")
    try:
        if wanted.certificate is not None and result.certificate is None:
            failures.append(f"{wanted.certificate}: no certificate: {result.uncertified}")
        elif wanted.certificate is not None and result.certificate is not None:
            result.certificate.save(wanted.certificate)
            outputs["certificate"] = wanted.certificate
        if report is not None:
            outputs["report"] = report
            write_whole(report, page(replace(result, outputs=outputs)).encode())
    except OSError as error:
        outputs = {kind: path for kind, path in outputs.items() if os.path.exists(path)}
        failures.append(f"{error.filename or report}: {error.strerror or error}")
    return replace(result, outputs=outputs), failures


@contextmanager
def politely() -> Iterator[None]:
    """Let a polite kill clean up like Ctrl-C: nothing is left half written."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread: whoever calls from there sees to it
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def progress(*, hidden: bool) -> Iterator[Callable[[float, float], None] | None]:
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


def show(result: EchoResult) -> None:
    """Print the summary."""
    from noregret.app.commands.screen import command_path, screen
    from noregret.app.report.echo.text import summary

    console = screen()
    console.print(summary(result))
    if result.known is not None:
        console.print(
            f"\nListen to mic.wav and clean.wav, or open report.html, which plays both.\nFor"
            f" recordings of your own:\n{command_path()} echo --far PLAYED.wav --mic RECORDED.wav"
            " --out CLEAN.wav",
            soft_wrap=True,
        )


def show_json(result: EchoResult) -> None:
    """Print the figures for machines."""
    import json

    from noregret.app.report.echo.text import as_dict

    print(json.dumps(as_dict(result), indent=1, ensure_ascii=False, allow_nan=False))
