"""Recursive least squares: after each sample, the best filter so far, those long ago fading.

    P ← (f P⁻¹ + x xᵀ)⁻¹,   w ← w + (d − w·x) P x

P starts at I/λ. With forgetting f = 1 the weights are those of ridge regression on all windows so
far; with f < 1 a sample counts f as much as the one after it, about 1/(1−f) of them in all.

Promise. With f = 1, on any data, the sum of (d − w·x)²/(1 + xᵀPx) is the minimum over all fixed
filters u of  L(u) + λ‖u‖². The more xᵀPx, the leverage of a window, the less it is like those
before it: that is where it pays more than the best filter in hindsight.
"""

from __future__ import annotations

from noregret.base.registry import register
from noregret.checks import whole
from noregret.filters.engine.window import Recursive
from noregret.filters.filter import Filter
from noregret.learners.vaw import WITHIN_DIGITS
from noregret.linear.engine.second_order import MAX_FEATURES
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem


@register
class Rls(Filter):
    """A filter that is the least-squares solution at every sample: fastest to learn, dearest.

    A sample costs taps² operations; there is room for 4096 taps. P is kept as U D Uᵀ, which
    rounding cannot make anything but symmetric and positive, however long it runs.

    Parameters
    ----------
    taps
        How many samples the window holds, and how many weights there are.
    forgetting
        f, above 0 and at most 1: how much of the past is kept from sample to sample. The promise
        is for 1.
    penalty
        λ, above 0: what a weight of 1 costs. No tap becomes less certain than it was at first, so
        that nothing winds up while the input is silent.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=100)
    >>> d = np.convolve(x, [0.5, -0.25])[:100]
    >>> filter = Rls(taps=4, penalty=1e-6)
    >>> left = filter.cancel(x, d)
    >>> bool(abs(left[4:]).max() < 1e-4)
    True

    References
    ----------
    R. L. Plackett, "Some theorems in least squares", 1950. The identity: F. Zhdanov and Y.
    Kalnishkan, "An identity for kernel ridge regression", 2013. Factors: G. J. Bierman,
    "Factorization methods for discrete sequential estimation", 1977.
    """

    name = "rls"
    theorems = (
        Theorem(
            name="rls",
            quantity="loss",
            formula=(
                r"\sum_t \frac{(w_t \cdot x_t - d_t)^2}{1 + x_t^\top P_t x_t} ="
                r" \min_u \left[ L_u + \lambda \|u\|^2 \right]"
            ),
            plain="loss, each divided by 1+xᵀPx, = min over u of  L(u) + penalty ‖u‖²",
            where=(
                r"$x_t$ is the window of sample $t$, $L_u$ the loss of a fixed filter $u$, and"
                r" $P_t^{-1} = \lambda I + \sum_{s<t} x_s x_s^\top$"
            ),
            assumptions=(
                Structural("nothing is forgotten; any data, from zero weights"),
                WITHIN_DIGITS,
            ),
            bound=lambda e: e.best_ridge(e.params["penalty"], 1.0).loss,
            measured=lambda e: e.scaled_loss,
            about="the loss, each sample's divided by one plus its leverage,",
            covers=lambda p: p["forgetting"] == 1,
            source="Zhdanov and Kalnishkan, 2013",
        ),
    )

    def __init__(self, taps: int = 32, forgetting: float = 1.0, penalty: float = 0.01) -> None:
        if whole("taps", taps) > MAX_FEATURES:
            raise ValueError(f"taps must be at most {MAX_FEATURES}: got {taps!r}")
        super().__init__(Recursive(taps, penalty, forgetting))
        self.taps, self.forgetting, self.penalty = taps, forgetting, penalty
