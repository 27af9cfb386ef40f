"""Least mean squares by the sign of the error: a step of the same size whatever the error is.

    w ← w + η sign(d − w·x) x

A burst of noise in d moves the weights no further than silence does, which makes it robust; it is
slow, and never comes to rest nearer than η to the best weights.
"""

from __future__ import annotations

from noregret.checks import positive
from noregret.core.stepping import Signed
from noregret.filters.filter import Filter
from noregret.registry import register


@register
class SignLms(Filter):
    """A filter that looks at the sign of its error alone: bursts of noise do not throw it off.

    Parameters
    ----------
    taps
        How many samples the window holds, and how many weights there are.
    rate
        η, above 0: how far a weight moves for a sample of size 1.

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
    A. Gersho, "Adaptive filtering with binary reinforcement", 1984.
    """

    name = "sign-lms"
    unproven = "no theorem bounds the squared errors of steps by the sign"

    def __init__(self, taps: int = 32, rate: float = 0.001) -> None:
        super().__init__(Signed(taps, positive("rate", rate)))
        self.taps, self.rate = taps, rate
