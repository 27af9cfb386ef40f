"""The summary of a run on a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.verdict import bound_words, two_regrets
from noregret.app.report.run.helped import helped_by, promise_of
from noregret.app.report.run.words import (
    MEASURES,
    accuracy_words,
    auc_words,
    best_fixed,
    constant_words,
    error_against,
    exact_fit,
    explained_words,
    lost,
    measure_of,
    over_same,
    regret,
    regret_per_group,
    since,
    standing_of,
    target_of,
    title,
    took,
)
from noregret.app.report.terminal import (
    INTERRUPTED,
    bars,
    figures,
    lead,
    left_out,
    verdict,
    written,
)
from noregret.base.numbers import (
    brief,
    clean,
    count,
    figure,
    name_of,
    percent,
    signed,
)

if TYPE_CHECKING:
    from noregret.app.results.findings import Found
    from noregret.app.results.run import Result


# Classes whose recall is listed, besides the highest.
MAX_RECALLS = 3
# Groups that are listed at either end.
MAX_GROUPS = 5
# The largest confusion matrix on a terminal.
MAX_MATRIX = 10


def summary(result: Result) -> RenderableType:
    """Return the run as Rich shows it."""
    parts: list[RenderableType] = [Text(title(result), "bold", overflow="fold")]
    if result.interrupted:
        parts.append(INTERRUPTED)
    parts += [*lead(helped_by(result)), Text(), figures(facts(result))]
    parts += [Text(), verdict(promise_of(result))]
    if 2 <= len(result.measures.classes) <= MAX_MATRIX:
        parts += [Text(), *confusion(result)]
    if result.found is not None:
        parts += [Text(), Text("What it found", "dim"), *told(result.found)]
    elif result.heaviest:
        parts += [Text(), *heaviest(result.heaviest)]
    if result.by_group:
        parts += [Text(), *grouped(result)]
    if result.skipped:
        parts += [Text(), *left_out(result.skipped, result.skipped_rows)]
    if result.outputs:
        parts += [Text(), written(result.outputs)]
    return Group(*parts)


def facts(result: Result) -> Iterator[Fact]:
    """Yield the figures, each with an explanation."""
    yield Fact("rows", figure(result.rows), f"{count(result.features, 'feature')}; {took(result)}")
    if result.predicted:
        yield Fact("predicted", figure(result.predicted), "more rows, which have no outcome")
    if result.by_group:
        yield Fact("groups", figure(len(result.by_group)), "each with a learner of its own")
    if (target := target_of(result)) is not None:
        yield Fact("target", *map(clean, target))
    yield from errors(result)
    yield from promised(result)
    if result.shared:
        yield Fact("shared", figure(result.shared), "hash slots hold more than one feature name")


def errors(result: Result) -> Iterator[Fact]:
    """Yield the familiar measures, each with its baselines."""
    now, error, found = standing_of(result), measure_of(result), result.measures
    if now.accuracy is not None:
        yield Fact("accuracy", percent(now.accuracy), accuracy_words(result))
    if error.mine is not None:
        mean = f"mean {lost(result)}" if error.name in MEASURES.values() else "per row"
        squares = f" {brief(now.loss or 0.0)}" if error.name == "RMSE" else ""
        yield Fact(error.name, brief(error.mine), mean + squares)
    if result.constant is not None and error.constant is not None:
        what = ("predicting " if result.loss == "softmax" else "") + constant_words(result)
        how = error_against(error.mine, error.constant, what, error.name) or what
        yield Fact("  constant", brief(error.constant), how)
    if error.previous is not None:
        what = "repeating the previous value"
        how = error_against(error.compared, error.previous, what, error.name) or what
        yield Fact("  previous", brief(error.previous), how + over_same(result, error))
    if error.initial is not None:
        what = "the initial predictions alone"
        how = error_against(error.mine, error.initial, what, error.name) or what
        yield Fact("  initial", brief(error.initial), how)
    if error.hindsight is not None and result.certificate is not None:
        what = best_fixed(result)
        how = error_against(error.mine, error.hindsight, what, error.name) or what
        words = "; ".join(filter(None, [how, exact_fit(result)]))
        yield Fact("  hindsight", brief(error.hindsight), words)
        yield from best_of_groups(result)
    if found.rmse is not None and error.name != "RMSE":
        words = previous_words(result, "rmse").removeprefix("; ")
        yield Fact("RMSE", brief(found.rmse), words)
    if found.mae is not None and error.name != "MAE":
        yield Fact("MAE", brief(found.mae), f"mean absolute error{previous_words(result, 'mae')}")
    if found.explained is not None:
        yield Fact("R²", *explained_words(found.explained))
    if found.auc is not None:
        yield Fact("AUC", f"{found.auc:.4g}", auc_words(found.auc_doubt))
    yield from recalls(result)


def best_of_groups(result: Result) -> Iterator[Fact]:
    """Yield the error of the best fixed predictor of each group."""
    if result.certificate is None or result.certificate.groups is None:
        return
    best, error = result.certificate.groups.hindsight, measure_of(result)
    mean = best.loss / max(1, result.rows)
    least = math.sqrt(max(0.0, mean)) if result.loss == "square" else mean
    what = "the best fixed model of each group in hindsight"
    how = error_against(error.mine, least, what, error.name) or what
    yield Fact("  per group", brief(least), how)


def previous_words(result: Result, name: str) -> str:
    """Return the baseline of repeating the previous value, of a measure by its name."""
    found = result.measures
    previous, mine = getattr(found.previous, name), getattr(found.previous, f"mine_{name}")
    if previous is None:
        return ""
    said = f"; repeating the previous value: {brief(previous)}"
    if mine is None or brief(mine) == brief(getattr(found, name)):
        return said
    return f"{said} (against {brief(mine)}, {since(result)})"


def recalls(result: Result) -> Iterator[Fact]:
    """Yield the share of the rows of each class that were predicted, the lowest ones first."""
    classes = [each for each in result.measures.classes if each.recall is not None]
    if len(classes) < 2:
        return
    low = sorted(classes, key=lambda each: each.recall or 0.0)
    shown = [f"{percent(each.recall or 0.0)} of {name_of(each.name)}" for each in low]
    more = f", … {percent(low[-1].recall or 0.0)} of {name_of(low[-1].name)}"
    listed = ", ".join(shown) if len(shown) <= MAX_RECALLS + 1 else ", ".join(shown[:MAX_RECALLS])
    words = listed if len(shown) <= MAX_RECALLS + 1 else listed + more
    mean = sum(each.recall or 0.0 for each in classes) / len(classes)
    yield Fact("recall", percent(mean), f"mean over {len(classes):,} classes: {words}")


def promised(result: Result) -> Iterator[Fact]:
    """Yield the regret and its bound."""
    found, certificate = regret(result), result.certificate
    if found is None or certificate is None:
        return
    promise, grouped = certificate.theorem, certificate.groups
    if grouped is not None:
        from noregret.app.report.certificate.groups import promise_of

        yield Fact("regret", *regret_per_group(result, grouped))
        promise = promise_of(certificate, grouped)
    yield Fact("regret" if grouped is None else "  for all", *found)
    if promise is not None and promise.bound is not None:
        words = bound_words(promise)
        apart = two_regrets(certificate) if grouped is None else ""
        yield Fact("bound", brief(promise.bound), f"proven limit on {words}. {apart}".rstrip(". "))


def confusion(result: Result) -> list[RenderableType]:
    """Return the rows by true and predicted class."""
    from rich.table import Table

    counts, classes = result.measures.confusion, result.measures.classes
    if counts is None:
        return []
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for each in classes:
        table.add_column(name_of(each.name, 12), justify="right", overflow="fold")
    for k, each in enumerate(classes):
        row = [Text(figure(n), "bold" if i == k else "") for i, n in enumerate(counts[k].tolist())]
        table.add_row(Text(name_of(each.name, 20)), *row[: len(classes)])
    words = "Rows by true class (down) and predicted class (across)"
    return [Text(words, "dim"), Padding(table, (0, 0, 0, 2))]


def grouped(result: Result) -> list[RenderableType]:
    """Return the groups that were predicted worst and best."""
    few = len(result.by_group) <= 2 * MAX_GROUPS
    worst = result.by_group if few else result.by_group[:MAX_GROUPS]
    best = () if few else result.by_group[-MAX_GROUPS:]
    square = result.loss == "square"
    largest = max(math.sqrt(each.loss) if square else each.loss for each in worst) or 1.0
    parts: list[RenderableType] = []
    for words, some in (("worst", worst), ("best", best)):
        if not some:
            continue
        what = "RMSE" if square else f"mean {result.loss} loss"
        shown = "by group" if few else f"of the {words} groups"
        errors = [math.sqrt(each.loss) if square else each.loss for each in some]
        rows = (
            (f"{each.name} ({count(each.rows, 'row')})", brief(error), error / largest, "blue")
            for each, error in zip(some, errors, strict=True)
        )
        parts += [Text(f"{what} {shown}", "dim"), bars(rows)]
    return parts


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
