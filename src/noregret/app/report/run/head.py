"""The head of the page: what was learned from what, the verdict, the headline figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.certificate.verdict import subject
from noregret.app.report.page.markup import Html, element
from noregret.app.report.run.words import (
    Standing,
    among,
    compared,
    judged,
    lost,
    regret,
    sentence,
    standing_of,
    title,
)
from noregret.base.numbers import brief, count, figure, part_of_bound, percent

if TYPE_CHECKING:
    from noregret.app.results.run import Result


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
        tiles(result),
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
    unit = ""
    if number[:1].isdigit():
        number, space, rest = number.partition(" ")
        unit = space + rest
    return element(
        "div",
        element("div", label, class_="label"),
        element(
            "div", number, element("span", unit, class_="unit") if unit else "", class_="figure"
        ),
        element("div", words, class_="words"),
        class_=f"tile {mood}".strip(),
    )


def tiles(result: Result) -> Html:
    """Return the headline figures, in one row or in two."""
    found = list(headline_figures(result))
    columns = len(found) if len(found) <= 6 else 4
    return element("div", *found, class_="tiles", style=f"--columns:{columns}")


def headline_figures(result: Result) -> Iterable[Html]:
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
        words = f"the best fixed predictor{among(result)} loses {brief(now.hindsight)}"
        yield tile("vs hindsight", compared(now.loss, now.hindsight) or "–", words)


def promised(result: Result) -> Iterable[Html]:
    """Yield regret and bound."""
    found, certificate = regret(result), result.certificate
    if found is None or certificate is None:
        return
    yield tile("regret", *found)
    promise, said = certificate.theorem, judged(result)
    marks = {True: "kept", False: "broken", None: "not claimed"}
    if promise is not None:
        most = "an assumption failed" if promise.failed else ""
        if promise.bound is not None:
            part = part_of_bound(promise.tightness)
            used = f", {part} used" if part else ""
            most = f"{subject(promise).rstrip(',')} at most {brief(promise.bound)}{used}"
        mark = "open" if promise.holds is None and promise.bound is not None else ""
        yield tile("bound", mark or marks[promise.holds], most, said.mood)
