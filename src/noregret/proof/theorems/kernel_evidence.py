"""The evidence of a game for the theorems of kernel learners, in the space of the kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from noregret.checks import positive
from noregret.hindsight import Answer, Margin, Rows
from noregret.hindsight.kernel_margin import (
    contradicted_after,
    fewest_mistakes,
    margin_in_space,
    mistake_bound_in_space,
    priced_hinge_in_space,
)
from noregret.hindsight.kernel_rows import KernelRows
from noregret.hindsight.losses import as_labels, losses_of
from noregret.hindsight.proofs.kernel_proofs import best_in_space, norm_of, scores_of
from noregret.hindsight.proofs.rounding import total
from noregret.hindsight.proofs.witness import BALL, ROUNDED, Paid
from noregret.limits import UNIT
from noregret.linear.engine.kernel_machine import KernelMachine
from noregret.proof.theorems.evidence import Evidence, Floats

KEPT = ", of the support vectors kept"
# Added if some of them may be dependent on the others up to rounding.
CLEARLY_KEPT = ", of the clearly independent support vectors kept"


class KernelEvidence(Evidence):
    """A game whose examples and norms are those of a kernel's space."""

    @property
    def space(self) -> KernelRows:
        """The examples in the space of the kernel."""
        assert isinstance(self.learner.engine, KernelMachine)
        gram = self.learner.engine.gram_within
        return self.once(
            "space",
            lambda: KernelRows(super(KernelEvidence, self).rows, gram, self.account("vectors")),
        )

    @property
    def rows(self) -> Rows:
        """All rows, in coordinates of that space."""
        return self.space.model

    @property
    def norm(self) -> float:
        """The norm of the last function; 1 if it is zero."""
        return float(f"{self.figure('norm'):.6g}") or 1.0

    def figure(self, name: str) -> float:
        """Return a number that the learner records for its theorems."""
        return float(self.account(name)[0])

    def usual(self) -> Answer:
        """Return the best fixed function of the ball, for the learner's own loss."""
        if self.loss_name == "mistake":
            return self.separator()
        radius, told = self.params.get("radius"), self.given.get("radius")
        if radius is None and told is None:
            found = self.best_in_ball(self.norm)
            return replace(found, comparator=f"{found.comparator}, as long as the last function")
        return self.best_in_ball(positive("radius", told if radius is None else radius))

    def named(self, answer: Answer) -> Answer:
        """Name the class of functions of an answer, if it is not the whole space."""
        if self.space.complete:
            return answer
        words = KEPT if self.space.independent else CLEARLY_KEPT
        return replace(answer, comparator=answer.comparator + words)

    def margin(self) -> Margin:
        """Return the largest margin γ of a function of norm 1, to a thousandth, if found soon."""
        limits = replace(self.limits, tolerance=1e-3, seconds=min(20.0, self.limits.seconds))
        return self.once("margin", lambda: margin_in_space(self.space, limits))

    def inseparable_after(self) -> int | None:
        """Return the first round after which no function separates the labels, if proven.

        Most kernels separate all labels unless an example has both.
        """
        return self.once("inseparable", lambda: contradicted_after(self.space))

    def fewest(self, tried: list[Floats], words: str, least: float) -> Answer:
        """Return the function with the fewest mistakes of those tried."""
        count, found = fewest_mistakes(self.space, tried)
        words = words.replace("linear predictors", "functions of the RKHS")
        return self.named(Answer(words, count, min(least, count), found))

    def least_squares_of_labels(self) -> Floats:
        """Return the coefficients of a least-squares function for the labels."""
        return self.space.coefficients(super().least_squares_of_labels())

    def best_in_ball(self, radius: float) -> Answer:
        """Return the best function of norm at most the radius, for the learner's loss."""
        return self.once(("ball", radius), lambda: self.search_ball(radius))

    def search_ball(self, radius: float) -> Answer:
        """Search the ball, or its part in the span of the support vectors."""
        loss = self.learner.engine.loss
        return self.named(best_in_space(self.space, loss, radius, self.limits))

    def mistake_bound(self) -> Answer:
        """Return the smallest bound over functions u that the perceptron has on any data."""
        reach = self.figure("reach") * (1 + 32 * (self.features + 8) * UNIT)
        limits = replace(self.limits, tolerance=5 * self.limits.tolerance)
        return self.once("mistake bound", lambda: mistake_bound_in_space(self.space, reach, limits))

    def budget_bound(self) -> Answer:
        """Return the smallest H(u) + ‖u‖ (‖f‖ + Σ‖e‖) found over u."""
        price = (self.figure("norm") + self.figure("moved")) * (1 + 1e-12)
        return self.once(
            "budget bound", lambda: priced_hinge_in_space(self.space, price, self.limits)
        )

    # The witness of a certificate: a function of examples, by its coefficients.

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Name the coefficients of the best fixed function."""
        return dict(zip(self.space.names, answer.witness.tolist(), strict=True))

    def function(self, witness: Mapping[str, float]) -> tuple[NDArray[np.intp], Floats] | None:
        """Return the rows and coefficients of a witness; None if it is made of other examples."""
        places = self.space.places
        if not set(witness) <= set(places):
            return None
        at = np.array([places[name] for name in witness], dtype=np.intp)
        return at, np.array(list(witness.values()), dtype=np.float64)

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness is made of these examples and belongs to its class."""
        found = self.function(witness)
        ball = BALL.fullmatch(comparator.removeprefix("RKHS "))
        if found is None or ball is None:
            return found is not None
        return norm_of(self.space, *found) <= float(ball[1]) * ROUNDED

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class of functions also holds for the stated class."""
        return stated == found

    def searched_at(self, witness: Mapping[str, float]) -> None:
        """Return None: functions are searched in coordinates of the space."""

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return the loss of a witness; None if it is made of other examples."""
        found = self.function(witness)
        if found is None:
            return None
        scores, off = scores_of(self.space, *found)
        if self.loss_name == "mistake":
            wrong = ~(as_labels(self.rows.outcomes) * scores - off > 0)
            return Paid(float(np.count_nonzero(wrong)), 0.0)
        losses = losses_of(self.learner.engine.loss, self.rows.outcomes)
        own = total(losses.value(scores))
        return Paid(own, abs(total(losses.value_above(scores, off)) - own) + 1e-12 * math.fabs(own))
