"""Line charts: curves over rounds, with constant levels for comparison."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.plot import Axis, line, plot
from noregret.app.report.charts.scale import Scale
from noregret.app.report.page.markup import Html, element
from noregret.base.numbers import brief, figure

Floats = NDArray[np.float64]
# Curves are drawn on a square of this many units per side, which is stretched over the plot.
SHEET = 1000
# Points with values under the pointer.
STOPS = 150


class Series(NamedTuple):
    """A curve: its name, its values (NaN if unknown), its look (a class of the style sheet).

    A ``level`` is constant and spans the plot. With ``gaps``, unknown values interrupt the curve.
    """

    name: str
    y: Floats
    look: str
    level: bool = False
    gaps: bool = False


def line_chart(
    x: Axis,
    y: Axis,
    rounds: Floats,
    series: Sequence[Series],
    about: str,
    *,
    unit: str | None = None,
    marks: Sequence[float] = (),
) -> Html:
    """Return curves over rounds or another ``unit``, with vertical lines at ``marks``."""
    across = x.scale.place(rounds)
    drawn = [
        element(
            "path",
            d=drawn_as(one, across, y.scale),
            class_=f"curve {one.look}",
            vector_effect="non-scaling-stroke",
        )
        for one in series
    ]
    sheet = element(
        "svg",
        *drawn,
        viewBox=f"0 0 {SHEET} {SHEET}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )
    places = [float(x.scale.place(mark)) for mark in marks]
    upright = [line(at, 0, at, 1, class_="curve level") for at in places]
    shown, names = hover(across, y.scale, rounds, series), names_of(series)
    inside = [*upright, sheet]
    return plot(x, y, inside, about, data_hover=shown, data_names=names, data_unit=unit)


def drawn_as(one: Series, across: Floats, scale: Scale) -> str:
    """Return the SVG path of a curve."""
    if one.level:
        return level(one.y, scale)
    up = scale.place(one.y)
    if not one.gaps:
        return path(across, up)
    known = np.isfinite(across) & np.isfinite(up)
    starts = np.flatnonzero(np.diff(known.astype(np.int8), prepend=0) != 0)
    runs = np.split(np.arange(len(up)), starts)
    return "".join(path(across[run], up[run]) for run in runs if len(run) and known[run[0]])


def path(across: Floats, up: Floats) -> str:
    """Return the SVG path through the finite points."""
    known = np.isfinite(across) & np.isfinite(up)
    points = [
        f"{SHEET * x:.1f} {SHEET * (1 - y):.1f}"
        for x, y in zip(across[known].tolist(), up[known].tolist(), strict=True)
    ]
    if not points:
        return "M0 0"
    # A stroke of length zero first, so that a single point shows as a dot.
    return f"M{points[0]}h0" + "".join(f"L{point}" for point in points[1:])


def level(values: Floats, scale: Scale) -> str:
    """Return the SVG path of a horizontal line at the first value."""
    return path(np.array([0.0, 1.0]), np.repeat(scale.place(values[:1]), 2))


def hover(across: Floats, scale: Scale, rounds: Floats, series: Sequence[Series]) -> str:
    """Return the values under the pointer: position, round, and each curve's height and value."""
    heights = [1 - scale.place(one.y) for one in series]

    def values(i: int) -> list[Any]:
        return [
            [round(float(height[i]), 4), brief(float(one.y[i]))] if np.isfinite(one.y[i]) else None
            for height, one in zip(heights, series, strict=True)
        ]

    return stops(np.where(np.isfinite(series[0].y), across, np.nan), rounds, values)


def stops(across: Floats, rounds: Floats, values: Callable[[int], list[Any]]) -> str:
    """Return some points, evenly spread, as JSON: position, round, and the values there."""
    known = np.flatnonzero(np.isfinite(across))
    if not len(known):
        return "[]"
    wanted = np.linspace(across[known[0]], across[known[-1]], STOPS)
    at = known[np.unique(np.clip(np.searchsorted(across[known], wanted), 0, len(known) - 1))]
    found = [[round(float(across[i]), 4), figure(float(rounds[i])), values(i)] for i in at.tolist()]
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def names_of(series: Sequence[Any]) -> str:
    """Return the names and looks of the curves, for the pointer."""
    return json.dumps([[one.name, one.look] for one in series], ensure_ascii=False)
