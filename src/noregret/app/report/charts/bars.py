"""Bar charts of signed weights, and histograms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.plot import Axis, plot, share, tooltip
from noregret.app.report.charts.scale import Scale, finite, fitted
from noregret.app.report.page.markup import Html, element
from noregret.base.numbers import brief, clean, signed

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def diverging(weights: Sequence[tuple[str, float]]) -> Html:
    """Return weights as bars from a common zero, in a table that aligns names and figures."""
    largest = max((abs(w) for _, w in weights if np.isfinite(w)), default=0.0)
    middle = place_of_zero([w for _, w in weights if np.isfinite(w)])
    rows = [
        element(
            "tr",
            element("th", name or "(no name)", scope="row", title=clean(name)),
            element("td", bar(weight, largest, middle), class_="bar"),
            element("td", signed(weight, brief), class_="number"),
        )
        for name, weight in weights
    ]
    return element("table", element("tbody", *rows), class_="weights")


def place_of_zero(weights: Sequence[float]) -> float:
    """Return the position of zero for which the longest bars on both sides just fit."""
    below, above = max(0.0, -min(weights, default=0.0)), max(0.0, *weights, 0.0)
    largest = max(below, above)
    return below / largest / (below / largest + above / largest) if largest else 0.0


def bar(weight: float, largest: float, middle: float) -> Html:
    """Return one bar, to the left or right of zero."""
    length = weight / largest * max(middle, 1 - middle) if largest and np.isfinite(weight) else 0.0
    left, length, start = min(middle, middle + length), abs(length), middle
    drawn = element(
        "rect",
        x=share(left),
        y="20%",
        width=share(length),
        height="60%",
        rx=2,
        class_="minus" if weight < 0 else "plus",
    )
    zero = element("line", x1=share(start), x2=share(start), y1=0, y2="100%", class_="axis")
    return element("svg", drawn, zero, width="100%", height=22, aria_hidden="true")


def histogram(edges: Floats, counts: Counts, label: str, about: str) -> Html:
    """Return a histogram."""
    ends = finite(edges)
    low, high = (float(ends[0]), float(ends[-1])) if len(ends) else (0.0, 1.0)
    across = Scale(low, high) if high > low else fitted(ends)
    up = fitted(counts.astype(np.float64), zero=True)._replace(whole=True)
    lefts, rights = across.place(edges[:-1]), across.place(edges[1:])
    heights = up.place(counts.astype(np.float64))
    known = np.isfinite(lefts) & np.isfinite(rights)
    bars = [
        element(
            "rect",
            tooltip(f"{brief(edges[i])} to {brief(edges[i + 1])}: {counts[i]:,}"),
            x=share(lefts[i]),
            y=share(1 - heights[i]),
            width=share(max(0.0, rights[i] - lefts[i])),
            height=share(heights[i]),
            class_="column",
        )
        for i in np.flatnonzero(known).tolist()
    ]
    return plot(Axis(label, across, lines=False), Axis("rows", up), bars, about, height=320)
