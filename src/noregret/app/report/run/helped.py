"""A comparison of a run with the best constant, and with repeating the previous outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from noregret.app.report.helped import Plain, helped
from noregret.app.report.run.words import MAX_SHOWN_RATIO, error_against, measure_of
from noregret.base.numbers import percent

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.app.results.run import Result


def helped_by(result: Result) -> Verdict | None:
    """Return whether a run is better than predictions that take no learning."""
    return helped(alternatives(result))


def alternatives(result: Result) -> Iterator[Plain]:
    """Yield the comparisons with predictions that take no learning."""
    error, same = measure_of(result), result.measures.previous
    constant = "the class frequencies" if result.loss == "softmax" else "the best constant"
    pairs = [
        (error.mine, error.constant, constant),
        (error.compared, error.previous, "repeating the previous value"),
        (error.mine, error.initial, "the initial predictions alone"),
    ]
    for mine, other, what in pairs:
        words = error_against(mine, other, what, error.name)
        if words and mine is not None and other:
            yield Plain(mine / other, words)
    if same.accuracy is not None and same.mine_accuracy is not None:
        wrong, others = 1 - same.mine_accuracy, 1 - same.accuracy
        if others > 0 and wrong / others < MAX_SHOWN_RATIO:
            shown = f"{percent(same.mine_accuracy)} right, {percent(same.accuracy)} by repeating"
            yield Plain(wrong / others, f"{shown} the previous class")
