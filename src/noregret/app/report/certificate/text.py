"""A certificate on a terminal: a panel of 80 columns, with or without colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from noregret.app.report.certificate.sheet import Assumed, Said, Sheet, sheet_of
from noregret.base import plain_text as plain
from noregret.base.numbers import signed

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.proof.certificates.certificate import Certificate

# Readable on dark and light backgrounds; the words say the same without colour.
COLOURS = {"good": "green", "bad": "bold red", "open": "magenta", "poor": "yellow", "neutral": ""}
BAR = 60


def panel(certificate: Certificate) -> RenderableType:
    """Return the certificate as Rich shows it."""
    sheet = sheet_of(certificate)
    colour = COLOURS[sheet.verdict.mood]
    parts: list[RenderableType] = [head(sheet), Text(), figures(sheet)]
    for said in (Said(sheet.verdict, sheet.assumptions), *sheet.further):
        parts += [Text(), verdict(said.verdict)]
        if said.assumptions:
            parts += [Text(), assumptions(said.assumptions)]
    if sheet.weights:
        parts += [Text(), weights(sheet)]
    return Panel(
        Group(*parts),
        title=Text("noregret certificate", "bold"),
        title_align="left",
        border_style=colour,
        padding=(1, 2),
        width=plain.WIDTH,
    )


def plain_text(certificate: Certificate) -> str:
    """Return the certificate as plain text of 80 columns."""
    return plain.plain_text(panel(certificate))


def head(sheet: Sheet) -> Text:
    """Return the learner and its parameters."""
    params = f" with {sheet.params}" if sheet.params else ""
    return Text.assemble((sheet.learner, "bold"), params)


def columns() -> Table:
    """Return a table without lines."""
    return Table(box=None, show_header=False, padding=(0, 2, 0, 0), expand=True, pad_edge=False)


class Bar(NamedTuple):
    """A share as a bar, in characters that the console has.

    Parameters
    ----------
    share, style
        The filled share, and its style.
    width
        Length of the full bar.
    rest
        Character for the unfilled part; may be empty.
    """

    share: float
    style: str
    width: int = BAR
    rest: str = "╌"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it."""
        done, rest = ("#", "-" * bool(self.rest)) if options.ascii_only else ("━", self.rest)
        width = min(self.width, options.max_width)
        full = round(width * min(1.0, max(0.0, self.share)))
        yield Text.assemble((done * full, self.style), (rest * (width - full), "dim"))


def figures(sheet: Sheet) -> Table:
    """Return the figures."""
    table = columns()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="bold", justify="right", overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    for fact in sheet.facts:
        table.add_row(Text(fact.label), Text(fact.figure), Text(fact.words))
    return table


def verdict(said: Verdict) -> Group:
    """Return the verdict."""
    parts: list[RenderableType] = [Text(said.headline, f"bold {COLOURS[said.mood]}".rstrip())]
    if said.share is not None:
        parts.append(Bar(said.share, COLOURS[said.mood]))
    parts.append(Text(said.words, overflow="fold"))
    if said.theorem:
        promise = f": {said.promise}" if said.promise else ""
        parts.append(Text.assemble(("Theorem ", "dim"), (said.theorem, "bold"), promise))
    return Group(*parts)


def assumptions(assumed: list[Assumed]) -> Table:
    """Return the assumptions with their measured values."""
    table = columns()
    table.show_header, table.header_style = True, "dim"
    table.add_column("Assumption", ratio=1, overflow="fold")
    table.add_column("measured", justify="right", overflow="fold")
    table.add_column("limit", justify="right", overflow="fold")
    table.add_column("", no_wrap=True)
    for found in assumed:
        style = "" if found.good else "bold" if found.good is None else f"bold {COLOURS['bad']}"
        table.add_row(
            Text(found.name), Text(found.measured), Text(found.limit), Text(found.held, style)
        )
    return table


def weights(sheet: Sheet) -> Group:
    """Return the largest weights of the best fixed predictor."""
    table = columns()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for name, weight in sheet.weights:
        table.add_row(Text(signed(weight)), Text(name))
    return Group(Text(sheet.weights_title, "dim"), table)
