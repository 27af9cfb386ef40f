"""The charts of a mix: weights over time, who led when, and how far each expert fell behind."""

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
    with_bound,
)
from noregret.base.numbers import brief, count, name_of, weight

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult, Stretch

Floats = NDArray[np.float64]
# A curve that goes this many times further than the typical one does is let out of the chart.
FAR = 2.5


def layers(result: MixResult) -> list[Layer]:
    """Return the weights of the experts, the heaviest first; the lightest together."""
    assert result.history is not None
    return layers_of([e.name for e in result.experts], result.history.weights, others="others")


def looks(result: MixResult) -> dict[str, str]:
    """Return the look of every expert that has one of its own."""
    return {layer.name: layer.look for layer in layers(result) if layer.look != OTHERS}


def over_rounds(result: MixResult) -> tuple[Floats, Axis]:
    """Return the moments, and the axis they lie on."""
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
    words = "How much the forecast of each expert counted; the figures are for the next round."
    if result.groups:
        words = "How much each expert counted, on average over the series in that round of each."
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
            + "; ".join(f"{layer.name} {weight(float(layer.y[-1]))} in the end" for layer in found),
        ),
    )


def leader_strips(result: MixResult) -> str:
    """Return whose weight was largest when, and whom hindsight would have followed."""
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
    few = f" if one may switch {count(switches, 'time')}" if switches else ""
    words = (
        "Above, whose weight was largest. Below, whom one should have followed: the best expert of"
        f" all rounds{few}, known only in hindsight."
    )
    if any(expert.awake < result.rows for expert in result.experts):
        words += " Where that expert slept, it stands for the mixture."
    return figure_of(
        "Who led when",
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
    """Return how much more than the mixture each expert has lost so far."""
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
        "Lost more than the mixture",
        "The cumulative loss of each expert less that of the mixture. Where a curve rises, the"
        " mixture does better; below zero, the expert has done better so far.",
        keys(series, figures),
        line_chart(
            across,
            Axis("more lost than the mixture", scale),
            rounds,
            series,
            described("Cumulative loss less the mixture's", series[1:]),
        ),
        element("p", note, class_="note") if note else "",
    )


def within_reach(series: list[Series]) -> tuple[Scale, list[str]]:
    """Return an axis on which most curves fit, and in words those that leave it."""
    sizes = [float(np.abs(finite(one.y)).max(initial=0.0)) for one in series]
    typical = float(np.median(sizes)) if sizes else 0.0
    limit = FAR * typical
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
    """Return the regret to the best expert as it went, with its bound; None if not known."""
    curve = result.curve
    rounds = curve.rounds.astype(np.float64)
    if not len(finite(curve.regret)) or len(rounds) < 2:
        return None
    series = [Series("regret", curve.regret, "learner")]
    scale, note = fitted(curve.regret, zero=True), ""
    if len(finite(curve.bound)):
        series.append(Series("bound", curve.bound, "bound"))
        scale, note = with_bound(curve.regret, curve.bound)
    return figure_of(
        "Regret",
        "What the mixture has paid beyond the best expert of the rounds so far. Below zero, it did"
        " better than every single expert.",
        keys(series, [last_known(one.y) for one in series]),
        line_chart(
            Axis("rounds", plain_rounds(rounds), lines=False),
            Axis("regret", scale),
            rounds,
            series,
            described("Regret as it went", series),
        ),
        element("p", note, class_="note") if note else "",
    )
