"""A learner that records its game while it is called one example at a time.

model = certified(WidrowHoff(rate=0.1))
model.predict_one(x)
model.learn_one(x, y)
model.certificate()
"""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from threading import RLock
from typing import TYPE_CHECKING, Any

from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.proof.record.ledger import MEMORY, Keep

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate


class Certified:
    """A learner and its game. Made by ``certified``.

    It has all methods of the learner. One thread learns at a time; learning waits while a
    certificate is made, predictions do not.

    Parameters
    ----------
    player
        The learner.
    keep, memory
        As in ``certified``.
    """

    def __init__(self, player: Any, *, keep: Keep = "auto", memory: int = MEMORY) -> None:
        self.learner = player
        self.game = player._new_game(keep=keep, memory=memory, progress=False)
        self._recording: AbstractContextManager[Any] | None = None
        self._lock = RLock()

    def learn_one(self, x: Any, y: Any = None) -> None:
        """Learn from one example, and record it.

        The loss that counts is that of the prediction made just before: label each example before
        the next one is learned.
        """
        with self._lock:
            self._open()
            self.game.learn_one(x, y)

    def learn_many(self, X: Any, y: Any = None, importance: Any = None) -> None:
        """Learn from many examples in order, and record them.

        Parameters
        ----------
        X, y
            As in the learner's own ``learn_many``.
        importance
            One number per row, for learners that take it; a game with weights has no certificate.
        """
        with self._lock:
            self._open()
            if importance is None:
                self.game.learn_many(X, y)
            else:
                self.learner.learn_many(X, y, importance)

    def play_one(self, x: Any, y: Any) -> Any:
        """Predict the outcome of one example, then learn from it; return the prediction."""
        with self._lock:
            guess = self.learner.predict_one(x)
            self.learn_one(x, y)
            return guess

    def certificate(
        self, theorem: str | None = None, *, limits: Limits = USUAL, **given: Any
    ) -> Certificate:
        """Return the certificate of the rounds so far; learning may continue afterwards.

        Parameters
        ----------
        theorem, limits, **given
            As in ``noregret.Game.certificate``.
        """
        with self._lock:
            self._settle()
            made: Certificate = self.game.certificate(theorem, limits=limits, **given)
            return made

    @property
    def loss(self) -> float:
        """The cumulative loss of all recorded rounds."""
        return float(self.game.loss)

    def copy(self) -> Certified:
        """Return an independent copy, with a copy of the record."""
        return copy.deepcopy(self)

    def _open(self) -> None:
        """Record rounds from now on."""
        if self._recording is None:
            recording = self.game.recorded()
            recording.__enter__()
            self._recording = recording

    def _settle(self) -> None:
        """Complete the record; the next round reopens it."""
        if self._recording is not None:
            recording, self._recording = self._recording, None
            recording.__exit__(None, None, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "learn":  # a strategy's name for learn_one
            return self.learn_one
        if name in self.learner._unrecorded:
            raise AttributeError(
                f"{name} would not be entered in the books: use learn_one or learn_many"
            )
        with self._lock:
            self._open()  # other methods that learn are recorded too
        return getattr(self.learner, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.learner)})

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickles and copies: the learner and its record."""
        with self._lock:
            self._settle()
            return {"learner": self.learner, "game": self.game}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"_recording": None, "_lock": RLock()})

    def __repr__(self) -> str:
        return f"certified({self.learner!r})"


def certified(learner: Any, *, keep: Keep = "auto", memory: int = MEMORY) -> Certified:
    """Return a learner that records its game, so that it can be certified at any moment.

    For programs that call ``learn_one`` as examples arrive, where ``play`` does not fit. The cost
    is that of ``play``. With the square loss it needs a constant amount of memory: rows up to
    ``memory`` bytes, then sums over them. For other losses the rows beyond ``memory`` go to a
    temporary file, which is removed with the process.

    Parameters
    ----------
    learner
        A learner, a master over experts, ``Experts``, a portfolio strategy or a filter. What it
        learned before is not recorded, and the certificate says so.
    keep
        ``rows``, ``sums`` (enough for the square loss), or ``auto``: as in ``noregret.play``.
    memory
        Bytes of rows to hold in memory.

    Examples
    --------
    >>> import noregret
    >>> model = noregret.certified(noregret.WidrowHoff(rate=0.5))
    >>> for size in [0.5, 1.0] * 20:
    ...     guess = model.predict_one({"size": size})
    ...     model.learn_one({"size": size}, 2 * size)
    >>> certificate = model.certificate()
    >>> certificate.data.rounds, certificate.theorem.holds
    (40, True)
    >>> model.learn_one({"size": 0.5}, 1.0)
    >>> model.certificate().data.rounds
    41
    """
    learns = hasattr(learner, "learn_one") or hasattr(learner, "play_one")
    if isinstance(learner, type | Certified) or not hasattr(learner, "_new_game") or not learns:
        raise TypeError(
            "certified takes what learns one example at a time, such as WidrowHoff(): got"
            f" {learner!r}"
        )
    return Certified(learner, keep=keep, memory=memory)
