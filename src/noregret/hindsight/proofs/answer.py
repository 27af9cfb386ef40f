"""The limits of a search in hindsight, and its answer with a proven interval."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from noregret.hindsight.proofs.rounding import Floats
from noregret.limits import UNDERFLOW

# The relative gap that is good enough after ``patience`` seconds.
GOOD_GAP = 1e-3


@dataclass(frozen=True)
class Limits:
    """When to stop searching; the answer is proven wherever the search stops.

    Parameters
    ----------
    tolerance
        Stop at this relative gap.
    steps
        Stop after this many steps of Newton's method.
    seconds
        Stop after this many seconds, with what is proven by then.
    patience
        Seconds after which a relative gap of ``GOOD_GAP`` is small enough.
    clock
        A function that returns the time in seconds.
    told
        Called with the relative gap whenever it may have become smaller.
    margin
        The share by which a gap is widened if a search ends before its tolerance. Certificates have
        one, so that another processor, which rounds otherwise, can prove their intervals again;
        None for theirs, or none elsewhere.
    """

    tolerance: float = 1e-6
    steps: int = 500
    seconds: float = 120.0
    patience: float = math.inf
    clock: Callable[[], float] = field(default=time.monotonic, compare=False, repr=False)
    told: Callable[[float], None] | None = field(default=None, compare=False, repr=False)
    margin: float | None = None

    def is_reached(self, loss: float, lower: float) -> bool:
        """Return whether a search came to its tolerance."""
        return loss - lower <= self.tolerance * loss

    def widened(self, loss: float, lower: float) -> float:
        """Return a lower bound with the margin, if the search ended before its tolerance."""
        if not self.margin or self.is_reached(loss, lower):
            return lower
        return max(min(0.0, lower), lower - self.margin * (loss - lower))


USUAL = Limits()
# The gap up to which a closed form counts as exact: relative to the loss, or, of a loss that is
# almost zero, to the squares of the outcomes. What is known of ill-conditioned columns is less.
EXACT_GAP, EXACT_FIT = 1e-9, 1e-24


def is_rounding(gap: float, loss: float, energy: float | None) -> bool:
    """Return whether a gap is rounding; ``energy`` is the sum of the outcomes' squares."""
    return energy is None or gap <= EXACT_GAP * abs(loss) + EXACT_FIT * energy + UNDERFLOW


@dataclass(frozen=True)
class Answer:
    """The minimum over a class of predictors, as an interval with a proof of either end.

    Parameters
    ----------
    comparator
        The class of predictors, in words.
    loss
        An upper bound of the minimum: the witness attains it, rounding errors added.
    lower
        A lower bound of the minimum, proven by duality, rounding errors subtracted.
    witness
        The weights of a predictor of the class whose loss is at most ``loss``.
    exact
        True if the answer is a closed form, so that the gap is only rounding.
    reach
        ``lower`` holds for the predictors of the class up to this Euclidean norm. It is finite in
        one case only: all linear predictors on columns that are linearly dependent, or nearly so.
        Floating-point sums cannot tell a dependence from a small difference that only huge weights
        would exploit. The comparator's text then says so too.
    """

    comparator: str
    loss: float
    lower: float
    witness: Floats
    exact: bool = False
    reach: float = math.inf

    @property
    def gap(self) -> float:
        """A bound on ``loss`` minus the minimum, rounded so that ``loss − gap`` is proven too."""
        if self.loss == self.lower:
            return 0.0
        gap = self.loss - self.lower
        while self.loss - gap > self.lower and gap < math.inf:
            gap = math.nextafter(gap, math.inf)
        return gap

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the loss."""
        return share(self.gap, self.loss)


def exactly(number: float) -> str:
    """Return a number in the fewest digits that identify it; six or fewer if these do.

    Examples
    --------
    >>> exactly(2.0), exactly(1e-7), exactly(1 / 3)
    ('2', '1e-07', '0.3333333333333333')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def share(gap: float, of: float) -> float:
    """Return gap/|of|; 0 if the gap is 0."""
    if gap == 0.0:
        return 0.0
    return gap / abs(of) if of else math.inf
