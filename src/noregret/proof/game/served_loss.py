"""Scores of a learner as they are served; their loss and learning once the outcome is known."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
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
    """Return the loss of a score that was given earlier, once the learner has learned the outcome.

    Of several classes, all that the learner knows by now count, as ``LateClasses`` describes.
    """
    if isinstance(score, Mapping):
        return loss_of_classes(learner.engine.loss.name, score, y, learner.classes)  # type: ignore[attr-defined]
    return float(learner.engine.loss.value(score, outcome_of(learner, y)))


class LateClasses:
    """Count losses of late predictions over several classes.

    A class that a prediction did not know counts with the score 0, if it is known when the outcome
    is learned. A prediction that did not know the class that came pays at least what the uniform
    guess pays. One that knew no class at all is the uniform guess over all classes of the game, and
    pays more whenever a class joins.

    Parameters
    ----------
    loss
        The name of the loss.
    known
        The classes that the learner knew before.
    """

    def __init__(self, loss: str, known: Collection[Any] = ()) -> None:
        self.loss = loss
        self.known: set[Any] = set(known)
        self.guesses = 0  # late predictions that knew no class

    def join(self, y: Any) -> float:
        """Know the class of an outcome; return how much more all guesses so far pay."""
        before = self.guess
        self.known.add(y)
        return self.guesses * (self.guess - before) if self.guesses else 0.0

    def pay(self, score: Mapping[Any, float], y: Any) -> float:
        """Return the loss of a late prediction, whose class has joined."""
        self.guesses += not score
        return loss_of_classes(self.loss, score, y, self.known)

    @property
    def guess(self) -> float:
        """The loss of the uniform guess over the classes so far."""
        return loss_of_guess(self.loss, len(self.known))


def known_classes(learner: Learner) -> Collection[Any]:
    """Return the classes that a learner knows; none if it predicts numbers."""
    return learner.classes if is_of_classes(learner) else ()


def loss_of_guess(loss: str, classes: int) -> float:
    """Return the loss of equal scores for all classes; that of a mistake for a single one too."""
    if loss == "softmax":
        return math.log(max(1, classes))
    return float(loss == "multiclass-mistake" or classes > 1)


def loss_of_classes(loss: str, score: Mapping[Any, float], y: Any, known: Collection[Any]) -> float:
    """Return the loss of the scores of classes, given before all that are known now were known."""
    if loss == "multiclass-mistake":
        return float(is_wrong_class(score, y))
    guess = loss_of_guess(loss, len(known))
    if not score:
        return guess
    own = score.get(y, 0.0)
    rivals = [each for label, each in score.items() if label != y]
    rivals += [0.0] * (len(known) - len(rivals) - 1)
    if not rivals:
        return 0.0
    if loss == "softmax":
        top = max(own, *rivals)
        total = math.fsum(math.exp(each - top) for each in (own, *rivals))
        paid = math.log(total) + top - own
    else:
        paid = max(0.0, 1.0 - own + max(rivals))
    return paid if y in score else max(paid, guess)


def is_wrong(learner: Learner, score: Score, y: Any) -> bool:
    """Return whether a late score was a mistake; always False for outcomes that are no labels."""
    if isinstance(score, Mapping):
        return is_wrong_class(score, y)
    return bool(learner.engine.loss.labels) and score * outcome_of(learner, y) <= 0


def is_wrong_class(score: Mapping[Any, float], y: Any) -> bool:
    """Return whether the class was not known, or another one had as high a score."""
    return y not in score or any(label != y and each >= score[y] for label, each in score.items())


def outcome_of(learner: Learner, y: Any) -> float:
    """Return an outcome as the loss takes it: labels are −1 and 1."""
    prepare = learner._entry.prepare
    y = y if prepare is None else prepare.outcome(y, learner.rounds)
    return (1.0 if y > 0 else -1.0) if learner.engine.loss.labels else float(y)
