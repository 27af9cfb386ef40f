"""The page's sections, from the top to the bottom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.report.charts.bars import diverging
from noregret.report.figures import brief, clean, count, figure, megabytes, name_of, percent
from noregret.report.markup import Html, element
from noregret.report.run_words import (
    Standing,
    compared,
    judged,
    lost,
    sentence,
    standing_of,
    title,
    took,
)
from noregret.report.sheet import Assumed, Sheet, sheet_of, told

if TYPE_CHECKING:
    from noregret.certificate import Certificate
    from noregret.run.result import Result

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


# The head.


def head(result: Result) -> Html:
    """Return the title, the figures and the verdict."""
    said = judged(result)
    return element(
        "header",
        element(
            "div",
            element("p", "noregret", class_="brand"),
            element("button", "Dark or light", type="button", id="theme", hidden=""),
            class_="top",
        ),
        element("h1", title(result), title=" ".join(result.sources)),
        stopped(result) if result.interrupted else "",
        element(
            "p", element("span", said.headline, class_=f"badge {said.mood}"), class_="verdict-mark"
        ),
        element("p", sentence(result), class_="verdict"),
        element("div", *tiles(result), class_="tiles"),
    )


def stopped(result: Result) -> Html:
    """Say that the run was stopped."""
    return element(
        "p",
        element("b", "Interrupted. "),
        f"The run was stopped before the end of the data: all that follows is about the first"
        f" {count(result.rows, 'row')}.",
        class_="stopped",
        role="alert",
    )


def tile(label: str, number: str, words: str, mood: str = "") -> Html:
    """Return a headline figure; words after the number are smaller."""
    number, space, unit = number.partition(" ")
    unit = space + unit
    return element(
        "div",
        element("div", label, class_="label"),
        element(
            "div", number, element("span", unit, class_="unit") if unit else "", class_="figure"
        ),
        element("div", words, class_="words"),
        class_=f"tile {mood}".strip(),
    )


def tiles(result: Result) -> Iterable[Html]:
    """Yield the headline figures."""
    now = standing_of(result)
    yield tile("rows", figure(result.rows), count(result.features, "feature"))
    if now.loss is not None:
        yield tile("mean loss", brief(now.loss), lost(result))
    if now.accuracy is not None and result.mistakes is not None:
        yield tile("accuracy", percent(now.accuracy), count(result.mistakes, "mistake"))
    yield from versus(result, now)
    yield from promised(result)


def versus(result: Result, now: Standing) -> Iterable[Html]:
    """Yield the comparisons."""
    if result.constant is not None and now.constant is not None:
        value = f"{brief(result.constant.value)} for every row loses {brief(now.constant)}"
        yield tile("vs best constant", compared(now.loss, now.constant) or "–", value)
    if now.hindsight is not None:
        words = f"which loses {brief(now.hindsight)}"
        yield tile("vs best in hindsight", compared(now.loss, now.hindsight) or "–", words)


def promised(result: Result) -> Iterable[Html]:
    """Yield regret and bound."""
    certificate = result.certificate
    if certificate is None:
        return
    upper, lower = certificate.regret.upper, certificate.regret.lower
    number = brief(upper) if upper < float("inf") else f"≥ {brief(lower)}"
    each = f"{brief(upper / result.rows)} a row" if result.rows and upper < float("inf") else ""
    yield tile("regret", number, each)
    promise, said = certificate.theorem, judged(result)
    marks = {True: "kept", False: "broken", None: "not claimed"}
    if promise is not None:
        most = "an assumption failed" if promise.failed else ""
        if promise.bound is not None:
            share = f", {percent(promise.tightness)} used" if promise.tightness is not None else ""
            most = f"{promise.quantity} at most {brief(promise.bound)}{share}"
        mark = "open" if promise.holds is None and promise.bound is not None else ""
        yield tile("bound", mark or marks[promise.holds], most, said.mood)


# The certificate.


def certificate_section(result: Result) -> Html:
    """Return what is certified, or why nothing is."""
    certificate = result.certificate
    if certificate is None:
        return section("Certificate", element("p", judged(result).words, class_="aside"))
    sheet = sheet_of(certificate)
    rows = [
        element(
            "tr",
            element("th", fact.label, scope="row"),
            element("td", fact.figure, class_="number"),
            element("td", fact.words),
        )
        for fact in sheet.facts
    ]
    return section(
        "Certificate",
        promise_block(sheet),
        element("table", element("tbody", *rows), class_="sheet"),
        assumptions(sheet.assumptions),
        digest(certificate),
    )


def promise_block(sheet: Sheet) -> Html:
    """Return whether the promise was kept, and which one."""
    said = sheet.verdict
    meter = ""
    if said.share is not None:
        full = 100 * min(1.0, max(0.0, said.share))
        inner = element("div", style=f"width:{full:.2f}%")
        meter = element(
            "div",
            inner,
            class_="meter",
            role="img",
            aria_label=f"{percent(said.share)} of the bound",
        )
    theorem = f"Theorem {said.theorem}" + (f": {said.promise}" if said.promise else "")
    return element(
        "div",
        element("p", element("b", said.headline.capitalize()), class_="headline"),
        meter,
        element("p", said.words),
        element("p", theorem, class_="theorem") if said.theorem else "",
        class_=f"promise {said.mood}",
    )


def assumptions(found: list[Assumed]) -> str:
    """Return what the theorem assumes, and what was measured."""
    if not found:
        return ""
    names = (("It assumes", ""), ("measured", "number"), ("limit", "number"), ("", ""))
    head = element(
        "tr", *(element("th", name, scope="col", class_=kind or None) for name, kind in names)
    )
    marks = {True: "held", False: "failed", None: "trust"}
    rows = [
        element(
            "tr",
            element("th", one.name, scope="row"),
            element("td", one.measured, class_="number"),
            element("td", one.limit, class_="number"),
            element("td", one.held, class_=marks[one.good]),
        )
        for one in found
    ]
    return element("table", element("thead", head), element("tbody", *rows), class_="assumptions")


def digest(certificate: Certificate) -> Html:
    """Return what the data can be known by."""
    return element(
        "p", "Digest of the data ", element("code", certificate.data.digest), class_="digest"
    )


# What was learned.


def features_section(result: Result) -> Html:
    """Return the heaviest weights."""
    weights = result.heaviest
    if not weights:
        return Html("")
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


# How it was made.


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
