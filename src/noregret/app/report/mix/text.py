"""The summary of a mix on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from noregret.app.report.helped import beneath
from noregret.app.report.mix.experts import against_average, loss_words
from noregret.app.report.mix.verdicts import verdicts
from noregret.app.report.mix.words import (
    bound_words,
    company,
    helped_by,
    judged,
    lines,
    notes,
    ratio_of,
    regret_words,
    title,
)
from noregret.app.report.run.words import took
from noregret.app.report.terminal import (
    INTERRUPTED,
    bars,
    figures,
    fitting,
    lead,
    left_out,
    verdict,
    written,
)
from noregret.base.numbers import MIN_SHOWN_WEIGHT, brief, clean, count, figure, name_of, weight

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult

MAX_SHOWN_EXPERTS = 8
# Series shown at either end of their ranking.
SERIES = 3


def summary(result: MixResult) -> RenderableType:
    """Return the mix as Rich shows it."""
    parts: list[RenderableType] = [Text(title(result), "bold", overflow="fold")]
    if result.interrupted:
        parts.append(INTERRUPTED)
    parts += [
        *lead(helped_by(result)),
        Text(),
        rounds(result),
        Text(),
        comparison(result),
        Text(),
        regret(result),
    ]
    parts += [Text(), *(group_verdicts(result) if result.groups else [verdict(judged(result))])]
    parts += [Text(), *weights(result)]
    if len(result.groups) > 1:
        parts += [Text(), *series(result)]
    if told := facts(notes(result)):
        parts += [Text(), told]
    if result.skipped:
        parts += [Text(), *left_out(result.skipped, result.skipped_rows)]
    if result.outputs:
        parts += [Text(), written(result.outputs)]
    return Group(*parts)


def rounds(result: MixResult) -> Text:
    """Return the number of rounds, the time and the experts."""
    return Text.assemble(
        (count(result.rows, "round"), "bold"),
        f"; {took(result)}\n{company(result)}",
        overflow="fold",
    )


def comparison(result: MixResult) -> Table:
    """Return the table that compares the mixture with its baselines."""
    table = fitting()
    table.show_header, table.header_style = True, "dim"
    table.add_column("", overflow="ellipsis", no_wrap=True)
    square = result.loss == "square"
    loss = "mean loss" if square else f"mean {loss_words(result)} loss"
    if square:
        table.add_column("RMSE", justify="right", no_wrap=True)
    table.add_column(loss, justify="right", no_wrap=True)
    table.add_column(against_average(result), justify="right", min_width=7)
    for line in lines(result):
        label = line.label + {"convex": " in hindsight"}.get(line.kind, "")
        name = Text(f"{label}: {name_of(line.name)}" if line.name else label)
        cells = [brief(line.rmse or 0.0)] if square else []
        cells.append(brief(line.mean))
        cells.append("" if line.ratio is None else f"{line.ratio:.3f}")
        style = "bold" if line.kind == "mixture" else ""
        table.add_row(name, *(Text(cell) for cell in cells), style=style)
    return table


def facts(found: Iterable[tuple[str, str]]) -> Table | None:
    """Return a table of labels and remarks; None if there are none."""
    table, rows = fitting(), list(found)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, words in rows:
        table.add_row(Text(label), Text(words))
    return table if rows else None


def regret(result: MixResult) -> Table:
    """Return the regret and its bound."""
    found = [("regret", regret_words(result)), ("bound", bound_words(result))]
    rows = [(label, *words) for label, words in found if words is not None]
    if result.convex is None and result.without_convex:
        why = f"the best weights in hindsight are not known: {clean(result.without_convex)}"
        rows.append(("weights", "–", why))
    return figures(rows)


def group_verdicts(result: MixResult) -> list[RenderableType]:
    """Return the number of series in which the bound held, and the reasons for the others."""
    found = verdicts(result)
    if not found:
        return [Text(clean(result.uncertified or ""), "dim", overflow="fold")]
    lead = helped_by(result)
    return [verdict(beneath(lead, said)) for said in found]


def weights(result: MixResult) -> list[RenderableType]:
    """Return the largest weights, as bars."""
    order = sorted(result.experts, key=lambda expert: -expert.weight)
    shown = [
        expert for expert in order[:MAX_SHOWN_EXPERTS] if expert.weight >= MIN_SHOWN_WEIGHT
    ] or order[:1]
    largest = shown[0].weight
    table = bars(
        (one.name, weight(one.weight), one.weight / (largest or 1.0), "blue") for one in shown
    )
    rest = 1 - sum(expert.weight for expert in shown)
    if len(order) > len(shown) and rest >= MIN_SHOWN_WEIGHT:
        others = count(len(order) - len(shown), "other")
        table.add_row(Text(others, "dim"), Text(weight(rest), "dim"), Text())
    mean = ", on average over the series" if result.groups else ""
    return [Text(f"Weights for the next round{mean}", "dim"), table]


def series(result: MixResult) -> list[RenderableType]:
    """Return the series where the mixture did best and worst relative to the average."""
    known = [one for one in result.groups if one.average > 0]
    ordered = sorted(known, key=lambda one: one.total / one.average)
    if len(ordered) < 2:
        return []
    better = sum(one.total < one.average for one in known)
    table = fitting()
    table.show_header, table.header_style = True, "dim"
    table.add_column("series", overflow="ellipsis", no_wrap=True, max_width=28)
    table.add_column("rounds", justify="right", no_wrap=True)
    table.add_column("mean loss", justify="right", no_wrap=True)
    table.add_column(against_average(result), justify="right", min_width=7)
    few = len(ordered) > 2 * SERIES
    chosen = [*ordered[:SERIES], None, *ordered[-SERIES:]] if few else ordered
    for one in chosen:
        if one is None:
            table.add_row(Text("…", "dim"), Text(), Text(), Text())
            continue
        ratio = ratio_of(result, one.total / one.average * (result.average or 0.0))
        table.add_row(
            Text(name_of(one.name)),
            Text(figure(one.rounds)),
            Text(brief(one.total / one.rounds)),
            Text("" if ratio is None else f"{ratio:.3f}"),
        )
    told = f"Better than the average in {better:,} of {len(known):,} series"
    return [Text(f"{told}; the best and the worst:" if few else told, "dim"), table]
