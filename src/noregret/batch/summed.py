"""Methods that need only sums over the examples: they can learn from streams and be merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from noregret.base.packing import of_prefix, with_prefix
from noregret.batch import sums
from noregret.batch.method import Batch
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.batch.game import BatchGame
    from noregret.hindsight import LeastSquares
    from noregret.proof.record.ledger import Keep

S = TypeVar("S", bound="Summed")
SUMS = "sums."


class Summed(Batch):
    """A batch method of the square loss that needs only Σ x xᵀ, Σ y x and Σ y².

    The weights are computed on request.
    """

    _keep: Keep = "auto"

    def learn_many(self, X: Any, y: Any = None, *, target: str | None = None) -> None:
        """Add examples; only their sums are kept.

        Parameters
        ----------
        X, y, target
            As in ``fit``.

        Notes
        -----
        If a row is rejected, the rows before it count, that row and those after it do not.
        """
        self._check_sums()
        if self.game is not None and self.game.parts:  # the rows are one more part
            other = self.clone()
            try:
                other.learn_many(X, y, target=target)
            finally:
                self.merge(other)
            return
        game = self.game or self._new_game(keep="sums", progress=False)
        try:
            game.take(X, y, target=target)
        finally:
            if game.rounds:
                self._adopt(game)

    def merge(self: S, other: S) -> S:
        """Add the examples of another method, which does not change; return this one.

        The result is that of a fit to the examples of both, up to rounding. Its certificate is
        verified with the data of both, in this order: its digest is a tree over parts. It has none
        if reading the data of both in a row would not give the same numbers, because features
        come in another order or rows are scaled by earlier ones; each part has one before.

        Parameters
        ----------
        other
            A method of the same kind and the same parameters.

        Examples
        --------
        >>> from noregret.batch import Ridge
        >>> monday = Ridge().fit([[1.0], [2.0]], [1.0, 2.0])
        >>> tuesday = Ridge().fit([[3.0]], [3.0])
        >>> both = Ridge().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
        >>> bool(abs(monday.merge(tuesday).weights - both.weights) < 1e-12)
        True
        """
        if type(other) is not type(self) or other.params != self.params:
            raise ValueError(
                f"{self!r} merges only with the same method and parameters: got {other!r}"
            )
        self._check_sums()
        other._check_sums()
        if not other.rounds:
            return self
        if not self.rounds:
            self.set_state(*other.get_state())
            return self
        self._adopt(sums.merged(self, other))
        return self

    @property
    def sums(self) -> LeastSquares:
        """The sums over the examples: ``gram``, ``moment`` and ``energy``."""
        return sums.sums_of(self._required_game())

    def _required_game(self) -> BatchGame:
        """Return the game; raise an error if there are no examples."""
        self._check_sums()
        if self.game is None:
            raise NoRegretError(f"{self.name} has seen no examples yet", "call fit(X, y)")
        return self.game

    def _check_sums(self) -> None:
        """Raise an error if the sums over the examples are not available."""
        if self.rounds and self.game is None:
            raise NoRegretError(
                f"this {self.name} has too many features for a copy or a file to include the sums:"
                " it predicts, but cannot learn or merge"
            )

    # Copies and files include the sums, so that they can learn and merge.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        arrays, numbers, names = super().get_state()
        if self.game is not None and sums.are_kept(self.game):
            arrays |= with_prefix(SUMS, sums.state_of(self.game))
        return arrays, numbers, names

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        fresh = self.clone()
        Batch.set_state(fresh, arrays, numbers, names)
        if kept := of_prefix(SUMS, arrays):
            fresh.game = sums.restored(fresh, kept)
        self.__dict__.update(fresh.__dict__)
        if self.game is not None:
            self.game.method = self.game.learner = self
