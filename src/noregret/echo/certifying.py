"""How a canceller's linear part did beside the best fixed filter in hindsight.

Both are judged on what they leave of the microphone's signal, without rumble: the sum of squares.
The fixed filter is the best of all with so many taps from the delay that was found, by least
squares over the whole recording (``noregret.hindsight.sliding``). The promise is that of the step
which subtracts: it never leaves a block louder than it was, so neither a recording. The digest is
of the samples that the canceller was given, in single precision with full scale 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from noregret.base.compiled.losses import make_loss
from noregret.errors import NoRegretError
from noregret.hindsight.proofs import witness as witnesses
from noregret.hindsight.sliding import Windows, correlated
from noregret.proof.certificates.certificate import (
    Best,
    Certificate,
    Interval,
    Paid,
    Played,
    Promise,
)

if TYPE_CHECKING:
    from noregret.echo.canceller import Canceller, Floats, Singles
    from noregret.hindsight.proofs.answer import Answer

# The most taps of the fixed filter; more would take longer to solve for than to listen to.
TAPS = 2_048
# What sums of squares may be off by, relatively: samples have single precision.
ROUNDING = 1e-6
# Where a proof reaches filters up to some norm only.
REACH = re.compile("(fixed filters .*), (of norm at most .*)")


def certificate_of(canceller: Canceller) -> Certificate:
    """Return the certificate of all that a canceller kept.

    Examples
    --------
    >>> from noregret.echo import Canceller, demo_signals
    >>> heard = demo_signals(4.0)
    >>> canceller = Canceller(heard.rate, tail=0.1, certify=True)
    >>> sent = canceller.process_many(heard.far, heard.mic)
    >>> found = canceller.certificate()
    >>> found.theorem.holds
    True
    """
    said, heard, left = kept(canceller)
    fixed = fixed_filters(canceller, said, heard)
    best, loss = fixed.best, energy(left)
    return Certificate(
        "canceller",
        canceller.params,
        Played(len(heard), fixed.taps, canceller.kept.digest),
        Paid("square", loss, loss / len(heard)),
        Best(fixed.name, best.loss, best.gap, fixed.named(best.witness), best.exact),
        Interval(loss - best.loss, loss - best.lower),
        never_louder(loss, energy(heard)),
        family="echo",
    )


def kept(canceller: Canceller) -> tuple[Singles, Singles, Singles]:
    """Return the far end, the microphone and what was left of it, or say why they are not there."""
    if not canceller.certify:
        raise NoRegretError(
            "this canceller kept no signals: make it with certify=True to look back"
        )
    if not canceller.kept.samples:
        raise NoRegretError("nothing was played yet, so there is nothing to certify")
    if canceller.channels > 1:
        raise NoRegretError(
            f"a far end of {canceller.channels} channels: certificates are made for one"
        )
    said, heard, left = canceller.kept.signals()
    return said[:, 0], heard, left


def never_louder(loss: float, before: float) -> Promise:
    """Return the promise that what is left has no more energy than what was heard."""
    kept = bool(loss <= before * (1 + ROUNDING))
    return Promise("never-louder", "loss", loss, before, kept, ())


def energy(signal: Singles) -> float:
    """Return the sum of squares."""
    exact = signal.astype(np.float64)
    return float(exact @ exact)


def fixed_filters(canceller: Canceller, said: Singles, heard: Singles) -> FixedFilters:
    """Return the filters that a canceller is compared with: as long as its tail, up to a limit."""
    blocks = math.ceil(canceller.tail * canceller.rate / canceller.block - 1e-9)
    taps = min(TAPS, max(1, blocks) * canceller.block)
    return FixedFilters(said, heard, canceller.kept.delay, taps)


class FixedFilters:
    """All filters of so many taps from a delay, and what each would have left of the microphone.

    Parameters
    ----------
    said, heard
        The far end and the microphone.
    delay
        Samples before the first tap.
    taps
        How many there are.
    """

    blur = 0.0

    def __init__(self, said: Singles, heard: Singles, delay: int, taps: int) -> None:
        late = np.concatenate([np.zeros(delay), said])[: len(said)]
        self._late, self._heard = late, heard.astype(np.float64)
        self.delay, self.taps = delay, taps
        self.lags = [str(lag) for lag in range(delay, delay + taps)]

    def signals(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield what the filters hear, and what they are to predict."""
        yield self._late, self._heard

    @cached_property
    def rows(self) -> Windows:
        """The windows of the far end."""
        return Windows(self.signals, self.taps)

    @cached_property
    def best(self) -> Answer:
        """The filter that leaves least."""
        return correlated(self.signals(), self.taps).best()

    @property
    def name(self) -> str:
        """The class, as far as something is proven of it."""
        words = f"fixed filters of {self.taps:,} taps from sample {self.delay:,}"
        reach = self.best.reach
        return words if math.isinf(reach) else f"{words}, of norm at most {reach:.3g}"

    def named(self, weights: Floats) -> dict[str, float]:
        """Name the weights of a filter by the lag of each, in samples."""
        return dict(zip(self.lags, np.asarray(weights, dtype=np.float64).tolist(), strict=True))

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> witnesses.Paid | None:
        """Return what a filter leaves, by convolution alone; None if it has other taps."""
        if set(witness) != set(self.lags):
            return None
        weights = np.array([witness[lag] for lag in self.lags])
        return witnesses.paid_by(weights, comparator, self.rows, make_loss("square"))

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Whether a filter is of the class that it stands for."""
        return set(witness) == set(self.lags) and witnesses.is_within(
            witness, as_linear(comparator)[1]
        )

    def is_proven(self, stated: str, found: str) -> bool:
        """Whether what was found of a class holds for the one stated."""
        (here, stated), (there, found) = as_linear(stated), as_linear(found)
        return here == there and witnesses.is_proven(stated, found)


def as_linear(comparator: str) -> tuple[str, str]:
    """Return which filters are meant, and how far, in the words for linear predictors."""
    if found := REACH.fullmatch(comparator):
        return found[1], f"linear predictors {found[2]}"
    return comparator, "all linear predictors"
