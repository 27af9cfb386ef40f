"""Max-margin: the approximate large margin algorithm (ALMA).

Scale examples to norm 1, and correct whenever the margin is below a threshold that shrinks with
every correction. After k − 1 corrections:

    if y (w·x)/‖x‖ ≤ (1 − α) √8/(α √k):   w ← w + √(2/k) · y x/‖x‖,   scaled back to ‖w‖ ≤ 1

Promise. If some unit vector v has y (v·x)/‖x‖ ≥ γ in every round, there are at most
(2/γ²)(2/α − 1)² + 8/α − 4 corrections. So repeated passes over the same examples converge, and
every example then has a margin of at least (1 − α) γ: as α → 0, the largest possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.registry import register
from noregret.errors import NoRegretError
from noregret.hindsight import Margin, Rows, largest_margin
from noregret.hindsight.blocks import row_scaled, row_squares
from noregret.hindsight.proofs.rounding import growth
from noregret.limits import MIN_NORM
from noregret.linear.engine.additive import ShrinkingMargin
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import Finding, Shown, Structural
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def on_the_sphere(rows: Rows) -> Rows:
    """Return the examples scaled to norm 1; zero examples stay zero."""

    def source() -> Iterator[tuple[Any, Floats]]:
        for block, outcomes in rows.blocks():
            squares = row_squares(block)
            short = squares < MIN_NORM**2
            if abs(block[short]).max() > 0 if short.any() and block.shape[1] else False:
                raise NoRegretError(
                    f"some examples have a norm below {MIN_NORM:g}, too small to scale to norm 1",
                    "scale them up",
                )
            yield row_scaled(block, 1 / np.sqrt(np.where(short, 1.0, squares))), outcomes

    return Rows(source=source, features=rows.shape[1])


def margin(evidence: Evidence) -> Margin:
    """Return the largest margin γ of a unit vector on the examples scaled to norm 1."""
    return evidence.once(
        "margin on the sphere",
        lambda: largest_margin(on_the_sphere(evidence.rows), limits=evidence.limits),
    )


def proven_margin(evidence: Evidence) -> float:
    """Return a proven lower bound on the margin of the scaled examples, without their rounding."""
    return margin(evidence).lower - growth(evidence.features + 8)


def separable(evidence: Evidence) -> Finding:
    """Check that some predictor has a positive margin on every scaled example."""
    first = evidence.inseparable_after()
    if first is not None:
        return Finding("margin > 0", 0.0, 0.0, False, first)
    found = proven_margin(evidence)
    return Finding("margin > 0", 0.0, max(0.0, found), True if found > 0 else None)


def promise(evidence: Evidence) -> float:
    """Return (2/γ²)(2/α − 1)² + 8/α − 4."""
    part = 2 / evidence.params["accuracy"]
    return float(2 * ((part - 1) / proven_margin(evidence)) ** 2 + 4 * part - 4)


@register
class MaxMargin(Learner):
    """Binary classification that approximates the largest margin, whatever the examples' norms.

    Parameters
    ----------
    accuracy
        α, above 0 and at most 1: the share of the largest margin given up. With 1 only mistakes
        are corrected; the number of corrections grows like 1/α².

    Examples
    --------
    >>> learner = MaxMargin(accuracy=0.1)
    >>> for x, y in [([3.0, 1.0], 1), ([0.0, -5.0], -1)] * 200:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one([1.0, 1.0]), learner.mistakes, learner.corrections > learner.mistakes
    (1, 1, True)

    References
    ----------
    C. Gentile, "A new approximate maximal margin classification algorithm", 2001.
    """

    name = "max-margin"
    engine: ShrinkingMargin
    theorems = (
        Theorem(
            name="max-margin",
            quantity="corrections",
            formula=(
                r"K \le \frac{2}{\gamma^2} \left(\frac{2}{\alpha} - 1\right)^2"
                r" + \frac{8}{\alpha} - 4"
            ),
            plain="corrections <= (2/γ²)(2/α − 1)² + 8/α − 4",
            where=(
                r"$\alpha$ is `accuracy`; every mistake is a correction. After a pass over the"
                r" examples without any, each has a margin of at least $(1-\alpha)\gamma$"
            ),
            assumptions=(
                Shown(
                    r"some unit vector $v$ has $y_t (v \cdot x_t)/\|x_t\|_2 \ge \gamma > 0$ in"
                    r" every round; the largest such $\gamma$ is found in hindsight",
                    separable,
                ),
                Structural("examples are scaled to norm 1 before anything else"),
            ),
            measured=lambda e: float(e.account("corrections")[0]),
            bound=promise,
            needs_rows=True,
            over_shards=ADDED_UP,
            source="Gentile, 2001",
        ),
    )

    def __init__(self, accuracy: float = 0.5) -> None:
        super().__init__(ShrinkingMargin(accuracy))
        self.accuracy = accuracy

    @property
    def corrections(self) -> int:
        """The number of corrections: mistakes, and margins below the threshold."""
        return self.engine.correction_count
