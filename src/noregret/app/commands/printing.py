"""Print results as text or JSON, and paragraphs on a terminal."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.app.commands import INTERRUPTED
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from argparse import Namespace

    from rich.console import Console, RenderableType


def concluded(
    result: Any,
    given: Namespace,
    failures: Sequence[str] = (),
    way_on: str = "",
    stderr: bool = False,
) -> None:
    """Print a result; then raise what could not be written, or that it was interrupted."""
    from noregret.app.report import renderer

    if given.json:
        from noregret.base.json_text import indented

        shown = indented(renderer(f"{result.kind} json")(result))
        print(shown, file=sys.stderr if stderr else sys.stdout)
    elif not given.quiet:
        print_on(screen(stderr), renderer(f"{result.kind} text")(result))
    if failures:
        raise NoRegretError("\n".join(failures))
    if getattr(result, "interrupted", False):
        if given.quiet or not way_on:
            raise SystemExit(INTERRUPTED)
        raise KeyboardInterrupt(way_on)


def screen(stderr: bool = False) -> Console:
    """Return a screen that is neither too narrow nor too wide to read."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, stderr=stderr)
    console.width = max(40, min(console.width, 100))
    return console


def print_on(console: Console, shown: RenderableType) -> None:
    """Print something, without trailing spaces in a file or a pipe."""
    if console.is_terminal:
        console.print(shown)
        return
    with console.capture() as page:
        console.print(shown)
    lines = (line.rstrip(" ") for line in page.get().split("\n"))
    console.file.write("\n".join(lines))


def show(console: Console, text: str, indent: int = 0, style: str = "", hang: int = 0) -> None:
    """Print a paragraph, its lines after the first indented by ``hang`` more."""
    from rich.padding import Padding
    from rich.text import Text

    width = console.width - indent - hang
    lines = Text(text, style=style).wrap(console, max(20, width))
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Padding(line, (0, 0, 0, indent + (hang if number else 0)), expand=False))


def heading(console: Console, text: str) -> None:
    """Begin a part."""
    console.print()
    show(console, text, style="bold")


def command_line() -> str:
    """Return the command line as it was typed, without passwords of databases."""
    return shlex.join(["noregret", *map(hidden, sys.argv[1:])])


def hidden(word: str) -> str:
    """Return a word of a command line without passwords: an address, or an option with one."""
    from noregret.streams.addresses import shown

    option, equals, value = word.partition("=")
    return f"{option}={shown(value)}" if equals and option[:2] == "--" else shown(word)


def command_path() -> str:
    """Return how to call the command from here: with its folder, if that is not on the path."""
    beside = Path(sys.executable).with_name("noregret")
    if shutil.which("noregret") or not beside.is_file():
        return "noregret"
    here = Path.cwd()
    return str(beside.relative_to(here) if beside.is_relative_to(here) else beside)
