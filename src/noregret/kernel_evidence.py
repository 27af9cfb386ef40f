"""What the theorems of kernel learners look at: the game in the space of the kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from noregret.checks import positive
from noregret.core.kernel_machine import KernelMachine
from noregret.evidence import Evidence, Floats
from noregret.hindsight import Answer, Margin, Rows, largest_margin
from noregret.hindsight.kernel_rows import KernelRows, best_in_space
from noregret.hindsight.losses import as_labels, losses_of
from noregret.hindsight.priced_hinge import best_priced_hinge
from noregret.hindsight.rounding import total
from noregret.hindsight.witness import BALL, SIX, Paid

KEPT = ", of the support vectors kept"


class KernelEvidence(Evidence):
    """A game whose examples are points of a kernel's space, and whose norms are those of there."""

    @property
    def space(self) -> KernelRows:
        """The examples in the space of the kernel."""
        assert isinstance(self.learner.engine, KernelMachine)
        gram = self.learner.engine.gram_of
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
        """The norm of the last function; 1 where it is zero."""
        return float(f"{self.figure('norm'):.6g}") or 1.0

    def figure(self, name: str) -> float:
        """Return a number that the learner kept for its theorems."""
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

    def margin(self) -> Margin:
        """Return the largest margin γ of a function of norm 1, to a thousandth, if found soon."""
        limits = replace(self.limits, tolerance=1e-3, seconds=min(20.0, self.limits.seconds))
        return self.once("margin", lambda: largest_margin(self.rows, limits=limits))

    def inseparable_after(self) -> int | None:
        """Return the first round after which no function separates the labels, if proven.

        Most kernels separate whatever is not the same example twice: so all rounds are looked at
        first, and their beginnings only where that proves something.
        """
        return None if self.margin().separable is not False else super().inseparable_after()

    def fewest(self, tried: list[Floats], words: str, least: float) -> Answer:
        """Return the function with the fewest mistakes of those tried."""
        found = super().fewest(
            tried, words.replace("linear predictors", "functions of the RKHS"), least
        )
        return found if self.space.complete else replace(found, comparator=found.comparator + KEPT)

    def best_in_ball(self, radius: float) -> Answer:
        """Return the best function of norm at most the radius, for the learner's loss."""
        return self.once(("ball", radius), lambda: self.search_ball(radius))

    def search_ball(self, radius: float) -> Answer:
        """Search the ball, or what the support vectors span of it."""
        found = best_in_space(self.space, self.learner.engine.loss, radius, self.limits)
        return found if self.space.complete else replace(found, comparator=found.comparator + KEPT)

    def budget_bound(self) -> Answer:
        """Return the smallest H(u) + ‖u‖ (‖f‖ + Σ‖e‖) found over u."""
        price = (self.figure("norm") + self.figure("moved")) * (1 + 1e-12)
        return self.once(
            "budget bound", lambda: best_priced_hinge(self.rows, price, limits=self.limits)
        )

    # The witness of a certificate: a function of examples, by its coefficients.

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Name the coefficients of the best fixed function."""
        found = self.space.coefficients(answer.witness).tolist()
        return dict(zip(self.space.names, found, strict=True))

    def coefficients(self, witness: Mapping[str, float]) -> Floats | None:
        """Return the coefficients of a witness; None if it is made of other examples."""
        if not set(witness) <= set(self.space.names):
            return None
        return np.array([witness.get(name, 0.0) for name in self.space.names])

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Whether a witness is made of these examples, and of the class that it stands for."""
        found = self.coefficients(witness)
        ball = BALL.fullmatch(comparator.removeprefix("RKHS "))
        if found is None or ball is None:
            return found is not None
        return self.space.length(found) <= float(ball[1]) * SIX

    def is_proven(self, stated: str, found: str) -> bool:
        """Whether what was found of a class of functions holds for the one stated."""
        return stated == found

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return what a witness pays; None if it is made of other examples."""
        found = self.coefficients(witness)
        if found is None:
            return None
        scores, off = self.space.scores(found)
        if self.loss_name == "mistake":
            return Paid(float(np.count_nonzero(as_labels(self.rows.outcomes) * scores <= 0)), 0.0)
        losses = losses_of(self.learner.engine.loss, self.rows.outcomes)
        own = total(losses.value(scores))
        return Paid(own, abs(total(losses.value_above(scores, off)) - own) + 1e-12 * math.fabs(own))
