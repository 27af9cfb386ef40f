"""Recursive least squares: after each sample, the best filter so far, with forgetting.

    P ← (f P⁻¹ + x xᵀ)⁻¹,   w ← w + (d − w·x) P x

P starts at I/λ. With forgetting f = 1 the weights are those of ridge regression on all windows so
far; with f < 1 each sample has f times the weight of the next, about 1/(1−f) samples in total.

Promise. With f = 1, on any data, the sum of (d − w·x)²/(1 + xᵀPx) is the minimum over all fixed
filters u of  L(u) + λ‖u‖². A large xᵀPx, the leverage of a window, means that it is unlike
earlier ones: there its loss exceeds that of the best filter in hindsight.
"""

from __future__ import annotations

from noregret.base.registry import register
from noregret.checks import whole
from noregret.filters.engine.filter_steps import Recursive
from noregret.filters.filter import Filter
from noregret.learners.vaw import WITHIN_DIGITS
from noregret.linear.engine.second_order import MAX_FEATURES
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem


@register
class Rls(Filter):
    """A filter that solves least squares at every sample: fastest to learn, slowest to run.

    A sample costs about taps² operations; the limit is 4096 taps. P is stored as U D Uᵀ, which
    stays symmetric and positive definite despite rounding errors.

    Parameters
    ----------
    taps
        The number of samples in the window, and of weights.
    forgetting
        f, above 0 and at most 1: the factor of the weight of past samples. The theorem requires 1.
    penalty
        λ, above 0: the factor of the squared norm. The variance of a tap never exceeds its initial
        value, so P does not grow during silence of the input.

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
