"""Masters whose experts vote 0 or 1."""

from __future__ import annotations

from typing import Any

from noregret.base.compiled.weigher import Weigher
from noregret.experts.master import Floats, Master


class Voting(Master):
    """Predict 0 or 1 by the weighted majority of the experts; a tie is a 1."""

    def __init__(self, weigher: Weigher, **how: Any) -> None:
        how = {"manner": "vote"} | how
        super().__init__(weigher, "zero-one", sleeping=False, votes=True, **how)

    @property
    def mistakes(self) -> float | None:
        """The number of mistakes; the expected number if experts are drawn."""
        return float(self.total_loss) if self._round.pays_expected else int(self.total_loss)

    @property
    def drawn_mistakes(self) -> int:
        """The number of mistakes of the experts drawn."""
        return int(self.drawn_loss) if self._round.pays_expected else int(self.total_loss)

    def learn_losses(self, losses: Any) -> None:
        """Raise TypeError: it learns from votes."""
        raise TypeError(f"{self.name} learns from votes and outcomes: learn_one(advice, outcome)")

    def play_block(
        self, X: Floats, y: Floats | None, predictions: Floats | None, weights: Floats | None = None
    ) -> None:
        """Learn from the rows of a block in order, which must be votes."""
        if y is None:
            self.learn_losses(X)
        super().play_block(X, y, predictions, weights)
