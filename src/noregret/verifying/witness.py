"""What the witness of a certificate pays, computed from the rows alone, without any solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from noregret.hindsight.blocks import padded
from noregret.hindsight.losses import as_labels, losses_of
from noregret.hindsight.rounding import Floats, total
from noregret.hindsight.rows import score_error
from noregret.hindsight.rules import SCORED

if TYPE_CHECKING:
    from noregret.game import Game


class Paid(NamedTuple):
    """A witness's own loss, and what rounding may have added to or taken from it."""

    loss: float
    rounding: float


def linear(X: Floats, weights: Floats) -> Floats:
    """Return the scores of a linear predictor."""
    return np.asarray(X @ weights)


def paid_by(witness: Mapping[str, float], comparator: str, game: Game) -> Paid | None:
    """Return what a witness pays over all rounds; None where it is not about these features."""
    features, rows = game.learner.features, game.ledger.rows()
    assert rows is not None
    if set(features) != set(witness):
        return None
    weights = np.array([witness[name] for name in features], dtype=np.float64)
    loss, outcomes = game.learner.engine.loss, rows.outcomes
    if comparator in SCORED or loss.name == "mistake":
        score = SCORED.get(comparator, linear)
        labels, missed, at = as_labels(outcomes), 0, 0
        for block, y in rows.blocks():
            scores = score(padded(block, len(weights)), weights)
            missed += int(np.count_nonzero(labels[at : at + len(y)] * scores <= 0))
            at += len(y)
        return Paid(float(missed), 0.0)
    losses, scores = losses_of(loss, outcomes), rows.scores(weights)
    own = total(losses.value(scores))
    off = total(losses.value_above(scores, score_error(rows, weights))) - own
    nothing = total(np.abs(losses.value(np.zeros_like(scores))))
    return Paid(own, abs(off) + 1e-12 * nothing)
