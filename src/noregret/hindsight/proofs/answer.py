"""The limits of a search in hindsight, and its answer with a proven interval."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from noregret.hindsight.proofs.rounding import Floats

# A relative gap that is not worth much more time.
GOOD_GAP = 1e-3


@dataclass(frozen=True)
class Limits:
    """When to stop searching; what is answered is proven wherever the search stopped.

    Parameters
    ----------
    tolerance
        Stop at this relative gap.
    steps
        Stop after so many steps of Newton's method.
    seconds
        Stop after so many seconds, with what is proven by then.
    patience
        Seconds after which a relative gap of ``GOOD_GAP`` is small enough.
    clock
        What tells the time.
    told
        Called with the relative gap whenever it may have become smaller.
    """

    tolerance: float = 1e-6
    steps: int = 500
    seconds: float = 120.0
    patience: float = math.inf
    clock: Callable[[], float] = field(default=time.monotonic, compare=False, repr=False)
    told: Callable[[float], None] | None = field(default=None, compare=False, repr=False)


USUAL = Limits()
# The relative gap up to which a closed form from sums counts as exact.
EXACT_GAP = 1e-9


@dataclass(frozen=True)
class Answer:
    """The minimum over a class of predictors, as an interval with a proof of either end.

    Parameters
    ----------
    comparator
        The class of predictors, in words.
    loss
        What the witness attains, rounding errors added: the minimum is not above it.
    lower
        No predictor of the class attains less: proven by duality, rounding errors subtracted.
    witness
        The weights of a predictor of the class whose loss is at most ``loss``.
    exact
        Whether the answer is a closed form, so that the gap is rounding and nothing else.
    reach
        ``lower`` holds for the predictors of the class up to this Euclidean norm. It is infinite
        but for one case: all linear predictors on columns that depend on each other, or nearly so,
        where a sum in floating-point numbers cannot tell a dependence from a difference that only
        huge weights would exploit. The words of the comparator then say so too.
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
    """Write a number in as few digits as tell it from all others, six or fewer where these do.

    Examples
    --------
    >>> exactly(2.0), exactly(1e-7), exactly(1 / 3)
    ('2', '1e-07', '0.3333333333333333')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def share(gap: float, of: float) -> float:
    """Return gap/|of|, where nothing is no part of anything."""
    if gap == 0.0:
        return 0.0
    return gap / abs(of) if of else math.inf
