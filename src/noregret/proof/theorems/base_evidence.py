"""The evidence of a game, for theorems, certificates and their verification."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from noregret.hindsight import Answer, Limits

A = TypeVar("A")


class BaseEvidence(ABC):
    """The figures of a game, and the best in hindsight; answers are cached.

    Parameters
    ----------
    given
        Further arguments of a theorem: a radius, a confidence.
    limits
        The limits of searches.
    answers
        The cache of answers.
    """

    # Names of the further arguments.
    told: ClassVar[tuple[str, ...]] = ()
    # Relative rounding error of sums, by which a figure may exceed its bound.
    bound_tolerance: ClassVar[float] = 1e-9
    names: Sequence[str]
    # Updates between predictions and their own, over all rounds, and the first round with one.
    late_updates: int = 0
    first_delayed: int | None = None
    # Rows forecast before an earlier outcome of their batch, and the loss that this added.
    late_rows: int = 0
    waited: float = 0.0

    def __init__(self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any]) -> None:
        self.given, self.limits, self.answers = given, limits, answers

    @property
    @abstractmethod
    def rounds(self) -> int:
        """T, the number of rounds."""

    def longest_game(self, horizon: int) -> tuple[int, int | None]:
        """Return the most rounds of any learner, and the first one beyond a horizon."""
        return self.rounds, horizon + 1 if self.rounds > horizon else None

    @property
    @abstractmethod
    def rounds_before(self) -> int | None:
        """The number of rounds learned before the game; None if it cannot be trained."""

    @property
    @abstractmethod
    def loss(self) -> float:
        """The cumulative loss."""

    @property
    @abstractmethod
    def mistakes(self) -> float | None:
        """The number of mistakes; None if they are not counted."""

    @property
    def energy(self) -> float | None:
        """The sum of the outcomes' squares, for the square loss."""
        return None

    @property
    def rounding(self) -> float:
        """The rounding of the learner's own numbers in the loss, besides that of sums."""
        return 0.0

    @property
    def loss_rounding(self) -> float:
        """The error of the loss due to cancellation."""
        return 0.0

    def once(self, key: Any, ask: Callable[[], A]) -> A:
        """Return an answer, from the cache if possible."""
        key = (key, self.limits)
        if key not in self.answers:
            self.answers[key] = ask()
        answer: A = self.answers[key]
        return answer

    @abstractmethod
    def usual(self) -> Answer:
        """Return the best in hindsight for theorems without a class of their own."""

    def lost_by_sums(self, best: Answer) -> str | None:
        """Return what sums over the rows cannot give, if only these were kept; None if nothing."""
        return None

    @abstractmethod
    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Return the weights of the best in hindsight by name."""

    @abstractmethod
    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, ...] | None:
        """Return the loss of a witness and a bound on its rounding error, from the rows alone.

        None if the witness is about other features.
        """

    @abstractmethod
    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness is about these features and belongs to its class."""

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class holds for the stated one."""
        return stated == found
