"""Scores of a learner as they are served; their loss and learning once the outcome is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from noregret.linear.learner import Learner, is_of_classes

Score = float | dict[Any, float]


def noted(learner: Learner, x: Any) -> tuple[Score, bytes]:
    """Return the score of an example, and a note of it for ``learn_late``, if the learner has one.

    The note of ``auto`` has what its members said, and the latest outcomes that they knew.
    """
    if not learner.engine.weighs_late:
        return learner.decision_one(x), b""
    score, note = learner._entry.decide_noting(x)
    if is_of_classes(learner):
        return dict(zip(learner.classes, score.tolist(), strict=False)), note
    return score, note


def learn_late(learner: Learner, x: Any, y: Any, score: Score, note: bytes) -> None:
    """Learn an outcome that came after others were learned.

    Members are weighted by what they said, according to the note; gradient descent steps by the
    gradient at the score; other learners learn as if the outcome had come in time.
    """
    if note or getattr(learner.engine, "steps_late", False):
        # A note has the scores of classes.
        learner._entry.learn_late(x, y, 0.0 if isinstance(score, Mapping) else score, note)
    else:
        learner.learn_one(x, y)


def served_loss(learner: Learner, score: Score, y: Any) -> float:
    """Return the loss of a score that was given earlier.

    A class that was not known then counts with the score 0.
    """
    loss = learner.engine.loss
    if not isinstance(score, Mapping):
        return float(loss.value(score, outcome_of(learner, y)))
    own = score.get(y, 0.0)
    rivals = [each for label, each in score.items() if label != y]
    if not rivals:
        return 0.0
    if loss.name == "softmax":
        top = max(own, *rivals)
        total = math.fsum(math.exp(each - top) for each in (own, *rivals))
        return math.log(total) + top - own
    margin = own - max(rivals)
    return float(margin <= 0) if loss.name == "multiclass-mistake" else max(0.0, 1.0 - margin)


def is_wrong(learner: Learner, score: Score, y: Any) -> bool:
    """Return whether a score was a mistake; always False for outcomes that are no labels."""
    if isinstance(score, Mapping):
        return bool(score) and max(score, key=lambda label: score[label]) != y
    return bool(learner.engine.loss.labels) and score * outcome_of(learner, y) <= 0


def outcome_of(learner: Learner, y: Any) -> float:
    """Return an outcome as the loss takes it: labels are −1 and 1."""
    prepare = learner._entry.prepare
    y = y if prepare is None else prepare.outcome(y, learner.rounds)
    return (1.0 if y > 0 else -1.0) if learner.engine.loss.labels else float(y)
