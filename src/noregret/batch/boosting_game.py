"""A game of AdaBoost, and the evidence for its theorems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.batch.evidence import BatchEvidence
from noregret.batch.game import BatchGame
from noregret.batch.stumps import Stump, Stumps
from noregret.batch.tables import by_columns
from noregret.hindsight import Answer, Limits
from noregret.hindsight.losses import as_labels
from noregret.hindsight.proofs.witness import Paid

if TYPE_CHECKING:
    from noregret.batch.methods.ada_boost import AdaBoost

Floats = NDArray[np.float64]
STUMPS, FIRST = "all decision stumps", "the weak classifier of the first round"
# The name of a stump in a witness: feature, this, threshold; or the name of a constant stump.
ABOVE, CONSTANT = " > ", "(always)"


class BoostingGame(BatchGame):
    """AdaBoost and the examples it is fitted to."""

    method: AdaBoost

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> BoostingEvidence:
        """Return the examples, for the method and its theorems."""
        return BoostingEvidence(self, given, limits, self.answers if answers is None else answers)


class BoostingEvidence(BatchEvidence):
    """The examples of AdaBoost, and its rounds.

    It is compared with the best single stump; with a given weak learner, with the classifier of the
    first round.
    """

    told: ClassVar[tuple[str, ...]] = ("margin",)
    method: AdaBoost

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The results of each round."""
        return self.game.solution.arrays

    @property
    def voters(self) -> int:
        """The number of classifiers that vote."""
        return len(self.arrays["votes"])

    @property
    def mistakes(self) -> int:
        """The number of examples that the vote gets wrong."""
        return int(self.arrays["mistakes"][-1]) if self.voters else self.rounds

    @property
    def loss(self) -> float:
        """The number of mistakes, as a loss."""
        return float(self.mistakes)

    def log_factor(self, margin: float) -> float:
        """Return  ln Π_t Z_t e^(margin |α_t|)."""
        reach = float(np.abs(self.arrays["votes"]).sum())
        return float(self.arrays["factors"].sum()) + margin * reach

    @property
    def margin_asked(self) -> float:
        """θ, the margin that was given, by default 0.1."""
        margin = self.given.get("margin", 0.1)
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 <= margin < 1:
            raise ValueError(f"margin must be a number from 0 to below 1: got {margin!r}")
        return float(margin)

    @cached_property
    def columns(self) -> Any:
        """The examples as a column-major table."""
        return by_columns(self.rows)

    @cached_property
    def labels(self) -> Floats:
        """The labels, +1 or −1."""
        return as_labels(self.rows.outcomes)

    def small_margins(self, margin: float) -> int:
        """Return the number of examples with at most a margin."""
        reach = float(np.abs(self.arrays["votes"]).sum())
        scores = self.labels * self.method._scores(self.columns)
        return int(np.count_nonzero(scores <= margin * reach))

    # The best in hindsight.

    def usual(self) -> Answer:
        """Return the best single classifier."""
        words, said = (STUMPS, self.best_stump.predict(self.columns))
        if self.method.weak is not None:
            words, said = FIRST, self.method._first_votes(self.columns)
        loss = self.mistakes_of(said)
        return Answer(words, loss, loss, np.zeros(0), exact=True)

    @property
    def best_stump(self) -> Stump:
        """The stump with the fewest mistakes."""
        return self.once("stump", lambda: Stumps(self.columns).best(self.labels))

    def mistakes_of(self, said: Floats) -> float:
        """Return the number of labels that differ from predictions."""
        return float(np.count_nonzero(said != self.labels))

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Return the best stump as its condition, with its prediction if the condition is true."""
        if answer.comparator != STUMPS:
            return {}
        stump = self.best_stump
        if stump.threshold == -math.inf:
            return {CONSTANT: stump.sign}
        return {f"{self.names[stump.feature]}{ABOVE}{stump.threshold!r}": stump.sign}

    def read(self, witness: Mapping[str, float]) -> Stump | None:
        """Return the stump of a witness; None if it has another form or feature."""
        if len(witness) != 1:
            return None
        (asked, sign), *_ = witness.items()
        if asked == CONSTANT:
            return Stump(0, -math.inf, sign)
        name, _, threshold = asked.rpartition(ABOVE)
        try:
            return Stump(self.names.index(name), float(threshold), sign)
        except ValueError:
            return None

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness belongs to the stated class."""
        if comparator != STUMPS:
            return not witness
        stump = self.read(witness)
        return stump is not None and abs(stump.sign) == 1

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class applies to the stated one."""
        return stated == found

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return the loss of a witness on the rows; None if it has other features."""
        if comparator != STUMPS:
            return Paid(self.usual().loss, 0.0)
        stump = self.read(witness)
        return None if stump is None else Paid(self.mistakes_of(stump.predict(self.columns)), 0.0)
