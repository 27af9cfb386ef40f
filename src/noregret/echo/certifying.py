"""Compare the linear part of a canceller with the best fixed filter in hindsight.

The loss of both is the energy (the sum of squares) that they leave in the microphone signal after
the high-pass filter. The fixed filter is the least-squares filter over the whole recording, of a
given length, starting at the estimated delay (``noregret.hindsight.sliding``). The theorem follows
from the subtraction step: no block gets louder, so the recording does not. The digest covers the
samples that the canceller received, in single precision with full scale 1.
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

# Most taps of the fixed filter; solving for more would take longer than playing the recording.
TAPS = 2_048
# Relative rounding error of sums of squares: samples have single precision.
ROUNDING = 1e-6
# The class of a proof that covers only filters up to some norm.
REACH = re.compile("(fixed filters .*), (of norm at most .*)")


class CancellerGame(Certifiable):
    """The signals recorded by a canceller, as a game of its linear part.

    Parameters
    ----------
    canceller
        A canceller made with ``certify=True``.
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
                "this canceller kept no signals",
                "make it with certify=True to compare with hindsight",
            )
        if not self.rounds:
            raise NoRegretError("nothing was played yet, so there is nothing to certify")
        if self.learner.channels > 1:
            raise NoRegretError(
                f"a far end of {self.learner.channels} channels: certificates are made for one"
            )

    @cached_property
    def fixed(self) -> FixedFilters:
        """The comparators: filters as long as the tail, up to a limit."""
        canceller = self.learner
        blocks = math.ceil(canceller.tail * canceller.rate / canceller.block - 1e-9)
        taps = min(TAPS, max(1, blocks) * canceller.block)
        said, heard, left = canceller.kept.signals()
        return FixedFilters(said[:, 0], heard, left, canceller.kept.delay, taps)

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> FixedFilters:
        """Return the evidence; it does not depend on the options."""
        return self.fixed


def energy(signal: Singles) -> float:
    """Return the sum of squares."""
    exact = signal.astype(np.float64)
    return float(exact @ exact)


class FixedFilters(BaseEvidence):
    """All fixed filters of a given length and delay, and the energy that each would have left.

    Parameters
    ----------
    said, heard, left
        The far end, the microphone, and the output of the linear part.
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
        """The energy of the output."""
        return self._left

    def signals(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the input of the filters, and the signal to predict."""
        yield self._late, self._heard

    @cached_property
    def rows(self) -> Windows:
        """The windows of the far end."""
        return Windows(self.signals, self.taps)

    def usual(self) -> Answer:
        """Return the filter that leaves the least energy, with its proof."""
        best = self.once("best", lambda: correlated(self.signals(), self.taps).best())
        words = f"fixed filters of {self.taps:,} taps from sample {self.delay:,}"
        if not math.isinf(best.reach):
            words = f"{words}, of norm at most {best.reach:.3g}"
        return replace(best, comparator=words)

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Return the weights of a filter by their lag in samples."""
        weights = np.asarray(answer.witness, dtype=np.float64).tolist()
        return dict(zip(self.names, weights, strict=True))

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> witnesses.Paid | None:
        """Return the energy that a filter leaves, by convolution; None if it has other taps."""
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
    """Return the class of filters, and its norm bound in the words for linear predictors."""
    if found := REACH.fullmatch(comparator):
        return found[1], f"linear predictors {found[2]}"
    return comparator, "all linear predictors"
