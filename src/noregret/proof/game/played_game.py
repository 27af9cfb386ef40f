"""The common part of games of learners and of tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.proof.certificates.certifiable import Certifiable

Floats = NDArray[np.float64]


class PlayedGame(Certifiable):
    """A game with the rows that were skipped and, if wanted, the predictions.

    Parameters
    ----------
    predictions
        If True, keep the predictions.
    progress
        If True, show a progress bar; None: on a terminal after a second.
    """

    def __init__(self, predictions: bool, progress: bool | None) -> None:
        super().__init__()
        self.skipped: list[NoRegretError] = []
        self._predictions: list[Floats] | None = [] if predictions else None
        self._progress = progress

    @property
    def predictions(self) -> NDArray[Any]:
        """Every prediction, made before its outcome was seen."""
        if self._predictions is None:
            raise NoRegretError("the predictions were not kept", "play(…, predictions=True)")
        return np.concatenate([np.empty(0), *self._predictions])

    def _source(
        self, stream: Any, outcomes: Any, target: str | None, **options: Any
    ) -> tuple[Any, Any, str | None]:
        """Return the data to play, with files opened, and record how they are read."""
        if isinstance(outcomes, str) and target is None:
            outcomes, target = None, outcomes
        if isinstance(stream, str | Path):
            from noregret.streams import read

            stream, target = read(stream, target, **options), None
        self.describe(
            getattr(stream, "transforms", self._transforms),
            target or getattr(stream, "target", self.target),
        )
        return stream, outcomes, target
