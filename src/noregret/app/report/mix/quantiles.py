"""The summary of a mix of quantiles on a terminal, and as JSON (``noregret.quantiles/1``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from noregret.app.report.certificate.verdict import (
    EXCEEDED,
    KEPT,
    VACUOUS,
    Trivial,
    Verdict,
    vacuous,
)
from noregret.app.report.helped import Plain, beneath, helped, unknown
from noregret.app.report.mix.text import facts
from noregret.app.report.terminal import fitting, lead, verdict, written
from noregret.base.numbers import brief, count, name_of

if TYPE_CHECKING:
    from noregret.app.results.quantiles import QuantileResult

FORMAT = "noregret.quantiles/1"
# Differences from the average that are shown as none.
SAME = 5e-4


def summary(result: QuantileResult) -> RenderableType:
    """Return the result as Rich shows it."""
    files = ", ".join(map(name_of, result.sources))
    title = f"{name_of(result.learner)} on {files} → {name_of(result.target)}, by quantiles"
    parts: list[RenderableType] = [Text(title, "bold", overflow="fold")]
    parts += lead(helped_by(result))
    crossed = f"{count(result.crossed, 'round')} had quantiles to sort"
    skipped = f"; {count(result.skipped, 'bad row')} left out" if result.skipped else ""
    parts += [Text(), Text(f"{count(result.rows, 'round')}; {crossed}{skipped}")]
    parts += [Text(), table(result)]
    parts += [Text(), verdict(judged(result))]
    if told := facts(result.notes):
        parts += [Text(), told]
    if result.outputs:
        parts += [Text(), written(result.outputs)]
    return Group(*parts)


def table(result: QuantileResult) -> RenderableType:
    """Return the levels, their sum, CRPS and the coverage."""
    made = fitting()
    made.show_header, made.header_style = True, "dim"
    made.add_column("level", no_wrap=True)
    for name in ("mixture", "average", "ratio", "outcomes below"):
        made.add_column(name, justify="right", no_wrap=True)
    for each in result.levels:
        ratio = f"{each.mixture / each.average:.3f}" if each.average else ""
        shown = brief(each.mixture), brief(each.average), ratio, f"{each.below:.1%}"
        made.add_row(f"{each.level:g}", *shown)
    for name, (mixture, average) in (("sum", result.sums), ("CRPS, about", result.crps)):
        ratio = f"{mixture / average:.3f}" if average else ""
        made.add_row(name, brief(mixture), brief(average), ratio, "")
    name = f"within {result.levels[0].level:g} to {result.levels[-1].level:g}"
    made.add_row(name, f"{result.covered:.1%}", f"{result.average_covered:.1%}", "", "")
    return made


def helped_by(result: QuantileResult) -> Verdict | None:
    """Return whether the mixture has less pinball loss than the average of the forecasters."""
    mixture, average = result.sums
    if not average > 0:
        return unknown("The average of the forecasters makes no error.")
    share = abs(1 - mixture / average)
    how = f"{share:.1%} {'less' if mixture <= average else 'more'} pinball loss than"
    if share < SAME:
        how = "the same pinball loss as"
    return helped([Plain(mixture / average, f"{how} the average of the forecasters")], result.rows)


def judged(result: QuantileResult) -> Verdict:
    """Return whether the promises of the levels hold in sum."""
    regret, bound = result.regret, result.bound
    if regret is None or bound is None or result.holds is None:
        why = "There is none for the sum of the levels."
        return Verdict("open", "NO BOUND IS CLAIMED", why)
    words = (
        f"The total pinball loss minus that of the best expert of each level is at most"
        f" {regret:.6g}; the theorems allow {bound:.6g}: a sum over the levels, before sorting,"
        " which never increases it."
    )
    if not result.holds:
        return Verdict("bad", EXCEEDED, words)
    total = Trivial(result.sums[0] * result.rows, "the total loss itself")
    if says := vacuous(bound, total):
        return Verdict("neutral", VACUOUS, f"{words} The bound is {says}.")
    return beneath(helped_by(result), Verdict("good", KEPT, words))


def as_dict(result: QuantileResult) -> dict[str, Any]:
    """Return the result as a dictionary for JSON."""
    pairs = {
        "sum": result.sums,
        "crps": result.crps,
        "covered": (result.covered, result.average_covered),
    }
    return {
        "format": FORMAT,
        "sources": list(result.sources),
        "target": result.target,
        "learner": result.learner,
        "rounds": result.rows,
        "levels": [each._asdict() for each in result.levels],
        **{name: {"mixture": a, "average": b} for name, (a, b) in pairs.items()},
        "nominal": result.nominal,
        "crossed": result.crossed,
        "skipped": result.skipped,
        "notes": dict(result.notes),
        "regret": result.regret,
        "bound": result.bound,
        "outputs": result.outputs,
    }
