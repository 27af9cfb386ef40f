"""Two classes that are hard to tell apart, against learners over several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.adversaries import Attack, Rounds, adversary
from noregret.adversaries.sight import across

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

_FREE = {"rate": 0.01, "schedule": "constant"}
_TUNED = {"rate": 1.0, "schedule": "horizon", "horizon": 10_001, "radius": 1.0}


@adversary(
    Attack("multiclass-perceptron", {}, {"rounds": 100}, "As many mistakes as 2(R/γ)²: exact.")
)
def new_axes_of_classes(learner: Learner, rounds: int = 100, norm: float = 1.0) -> Rounds:
    """Show a class along a new axis in every round, after one of another class.

    The learner knows nothing of an axis that it has not seen: both classes have the score 0, a
    mistake. Weights that are ±1/√(2T) on every axis have the margin ``norm`` √(2/T), and so
    2(R/γ)² = T. The first example is the second one with the opposite sign, which asks for nothing
    more, and only makes the other class known.

    Parameters
    ----------
    learner
        A learner of several classes; its state is not used.
    rounds
        The number of rounds after the first, and of features.
    norm
        The norm of every example.

    Examples
    --------
    >>> from noregret import MulticlassPerceptron, play
    >>> learner = MulticlassPerceptron()
    >>> promise = play(learner, new_axes_of_classes(learner, rounds=25)).certificate().theorem
    >>> promise.measured, round(promise.bound, 4)
    (25.0, 25.0)
    """
    axes = norm * np.eye(rounds)
    yield -axes[0], "first"
    for x in axes:
        yield x, "second"


@adversary(
    Attack(
        "multiclass-hinge",
        _TUNED,
        {"rounds": 10_000, "norm": 0.707},
        "The learner loses 1 per round, the best weights never more than that.",
    ),
    Attack(
        "softmax",
        _TUNED,
        {"rounds": 10_000, "norm": 0.7, "lean": 0.0075},
        "Loose: the gradient is L only where the prediction is hopeless, L/2 where it is open.",
    ),
    Attack(
        "multiclass-hinge-free",
        _FREE,
        {"rounds": 10_000, "norm": 0.707},
        "Every example is new to the learner, and its loss is linear.",
    ),
    Attack(
        "softmax-free",
        _FREE,
        {"rounds": 10_000, "norm": 0.7},
        "The rest is the curvature of the loss.",
    ),
)
def orthogonal_classes(
    learner: Learner, rounds: int = 10_000, norm: float = 1.0, lean: float = 0.0
) -> Rounds:
    """Show examples on which two classes score the same, all leaning to one side.

    As ``orthogonal``, for the difference of the weights of two classes.

    Parameters
    ----------
    learner
        ``softmax`` or ``multiclass-hinge``.
    rounds
        The number of rounds after the first, which makes the other class known.
    norm
        The norm of every example.
    lean
        The lead that the learner is granted in every round, if its weights are long enough.

    Examples
    --------
    >>> from noregret import MulticlassHinge, play
    >>> learner = MulticlassHinge.tuned(radius=1.0, norm=0.7, horizon=1001)
    >>> stream = orthogonal_classes(learner, rounds=1000, norm=0.7)
    >>> play(learner, stream).certificate().theorem.tightness > 0.99
    True
    """
    total = np.zeros(2)
    yield np.array([-norm, 0.0]), "first"
    for t in range(rounds):
        w = lead_of(learner)
        length = float(np.hypot(*w))
        ahead = w / length if length > 0 else np.array([0.0, 1.0])
        aside = across(ahead, total, t)
        gained = min(lean / (norm * length), 1.0) if length > 0 else 0.0
        x = norm * (np.sqrt(1 - gained**2) * aside + gained * ahead)
        total += x
        yield x, "second"


def lead_of(learner: Learner) -> NDArray[np.float64]:
    """Return the weights of the second class less those of the first."""
    known = learner.engine.weights()
    if known.shape[1] < 2:
        return np.zeros(2)
    return np.asarray(known[:, 1] - known[:, 0])
