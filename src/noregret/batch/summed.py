"""Methods for which sums over the examples are enough: they stream, and two of them merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from noregret.batch import sums
from noregret.batch.method import Batch
from noregret.batch.state import of_prefix, with_prefix
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.batch.game import BatchGame
    from noregret.hindsight import LeastSquares
    from noregret.proof.record.ledger import Keep

S = TypeVar("S", bound="Summed")
SUMS = "sums."


class Summed(Batch):
    """A batch method of the square loss, which needs no more than Σ x xᵀ, Σ y x and Σ y².

    The weights are found when somebody asks for them.
    """

    keep: ClassVar[Keep] = "auto"

    def learn_many(self, X: Any, y: Any = None, *, target: str | None = None) -> None:
        """Take more examples into account; all that is kept of them is sums.

        Parameters
        ----------
        X, y, target
            As in ``fit``.

        Notes
        -----
        When a row is refused, the rows before it count, that row and those after it do not.
        """
        self.check_sums()
        game = self.game or self.new_game(keep="sums", progress=False)
        try:
            game.take(X, y, target=target)
        finally:
            if game.rounds:
                self.adopt(game)

    def merge(self: S, other: S) -> S:
        """Take the examples of another into account, which stays as it is; return this one.

        The result is that of a fit to the examples of both, but for rounding. Its certificate
        cannot be had, as nobody could check it against data: that of either part can, before.

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
            raise ValueError(f"{self!r} merges with others like it: got {other!r}")
        self.check_sums()
        other.check_sums()
        if not other.rounds:
            return self
        if not self.rounds:
            self.set_state(*other.get_state())
            return self
        self.adopt(sums.merged(self, other))
        return self

    @property
    def sums(self) -> LeastSquares:
        """The sums over the examples: ``gram``, ``moment`` and ``energy``."""
        return sums.sums_of(self.required_game())

    def required_game(self) -> BatchGame:
        """Return the game, of which there is one as soon as there are examples."""
        self.check_sums()
        if self.game is None:
            raise NoRegretError(f"{self.name} has seen no examples yet", "fit(X, y) shows it some")
        return self.game

    def check_sums(self) -> None:
        """Raise an error where there were examples whose sums are not at hand."""
        if self.rounds and self.game is None:
            raise NoRegretError(
                f"this {self.name} has too many features for sums to be kept with a copy or a file:"
                " it predicts, but cannot go on or merge"
            )

    # Copies and files: with the sums, so that they go on and merge.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return all that it has learned."""
        arrays, numbers, names = super().get_state()
        if self.game is not None and sums.are_kept(self.game):
            arrays |= with_prefix(SUMS, sums.state_of(self.game))
        return arrays, numbers, names

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Go on from a state; raise ValueError where it makes no sense."""
        fresh = self.clone()
        Batch.set_state(fresh, arrays, numbers, names)
        if kept := of_prefix(SUMS, arrays):
            fresh.game = sums.restored(fresh, kept)
        self.__dict__.update(fresh.__dict__)
        if self.game is not None:
            self.game.method = self.game.learner = self
