"""Sections that pages share: learned weights, skipped rows, details, the command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import told
from noregret.app.report.certificate.verdict import bound_words
from noregret.app.report.charts.bars import diverging
from noregret.app.report.page.document import tile
from noregret.app.report.page.markup import Html, element
from noregret.app.report.run.words import target_of, took
from noregret.base.numbers import brief, clean, count, figure, megabytes, name_of

if TYPE_CHECKING:
    from noregret.app.results.run import Result
    from noregret.proof.certificates.certificate import Promise

# Longer text is cut in tables; a tooltip shows all of it.
LONGEST = 90


def section(heading: str, *inside: str) -> Html:
    """Return a section."""
    return element("section", element("h2", heading), *inside)


def shown(text: str, longest: int = LONGEST) -> Html:
    """Return text from the data, cut if long, with a tooltip that shows all of it."""
    short = name_of(text, longest)
    return element("span", short, title=None if short == clean(text) else text, class_="data")


def facts(rows: Iterable[tuple[str, str]]) -> Html:
    """Return a list of names and values."""
    pairs = [element("div", element("dt", name), element("dd", what)) for name, what in rows]
    return element("dl", *pairs, class_="facts")


def bound_tile(promise: Promise, mood: str) -> Html:
    """Return whether the bound held, and what it limits."""
    if promise.bound is None:
        words = "an assumption failed" if promise.failed else ""
        return tile("bound", "not claimed", words, mood)
    mark = {True: "kept" if mood == "good" else "holds", False: "broken", None: "open"}[
        promise.holds
    ]
    words = f"limit of {brief(promise.bound)} on {bound_words(promise)}"
    return tile("bound", mark, words, mood)


def features_section(result: Result) -> Html:
    """Return the largest weights."""
    weights = result.heaviest
    if not weights or (result.found is not None and result.found.features):
        return Html("")  # the influence of features says more than weights
    several = any(" → " in name for name, _ in weights)  # a weight for each class
    total = result.features * (len(result.measures.classes) if several else 1)
    words = f"The largest of {count(total, 'weight')} at the end of the run."
    if total <= len(weights):
        words = "The weights at the end of the run."
    if not any(weight for _, weight in weights):
        words += " All are zero: nothing was learned."
    return section(
        "Learned weights",
        element(
            "figure",
            element("figcaption", element("h3", "Largest weights"), element("p", words)),
            diverging(weights),
            class_="chart",
        ),
    )


def skipped_section(result: Result) -> Html:
    """Return the number of rows skipped, and the first of them."""
    if not result.skipped:
        return Html("")
    first = result.skipped_rows
    rows = [
        element(
            "tr",
            element("th", shown(row.place), scope="row"),
            element("td", shown(row.reason, 240)),
        )
        for row in first
    ]
    words = f"{count(result.skipped, 'row')} could not be used"
    more = (
        "; the first of them:" if len(first) < result.skipped and first else ":" if first else "."
    )
    table = element("table", element("tbody", *rows), class_="plain") if rows else ""
    return section("Skipped rows", element("p", words + more), table)


def made_section(result: Result) -> Html:
    """Return the data, the learner and the time."""
    return section(
        "Details",
        element("div", facts(data_facts(result)), facts(run_facts(result)), class_="columns"),
    )


def data_facts(result: Result) -> Iterable[tuple[str, str]]:
    """Yield facts about the data."""
    files = [element("div", shown(source)) for source in result.sources[:8]]
    if len(result.sources) > 8:
        files.append(element("div", f"and {len(result.sources) - 8:,} more"))
    yield "Data", element("div", *files)
    size = "" if result.size is None else f", {megabytes(result.size)}"
    yield "Format", f"{result.format}{size}"
    if result.target:
        yield "Target", shown(result.target)
    if (target := target_of(result)) is not None:
        yield "Target type", clean(": ".join(filter(None, target)))
    yield "Preprocessing", ", ".join(map(clean, result.transforms)) or "none"
    if result.weight is not None:
        yield "Importance", f"weights that sum to {figure(result.weight)}"
    if result.shared is not None:
        slots = count(result.shared, "slot")
        yield "Hashing", f"{slots} shared by several names" if result.shared else "no collisions"


def run_facts(result: Result) -> Iterable[tuple[str, str]]:
    """Yield facts about the learner and the run."""
    yield "Learner", element("code", result.learner)
    for name, value in result.params.items():
        if value is not None:
            yield name, shown(told(value))
    yield "Time", took(result)
    if result.started:
        yield "Started", result.started
    yield "Version", f"noregret {result.version}"


def again_section(result: Result) -> Html:
    """Return the command that reproduces the result."""
    if not result.command:
        return Html("")
    return section(
        "Command",
        element(
            "div",
            element("pre", element("code", result.command, id="command")),
            element("button", "Copy", type="button", id="copy", hidden=""),
            class_="command",
        ),
    )
