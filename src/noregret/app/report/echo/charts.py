"""Charts of an echo cancellation: echo reduction, levels, the learned impulse response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.lines import Series, line_chart
from noregret.app.report.charts.plot import Axis, Key, figure_of
from noregret.app.report.charts.scale import Scale, fitted
from noregret.app.report.echo.words import about_erle, decibel
from noregret.app.report.page.markup import Html, element
from noregret.base.numbers import brief
from noregret.echo.frames import trailing

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult

Floats = NDArray[np.float64]
# Points per curve.
POINTS = 700
# The lowest level drawn, and the range of a response, in decibels.
FLOOR, RESPONSE_RANGE = -80.0, 60.0
LOOKS = ("learner", "constant")
# Seconds over which levels are averaged.
WINDOW = 0.1


def grouped(values: Floats, count: int = POINTS) -> Floats:
    """Return means of neighbours, so that few points are left; NaN where all are NaN.

    >>> grouped(np.array([1.0, 3.0, np.nan, 5.0, np.nan, np.nan]), 3)
    array([ 2.,  5., nan])
    """
    size = max(1, -(-len(values) // count))
    padded = np.full(-(-len(values) // size) * size, np.nan)
    padded[: len(values)] = values
    rows = padded.reshape(-1, size)
    known = np.isfinite(rows)
    total = np.where(known, rows, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known.any(axis=1), total / known.sum(axis=1), np.nan))


def seconds(result: EchoResult) -> Axis:
    """Return the axis of time."""
    return Axis("seconds", Scale(0.0, max(result.seconds, 0.01)), lines=False)


def erle_chart(result: EchoResult) -> Html:
    """Return the echo reduction over time."""
    levels = result.levels
    series = [
        Series(
            "linear filter", grouped(levels.erle_over_time(levels.linear)), "constant", gaps=True
        )
    ]
    means = [result.erle(linear=True)]
    if result.suppress:
        after = grouped(levels.erle_over_time(levels.clean))
        series.append(Series("with the suppressor", after, "learner", gaps=True))
        means.append(result.erle())
    keys = [
        Key(one.look, one.name, "" if mean is None else decibel(mean.best_known))
        for one, mean in zip(series, means, strict=True)
    ]
    words = about_erle(result)
    if not any(np.isfinite(one.y).any() for one in series):
        nothing = element("p", "The far end is silent: there is no echo.", class_="note")
        return figure_of("Echo reduction", words, [], nothing)
    drawn = line_chart(
        seconds(result),
        Axis("ERLE, dB", fitted(*(one.y for one in series), zero=True)),
        grouped(levels.times),
        series,
        f"Echo reduction over time: {'; '.join(f'{k.name} {k.figure}' for k in keys)}.",
        unit="second",
    )
    return figure_of("Echo reduction", words, keys, drawn)


def level_chart(result: EchoResult) -> Html:
    """Return the levels of the signals over time."""
    levels = result.levels
    names = (("far end", "level"), ("microphone", "constant"), ("output", "learner"))
    powers = [trailing(power, WINDOW) for power in (levels.far, levels.mic, levels.clean)]
    series = [
        Series(name, 10 * np.log10(np.maximum(grouped(power), 10 ** (FLOOR / 10))), look)
        for (name, look), power in zip(names, powers, strict=True)
    ]
    drawn = line_chart(
        seconds(result),
        Axis("dB of full scale", Scale(FLOOR, 0.0)),
        grouped(levels.times),
        series,
        "Levels of far end, microphone and output over time.",
        unit="second",
    )
    words = (
        "Where the far end speaks alone, the output should be far below the microphone; where the"
        " near end speaks alone, the two should coincide."
    )
    return figure_of("Levels", words, [Key(one.look, one.name) for one in series], drawn)


def response_charts(result: EchoResult) -> list[Html]:
    """Return the learned impulse response, linear and in decibels."""
    response = result.response
    if not response.size or not np.abs(response).max():
        return []
    channels = response.shape[1]
    sides = ("left", "right") if channels == 2 else ("first path",) if channels > 2 else ("path",)
    last = milliseconds(result, len(response))
    across = Axis("milliseconds", Scale(0.0, last), lines=False)
    marks = [] if result.delay is None else [1000 * result.delay]
    times, waves = outlined(response, result.rate)
    keys = [Key(look, name) for name, look in zip(sides, LOOKS, strict=False)]
    keys += [Key("level", "delay", f"{mark:.0f} ms") for mark in marks]
    wave = [Series(n, w, k) for n, w, k in zip(sides, waves, LOOKS, strict=False)]
    decay = [Series(n, d, k) for n, d, k in zip(sides, decays(response), LOOKS, strict=False)]
    places = last * (np.arange(len(decay[0].y)) + 0.5) / len(decay[0].y)
    top = float(np.nanmax([one.y.max() for one in decay]))
    return [
        figure_of(
            "Impulse response",
            "The learned response of the microphone to a click from the loudspeaker: first the"
            " delay, then the room.",
            keys,
            line_chart(
                across,
                Axis("amplitude", fitted(*waves, zero=True)),
                times,
                wave,
                f"Learned impulse response: largest {brief(float(np.abs(response).max()))}.",
                unit="millisecond",
                marks=marks,
            ),
        ),
        figure_of(
            "Decay",
            "The same in decibels. If the curve is still high at the end, try a longer --tail.",
            keys,
            line_chart(
                across,
                Axis("dB", Scale(top - RESPONSE_RANGE, top + 3)),
                places,
                decay,
                "Level of the learned impulse response over time.",
                unit="millisecond",
                marks=marks,
            ),
        ),
    ]


def milliseconds(result: EchoResult, samples: int) -> float:
    """Return the duration of some samples."""
    return 1000 * samples / result.rate


def outlined(response: Floats, rate: int) -> tuple[Floats, Sequence[Floats]]:
    """Return times and waves, thinned to the largest and smallest of neighbours."""
    size = max(1, 2 * len(response) // (3 * POINTS))
    if size == 1:
        return 1000 * np.arange(len(response)) / rate, list(response.T)
    whole = -(-len(response) // size)
    padded = np.zeros((whole * size, response.shape[1]))
    padded[: len(response)] = response
    rows = padded.reshape(whole, size, -1)
    pairs = np.stack((rows.max(axis=1), rows.min(axis=1)), axis=1).reshape(2 * whole, -1)
    return 1000 * np.repeat((np.arange(whole) + 0.5) * size, 2) / rate, list(pairs.T)


def decays(response: Floats) -> Sequence[Floats]:
    """Return mean levels of neighbours in decibels."""
    largest = float(np.abs(response).max())
    powers = [grouped(np.square(column / largest), 250) for column in response.T]
    return [10 * np.log10(np.maximum(power, 1e-9)) + 20 * np.log10(largest) for power in powers]
