"""Parts of the commands' output on a terminal: tables of figures, the verdict, lists of files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from noregret.app.report.certificate.text import COLOURS, Bar, columns
from noregret.app.report.helped import HOLDS
from noregret.base.numbers import clean, count, name_of

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.app.results.run import Skipped

# Width of the longest bar, in characters.
LONGEST_BAR = 24
MAX_SHOWN_ROWS = 3
INTERRUPTED = Text("Interrupted: these are the results so far.", COLOURS["bad"])


def fitting() -> Table:
    """Return a table without lines, as wide as its contents."""
    table = columns()
    table.expand = False
    return table


def figures(facts: Iterable[tuple[str, str, str]]) -> Table:
    """Return a table of figures: label, number, explanation."""
    table = fitting()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="bold", justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for cells in facts:
        table.add_row(*map(Text, cells))
    return table


def bars(rows: Iterable[tuple[str, str, float, str]]) -> Table:
    """Return a table of names, numbers and bars."""
    table = fitting()
    table.add_column(max_width=34, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for name, number, share, colour in rows:
        table.add_row(Text(name_of(name)), Text(number), Bar(share, colour, LONGEST_BAR, ""))
    return table


def verdict(said: Verdict) -> Text:
    """Return the verdict, with the theorem or the reason."""
    why = (
        f" (theorem {said.theorem})"
        if said.theorem and (said.mood == "good" or said.headline == HOLDS)
        else f"  {clean(said.words)}"
    )
    headline = said.headline, f"bold {COLOURS[said.mood]}".rstrip()
    return Text.assemble(headline, why, overflow="fold")


def lead(said: Verdict | None) -> list[RenderableType]:
    """Return whether the result is better than the plain alternative, with an empty line."""
    return [] if said is None else [Text(), verdict(said)]


def left_out(number: int, first: tuple[Skipped, ...]) -> list[RenderableType]:
    """Return the number of rows skipped, and the first row of each of the first reasons."""
    parts: list[RenderableType] = [Text(f"{count(number, 'row')} skipped", "bold")]
    of_reason = {row.reason: row for row in reversed(first)}
    shown = [row for row in first if of_reason[row.reason] is row][:MAX_SHOWN_ROWS]
    for row in shown:
        words = Text.assemble((f"{clean(row.place)}  ", "dim"), clean(row.reason), overflow="fold")
        parts.append(Padding(words, (0, 0, 0, 2), expand=False))
    if number > len(shown) and shown:
        parts.append(Text(f"  and {number - len(shown):,} more", "dim"))
    return parts


def written(outputs: dict[str, str]) -> Table:
    """Return the list of files written."""
    table = fitting()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for kind, path in outputs.items():
        table.add_row(Text(clean(kind)), Text(clean(path)))
    return table
