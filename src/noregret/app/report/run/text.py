"""The summary of a run on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.verdict import bound_words
from noregret.app.report.run.words import (
    MEASURES,
    best_fixed,
    error_against,
    frequent_label,
    judged,
    lost,
    measure_of,
    regret,
    standing_of,
    title,
    took,
)
from noregret.app.report.terminal import INTERRUPTED, bars, figures, left_out, verdict, written
from noregret.base.numbers import (
    brief,
    clean,
    count,
    figure,
    percent,
    signed,
)

if TYPE_CHECKING:
    from noregret.app.results.findings import Found
    from noregret.app.results.run import Result


def summary(result: Result) -> RenderableType:
    """Return the run as Rich shows it."""
    parts: list[RenderableType] = [Text(title(result), "bold", overflow="fold")]
    if result.interrupted:
        parts.append(INTERRUPTED)
    parts += [Text(), figures(facts(result)), Text(), verdict(judged(result))]
    if result.found is not None:
        parts += [Text(), Text("What it found", "dim"), *told(result.found)]
    elif result.heaviest:
        parts += [Text(), *heaviest(result.heaviest)]
    if result.skipped:
        parts += [Text(), *left_out(result.skipped, result.skipped_rows)]
    if result.outputs:
        parts += [Text(), written(result.outputs)]
    return Group(*parts)


def facts(result: Result) -> Iterator[Fact]:
    """Yield the figures, each with an explanation."""
    yield Fact("rows", figure(result.rows), f"{count(result.features, 'feature')}; {took(result)}")
    if result.choice is not None:
        yield Fact("target", clean(result.choice.outcomes), clean(result.choice.words))
    yield from errors(result)
    yield from promised(result)
    if result.shared:
        yield Fact("shared", figure(result.shared), "hash slots hold more than one feature name")


def errors(result: Result) -> Iterator[Fact]:
    """Yield accuracy and error, and the errors of the baselines."""
    now, error = standing_of(result), measure_of(result)
    if result.mistakes is not None and now.accuracy is not None:
        often = frequent_label(result)
        beside = "" if often is None else f"; always the most frequent label: {percent(often)}"
        yield Fact("accuracy", percent(now.accuracy), count(result.mistakes, "mistake") + beside)
    if error.mine is not None:
        mean = f"mean {lost(result)}" if error.name in MEASURES.values() else "per row"
        squares = f" {brief(now.loss or 0.0)}" if error.name == "RMSE" else ""
        yield Fact(error.name, brief(error.mine), mean + squares)
    if result.constant is not None and error.constant is not None:
        what = f"the best constant, {brief(result.constant.value)}"
        how = error_against(error.mine, error.constant, what) or what
        yield Fact("  constant", brief(error.constant), how)
    if error.hindsight is not None and result.certificate is not None:
        what = f"{best_fixed(result)} in hindsight"
        how = error_against(error.mine, error.hindsight, what) or what
        yield Fact("  hindsight", brief(error.hindsight), how)


def promised(result: Result) -> Iterator[Fact]:
    """Yield the regret and its bound."""
    found, certificate = regret(result), result.certificate
    if found is None or certificate is None:
        return
    yield Fact("regret", *found)
    promise = certificate.theorem
    if promise is not None and promise.bound is not None:
        yield Fact("bound", brief(promise.bound), f"proven limit on {bound_words(promise)}")


def told(found: Found) -> list[RenderableType]:
    """Return the learner's own findings."""
    return [
        Padding(Text(clean(part), overflow="fold"), (0, 0, 0, 2))
        for part in found.words.split("\n")
        if part.strip()
    ]


def heaviest(weights: Iterable[tuple[str, float]]) -> list[RenderableType]:
    """Return the features with the largest weights, as bars."""
    weights = list(weights)
    largest = max((abs(weight) for _, weight in weights), default=0.0) or 1.0
    rows = (
        (name, signed(w, brief), abs(w) / largest, "blue" if w > 0 else "yellow")
        for name, w in weights
    )
    return [Text("Largest weights", "dim"), bars(rows)]
