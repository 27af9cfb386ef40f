"""Least mean squares on a sliding window: Widrow and Hoff's filter.

After each sample, take a small step against the error:

    w ← w + η (d − w·x) x / X²

Promise. It is Widrow-Hoff on windows, so for 0 < η < 1 and windows of ‖x‖ ≤ X the sum of squared
errors is at most the minimum over all fixed filters u of  L(u)/(1−η) + X²‖u‖²/η.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from noregret.base.registry import register
from noregret.checks import positive, whole
from noregret.filters.engine.filter_steps import Steepest
from noregret.filters.filter import Filter
from noregret.learners.widrow_hoff import promise
from noregret.proof.theorems.assumptions import AtMost, Chosen, Structural
from noregret.proof.theorems.theorem import Theorem


def norm_of(params: Mapping[str, Any]) -> float:
    """Return X, the bound on the norm of a window."""
    norm = params["norm"]
    return math.sqrt(params["taps"]) if norm is None else float(norm)


@register
class Lms(Filter):
    """A filter that takes a step proportional to its error: the simplest, and the slowest.

    Parameters
    ----------
    taps
        The number of samples in the window, and of weights.
    rate
        η, between 0 and 2; the theorem requires less than 1.
    norm
        X, a bound on the norm ‖x‖ of a window; by default √taps, which holds for samples within
        ±1. With larger norms, the filter may diverge.

    Examples
    --------
    >>> filter = Lms(taps=2, rate=0.5)
    >>> for x, d in [(1.0, 0.75), (-1.0, -0.25), (-1.0, -0.75), (1.0, 0.25)] * 50:
    ...     prediction = filter.play_one(x, d)
    >>> filter.weights.round(6)
    array([0.5 , 0.25])

    References
    ----------
    B. Widrow and M. E. Hoff, "Adaptive switching circuits", 1960. Bound: N. Cesa-Bianchi, P. M.
    Long and M. K. Warmuth, "Worst-case quadratic loss bounds for prediction using linear functions
    and gradient descent", 1996.
    """

    name = "lms"
    theorems = (
        Theorem(
            name="lms",
            quantity="loss",
            formula=r"L_A \le \min_u \left[ \frac{L_u}{1-\eta} + \frac{X^2\|u\|^2}{\eta} \right]",
            plain="loss <= min over u of  L(u)/(1-rate) + norm² ‖u‖²/rate",
            where=r"$L_u$ is the loss of the fixed filter $u$ with as many taps",
            assumptions=(
                AtMost(
                    r"$\|x_t\|_2 \le X$ for every window, where $X$ is the parameter `norm`",
                    "norm",
                    norm_of,
                    "norm(window)",
                ),
                Chosen(r"$0 < \eta < 1$", "rate < 1", lambda e: e.params["rate"], 1.0),
                Structural("from zero weights, with zeros before the first sample"),
            ),
            bound=lambda e: e.best_ridge(**promise({**e.params, "norm": norm_of(e.params)})).loss,
            source="Cesa-Bianchi, Long and Warmuth, 1996",
        ),
    )

    def __init__(self, taps: int = 32, rate: float = 0.1, norm: float | None = None) -> None:
        positive("rate", rate, below=2)
        if norm is not None and not 1e-45 < positive("norm", norm) < 1e45:
            raise ValueError(f"norm must lie between 1e-45 and 1e45: got {norm!r}")
        longest = norm_of({"taps": whole("taps", taps), "norm": norm})
        super().__init__(Steepest(taps, rate / longest**2))
        self.taps, self.rate, self.norm = taps, rate, norm
