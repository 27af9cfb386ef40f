"""Plain text in the characters that a terminal's encoding has."""

from __future__ import annotations

import io
import sys

from rich.console import Console, RenderableType

WIDTH = 80
# Replacements of characters that an encoding lacks.
PLAIN = str.maketrans(
    {"‖": "|", "·": "*", "√": "sqrt ", "≤": "<=", "’": "'", "‘": "'", "…": ".", "²": "^2", "−": "-"}
    | dict.fromkeys("╭╮╰╯┏┓┗┛┡┩╇┳┻└┘┴", "+")
    | dict.fromkeys("│┃", "|")
    | dict.fromkeys("─╌╺", "-")
    | dict.fromkeys("━╸", "=")
)


def plain_text(shown: RenderableType) -> str:
    """Return a Rich object as text of 80 columns, in the encoding of standard output."""
    page = io.StringIO()
    console = Console(
        file=page, width=WIDTH, color_system=None, force_terminal=False, legacy_windows=False
    )
    console.print(shown)
    return for_encoding(page.getvalue().rstrip("\n"), getattr(sys.stdout, "encoding", None))


def for_encoding(text: str, encoding: str | None) -> str:
    """Replace characters that an encoding lacks; box-drawing lines become dashes and bars.

    >>> for_encoding("╭─╮ ‖u‖", "ascii")
    '+-+ |u|'
    """
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(PLAIN).encode("ascii", "replace").decode()
    return text
