"""What a batch method is fitted to, and what its theorems may look at when it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.evidence import Evidence
from noregret.hindsight import Answer, Limits
from noregret.hindsight.losses import as_labels
from noregret.hindsight.rounding import downward, norm_above
from noregret.hindsight.witness import BALL, Paid, paid_by

if TYPE_CHECKING:
    from noregret.batch.game import BatchGame

Floats = NDArray[np.float64]


class BatchEvidence(Evidence):
    """The examples of a batch method; when it is fitted, what they say of it.

    Rows and sums have a constant first where the method wants one.
    """

    told: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        game: BatchGame,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
    ) -> None:
        super().__init__(game.ledger, given, limits, answers, game.feature_names)
        self.game, self.method = game, game.method
        self.params: Mapping[str, Any] = self.method.params

    @property
    def features(self) -> int:
        """How many columns rows have, the constant among them."""
        return len(self.names)

    @property
    def blur(self) -> float:  # type: ignore[override]
        """For the square loss, what no weights at all pay: sums of squares are compared to it."""
        return self.nothing if self.loss_name == "square" else 0.0

    @property
    def nothing(self) -> float:
        """What weights of zero pay on the examples."""
        rows, sums = self.rows_at_hand, self.ledger.sums
        if rows is None:
            assert sums is not None
            return sums.energy
        return paid_by(np.zeros(self.features), "", rows, self.learner.engine.loss).loss

    def largest(self, measure: str) -> float:
        """Return the largest value of a measurement, of rows with their constant."""
        measured = super().largest(measure)
        if not self.method.intercept:
            return measured
        return math.hypot(measured, 1.0) if measure == "norm" else max(measured, 1.0)

    @property
    def weights(self) -> Floats:
        """The weights that were found."""
        return self.game.solution.weights

    @property
    def found(self) -> Mapping[str, Any]:
        """What else was found: numbers, by name."""
        return self.game.solution.numbers

    @cached_property
    def paid(self) -> Paid:
        """What the weights pay on the examples, and by how much rounding may have changed it."""
        rows, sums = self.rows_at_hand, self.ledger.sums
        if rows is not None:
            return paid_by(self.weights, "", rows, self.learner.engine.loss)
        assert sums is not None
        if not self.weights.any():
            return Paid(sums.energy, 0.0)
        tangent = sums.tangent(self.weights)
        middle = 0.5 * (tangent.low + tangent.high)
        return Paid(max(0.0, middle), 0.5 * (tangent.high - tangent.low))

    @property
    def loss(self) -> float:
        """What the weights pay on the examples."""
        return self.paid.loss

    @property
    def mistakes(self) -> int:
        """How many labels the weights get wrong; a zero score is wrong."""
        return int(np.count_nonzero(self.margins(self.weights) <= 0))

    def margins(self, weights: Floats) -> Floats:
        """Return y (w·x) for every row."""
        return np.asarray(as_labels(self.rows.outcomes) * self.rows.scores(weights))

    @property
    def length(self) -> float:
        """The norm of the weights, the constant's among them."""
        return float(np.linalg.norm(self.weights))

    def usual(self) -> Answer:
        """Return the best that the method is compared with: here, of all linear predictors."""
        return self.best_linear()

    def no_longer(self, objective: Answer, penalty: float) -> Answer:
        """Return the best predictor that is no longer than the weights, from the best objective.

        Whoever minimises  L(u) + penalty · ‖u‖²  has the least loss of all that are no longer: for
        these, L(u) is at least the least objective less  penalty · ‖w‖².
        """
        radius = float(f"{norm_above(self.weights) * (1 + 1e-9):.10g}")
        price = penalty * radius * radius
        lower = downward(objective.lower - price, objective.lower + price)
        loss = self.paid.loss + self.paid.rounding
        words = f"ball of radius {radius:.10g}, as long as the weights"
        return Answer(words, loss, min(max(0.0, lower), loss), self.weights)

    def standing_by(self, answer: Answer) -> Answer:
        """Return an answer with the weights that were found for a witness."""
        loss = self.paid.loss + self.paid.rounding
        return replace(answer, loss=loss, lower=min(answer.lower, loss), witness=self.weights)

    # The witness of a certificate.

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Name the weights of the best fixed predictor."""
        return dict(zip(self.names, np.asarray(answer.witness).tolist(), strict=True))

    def is_proven(self, stated: str, found: str) -> bool:
        """Whether what was found of a class holds for the one stated: balls may differ a little."""
        here, there = BALL.fullmatch(stated), BALL.fullmatch(found)
        if here is None or there is None:
            return super().is_proven(stated, found)
        return float(here[1]) <= float(there[1]) * (1 + 1e-8)

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return what a witness pays, from the rows alone; None if it has other features."""
        if set(witness) != set(self.names):
            return None
        weights = np.array([witness[name] for name in self.names], dtype=np.float64)
        return paid_by(weights, comparator, self.rows, self.learner.engine.loss)
