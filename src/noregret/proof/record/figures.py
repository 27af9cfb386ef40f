"""The figures of a learner at the end of a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.recorder import Recorder

if TYPE_CHECKING:
    from noregret.linear.learner import Learner, Measurement


class Books(NamedTuple):
    """The figures of the learner at the end of a game, or when it was paused."""

    rounds: int
    loss: float
    mistakes: int
    features: int
    names: list[str]
    measured: dict[str, Measurement]
    gradient_squares: float
    largest_loss: float
    norm: float
    accounts: Mapping[str, NDArray[np.float64]]


def books_of(learner: Learner, recorder: Recorder) -> Books:
    """Return the figures of a learner as they are now."""
    return Books(
        learner.rounds,
        learner.total_loss,
        learner.mistakes,
        learner.engine.size,
        list(learner._entry.known.names),
        learner.measured,
        recorder.sum_of_squared_gradients,
        recorder.largest_loss,
        float(np.linalg.norm(learner.engine.weights())),
        learner._accounts(),
    )
