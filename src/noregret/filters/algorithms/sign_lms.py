"""Least mean squares with the sign of the error: steps do not depend on the size of the error.

    w ← w + η sign(d − w·x) x

A burst of noise in d moves the weights no further than a small error does, which makes it robust;
it is slow, and does not converge closer than about η to the best weights.

Promise. It is gradient descent on the absolute error, so on any data the sum of |d − w·x| is at
most the minimum over all fixed filters u of the same sum for u, plus ‖u‖²/(2η), plus η/2 times the
sum of ‖x‖².
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.checks import positive
from noregret.filters.engine.filter_steps import Signed
from noregret.filters.filter import Filter
from noregret.hindsight import best_penalised
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.filters.evidence import FilterEvidence


def promise(evidence: FilterEvidence) -> float:
    """Return the minimal absolute loss of a filter plus its penalty, plus the cost of the steps."""
    rate: float = evidence.params["rate"]
    answer = evidence.once(
        "absolute",
        lambda: best_penalised(evidence.rows, "absolute", 1 / (2 * rate), limits=evidence.limits),
    )
    return answer.loss + rate / 2 * sum(float(sizes @ sizes) for sizes in evidence.norms())


@register
class SignLms(Filter):
    """A filter that uses only the sign of its error, which makes it robust to bursts of noise.

    Parameters
    ----------
    taps
        The number of samples in the window, and of weights.
    rate
        η, above 0: the change of a weight for a sample of size 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=5000)
    >>> d = np.convolve(x, [0.5, -0.25])[:5000]
    >>> d[::100] += 1000.0
    >>> filter = SignLms(taps=2, rate=0.001)
    >>> predictions = filter.play_many(x, d)
    >>> bool(abs(filter.weights - [0.5, -0.25]).max() < 0.05)
    True

    References
    ----------
    A. Gersho, "Adaptive filtering with binary reinforcement", 1984. Bound: M. Zinkevich, "Online
    convex programming and generalized infinitesimal gradient ascent", 2003.
    """

    name = "sign-lms"
    theorems = (
        Theorem(
            name="sign-lms",
            quantity="loss",
            formula=(
                r"\sum_t |w_t \cdot x_t - d_t| \le \min_u \left[ \sum_t |u \cdot x_t - d_t|"
                r" + \frac{\|u\|^2}{2\eta} \right] + \frac{\eta}{2} \sum_t \|x_t\|^2"
            ),
            plain=(
                "absolute loss <= min over u of  the same for u + ‖u‖²/(2 rate),"
                "  + rate/2 sum of ‖x‖²"
            ),
            where="$x_t$ is the window of sample $t$, and $u$ a fixed filter with as many taps",
            assumptions=(Structural("any data, from zero weights"),),
            bound=promise,
            measured=lambda e: e.scaled_loss,
            about="the sum of absolute errors",
            source="Zinkevich, 2003, for the absolute error",
        ),
    )

    def __init__(self, taps: int = 32, rate: float = 0.001) -> None:
        super().__init__(Signed(taps, positive("rate", rate)))
        self.taps, self.rate = taps, rate
