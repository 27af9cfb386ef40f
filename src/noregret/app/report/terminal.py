"""Parts of what commands print on a terminal: tables of figures, the verdict, lists of files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from noregret.app.report.certificate.text import COLOURS, Bar, columns
from noregret.base.numbers import clean, count, name_of

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.app.results.run import Skipped

# Cells of the longest bar.
LONGEST_BAR = 24
# Rows left out that are shown.
SHOWN = 3
INTERRUPTED = Text("Interrupted: these are the results so far.", COLOURS["bad"])


def fitting() -> Table:
    """Return a table without lines, as wide as what is in it."""
    table = columns()
    table.expand = False
    return table


def figures(facts: Iterable[tuple[str, str, str]]) -> Table:
    """Return figures: a label, the number, and what it means."""
    table = fitting()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="bold", justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for cells in facts:
        table.add_row(*map(Text, cells))
    return table


def bars(rows: Iterable[tuple[str, str, float, str]]) -> Table:
    """Return names with a number and a bar: its share of the longest, and its colour."""
    table = fitting()
    table.add_column(max_width=34, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for name, number, share, colour in rows:
        table.add_row(Text(name_of(name)), Text(number), Bar(share, colour, LONGEST_BAR, ""))
    return table


def verdict(said: Verdict) -> Text:
    """Return whether the promise was kept, or why none is made."""
    why = f" (theorem {said.theorem})" if said.mood == "good" else f"  {clean(said.words)}"
    headline = said.headline, f"bold {COLOURS[said.mood]}"
    return Text.assemble(headline, why, overflow="fold")


def left_out(number: int, first: tuple[Skipped, ...]) -> list[RenderableType]:
    """Return the rows that were left out."""
    parts: list[RenderableType] = [Text(f"{count(number, 'row')} left out", "bold")]
    parts += [
        Text.assemble((f"  {clean(row.place)}  ", "dim"), clean(row.reason), overflow="fold")
        for row in first[:SHOWN]
    ]
    if number > min(SHOWN, len(first)) and first:
        parts.append(Text(f"  and {number - min(SHOWN, len(first)):,} more", "dim"))
    return parts


def written(outputs: dict[str, str]) -> Table:
    """Return the files that were written."""
    table = fitting()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for kind, path in outputs.items():
        table.add_row(Text(clean(kind)), Text(clean(path)))
    return table
