"""Charts of the loss and the regret of a run over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.lines import Series, line_chart
from noregret.app.report.charts.plot import Axis, Key, figure_of
from noregret.app.report.charts.scale import Scale, finite, fitted, fitted_log
from noregret.app.report.page.markup import Html, element
from noregret.app.report.run.words import lost, standing_of
from noregret.base.numbers import brief

if TYPE_CHECKING:
    from noregret.app.results.run import Result
    from noregret.proof.record.moment import Curve

Floats = NDArray[np.float64]
# With more rounds than this, the axis is logarithmic.
MAX_LINEAR_ROUNDS = 200
# With a larger ratio of the largest to the smallest loss, the axis is logarithmic.
MAX_LINEAR_RATIO = 40.0
# A bound more than this many times the regret is left off the chart and noted below it.
MAX_DRAWN_BOUND = 12.0
# Why the regret may not be known at a point.
TOO_FEW_DIGITS = (
    "rounding leaves too few digits for the best predictor's loss, as columns are far from zero"
    " compared with their spread, or nearly dependent"
)
# Why it may not be computed.
TOO_LONG = (
    "with this many features, it takes too long to find the best predictor for the rows up to each"
    " point"
)


def loss_chart(result: Result) -> Html:
    """Return the mean loss so far, with those of the best constant and the best in hindsight."""
    rounds = result.curve.rounds.astype(np.float64)
    now = standing_of(result)
    with np.errstate(all="ignore"):
        mean = result.curve.loss / (rounds * ((result.weight or result.rows) / result.rows))
    series = [Series("mean loss so far", mean, "learner")]
    for name, level, look in (
        ("best constant", now.constant, "constant"),
        ("best in hindsight", now.hindsight, "hindsight"),
    ):
        if level is not None:
            series.append(Series(name, np.full(len(rounds), level), look, True))
    words = f"Mean {lost(result)} of all predictions so far, each made before its outcome was seen."
    x, y = over_rounds(rounds), Axis("mean loss", loss_scale([one.y for one in series]))
    final = [now.loss, *(float(one.y[-1]) for one in series[1:])]
    return figure_of(
        "Mean loss so far",
        words,
        keys(series, final),
        line_chart(x, y, rounds, series, described("Mean loss so far", series)),
    )


def loss_scale(values: list[Floats]) -> Scale:
    """Return the axis of losses: logarithmic over a wide range, else usually starting at zero."""
    numbers = finite(*values)
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (0.0, 1.0)
    if low > 0 and high > MAX_LINEAR_RATIO * low:
        return fitted_log(numbers)
    return fitted(numbers, zero=low >= 0 and low < 0.6 * high)


def over_rounds(rounds: Floats) -> Axis:
    """Return the axis of rounds, logarithmic if there are many."""
    if len(rounds) and rounds[-1] > MAX_LINEAR_ROUNDS:
        return Axis("rounds (logarithmic)", fitted_log(rounds), lines=False)
    return Axis("rounds", plain_rounds(rounds), lines=False)


def plain_rounds(rounds: Floats) -> Scale:
    """Return a linear axis of rounds."""
    last = float(rounds[-1]) if len(rounds) else 1.0
    return Scale(0.0, last if last > 1 else 2.0, whole=True)


def regret_chart(result: Result) -> Html | None:
    """Return the regret over time with its bound; None if it is known at one of many points."""
    if len(finite(result.curve.regret)) < min(2, max(1, len(result.curve.rounds))):
        return None
    return regret_figure(
        result.curve,
        Series("allowed by the bound", allowed_regret(result), "bound"),
        "Total loss so far minus that of the best fixed predictor for the same rounds. Below zero,"
        " the learner does better than any fixed predictor.",
        TOO_LONG,
    )


def regret_figure(curve: Curve, bound: Series, words: str, expensive: str = "") -> Html:
    """Return the regret over time, with its bound if known.

    ``expensive`` is why it may not have been computed at some points.
    """
    rounds, regret = curve.rounds.astype(np.float64), curve.regret
    series, note = [Series("regret", regret, "learner")], ""
    scale = fitted(regret, zero=True)
    if len(finite(bound.y)):
        series.append(bound)
        scale, note = with_bound(regret, bound.y)
    drawn = line_chart(
        Axis("rounds", plain_rounds(rounds), lines=False),
        Axis("regret", scale),
        rounds,
        series,
        described("Regret over time", series),
    )
    known = bool(np.isfinite(regret[-1:]).all())
    final = keys(series, [last_known(one.y) if known else None for one in series])
    note = f"{note} {unknown_points(curve, expensive)}".strip()
    return figure_of(
        "Regret", words, final, drawn, element("p", note, class_="note") if note else ""
    )


def unknown_points(curve: Curve, expensive: str) -> str:
    """Say at how many points the regret is not known, and why; empty if at none."""
    of_all = f"of the {len(curve.rounds):,} points"
    lost, unknown = int(curve.lost.sum()), int((~np.isfinite(curve.regret)).sum())
    said = []
    if expensive and unknown > lost:
        said.append(f"The regret was not computed at {unknown - lost:,} {of_all}: {expensive}.")
    if lost:
        said.append(f"The regret is not known at {lost:,} {of_all}: {TOO_FEW_DIGITS}.")
    return " ".join(said)


def with_bound(regret: Floats, allowed: Floats) -> tuple[Scale, str]:
    """Return the axis of the regret, and a note if the bound is too large to be drawn."""
    most = float(np.abs(finite(regret)).max())
    top = float(finite(allowed).max())
    if top <= MAX_DRAWN_BOUND * most or most == 0:
        return fitted(regret, allowed, zero=True), ""
    end, bound = last_known(regret), last_known(allowed)
    times = f", {brief(bound / end)} times the regret" if end and end > 0 and bound else ""
    return fitted(regret, zero=True), (
        f"The bound is beyond this chart: {brief(bound or top)} at the end{times}."
    )


def allowed_regret(result: Result) -> Floats:
    """Return the bound so far as a bound on the regret; NaN if it bounds something else.

    A bound on the loss, minus the loss of the best in hindsight, bounds the regret.
    """
    curve, about = result.curve, quantity(result)
    if about == "regret":
        return curve.bound
    if about == "loss":
        with np.errstate(all="ignore"):
            return curve.bound - (curve.loss - curve.regret)
    return np.full(len(curve.rounds), np.nan)


def quantity(result: Result) -> str:
    """Return the quantity that the curve's bound is on."""
    from noregret.linear.learner import all_learners

    if result.certificate is not None and result.certificate.theorem is not None:
        return result.certificate.theorem.quantity
    kind = all_learners().get(result.name)
    about = {t.quantity for t in kind.theorems if t.so_far is not None} if kind else set()
    return about.pop() if len(about) == 1 else ""


def keys(series: list[Series], figures: list[float | None]) -> list[Key]:
    """Return the legend of a chart, with the last value of each curve."""
    return [
        Key(one.look, one.name, "" if last is None else brief(last))
        for one, last in zip(series, figures, strict=True)
    ]


def last_known(values: Floats) -> float | None:
    """Return the last finite number."""
    numbers = finite(values)
    return float(numbers[-1]) if len(numbers) else None


def described(title: str, series: list[Series]) -> str:
    """Describe a chart for screen readers."""
    parts = []
    for one in series:
        numbers = finite(one.y)
        if len(numbers):
            first, last = brief(float(numbers[0])), brief(float(numbers[-1]))
            parts.append(f"{one.name} {first}" + (f" to {last}" if first != last else ""))
    return f"{title}: {'; '.join(parts) or 'no data'}."
