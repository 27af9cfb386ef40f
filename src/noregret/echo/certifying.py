"""Compare the linear part of a canceller with the best fixed filter in hindsight.

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
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.compiled.losses import make_loss
from noregret.errors import NoRegretError
from noregret.hindsight.proofs import witness as witnesses
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.hindsight.sliding import Windows, correlated
from noregret.proof.certificates.certifiable import Certifiable
from noregret.proof.theorems.base_evidence import BaseEvidence

if TYPE_CHECKING:
    from noregret.echo.canceller import Canceller, Floats, Singles
    from noregret.hindsight.proofs.answer import Answer

# The most taps of the fixed filter; more would take longer to solve for than to listen to.
TAPS = 2_048
# What sums of squares may be off by, relatively: samples have single precision.
ROUNDING = 1e-6
# Where a proof reaches filters up to some norm only.
REACH = re.compile("(fixed filters .*), (of norm at most .*)")


class CancellerGame(Certifiable):
    """The signals recorded by a canceller, as a game of its linear part.

    Parameters
    ----------
    canceller
        It was made with ``certify=True``.
    """

    learner: Canceller

    def __init__(self, canceller: Canceller) -> None:
        super().__init__()
        self.learner = canceller

    @property
    def rounds(self) -> int:
        """The number of samples kept."""
        return self.learner.kept.samples

    @property
    def width(self) -> int:
        """The number of taps of the filters it is compared with."""
        return self.fixed.taps

    @property
    def feature_names(self) -> list[str]:
        """The lags of these taps."""
        return list(self.fixed.names)

    @property
    def digest(self) -> str:
        """A digest of the samples that the canceller was given."""
        return self.learner.kept.digest

    @property
    def loss(self) -> float:
        """The energy that the linear part left of the microphone's signal."""
        return self.fixed.loss

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return "square"

    def check(self) -> None:
        """Raise an error if no signals were kept, or none that can be certified."""
        if not self.learner.certify:
            raise NoRegretError(
                "this canceller kept no signals", "make it with certify=True to look back"
            )
        if not self.rounds:
            raise NoRegretError("nothing was played yet, so there is nothing to certify")
        if self.learner.channels > 1:
            raise NoRegretError(
                f"a far end of {self.learner.channels} channels: certificates are made for one"
            )

    @cached_property
    def fixed(self) -> FixedFilters:
        """The filters it is compared with: as long as its tail, up to a limit."""
        canceller = self.learner
        blocks = math.ceil(canceller.tail * canceller.rate / canceller.block - 1e-9)
        taps = min(TAPS, max(1, blocks) * canceller.block)
        said, heard, left = canceller.kept.signals()
        return FixedFilters(said[:, 0], heard, left, canceller.kept.delay, taps)

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> FixedFilters:
        """Return what other filters would have left; least squares has one answer."""
        return self.fixed


def energy(signal: Singles) -> float:
    """Return the sum of squares."""
    exact = signal.astype(np.float64)
    return float(exact @ exact)


class FixedFilters(BaseEvidence):
    """All filters of so many taps from a delay, and what each would have left of the microphone.

    Parameters
    ----------
    said, heard, left
        The far end, the microphone, and what the linear part left of that.
    delay
        Samples before the first tap.
    taps
        The number of taps.
    """

    bound_tolerance = ROUNDING
    rounds_before = None
    mistakes = None

    def __init__(self, said: Singles, heard: Singles, left: Singles, delay: int, taps: int) -> None:
        super().__init__({}, USUAL, {})
        late = np.concatenate([np.zeros(delay), said])[: len(said)]
        self._late, self._heard = late, heard.astype(np.float64)
        self.delay, self.taps = delay, taps
        self.names = [str(lag) for lag in range(delay, delay + taps)]
        self.energy_heard, self._left = energy(heard), energy(left)

    @property
    def rounds(self) -> int:
        """The number of samples."""
        return len(self._heard)

    @property
    def loss(self) -> float:
        """The energy that was left."""
        return self._left

    def signals(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield what the filters hear, and what they are to predict."""
        yield self._late, self._heard

    @cached_property
    def rows(self) -> Windows:
        """The windows of the far end."""
        return Windows(self.signals, self.taps)

    def usual(self) -> Answer:
        """Return the filter that leaves least, and how far that is proven."""
        best = self.once("best", lambda: correlated(self.signals(), self.taps).best())
        words = f"fixed filters of {self.taps:,} taps from sample {self.delay:,}"
        if not math.isinf(best.reach):
            words = f"{words}, of norm at most {best.reach:.3g}"
        return replace(best, comparator=words)

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Return the weights of a filter by the lag of each, in samples."""
        weights = np.asarray(answer.witness, dtype=np.float64).tolist()
        return dict(zip(self.names, weights, strict=True))

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> witnesses.Paid | None:
        """Return what a filter leaves, by convolution alone; None if it has other taps."""
        if set(witness) != set(self.names):
            return None
        weights = np.array([witness[lag] for lag in self.names])
        return witnesses.paid_by(weights, comparator, self.rows, make_loss("square"))

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a filter belongs to the stated class."""
        return set(witness) == set(self.names) and witnesses.is_within(
            witness, as_linear(comparator)[1]
        )

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class applies to the stated one."""
        (here, stated), (there, found) = as_linear(stated), as_linear(found)
        return here == there and witnesses.is_proven(stated, found)


def as_linear(comparator: str) -> tuple[str, str]:
    """Return which filters are meant, and how far, in the words for linear predictors."""
    if found := REACH.fullmatch(comparator):
        return found[1], f"linear predictors {found[2]}"
    return comparator, "all linear predictors"
