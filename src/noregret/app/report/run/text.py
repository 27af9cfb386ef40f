"""A finished run in a terminal: what it came to, in a screenful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.text import COLOURS, Bar, columns
from noregret.app.report.certificate.verdict import subject
from noregret.app.report.run.words import (
    USUAL,
    against,
    among,
    judged,
    lost,
    regret,
    standing_of,
    title,
    took,
)
from noregret.base.numbers import (
    brief,
    clean,
    count,
    figure,
    name_of,
    part_of_bound,
    percent,
    signed,
)

if TYPE_CHECKING:
    from noregret.app.results.findings import Found
    from noregret.app.results.run import Result, Skipped

# Cells of the longest bar.
LONGEST_BAR = 24
# Rows left out that are shown.
SHOWN = 3


def summary(result: Result) -> RenderableType:
    """Return the run as Rich shows it."""
    parts: list[RenderableType] = [Text(title(result), "bold", overflow="fold")]
    if result.interrupted:
        parts.append(Text("Interrupted: this is how far it came.", COLOURS["bad"]))
    parts += [Text(), figures(result), Text(), verdict(result)]
    if result.found is not None:
        parts += [Text(), Text("What it found", "dim"), *told(result.found)]
    elif result.heaviest:
        parts += [Text(), *heaviest(result.heaviest)]
    if result.skipped:
        parts += [Text(), *left_out(result.skipped, result.skipped_rows)]
    if result.outputs:
        parts += [Text(), written(result.outputs)]
    return Group(*parts)


def fitting() -> Table:
    """Return a table without lines, as wide as what is in it."""
    table = columns()
    table.expand = False
    return table


def figures(result: Result) -> Table:
    """Return the figures."""
    table = fitting()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="bold", justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for fact in facts(result):
        table.add_row(Text(fact.label), Text(fact.figure), Text(fact.words))
    return table


def facts(result: Result) -> Iterator[Fact]:
    """Yield the figures with what they mean."""
    now = standing_of(result)
    yield Fact("rows", figure(result.rows), f"{count(result.features, 'feature')}; {took(result)}")
    if result.choice is not None:
        yield Fact("outcomes", clean(result.choice.outcomes), clean(result.choice.words))
    if now.loss is not None:
        yield Fact("mean loss", brief(now.loss), lost(result))
    if result.constant is not None and now.constant is not None:
        what = f"the best constant, {brief(result.constant.value)}"
        yield Fact("constant", brief(now.constant), against(now.loss, now.constant, what) or what)
    if now.hindsight is not None and result.certificate is not None:
        what = f"the best in hindsight{among(result) or f' ({USUAL})'}"
        yield Fact(
            "hindsight", brief(now.hindsight), against(now.loss, now.hindsight, what) or what
        )
    if result.mistakes is not None and now.accuracy is not None:
        right = f"labels predicted wrongly: {percent(now.accuracy)} were right"
        yield Fact("mistakes", figure(result.mistakes), right)
    yield from promised(result)
    if result.shared:
        yield Fact("shared", figure(result.shared), "slots of the hash hold more than one name")


def promised(result: Result) -> Iterator[Fact]:
    """Yield the regret, and what the theorem allows."""
    found, certificate = regret(result), result.certificate
    if found is None or certificate is None:
        return
    yield Fact("regret", *found)
    promise = certificate.theorem
    if promise is not None and promise.bound is not None:
        part = part_of_bound(promise.tightness)
        used = f", of which {part} is used" if part else ""
        yield Fact("bound", brief(promise.bound), f"on {subject(promise).rstrip(',')}{used}")


def verdict(result: Result) -> Text:
    """Return what to make of it."""
    said = judged(result)
    colour = f"bold {COLOURS[said.mood]}"
    if said.mood == "good":
        return Text.assemble((said.headline, colour), f" (theorem {said.theorem})")
    return Text.assemble((said.headline, colour), f"  {said.words}", overflow="fold")


def told(found: Found) -> list[RenderableType]:
    """Return what the learner tells of itself."""
    return [
        Padding(Text(clean(part), overflow="fold"), (0, 0, 0, 2))
        for part in found.words.split("\n")
        if part.strip()
    ]


def heaviest(weights: Iterable[tuple[str, float]]) -> list[RenderableType]:
    """Return the heaviest features, with bars."""
    weights = list(weights)
    largest = max((abs(weight) for _, weight in weights), default=0.0)
    table = fitting()
    table.add_column(max_width=34, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for name, weight in weights:
        style = "blue" if weight > 0 else "yellow"
        share = abs(weight) / largest if largest else 0.0
        table.add_row(
            Text(name_of(name)), Text(signed(weight, brief)), Bar(share, style, LONGEST_BAR, "")
        )
    return [Text("Heaviest features", "dim"), table]


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
