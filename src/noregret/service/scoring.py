"""Predictions as they are served, and their labels as they are learned."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from noregret.base.model_file import digest_of
from noregret.linear.class_learner import softmax
from noregret.linear.learner import Learner
from noregret.proof.game.served_loss import Score, learn_late, noted, served_loss
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
    note
        What the learner needs to learn the label if it comes late, if anything.
    """

    score: float
    prediction: Any
    chances: Pairs | None = None
    scores: Pairs | None = None
    note: bytes = b""


def scored(learner: Learner, x: Any, waits: bool = False) -> Served:
    """Return the prediction of an example, with a note if it waits for its label."""
    engine = learner.engine
    score: Score
    if waits and engine.weighs_late:
        score, note = noted(learner, x)
    else:
        score, note = learner.decision_one(x), b""
    if isinstance(score, dict):
        found = [(plain(label), each) for label, each in score.items()]
        chances = None
        if engine.loss.name == "softmax":
            by_class = softmax(np.array([each for _, each in found])).tolist()
            chances = [(label, chance) for (label, _), chance in zip(found, by_class, strict=True)]
        prediction = max(found, key=lambda each: each[1])[0] if found else None
        return Served(0.0, prediction, chances, found, note)
    loss = engine.loss
    if not loss.labels:
        return Served(score, score, None, None, note)
    if not learner.rounds:  # it is not known yet how labels are written
        return Served(score, None, [] if loss.name == "logistic" else None, None, note)
    chances = None
    if loss.name == "logistic":
        chances = [(plain(label), chance) for label, chance in learner.predict_proba_one(x).items()]
    return Served(score, plain(learner.predict_one(x)), chances, None, note)


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
    x, y, late = event.example, event.outcome, event.delay > 0
    score: Score = event.score
    before = 0.0
    if event.scores is not None:
        score, before = dict(event.scores), learner.total_loss
    if late and (as_served or event.note):
        learn_late(learner, x, y, score, event.note)
    else:
        learner.learn_one(x, y)
        if event.scores is not None and not late:
            return learner.total_loss - before
    return served_loss(learner, score, y)


def check_learner(learner: Any) -> None:
    """Refuse what cannot be served."""
    if not isinstance(learner, Learner):
        raise TypeError(f"a service takes a learner, such as Auto(): got {learner!r}")
    prepare = learner._entry.prepare
    if prepare is not None and prepare.options.scale != "none":
        raise ValueError(
            "a service takes rows that are not scaled: an example would have other features when"
            " its label comes than when it was predicted"
        )


def begun(learner: Learner) -> Learner:
    """Return a learner to play: a new one, or a copy of one that was trained before."""
    return learner.copy() if learner.rounds else learner.clone()


def preparation_of(learner: Learner) -> list[str] | None:
    """Return how raw rows are prepared, as certificates list it; None if they are not."""
    prepare = learner._entry.prepare
    return None if prepare is None else list(prepare.options.transforms())


def state_of(learner: Learner) -> str:
    """Return a digest of what a learner was trained to before; the same for all untrained ones."""
    return digest_of(learner) if learner.rounds else ""


def is_python_loss(value: Any) -> bool:
    """Return whether a parameter is a loss written in Python."""
    from noregret.base.compiled.losses import PythonLoss

    return isinstance(value, PythonLoss)
