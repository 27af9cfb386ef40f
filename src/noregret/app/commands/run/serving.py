"""Predictions whose outcomes come later: the loss is that of the prediction as it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.streams.waiting_lines import MAX_WAITING

if TYPE_CHECKING:
    from noregret.base.compiled.losses import Loss

Floats = NDArray[np.float64]


class Served:
    """The predictions that were given to lines without an outcome, by id, and the total loss."""

    def __init__(self) -> None:
        self.scores: dict[str, float] = {}  # the oldest first
        self.joined = 0  # lines whose outcome came
        self.loss = 0.0

    def replace(self, keys: list[str | None], scores: Floats, y: Floats) -> Floats:
        """Return scores, with those that were given before in rows whose outcome came later."""
        scores = scores.copy()
        for row, key in enumerate(keys):
            if key is None or np.isnan(scores[row]):  # an ordinary row, or one that was refused
                continue
            if np.isnan(y[row]):
                self.scores.pop(key, None)
                self.scores[key] = float(scores[row])
                if len(self.scores) > MAX_WAITING:
                    del self.scores[next(iter(self.scores))]
            elif key in self.scores:
                scores[row] = self.scores.pop(key)
                self.joined += 1
        return scores

    def count(self, loss: Loss, scores: Floats, y: Floats) -> None:
        """Add the losses of rows with an outcome."""
        if loss.labels:
            y = np.where(y > 0, 1.0, -1.0)
        for score, outcome in zip(scores.tolist(), y.tolist(), strict=True):
            self.loss += loss.value(score, outcome)
