"""Affine projection: a step towards the filters that predict the last K samples exactly.

X has the windows of the last K samples as columns, and e their errors with the present weights:

    w ← w + η X (XᵀX + εI)⁻¹ e

K = 1 is normalised least mean squares. A larger K removes the correlation of neighbouring windows,
so it learns much faster from speech or music. A sample costs two passes over the weights, whatever
K, plus about K³/6 operations.
"""

from __future__ import annotations

from noregret.base.registry import register
from noregret.checks import positive, whole
from noregret.filters.algorithms.nlms import cushion
from noregret.filters.engine.filter_steps import Projecting
from noregret.filters.filter import Filter

MAX_ORDER = 64


@register
class AffineProjection(Filter):
    """A filter that corrects its errors on the last few samples at once, fast on coloured input.

    Parameters
    ----------
    taps
        The number of samples in the window, and of weights.
    rate
        η, between 0 and 2: 1 learns fastest, smaller values average out noise.
    order
        K, from 1 to 64: the number of samples that it corrects.
    epsilon
        ε, at least 1e-20: added to the diagonal of XᵀX, besides 1e-12 of its largest entry for
        rounding. Larger values amplify noise less.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = np.cumsum(rng.normal(size=300))
    >>> d = np.convolve(x, [0.5, -0.25])[:300]
    >>> filter = AffineProjection(taps=4, order=2, rate=1.0)
    >>> left = filter.cancel(x, d)
    >>> bool(abs(left[100:]).max() < 1e-6)
    True

    References
    ----------
    K. Ozeki and T. Umeda, "An adaptive filtering algorithm using an orthogonal projection to an
    affine subspace and its properties", 1984. Cost independent of K: S. L. Gay and S. Tavathia,
    "The fast affine projection algorithm", 1995.
    """

    name = "affine-projection"
    unproven = "no theorem bounds the loss of affine projections on any data"

    def __init__(
        self, taps: int = 32, rate: float = 0.5, order: int = 4, epsilon: float = 1e-3
    ) -> None:
        positive("rate", rate, below=2)
        if whole("order", order) > MAX_ORDER:
            raise ValueError(f"order must be from 1 to {MAX_ORDER}: got {order!r}")
        super().__init__(Projecting(taps, rate, cushion(epsilon), order))
        self.taps, self.rate, self.order, self.epsilon = taps, rate, order, epsilon
