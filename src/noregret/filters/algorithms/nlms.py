"""Normalised least mean squares on a sliding window: the workhorse of adaptive filtering.

The step is divided by the power of the window, so the level need not be known:

    w ← w + η (d − w·x) x / (ε + ‖x‖²)

With η = 1 and ε near 0 the new weights would have predicted the sample exactly.

Promise. It is Widrow-Hoff on windows and outcomes divided by √(ε + ‖x‖²), so for 0 < η < 1 the sum
of (d − w·x)²/(ε + ‖x‖²) is at most the minimum over all fixed filters u of the same sum for u,
divided by 1−η, plus ‖u‖²/η, at any level of the signals.
"""

from __future__ import annotations

from typing import Any

from noregret.base.registry import register
from noregret.checks import positive
from noregret.filters.engine.filter_steps import Normalised
from noregret.filters.filter import Filter
from noregret.hindsight import best_ridge
from noregret.learners.nlms import normalised
from noregret.proof.theorems.assumptions import Chosen
from noregret.proof.theorems.theorem import Theorem


def cushion(epsilon: float) -> float:
    """Return ε, or raise ValueError if it is too small to keep steps finite."""
    if not positive("epsilon", epsilon) >= 1e-20:
        raise ValueError(f"epsilon must be at least 1e-20: got {epsilon!r}")
    return epsilon


def promise(evidence: Any) -> float:
    """Return the minimal normalised loss of a filter plus its penalty: the bound."""
    rate = evidence.params["rate"]
    answer = evidence.once(
        "normalised", lambda: best_ridge(normalised(evidence), 1 / rate, 1 / (1 - rate))
    )
    return float(answer.loss)


@register
class Nlms(Filter):
    """A filter whose step is divided by the power of its window, for signals of any level.

    Parameters
    ----------
    taps
        The number of samples in the window, and of weights.
    rate
        η, between 0 and 2: 1 learns fastest, smaller values average out noise.
    epsilon
        ε, at least 1e-20: keeps the step small during silence of the input.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=500)
    >>> d = np.convolve(x, [0.5, -0.25])[:500]
    >>> filter = Nlms(taps=2)
    >>> left = filter.cancel(x, d)
    >>> filter.weights.round(3)
    array([ 0.5 , -0.25])

    References
    ----------
    J. Nagumo and A. Noda, "A learning method for system identification", 1967.
    """

    name = "nlms"
    theorems = (
        Theorem(
            name="nlms-filter",
            quantity="loss",
            formula=(
                r"\sum_t \frac{(w_t \cdot x_t - d_t)^2}{\varepsilon + \|x_t\|^2} \le \min_u \left["
                r" \frac{1}{1-\eta} \sum_t \frac{(u \cdot x_t - d_t)^2}{\varepsilon + \|x_t\|^2}"
                r" + \frac{\|u\|^2}{\eta} \right]"
            ),
            plain=(
                "loss, each divided by epsilon+‖x‖², <= min over u of  the same for u/(1-rate)"
                " + ‖u‖²/rate"
            ),
            where="$x_t$ is the window of sample $t$, and $u$ a fixed filter with as many taps",
            assumptions=(Chosen(r"$0 < \eta < 1$", "rate < 1", lambda e: e.params["rate"], 1.0),),
            bound=promise,
            measured=lambda e: e.scaled_loss,
            about="the loss, each sample's divided by epsilon + ‖x‖²,",
            source="Cesa-Bianchi, Long and Warmuth, 1996, on normalised windows",
        ),
    )

    def __init__(self, taps: int = 32, rate: float = 0.5, epsilon: float = 1e-6) -> None:
        positive("rate", rate, below=2)
        super().__init__(Normalised(taps, rate, cushion(epsilon)))
        self.taps, self.rate, self.epsilon = taps, rate, epsilon
