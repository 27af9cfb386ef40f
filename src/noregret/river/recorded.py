"""A learner whose rounds are written down as it is called, one by one, for a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.certificate import Certificate
    from noregret.learner import Learner


class Recorded:
    """A learner in a game that is open while it learns, and settled when it is asked about.

    Parameters
    ----------
    learner
        Who plays; it has learned nothing.
    """

    def __init__(self, learner: Learner) -> None:
        self.game = learner.new_game(progress=False)
        self._playing: AbstractContextManager[None] | None = None

    @property
    def learner(self) -> Learner:
        """The learner."""
        return self.game.learner

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn from one example."""
        self._open()
        self.game.learner.learn_one(x, y)

    def learn_many(self, X: Any, y: Any, importance: Any = None) -> None:
        """Learn from many examples, in order."""
        self._open()
        self.game.learner.learn_many(X, y, importance)

    def decision_one(self, x: Any) -> float:
        """Return the score of one example."""
        return self.game.learner.decision_one(x)

    def scores_of(self, X: Any) -> Any:
        """Return the scores of many examples."""
        return self.game.learner.scores_of(X)

    def certificate(self, theorem: str | None, given: Mapping[str, Any]) -> Certificate:
        """Return the certificate of all that was learned so far."""
        self._settle()
        return self.game.certificate(theorem, **given)

    def _open(self) -> None:
        if self._playing is None:
            self._playing = self.game.recorded()
            self._playing.__enter__()

    def _settle(self) -> None:
        if self._playing is not None:
            playing, self._playing = self._playing, None
            playing.__exit__(None, None, None)

    def __getstate__(self) -> dict[str, Any]:
        self._settle()
        return self.__dict__.copy()
