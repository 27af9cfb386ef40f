"""Tables that scripts write into pages, between two comments that name them."""

from __future__ import annotations

import re
from pathlib import Path


def table(headings: list[str], rows: list[list[str]], *, figures: bool = False) -> str:
    """Return a table in Markdown; with figures, all columns but the first are set to the right."""
    sides = ["---", *["---:" if figures else "---"] * (len(headings) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [headings, sides, *rows])


def fill(page: Path, name: str, text: str) -> None:
    """Put text between a page's marks of that name."""
    marks = re.compile(rf"(<!-- {name}: [^>]* -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    written, places = marks.subn(
        lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page.read_text(encoding="utf-8")
    )
    if not places:
        raise SystemExit(f"{page.name} has no place for {name!r}")
    page.write_text(written, encoding="utf-8")
