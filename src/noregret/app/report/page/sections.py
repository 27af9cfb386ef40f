"""What else is on the page: what was learned, what was left out, how it was made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import told
from noregret.app.report.charts.bars import diverging
from noregret.app.report.page.markup import Html, element
from noregret.app.report.run.words import took
from noregret.base.numbers import clean, count, figure, megabytes, name_of

if TYPE_CHECKING:
    from noregret.app.results.run import Result

# Text longer than this is cut in tables; resting on it shows the whole.
LONGEST = 90


def section(heading: str, *inside: str) -> Html:
    """Return a section."""
    return element("section", element("h2", heading), *inside)


def shown(text: str, longest: int = LONGEST) -> Html:
    """Return text from the data, cut where it is long, with all of it on pointing there."""
    short = name_of(text, longest)
    return element("span", short, title=None if short == clean(text) else text, class_="data")


def facts(rows: Iterable[tuple[str, str]]) -> Html:
    """Return names with what belongs to them."""
    pairs = [element("div", element("dt", name), element("dd", what)) for name, what in rows]
    return element("dl", *pairs, class_="facts")


def features_section(result: Result) -> Html:
    """Return the heaviest weights."""
    weights = result.heaviest
    if not weights or (result.found is not None and result.found.features):
        return Html("")  # where a learner tells which features matter, that is better than weights
    words = f"The largest of {count(result.features, 'weight')} when the run ended."
    if result.features <= len(weights):
        words = "The weights when the run ended."
    if not any(weight for _, weight in weights):
        words += " All are zero: nothing has been learned."
    return section(
        "What it learned",
        element(
            "figure",
            element("figcaption", element("h3", "Heaviest features"), element("p", words)),
            diverging(weights),
            class_="chart",
        ),
    )


def skipped_section(result: Result) -> Html:
    """Return the rows that were left out."""
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
    words = f"{count(result.skipped, 'row')} could not be used and were left out"
    words = words.replace("row could not be used and were", "row could not be used and was")
    more = (
        "; the first of them:" if len(first) < result.skipped and first else ":" if first else "."
    )
    table = element("table", element("tbody", *rows), class_="plain") if rows else ""
    return section("Rows left out", element("p", words + more), table)


def made_section(result: Result) -> Html:
    """Return how the data were read, by whom, and how long it took."""
    return section(
        "How it was made",
        element("div", facts(data_facts(result)), facts(run_facts(result)), class_="columns"),
    )


def data_facts(result: Result) -> Iterable[tuple[str, str]]:
    """Yield how the data were read."""
    files = [element("div", shown(source)) for source in result.sources[:8]]
    if len(result.sources) > 8:
        files.append(element("div", f"and {len(result.sources) - 8:,} more"))
    yield "Data", element("div", *files)
    size = "" if result.size is None else f", {megabytes(result.size)}"
    yield "Read as", f"{result.format}{size}"
    if result.target:
        yield "Predicted", shown(result.target)
    if result.choice is not None:
        yield "Taken as", clean(f"{result.choice.outcomes}: {result.choice.words}")
    yield "On the way", ", ".join(map(clean, result.transforms)) or "nothing was changed"
    if result.weight is not None:
        yield "Importance", f"weights that sum to {figure(result.weight)}"
    if result.shared is not None:
        share = "every name has its own" if not result.shared else "hold more than one name"
        yield "Hashing", share if not result.shared else f"{count(result.shared, 'slot')} {share}"


def run_facts(result: Result) -> Iterable[tuple[str, str]]:
    """Yield who learned, and how long it took."""
    yield "Learner", element("code", result.learner)
    for name, value in result.params.items():
        if value is not None:
            yield name, shown(told(value))
    yield "Time", took(result)
    if result.started:
        yield "Started", result.started
    yield "Version", f"noregret {result.version}"


def again_section(result: Result) -> Html:
    """Return the command to do it again."""
    if not result.command:
        return Html("")
    return section(
        "Do it again",
        element(
            "div",
            element("pre", element("code", result.command, id="command")),
            element("button", "Copy", type="button", id="copy", hidden=""),
            class_="command",
        ),
    )
