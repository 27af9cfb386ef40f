"""Calibration: observed frequency of positive outcomes against predicted probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.app.report.charts.lines import SHEET, path
from noregret.app.report.charts.plot import Axis, line, plot, share, tooltip
from noregret.app.report.charts.scale import Scale
from noregret.app.report.page.markup import Html, element
from noregret.base.numbers import count, percent

if TYPE_CHECKING:
    from noregret.app.results.run import Calibration


def calibration_chart(found: Calibration, about: str) -> Html:
    """Return the calibration curve with one dot per bin, sized by the number of rows."""
    scale = Scale(0.0, 1.0)
    known = np.isfinite(found.predicted) & np.isfinite(found.observed) & (found.counts > 0)
    predicted, observed = found.predicted[known], found.observed[known]
    counts = found.counts[known]
    most = float(counts.max(initial=1))
    dots = [
        element(
            "circle",
            tooltip(f"predicted {percent(p)}, observed {percent(o)}: {count(n, 'row')}"),
            cx=share(p),
            cy=share(1 - o),
            r=f"{3 + 7 * (n / most) ** 0.5:.1f}",
            class_="dot",
        )
        for p, o, n in zip(predicted.tolist(), observed.tolist(), counts.tolist(), strict=True)
    ]
    curve = element(
        "svg",
        element(
            "path",
            d=path(scale.place(predicted), scale.place(observed)),
            class_="curve learner",
            vector_effect="non-scaling-stroke",
        ),
        viewBox=f"0 0 {SHEET} {SHEET}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )
    honest = line(0, 1, 1, 0, class_="curve level")
    return plot(
        Axis("predicted probability", scale),
        Axis("observed frequency", scale),
        [honest, curve, *dots],
        about,
        height=320,
    )
