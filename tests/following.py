"""Playing a learner and its reference on one sequence, and comparing them in every round."""

from __future__ import annotations

from typing import Any

import numpy as np

import noregret as nr
from tests.reference import LABELLED, Floats, Reference
from tests.sequences import Sequence

CLOSE = 1e-9


def named(x: Floats) -> dict[str, float]:
    """Return a row as a dict of its non-zero entries."""
    return {f"x{i:02d}": value for i, value in enumerate(x.tolist()) if value}


def columns(learner: nr.Learner) -> list[int]:
    """Return the columns of the row that the learner's weights belong to."""
    return [int(name.removeprefix("x")) for name in learner.features]


def assert_close(found: Any, expected: Any, scale: float, what: str) -> None:
    worst = float(np.max(np.abs(np.asarray(found) - np.asarray(expected)), initial=0.0))
    assert worst <= CLOSE * scale, f"{what}: found {found}, expected {expected}"


def size(w: Floats) -> float:
    return float(np.max(np.abs(w)))


def follow(
    learner: nr.Learner,
    pseudocode: Reference,
    sequence: Sequence,
    as_dict: bool = False,
    totals: bool = True,
) -> None:
    """Weights, scores, loss and mistakes agree in every round, relative to the largest so far."""
    scale, total, size_of_losses, mistakes = pseudocode.unit, 0.0, 0.0, 0
    for t, (x, answer) in enumerate(sequence, 1):
        example = named(x) if as_dict else x
        score = learner.decision_one(example)
        y = answer(score)
        expected = pseudocode.score(x)
        scale = max(scale, size(pseudocode.w))
        assert_close(score, expected, scale * float(np.sum(np.abs(x))), f"score of round {t}")
        loss = pseudocode.value(expected, y)
        total, size_of_losses = total + loss, size_of_losses + abs(loss)
        mistakes += y * expected <= 0
        learner.learn_one(example, y)
        pseudocode.learn(x, y)
        scale = max(scale, size(pseudocode.w))
        found, at = learner.weights, columns(learner)
        assert_close(found, pseudocode.w[at], scale, f"weights after round {t}")
    if not totals:  # the learner has had other rounds before
        return
    assert_close(learner.total_loss, total, size_of_losses + 1e-300, "the total loss")
    if pseudocode.loss in LABELLED:
        assert learner.mistakes == mistakes


def follow_mean(
    learner: nr.Learner, pseudocode: Reference, sequence: Sequence, as_dict: bool = False
) -> None:
    """An averaged learner has the mean of the weights used in all rounds so far, in every round."""
    used: list[Floats] = []
    scale = pseudocode.unit
    for t, (x, answer) in enumerate(sequence, 1):
        example = named(x) if as_dict else x
        y = answer(learner.decision_one(example))
        used.append(pseudocode.w)
        learner.learn_one(example, y)
        pseudocode.learn(x, y)
        mean = np.mean(used, axis=0)
        scale = max(scale, size(mean), size(pseudocode.w))
        found, at = learner.weights, columns(learner)
        assert_close(found, mean[at], scale, f"mean after round {t}")
        at_x = float(mean @ x)
        assert_close(
            learner.decision_one(example), at_x, scale * float(np.sum(np.abs(x))), f"score {t}"
        )
