"""The charts of a mix: weights, leading experts, excess losses and regret over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.areas import (
    OTHERS,
    Layer,
    Segment,
    area_chart,
    layers_of,
    strip,
    strips,
)
from noregret.app.report.charts.lines import Series, line_chart
from noregret.app.report.charts.plot import Axis, Key, figure_of
from noregret.app.report.charts.scale import Scale, finite, fitted
from noregret.app.report.page.markup import Html, element
from noregret.app.report.run.curves import (
    described,
    keys,
    last_known,
    plain_rounds,
    regret_figure,
)
from noregret.base.numbers import brief, count, name_of, weight

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult, Stretch

Floats = NDArray[np.float64]
# Curves that reach this many times further than the typical one may leave the chart.
MAX_REACH = 2.5


def layers(result: MixResult) -> list[Layer]:
    """Return the weights of the experts, the largest first and the smallest combined."""
    assert result.history is not None
    return layers_of([e.name for e in result.experts], result.history.weights, others="others")


def looks(result: MixResult) -> dict[str, str]:
    """Return the style of every expert that has its own colour."""
    return {layer.name: layer.look for layer in layers(result) if layer.look != OTHERS}


def over_rounds(result: MixResult) -> tuple[Floats, Axis]:
    """Return the rounds of the points, and their axis."""
    assert result.history is not None
    rounds = result.history.rounds.astype(np.float64)
    label = "rounds of a series" if result.groups else "rounds"
    scale = plain_rounds(rounds)
    return rounds, Axis(label, scale._replace(low=min(1.0, rounds[0])), lines=False)


def weights_chart(result: MixResult) -> Html:
    """Return the weights over time."""
    rounds, across = over_rounds(result)
    found = layers(result)
    now = {expert.name: expert.weight for expert in result.experts}
    rest = sum(now.values()) - sum(now.get(layer.name, 0.0) for layer in found)
    words = (
        "Weight of each expert in the combined forecast. Percentages are the weights for the next"
        " round."
    )
    if result.groups:
        words = "Weight of each expert, averaged over the series by round."
    step = int(rounds[0])
    if step > 1:
        words += f" Each point is the mean of {count(step, 'round')}."
    return figure_of(
        "Weights over time",
        words,
        [Key(one.look, name_of(one.name), weight(now.get(one.name, rest))) for one in found],
        area_chart(
            across,
            Axis("weight", Scale(0.0, 1.0)),
            rounds,
            found,
            "Weights over time: "
            + "; ".join(f"{layer.name} {weight(float(layer.y[-1]))} at the end" for layer in found),
        ),
    )


def leader_strips(result: MixResult) -> str:
    """Return the expert of the largest weight over time, and the best sequence in hindsight."""
    heaviest, best = result.leaders
    if not heaviest or len(result.experts) < 2:
        return ""
    look, names = looks(result), [expert.name for expert in result.experts]

    def segments(found: tuple[Stretch, ...]) -> list[Segment]:
        return [
            Segment(s.first, s.last, names[s.expert], look.get(names[s.expert], OTHERS))
            for s in found
        ]

    switches = len(best) - 1
    few = f", if it may change {count(switches, 'time')}" if switches else ""
    words = (
        "Top: the expert with the largest weight. Bottom: the best expert in hindsight, over all"
        f" rounds{few}."
    )
    if any(expert.awake < result.rows for expert in result.experts):
        words += " Where that expert has no forecast, the mixture's loss is counted."
    return figure_of(
        "Leading experts",
        words,
        [],
        strips(
            [
                strip("largest weight", segments(heaviest), result.rows),
                strip("best in hindsight", segments(best), result.rows),
            ]
        ),
    )


def behind_chart(result: MixResult) -> Html:
    """Return the total loss of each expert so far minus that of the mixture."""
    assert result.history is not None
    rounds, across = over_rounds(result)
    history, look = result.history, looks(result)
    gaps = np.cumsum(history.losses - history.loss[:, None], axis=0)
    best = min((e.total for e in result.experts if e.awake), default=0.0)
    shown = [k for k, e in enumerate(result.experts) if e.name in look or e.total <= best]
    rank = {expert.name: k for k, expert in enumerate(result.ranked)}
    shown = [k for k in shown if result.experts[k].awake]
    shown.sort(key=lambda k: rank[result.experts[k].name])
    series = [Series("mixture", np.zeros(len(rounds)), "self", True)]
    series += [
        Series(
            name_of(result.experts[k].name), gaps[:, k], look.get(result.experts[k].name, OTHERS)
        )
        for k in shown
    ]
    scale, beyond = within_reach(series[1:])
    note = f"Beyond this chart: {', '.join(beyond)}." if beyond else ""
    figures = [None, *(last_known(one.y) for one in series[1:])]
    return figure_of(
        "Loss relative to the mixture",
        "Total loss of each expert so far minus that of the mixture. Where a curve rises, the"
        " mixture does better; below zero, the expert has done better so far.",
        keys(series, figures),
        line_chart(
            across,
            Axis("loss above the mixture's", scale),
            rounds,
            series,
            described("Total loss minus the mixture's", series[1:]),
        ),
        element("p", note, class_="note") if note else "",
    )


def within_reach(series: list[Series]) -> tuple[Scale, list[str]]:
    """Return an axis that most curves fit, and the names of those that leave it."""
    sizes = [float(np.abs(finite(one.y)).max(initial=0.0)) for one in series]
    typical = float(np.median(sizes)) if sizes else 0.0
    limit = MAX_REACH * typical
    inside = [one.y for one, size in zip(series, sizes, strict=True) if size <= limit]
    if not inside or typical == 0:
        return fitted(*(one.y for one in series), zero=True), []
    beyond = [
        f"{one.name} ({brief(last_known(one.y) or size)})"
        for one, size in zip(series, sizes, strict=True)
        if size > limit
    ]
    return fitted(*inside, zero=True), beyond


def regret_chart(result: MixResult) -> Html | None:
    """Return the regret against the best expert over time with its bound; None if not known."""
    curve = result.curve
    if not len(finite(curve.regret)) or len(curve.rounds) < 2:
        return None
    return regret_figure(
        curve,
        Series("bound", curve.bound, "bound"),
        "Total loss so far minus that of the best expert. Below zero, the mixture does better than"
        " every single expert.",
    )
