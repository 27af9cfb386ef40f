"""Printing on a terminal: its width, paragraphs on it, and how to call the command there."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text


def screen() -> Console:
    """Return a screen that is neither too narrow nor too wide to read."""
    console = Console(highlight=False, markup=False)
    console.width = max(40, min(console.width, 100))
    return console


def show(console: Console, text: str, indent: int = 0, style: str = "", hang: int = 0) -> None:
    """Print a paragraph, its lines after the first hanging by that much more."""
    width = console.width - indent - hang
    lines = Text(text, style=style).wrap(console, max(20, width))
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Padding(line, (0, 0, 0, indent + (hang if number else 0)), expand=False))


def command_path() -> str:
    """Return how to call the command from here: with its folder, if that is not on the path."""
    beside = Path(sys.executable).with_name("noregret")
    if shutil.which("noregret") or not beside.is_file():
        return "noregret"
    here = Path.cwd()
    return str(beside.relative_to(here) if beside.is_relative_to(here) else beside)
