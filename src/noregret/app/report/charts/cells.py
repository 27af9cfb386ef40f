"""Heat maps of counts on a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.plot import Axis, line, plot, share, tooltip
from noregret.app.report.charts.scale import Scale, fitted
from noregret.app.report.page.markup import Html, element
from noregret.base.numbers import brief, count

Counts = NDArray[np.int64]
# Opacity of a cell with a single row.
FAINTEST = 0.12


def heat_map(counts: Counts, low: float, high: float, about: str) -> Html:
    """Return outcomes (vertical) against predictions (horizontal) on the same scale."""
    scale = Scale(low, high) if low < high else fitted(np.array([low, high]))
    rows, columns = counts.shape
    most = float(counts.max(initial=0))
    edges_up, edges_across = edges(scale, rows), edges(scale, columns)
    cells = [
        element(
            "rect",
            tooltip(
                f"predicted {brief(edges_across[j])} to {brief(edges_across[j + 1])}, outcome"
                f" {brief(edges_up[i])} to {brief(edges_up[i + 1])}: {count(counts[i, j], 'row')}"
            ),
            x=share(j / columns),
            y=share(1 - (i + 1) / rows),
            width=share(1 / columns),
            height=share(1 / rows),
            fill_opacity=f"{darkness(float(counts[i, j]), most):.3f}",
        )
        for i, j in np.argwhere(counts > 0).tolist()
    ]
    right = line(0, 1, 1, 0, class_="curve level")
    return plot(
        Axis("predicted", scale),
        Axis("outcome", scale),
        [element("g", *cells, class_="cells"), right],
        about,
        height=320,
    )


def edges(scale: Scale, cells: int) -> NDArray[np.float64]:
    """Return the edges of cells of equal width; the width itself may overflow."""
    part = np.linspace(0, 1, cells + 1)
    return (1 - part) * scale.low + part * scale.high


def darkness(number: float, most: float) -> float:
    """Return the opacity of a cell, logarithmic because most rows lie in few cells."""
    return FAINTEST + (1 - FAINTEST) * float(np.log1p(number) / np.log1p(most))
