"""The mean of the weights, and its theorem about future examples.

A learner that does well on a stream of independent examples has, on average over its rounds, good
weights: the mean of them has a risk, the expected loss on a new example, near the mean loss that
the learner paid.

Promise. If the examples are drawn independently, the loss is convex and lies in [0, B], then with
probability at least 1 − δ the risk of the mean is at most  L/m + B √(2 ln(1/δ)/m),  where L is the
loss that the learner paid over its m rounds. No comparator is needed.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, TypeVar

from noregret.checks import positive
from noregret.proof.theorems.assumptions import CONVEX, Finding, Shown, Structural, Trusted
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.proof.theorems.evidence import Evidence

    L = TypeVar("L", bound=Learner)


def largest(evidence: Evidence) -> float:
    """Return B: as given, or else the largest loss seen."""
    told = evidence.given.get("largest_loss")
    return evidence.largest("loss") if told is None else positive("largest_loss", told)


def within_range(evidence: Evidence) -> Finding:
    """Check that every loss was between 0 and B; without a given B, future losses are unknown.

    A custom loss is assumed to be nonnegative, unless the sum shows otherwise.
    """
    limit, most = largest(evidence), evidence.largest("loss")
    chance_of(evidence)
    if evidence.loss_name == "linear" or min(evidence.loss, evidence.averaged_loss) < 0:
        return Finding("loss >= 0", 0.0, None, False)
    if evidence.given.get("largest_loss") is None:
        return Finding("no loss is above the largest seen: measured, not given", limit, None, None)
    holds = most <= limit
    first = None if holds else evidence.first_over("loss", limit)
    if holds and not evidence.loss_name:
        return Finding(f"0 <= loss <= {limit:.6g}, of one of your own", limit, None, None)
    return Finding(f"loss <= {limit:.6g}", limit, most, holds, first)


def chance_of(evidence: Evidence) -> float:
    """Return δ."""
    told = evidence.given.get("chance", 0.05)
    chance = float(told) if isinstance(told, Real) and not isinstance(told, bool) else math.nan
    if not 0 < chance < 1:
        raise ValueError(f"chance, of being wrong, lies between 0 and 1: got {told!r}")
    return chance


def mean_loss(evidence: Evidence) -> float:
    """Return the mean loss of the weights that are averaged, each on the example after it."""
    return evidence.averaged_loss / evidence.averaged_rounds


def high_probability(evidence: Evidence) -> float:
    """Return the bound on the risk of the mean of the weights."""
    likely = math.sqrt(-2 * math.log(chance_of(evidence)) / evidence.averaged_rounds)
    return mean_loss(evidence) + largest(evidence) * likely


HIGH_PROBABILITY = Theorem(
    name="online-to-batch-high-probability",
    quantity="risk",
    formula=r"R_v \le \frac{L_A}{m} + B \sqrt{\frac{2 \ln(1/\delta)}{m}}",
    plain="risk of v <= loss/m + B √(2 ln(1/δ)/m), with probability 1 - δ (0.95, if not told)",
    assumptions=(
        Trusted(
            "the examples are drawn independently from one distribution",
            "examples are independent and identically distributed",
        ),
        Shown(
            r"the loss lies between 0 and $B$: `largest_loss`, or the largest seen, on trust",
            within_range,
        ),
        CONVEX,
        Structural(
            r"$v = (w_1 + \dots + w_m)/m$, the weights of `averaged`; or the mean over the last"
            r" rounds only, with their loss and their number; $\delta$ is `chance`, 0.05 if not"
            " given"
        ),
    ),
    bound=high_probability,
    covers=lambda params: params.get("take") != "last",
    measured=lambda evidence: None,
    asks="largest_loss=1.0, chance=0.05",
    source="Cesa-Bianchi, Conconi and Gentile, 2004",
)
theorems = (HIGH_PROBABILITY,)


def averaged(learner: L) -> L:
    """Make a learner predict with the mean of its weights so far, w_1 to w_m.

    The mean is over the weights that were used in each round: it includes the initial weights, but
    not those after the last example. It costs O(entries) per example. The learner itself learns as
    before; ``total_loss`` and ``mistakes`` are those of its own weights.

    Parameters
    ----------
    learner
        A learner that has learned nothing yet; it does not change, a copy is returned.

    Examples
    --------
    >>> import noregret
    >>> learner = noregret.averaged(noregret.WidrowHoff(rate=0.5))
    >>> for x, y in [([1.0], 1.0), ([1.0], 1.0), ([1.0], 1.0)]:
    ...     learner.learn_one(x, y)
    >>> learner.weights  # the mean of 0, 1/2 and 3/4
    array([0.41666667])
    """
    from noregret.linear.learner import Learner

    if not isinstance(learner, Learner):
        raise TypeError(f"average a learner, such as averaged(Perceptron()): got {learner!r}")
    if learner.rounds:
        raise ValueError(
            f"the mean runs over all rounds, and {learner.rounds} were already played without it:"
            " average a fresh learner"
        )
    other = learner.copy()
    if not other.engine.mean_kept:
        other.engine.keep_mean()
    return other
