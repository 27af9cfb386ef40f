"""The head of a run's page: title, verdict, headline figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.page.document import header, tile
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import bound_tile
from noregret.app.report.run.helped import helped_by, promise_of
from noregret.app.report.run.words import (
    Measure,
    accuracy_words,
    auc_words,
    best_fixed,
    compared,
    constant_words,
    exact_fit,
    explained_words,
    measure_of,
    over_same,
    regret,
    sentence,
    standing_of,
    title,
)
from noregret.base.numbers import brief, count, figure, percent

if TYPE_CHECKING:
    from noregret.app.results.run import Result


def head(result: Result) -> Html:
    """Return the title, the figures and the verdict."""
    return header(
        title(result),
        (helped_by(result), promise_of(result)),
        sentence(result),
        headline_figures(result),
        sources=result.sources,
        notes=[stopped(result)] if result.interrupted else [],
    )


def stopped(result: Result) -> Html:
    """Say that the run was stopped."""
    return element(
        "p",
        element("b", "Interrupted. "),
        f"The run was stopped before the end of the data; this page covers the first"
        f" {count(result.rows, 'row')}.",
        class_="stopped",
        role="alert",
    )


def headline_figures(result: Result) -> Iterable[Html]:
    """Yield the headline figures."""
    now = standing_of(result)
    yield tile("rows", figure(result.rows), count(result.features, "feature"))
    if now.accuracy is not None:
        yield tile("accuracy", percent(now.accuracy), accuracy_words(result))
    error = measure_of(result)
    if error.mine is not None:
        squares = f"mean square loss {brief(now.loss or 0.0)}" if error.name == "RMSE" else ""
        yield tile(error.name, brief(error.mine), squares or "mean over all rows")
    yield from others(result, error)
    yield from versus(result, error)
    yield from promised(result)


def others(result: Result, error: Measure) -> Iterable[Html]:
    """Yield the other familiar measures."""
    found = result.measures
    if found.rmse is not None and error.name != "RMSE":
        yield tile("RMSE", brief(found.rmse), "root of the mean squared error")
    if found.mae is not None and error.name != "MAE":
        yield tile("MAE", brief(found.mae), "mean absolute error")
    if found.explained is not None:
        share, words = explained_words(found.explained)
        known = "R² of the predictions" if found.explained >= 0 else f"R²: {words}"
        yield tile("variance explained", share, known)
    if found.auc is not None:
        yield tile("AUC", f"{found.auc:.4g}", auc_words(found.auc_doubt))


def versus(result: Result, error: Measure) -> Iterable[Html]:
    """Yield the comparisons."""
    if result.constant is not None and error.constant is not None:
        value = f"{brief(error.constant)} with {constant_words(result)}"
        yield tile("vs best constant", compared(error.mine, error.constant) or "–", value)
    if error.previous is not None:
        value = f"{brief(error.previous)} when repeating the previous value"
        value += over_same(result, error)
        yield tile("vs previous value", compared(error.compared, error.previous) or "–", value)
    if error.initial is not None:
        value = f"{brief(error.initial)} by the initial predictions alone"
        yield tile("vs initial", compared(error.mine, error.initial) or "–", value)
    if error.hindsight is not None:
        words = f"{brief(error.hindsight)} by {best_fixed(result)}"
        words = "; ".join(filter(None, [words, exact_fit(result)]))
        yield tile("vs hindsight", compared(error.mine, error.hindsight) or "–", words)


def promised(result: Result) -> Iterable[Html]:
    """Yield regret and bound."""
    found, certificate = regret(result), result.certificate
    if found is None or certificate is None:
        return
    yield tile("regret", *found)
    if certificate.theorem is not None:
        yield bound_tile(certificate.theorem, promise_of(result).mood)
