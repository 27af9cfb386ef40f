"""The summary of a tournament on a terminal, and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from noregret.app.report.helped import UNKNOWN
from noregret.app.report.mix.experts import loss_words
from noregret.app.report.mix.json import as_dict as mix_dict
from noregret.app.report.mix.text import comparison, facts, regret, rounds
from noregret.app.report.mix.words import helped_by, judged, notes, title
from noregret.app.report.run.words import error_against
from noregret.app.report.terminal import INTERRUPTED, fitting, lead, left_out, verdict, written
from noregret.base.numbers import brief, clean, count, figure, name_of, percent, weight

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.app.results.tournament import Standing, TournamentResult

FORMAT = "noregret.tournament/1"
MAX_SHOWN_LEARNERS = 40
# Remarks on columns of forecasts that the table of learners makes needless.
KNOWN = ("suspicious", "missing", "best expert")


def summary(result: TournamentResult) -> RenderableType:
    """Return the tournament as Rich shows it."""
    parts: list[RenderableType] = [Text(title(result), "bold", overflow="fold")]
    if result.interrupted:
        parts.append(INTERRUPTED)
    parts += lead(compared(result))
    parts += [Text(), rounds(result), Text(), learners(result), Text(), comparison(result)]
    parts += [Text(), regret(result), Text(), verdict(judged(result))]
    stopped = [
        ("stopped", f"{name_of(one.name)} after {count(one.rounds, 'round')}: {clean(one.stopped)}")
        for one in result.standings
        if one.stopped is not None
    ]
    others = [(label, words) for label, words in notes(result) if label not in KNOWN]
    if told := facts([*stopped, *others]):
        parts += [Text(), told]
    if result.skipped:
        parts += [Text(), *left_out(result.skipped, result.skipped_rows)]
    if result.outputs:
        parts += [Text(), written(result.outputs)]
    return Group(*parts)


def compared(result: TournamentResult) -> Verdict | None:
    """Return whether the mixture is better than the plain average, and how near the best it is."""
    said, best = helped_by(result), result.winner
    if said is None or best is None or said.headline == UNKNOWN:
        return said
    mine, other = (
        math.sqrt(max(0.0, total / result.rows)) if result.loss == "square" else total
        for total in (result.total, best.total)
    )
    words = error_against(mine, other, f"{name_of(best.name)}, the best learner in hindsight")
    steady = "" if result.steady is None else result.steady.name
    if steady.startswith(f"{name_of(best.name)},"):  # which is told
        return said
    return said._replace(words=f"{said.words} It has {words}.") if words else said


def learners(result: TournamentResult) -> Table:
    """Return the table of the learners, the mixture first."""
    table, square = fitting(), result.loss == "square"
    table.show_header, table.header_style = True, "dim"
    table.add_column("", overflow="ellipsis", no_wrap=True)
    labels = result.standings[0].accuracy is not None
    slept = any(one.rounds < result.rows for one in result.standings)
    loss = "mean loss" if square else f"mean {loss_words(result)} loss"
    heads = [*(["accuracy"] if labels else []), *(["RMSE"] if square else []), loss, "total loss"]
    for head in [*heads, *(["rounds"] if slept else []), "weight now"]:
        table.add_column(head, justify="right", no_wrap=True)
    for one in result.standings[: MAX_SHOWN_LEARNERS + 1]:
        own = one.weight is None
        cells = [Text(cell) for cell in cells_of(one, labels, square, slept)]
        table.add_row(Text(name_of(one.name)), *cells, style="bold" if own else "")
    left = len(result.standings) - MAX_SHOWN_LEARNERS - 1
    if left > 0:
        table.add_row(Text(f"and {left:,} more", "dim"), *([Text()] * (len(heads) + 1 + slept)))
    return table


def cells_of(one: Standing, labels: bool, square: bool, slept: bool) -> list[str]:
    """Return the figures of a learner."""
    mean = one.total / max(1, one.rounds)
    found = [percent(one.accuracy or 0.0)] if labels else []
    found += [brief(math.sqrt(max(0.0, mean)))] if square else []
    found += [brief(mean), brief(one.total), *([figure(one.rounds)] if slept else [])]
    return [*found, "" if one.weight is None else weight(one.weight)]


def as_dict(result: TournamentResult) -> dict[str, Any]:
    """Return the result for JSON: that of a mix, and ``learners``, the mixture first.

    ``steady`` has the ``name`` and the ``total`` loss of the average of those that did not stop;
    null if none has stopped, or all. Each learner has its ``name``, ``rounds`` with a
    forecast, its ``total`` loss in these, its ``weight`` for the next round, ``accuracy`` (null for
    numbers), and why it has ``stopped`` (null if not).
    """
    found = [one._asdict() for one in result.standings]
    steady = result.steady and result.steady._asdict()
    return mix_dict(result) | {"format": FORMAT, "learners": found, "steady": steady}
