"""Stacked areas, such as the weights of a mixture over time; and strips of segments.

A page with such charts adds ``STYLE``, which has the colours, to its style sheet. A layer's look
also works for lines (``line_chart``), so that a thing has the same colour on the whole page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.lines import SHEET, names_of, stops
from noregret.app.report.charts.plot import Axis, plot, share, tooltip
from noregret.app.report.charts.scale import Scale
from noregret.app.report.page.markup import Html, element
from noregret.base.numbers import clean

Floats = NDArray[np.float64]
# Layers with their own colour; the others share one.
MAX_COLOURS = 12
# Colours on white and on black. Neighbours also differ in brightness, for colour-blind readers.
TONES = (
    ("#0067a8", "#4aa8e8"),
    ("#e69f00", "#f2b643"),
    ("#00795a", "#2fbf95"),
    ("#d987b4", "#e6a5c9"),
    ("#7a4a9e", "#b78be0"),
    ("#6cc0ee", "#9bdcfa"),
    ("#c04f00", "#ee8145"),
    ("#a8b545", "#ccd86a"),
    ("#8b1e3f", "#d9607f"),
    ("#5fb8a5", "#8adccb"),
    ("#8c6d4f", "#bb987a"),
    ("#c9a7e6", "#dcc6f2"),
)
OTHERS, OTHERS_TONE = "layer others", ("#b4bcc6", "#59636f")
STYLE = (
    "".join(
        f".{name} {{ --tone: {light}; --tone: light-dark({light}, {dark}); }}\n"
        for name, (light, dark) in [
            *((f"layer-{k}", tones) for k, tones in enumerate(TONES, 1)),
            ("layer.others", OTHERS_TONE),
        ]
    )
    + """
.area { fill: var(--tone); stroke: var(--paper); stroke-width: 0.7; }
.curve.layer { stroke: var(--tone); }
.key .curve.layer { stroke-width: 9; stroke-linecap: butt; }
.segment { fill: var(--tone); stroke: var(--paper); stroke-width: 1; }
.segment:hover, .area:hover { filter: brightness(1.12); }
.strip { display: grid; gap: 4px; padding: 0 10px 0 34px; }
.strip svg { display: block; border-radius: 4px; margin-bottom: 8px; }
.strip .words { font-size: 0.75rem; }
.chart + .chart { margin-top: 34px; }
.pair .chart + .chart { margin-top: 0; }
"""
)


class Layer(NamedTuple):
    """A layer: its name, its share over time, its look."""

    name: str
    y: Floats
    look: str


class Segment(NamedTuple):
    """A range of rounds, first and last, with a name and a look."""

    first: int
    last: int
    name: str
    look: str


def look_of(position: int) -> str:
    """Return the look of a layer by its position: its own colour, or that of the others.

    >>> look_of(0), look_of(11), look_of(12)
    ('layer layer-1', 'layer layer-12', 'layer others')
    """
    return f"layer layer-{position + 1}" if position < MAX_COLOURS else OTHERS


def layers_of(
    names: Sequence[str], shares: Floats, most: int = MAX_COLOURS, others: str = "others"
) -> list[Layer]:
    """Return the parts with the largest means as layers, and the rest as one layer.

    Parameters
    ----------
    names
        Names of the parts.
    shares
        Shares, one row per point in time and one column per part; NaN counts as 0.
    most
        Maximum number of layers, not counting that of the others.
    others
        Name of the rest.
    """
    known = np.nan_to_num(shares, nan=0.0, posinf=0.0, neginf=0.0)
    order = np.argsort(-known.mean(axis=0), kind="stable") if len(known) else np.arange(len(names))
    most = min(most, MAX_COLOURS) if len(names) > min(most, MAX_COLOURS) else len(names)
    found = [Layer(names[i], known[:, i], look_of(k)) for k, i in enumerate(order[:most])]
    if (rest := order[most:]).size:
        found.append(Layer(f"{len(rest)} {others}", known[:, rest].sum(axis=1), OTHERS))
    return found


def area_chart(
    x: Axis, y: Axis, rounds: Floats, layers: Sequence[Layer], about: str, height: int = 300
) -> Html:
    """Return stacked layers, the first at the bottom; ``about`` is for screen readers."""
    across = x.scale.place(rounds)
    tops = np.cumsum([np.zeros(len(rounds)), *(np.nan_to_num(layer.y) for layer in layers)], axis=0)
    up = y.scale.place(tops)
    drawn = [
        element(
            "path",
            tooltip(layer.name),
            d=band(across, low, high),
            class_=f"area {layer.look}",
            vector_effect="non-scaling-stroke",
        )
        for layer, low, high in zip(layers, up, up[1:], strict=False)
        if layer.y.any()
    ]
    sheet = element(
        "svg",
        *drawn,
        viewBox=f"0 0 {SHEET} {SHEET}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )
    shown, names = hover(across, rounds, layers, y.scale), names_of(layers)
    return plot(x, y, [sheet], about, height, data_hover=shown, data_names=names)


def band(across: Floats, low: Floats, high: Floats) -> str:
    """Return the outline of a layer: along its top, and back along its bottom."""
    known = np.isfinite(across)
    across, low, high = across[known], low[known], high[known]
    if len(across) == 1:  # a single point is drawn as wide as the plot
        across, low, high = np.array([0.0, 1.0]), np.repeat(low, 2), np.repeat(high, 2)
    there = [f"{SHEET * x:.1f} {SHEET * (1 - y):.1f}" for x, y in zip(across, high, strict=True)]
    back = [f"{SHEET * x:.1f} {SHEET * (1 - y):.1f}" for x, y in zip(across, low, strict=True)]
    return "M" + "L".join(there + back[::-1]) + "Z" if there else "M0 0"


def hover(across: Floats, rounds: Floats, layers: Sequence[Layer], scale: Scale) -> str:
    """Return the values under the pointer: position, round, and the share of each layer."""

    def values(i: int) -> list[Any]:
        return [
            [round(float(1 - scale.place(layer.y[i])), 4), f"{100 * layer.y[i]:.1f}%"]
            if layer.y[i] >= 0.0005
            else None
            for layer in layers
        ]

    return stops(across, rounds, values)


def strip(label: str, segments: Iterable[Segment], rounds: int, height: int = 26) -> Html:
    """Return segments side by side: two cells of a ``strip``."""
    whole = max(1, rounds)
    drawn = [
        element(
            "rect",
            tooltip(
                f"{clean(one.name)}: round {one.first:,}"
                + (f" to {one.last:,}" if one.last > one.first else "")
            ),
            x=share((one.first - 1) / whole),
            width=share((one.last - one.first + 1) / whole),
            y=0,
            height="100%",
            class_=f"segment {one.look}",
        )
        for one in segments
    ]
    about = f"{label}: {len(drawn)} segments"
    bar = element("svg", *drawn, width="100%", height=height, role="img", aria_label=about)
    return Html(element("div", label, class_="words") + bar)


def strips(rows: Iterable[Html]) -> Html:
    """Return strips below each other, with their labels."""
    return element("div", *rows, class_="strip")
