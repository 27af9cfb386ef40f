"""The tables of a mix's page: comparison, experts, series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.charts.areas import OTHERS
from noregret.app.report.mix.charts import looks
from noregret.app.report.mix.experts import against_average
from noregret.app.report.mix.words import Line, lines, notes, ratio_of
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.roster import STYLE as ROSTER
from noregret.app.report.page.roster import bar, chip, heading
from noregret.app.report.page.sections import section, shown
from noregret.base.numbers import brief, figure, name_of, percent, weight

if TYPE_CHECKING:
    from noregret.app.results.mix import Expert, Group, MixResult

# Experts listed, and series listed at either end of their ranking.
EXPERTS, SERIES = 40, 8
STYLE = (
    ROSTER
    + """
.side td, .side th { vertical-align: middle; }
.side .number { width: 7em; }
.side tr.mixture th, .side tr.mixture td { font-weight: 700; }
.side .bar { width: 34%; padding-right: 0; }
.side .bar div { height: 12px; border-radius: 3px; background: var(--line); }
.side tr.mixture .bar div { background: var(--blue); }
.side tr.convex .bar div { background: var(--green); }
.side small { color: var(--soft); font-weight: 400; }
.curve.self { stroke: var(--ink); stroke-width: 1.6; stroke-dasharray: 5 4; stroke-linecap: butt; }
.notes { margin: 18px 0 0; padding: 0; list-style: none; color: var(--soft); font-size: 0.9rem; }
.notes b { color: var(--ink); font-weight: 600; margin-right: 6px; }
@media (max-width: 560px) { .side .bar { display: none; }
  .side .number { width: auto; padding-right: 8px; } }
"""
)


def comparison_table(result: MixResult) -> Html:
    """Return the table that compares the mixture with its baselines."""
    found = list(lines(result))
    square = result.loss == "square"
    most = max((size_of(line) for line in found), default=0.0)
    rows = [
        element(
            "tr",
            element("th", line.label, *aside(line), scope="row"),
            element("td", brief(line.mean), class_="number"),
            element("td", brief(line.rmse or 0.0), class_="number") if square else "",
            element("td", "" if line.ratio is None else f"{line.ratio:.3f}", class_="number"),
            element("td", bar(size_of(line) / most if most > 0 else 0.0), class_="bar"),
            class_=line.kind,
        )
        for line in found
    ]
    names = [("", ""), ("mean loss", "number")]
    names += [("RMSE", "number")] if square else []
    names += [(against_average(result), "number"), ("", "bar")]
    return element("table", heading(names), element("tbody", *rows), class_="side")


def size_of(line: Line) -> float:
    """Return the length of a row's bar."""
    return line.mean if line.rmse is None else line.rmse


def aside(line: Line) -> list[str]:
    """Return the small print after a label."""
    words = (
        name_of(line.name) if line.name else {"convex": "fixed, in hindsight"}.get(line.kind, "")
    )
    return [" ", element("small", words)] if words else []


def notes_list(result: MixResult) -> str:
    """Return further remarks as a list."""
    found = [element("li", element("b", label), words) for label, words in notes(result)]
    if result.convex is None and result.without_convex:
        words = f"not known: {result.without_convex}"
        found.append(element("li", element("b", "best weights"), words))
    return element("ul", *found, class_="notes") if found else ""


def experts_section(result: MixResult) -> Html:
    """Return the experts with their losses, rounds awake and current weights."""
    order = result.ranked
    look = looks(result) if result.history is not None else {}
    slept = any(one.awake < result.rows for one in result.experts)
    largest = max((one.weight for one in result.experts), default=0.0)
    rows = [expert_row(result, one, look, largest, slept) for one in order[:EXPERTS]]
    names = [("", ""), ("mean loss", "number"), (against_average(result), "number")]
    names += [("with a forecast", "number")] if slept else []
    names += [("weight now", "number"), ("", "bar")]
    words = "Ordered by total loss."
    words += " Where an expert has no forecast, the mixture's loss is counted." if slept else ""
    if not result.mostly_awake(order[-1]):
        words += " Experts without a forecast in more than half of the rounds are listed last."
    if len(order) > EXPERTS:
        words += f" The first {EXPERTS} of {len(order):,}."
    return section(
        "Experts",
        element("p", words, class_="aside"),
        element("table", heading(names), element("tbody", *rows), class_="roster"),
    )


def expert_row(
    result: MixResult, one: Expert, look: dict[str, str], largest: float, slept: bool
) -> Html:
    """Return the row of an expert."""
    tone = look.get(one.name, OTHERS)
    ratio = ratio_of(result, one.total)
    return element(
        "tr",
        element("th", chip(tone), shown(one.name, 40), scope="row"),
        element("td", brief(one.total / result.rows), class_="number"),
        element("td", "" if ratio is None else f"{ratio:.3f}", class_="number"),
        element("td", percent(one.awake / result.rows), class_="number") if slept else "",
        element("td", weight(one.weight), class_="number"),
        element("td", bar(one.weight / largest if largest > 0 else 0.0), class_=f"bar {tone}"),
        class_="added" if one.added else None,
    )


def groups_section(result: MixResult) -> Html:
    """Return the series where the mixture did best and worst relative to the average."""
    known = [one for one in result.groups if one.average > 0]
    if len(known) < 2:
        return Html("")
    ordered = sorted(known, key=lambda one: one.total / one.average)
    few = len(ordered) > 2 * SERIES
    better = sum(one.total < one.average for one in known)
    words = (
        f"Each of {len(result.groups):,} series is mixed separately. The mixture beats the plain"
        f" average in {better:,} of them."
    )
    names = [
        ("", ""),
        ("rounds", "number"),
        ("mean loss", "number"),
        (against_average(result), "number"),
        ("best expert", "name"),
    ]
    middle = element("tr", element("td", "…", colspan="5"))
    rows = [group_row(result, one) for one in ordered]
    if few:
        rows = [*rows[:SERIES], middle, *rows[-SERIES:]]
    return section(
        "Series",
        element("p", words + (" The best and the worst:" if few else ""), class_="aside"),
        element("table", heading(names), element("tbody", *rows), class_="roster"),
    )


def group_row(result: MixResult, one: Group) -> Html:
    """Return the row of a series."""
    ratio = ratio_of(result, one.total / one.average * (result.average or 0.0))
    return element(
        "tr",
        element("th", shown(one.name, 40), scope="row"),
        element("td", figure(one.rounds), class_="number"),
        element("td", brief(one.total / one.rounds), class_="number"),
        element("td", "" if ratio is None else f"{ratio:.3f}", class_="number"),
        element("td", shown(one.best, 40), class_="name"),
    )
