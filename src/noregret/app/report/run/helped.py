"""A comparison of a run with the best constant, and with repeating the previous outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from noregret.app.report.helped import Plain, beneath, helped, ratio, unknown
from noregret.app.report.run.words import (
    NO_VARIATION,
    error_against,
    judged,
    measure_of,
    standing_of,
    target_of,
)
from noregret.base.numbers import brief, clean, percent

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.app.results.run import Result


def helped_by(result: Result) -> Verdict | None:
    """Return whether a run is better than predictions that take no learning."""
    if result.rows == 1:
        return unknown("There is one row only, and none before it to learn from.")
    _, words = target_of(result) or ("", "")
    if NO_VARIATION in words:
        return unknown(f"The target is {clean(words)}.")
    return helped(alternatives(result), result.rows)


def promise_of(result: Result) -> Verdict:
    """Return the verdict of the certificate, as it stands under the comparison."""
    return beneath(helped_by(result), judged(result))


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
        if mine is not None and other is not None:
            words = error_against(mine, other, what, error.name)
            words = words or f"{error.name} {brief(mine)}, against {brief(other)} with {what}"
            yield Plain(ratio(mine, other), words)
    if error.constant is None and same.mine_accuracy is not None:
        yield from frequent_class(result)
    if same.accuracy is not None and same.mine_accuracy is not None:
        shown = f"{percent(same.mine_accuracy)} right, {percent(same.accuracy)} by repeating"
        wrong = ratio(1 - same.mine_accuracy, 1 - same.accuracy)
        yield Plain(wrong, f"{shown} the previous class")


def frequent_class(result: Result) -> Iterator[Plain]:
    """Yield the comparison with the most frequent class, where no probability is predicted."""
    accuracy, frequent = standing_of(result).accuracy, result.measures.frequent
    if accuracy is not None and frequent is not None:
        shown = f"{percent(accuracy)} right, {percent(frequent)} with the most frequent class"
        yield Plain(ratio(1 - accuracy, 1 - frequent), shown)
