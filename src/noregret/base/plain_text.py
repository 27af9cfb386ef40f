"""Plain text for wherever it is printed: without what a terminal's encoding cannot write."""

from __future__ import annotations

import io
import sys

from rich.console import Console, RenderableType

WIDTH = 80
# What is written in place of letters that an encoding does not have.
PLAIN = str.maketrans(
    {"‖": "|", "·": "*", "√": "sqrt ", "≤": "<=", "’": "'", "‘": "'", "…": ".", "²": "^2", "−": "-"}
    | dict.fromkeys("╭╮╰╯┏┓┗┛┡┩╇┳┻└┘┴", "+")
    | dict.fromkeys("│┃", "|")
    | dict.fromkeys("─╌╺", "-")
    | dict.fromkeys("━╸", "=")
)


def plain_text(shown: RenderableType) -> str:
    """Return what Rich shows as text of 80 columns, in letters that standard output can write."""
    page = io.StringIO()
    console = Console(
        file=page, width=WIDTH, color_system=None, force_terminal=False, legacy_windows=False
    )
    console.print(shown)
    return for_encoding(page.getvalue().rstrip("\n"), getattr(sys.stdout, "encoding", None))


def for_encoding(text: str, encoding: str | None) -> str:
    """Return text that an encoding can write; lines of boxes become dashes and bars.

    >>> for_encoding("╭─╮ ‖u‖", "ascii")
    '+-+ |u|'
    """
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(PLAIN).encode("ascii", "replace").decode()
    return text
