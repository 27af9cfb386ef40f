"""Predictions as they are served, and their labels as they are learned."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from noregret.linear.class_learner import softmax
from noregret.linear.learner import Learner
from noregret.proof.game.served_loss import served_loss
from noregret.service.events import Event
from noregret.service.values import plain

Pairs = list[tuple[Any, float]]


class Served(NamedTuple):
    """A prediction as it is served.

    Parameters
    ----------
    score
        The score, 0 for several classes.
    prediction, chances
        The answer, and the probability of each label if the learner has them.
    scores
        The scores of classes, if there are several.
    """

    score: float
    prediction: Any
    chances: Pairs | None = None
    scores: Pairs | None = None


def scored(learner: Learner, x: Any) -> Served:
    """Return the prediction of an example."""
    if learner._of_classes:
        found = [(plain(label), score) for label, score in learner.decision_one(x).items()]  # type: ignore[attr-defined]
        chances = None
        if learner.engine.loss.name == "softmax":
            by_class = softmax(np.array([score for _, score in found])).tolist()
            chances = [(label, chance) for (label, _), chance in zip(found, by_class, strict=True)]
        prediction = max(found, key=lambda each: each[1])[0] if found else None
        return Served(0.0, prediction, chances, found)
    score = learner.decision_one(x)
    loss = learner.engine.loss
    if not loss.labels:
        return Served(score, score)
    if not learner.rounds:  # it is not known yet how labels are written
        return Served(score, None, [] if loss.name == "logistic" else None)
    chances = None
    if loss.name == "logistic":
        chances = [(plain(label), chance) for label, chance in learner.predict_proba_one(x).items()]
    return Served(score, plain(learner.predict_one(x)), chances)


def taught(learner: Learner, event: Event, as_served: bool) -> float:
    """Learn the label of an event, and return the loss of the prediction as it was served.

    Parameters
    ----------
    learner
        The model.
    event
        The event with its label and its round.
    as_served
        Whether gradient descent steps by the gradients of the weights that predicted.
    """
    x, y = event.example, event.outcome
    if event.scores is not None:
        before = learner.total_loss
        learner.learn_one(x, y)
        if not event.delay:
            return learner.total_loss - before
        return served_loss(learner, dict(event.scores), y)
    if event.delay and as_served and getattr(learner.engine, "steps_late", False):
        learner._entry.learn_late(x, y, event.score)
    else:
        learner.learn_one(x, y)
    return served_loss(learner, event.score, y)


def check_learner(learner: Any) -> None:
    """Refuse what cannot be served."""
    if not isinstance(learner, Learner):
        raise TypeError(f"a service takes a learner, such as Auto(): got {learner!r}")
    if learner.rounds:
        raise ValueError("the learner has learned already: give an untrained one (clone())")
    if learner._entry.prepare is not None:
        raise ValueError(
            "a service takes examples as its learner does, without streams.prepared: send words and"
            " parts of dates as features"
        )


def is_python_loss(value: Any) -> bool:
    """Return whether a parameter is a loss written in Python."""
    from noregret.base.compiled.losses import PythonLoss

    return isinstance(value, PythonLoss)
