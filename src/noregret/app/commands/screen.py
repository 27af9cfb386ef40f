"""What the commands that explain have in common: a screen, and paragraphs on it."""

from __future__ import annotations

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
