"""The examples of a batch method, and the evidence for its theorems."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.mistakes import are_mistakes
from noregret.errors import NoRegretError
from noregret.hindsight import Answer, Limits
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.losses import as_labels
from noregret.hindsight.proofs.answer import EXACT_GAP
from noregret.hindsight.proofs.rounding import downward, norm, norm_above
from noregret.hindsight.proofs.witness import NUMBER, Paid, paid_by
from noregret.hindsight.solvers.quadratic import lower_over, up_to
from noregret.hindsight.solvers.tangent import OnRows
from noregret.limits import MAX_VALUE
from noregret.proof.theorems.evidence import Evidence

if TYPE_CHECKING:
    from noregret.batch.game import BatchGame

Floats = NDArray[np.float64]
# The largest error of a loss computed from sums, relative to the loss of zero weights.
MAX_SUM_ERROR = 1e-7
AS_LONG = re.compile(rf"ball of radius {NUMBER}, as long as the weights")


def as_long(radius: float) -> str:
    """Return the name of the ball with the norm of the weights as radius."""
    return f"ball of radius {radius:.10g}, as long as the weights"


class BatchEvidence(Evidence):
    """The examples of a batch method, and its loss on them once it is fitted.

    Rows and sums begin with a constant if the method has an intercept.
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
        """The number of columns, including the constant."""
        return len(self.names)

    @property
    def rounding(self) -> float:
        """A bound on the rounding error of the loss of the weights."""
        return self.paid.rounding

    @property
    def loss_rounding(self) -> float:
        """The error of the loss where large numbers cancel in it."""
        return self.paid.rounding if self.loss_name == "square" else 0.0

    @property
    def nothing(self) -> float:
        """The loss of zero weights on the examples."""
        rows, sums = self.rows_at_hand, self.ledger.sums
        if rows is None:
            assert sums is not None
            return sums.energy
        return paid_by(np.zeros(self.features), "", rows, self.learner.engine.loss).loss

    def largest(self, measure: str) -> float:
        """Return the largest value of a measurement over rows with their constant."""
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
        """Further results: numbers by name."""
        return self.game.solution.numbers

    @cached_property
    def paid(self) -> Paid:
        """The loss of the weights on the examples, and its rounding error."""
        rows, sums = self.rows_at_hand, self.ledger.sums
        if rows is not None:
            return paid_by(self.weights, "", rows, self.learner.engine.loss)
        assert sums is not None
        if not self.weights.any():
            return Paid(sums.energy, 0.0)
        tangent = sums.tangent(self.weights)
        off = tangent.high - max(0.0, tangent.low)
        if off > 2 * MAX_SUM_ERROR * sums.energy:
            raise NoRegretError(
                "columns are so nearly dependent that the loss of the weights of"
                f" {self.method.name} cannot be computed from sums over the examples",
                "fit it to rows",
            )
        return Paid(tangent.high, off)

    @property
    def most(self) -> float:
        """An upper bound on the loss of the weights; from sums, the loss stated."""
        paid = self.paid
        return paid.loss if self.rows_at_hand is None else paid.loss + paid.rounding

    @property
    def loss(self) -> float:
        """The loss of the weights on the examples."""
        return self.paid.loss

    @property
    def mistakes(self) -> int:
        """The number of labels that the weights get wrong; a zero score counts as wrong."""
        labels, scores = as_labels(self.rows.outcomes), self.rows.scores(self.weights)
        return int(np.count_nonzero(are_mistakes(labels, scores)))

    def margins(self, weights: Floats) -> Floats:
        """Return y (w·x) for each row."""
        return np.asarray(as_labels(self.rows.outcomes) * self.rows.scores(weights))

    @property
    def length(self) -> float:
        """The norm of the weights, including that of the constant."""
        return norm(self.weights)

    def usual(self) -> Answer:
        """Return the best competitor, by default among all linear predictors.

        The fewest mistakes are hard to find, so it is the best one found, if that is not the
        weights themselves.
        """
        if self.loss_name != "mistake":
            return self.best_linear()
        if not self.mistakes:
            return Answer("all linear predictors", 0.0, 0.0, self.weights)
        found = self.separator()
        if self.mistakes >= found.loss:
            return found
        return replace(found, loss=float(self.mistakes), witness=self.weights)

    def no_longer(self, objective: Answer, penalty: float) -> Answer:
        """Return the best predictor with at most the norm of the weights, from the best objective.

        The minimiser w of  L(u) + penalty · ‖u‖²  has the least loss among all u with ‖u‖ ≤ ‖w‖:
        for these, L(u) is at least the least objective minus  penalty · ‖w‖².
        """
        radius = float(f"{norm_above(self.weights) * (1 + 1e-9):.10g}")
        price = penalty * radius * radius
        lower = downward(objective.lower - price, objective.lower + price)
        loss = self.most
        return Answer(as_long(radius), loss, min(max(0.0, lower), loss), self.weights)

    def standing_by(self, answer: Answer) -> Answer:
        """Return an answer with the weights that were found as its witness.

        If their norm is beyond the reach of the answer, because columns are nearly dependent, the
        reach is extended with the tangent at the weights.
        """
        loss = self.most
        if self.length > answer.reach:
            reach, rows = 2 * self.length, self.rows_at_hand
            known = self.ledger.sums if rows is None else OnRows(rows)
            assert known is not None
            lower = lower_over(Ball(1.01 * reach), known.tangent(self.weights), self.weights)
            answer = replace(answer, comparator=up_to(reach), lower=max(0.0, lower), reach=reach)
        lower = min(answer.lower, loss)
        exact = answer.exact and loss - lower <= 2 * answer.gap + EXACT_GAP * loss
        return replace(answer, loss=loss, lower=lower, witness=self.weights, exact=exact)

    def lost_by_sums(self, best: Answer) -> str | None:
        """Return what sums over the rows do not tell, if these alone were kept; None if nothing."""
        if self.rows_at_hand is None and self.method._keep == "rows":
            return "do not tell how far the steps of gradient descent come"
        return super().lost_by_sums(best)

    # The witness of a certificate.

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Return the weights of the best fixed predictor by name, or refuse huge ones."""
        largest = float(np.abs(answer.witness).max(initial=0.0))
        if not largest < MAX_VALUE:
            raise NoRegretError(
                f"weights reach {largest:.3g}: too large for a certificate",
                "scale the columns to similar sizes",
            )
        return dict(zip(self.names, np.asarray(answer.witness).tolist(), strict=True))

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness has these features and belongs to the stated class."""
        small = all(abs(weight) < MAX_VALUE for weight in witness.values())
        return small and super().is_within(witness, comparator)

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class applies to the stated one.

        The radii of two balls as long as the weights may differ in the last digit.
        """
        here, there = AS_LONG.fullmatch(stated), AS_LONG.fullmatch(found)
        if here is None or there is None:
            return super().is_proven(stated, found)
        radius, other = float(here[1]), float(there[1])
        return stated == as_long(radius) and abs(radius - other) <= 1e-8 * other

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return the loss of a witness on the rows; None if it has other features."""
        if set(witness) != set(self.names):
            return None
        weights = np.array([witness[name] for name in self.names], dtype=np.float64)
        if not np.abs(weights).max(initial=0.0) < MAX_VALUE:
            return Paid(math.nan, 0.0)
        return paid_by(weights, comparator, self.rows, self.learner.engine.loss)
