"""The interface of games for certificates, verification and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from noregret.base.display import as_text
from noregret.hindsight.proofs.answer import USUAL, Limits

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate, Start
    from noregret.proof.certificates.groups import Grouped
    from noregret.proof.record.parts_digest import Part
    from noregret.proof.theorems.base_evidence import BaseEvidence
    from noregret.proof.theorems.theorem import Theorem


class LearnerLike(Protocol):
    """An algorithm that a certificate can be about: a learner, a master, a method, a canceller."""

    @property
    def name(self) -> str:
        """Its registered name."""

    @property
    def family(self) -> str:
        """The family in which that name is unique."""

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters it was built with."""

    @property
    def theorems(self) -> tuple[Theorem, ...]:
        """Its theorems, the most important first."""


class Certifiable(ABC):
    """A game whose result can be certified: the base of all games.

    A game has a ``learner``, the figures of its rounds, and the evidence for theorems. ``answers``
    caches the results of hindsight.
    """

    learner: LearnerLike

    def __init__(self) -> None:
        self.answers: dict[Any, Any] = {}
        self.names: Sequence[str] | None = None
        self._transforms: tuple[str, ...] = ()
        self._target: str | None = None

    # The data.

    def describe(
        self, transforms: Sequence[str], target: str | None, names: Sequence[str] | None = None
    ) -> None:
        """Record how the data were read; without ``names``, those of the columns do not change."""
        self._transforms, self._target = tuple(transforms), target
        if names is not None:
            self.names = names

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transformations of the data, as certificates list them."""
        return self._transforms

    @property
    def target(self) -> str | None:
        """The column that held the outcomes."""
        return self._target

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The number of rounds played."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of features or columns."""

    @property
    @abstractmethod
    def feature_names(self) -> list[str]:
        """The names of the features or columns; "0", "1", … where they have none."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A digest of the data: the same numbers give the same digest, whatever their format."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the data, if the digest is a tree over them; else none."""
        return ()

    # The figures.

    @property
    @abstractmethod
    def loss(self) -> float:
        """The cumulative loss."""

    @property
    @abstractmethod
    def loss_name(self) -> str:
        """The name of the loss."""

    @property
    def counted_mistakes(self) -> float | None:
        """The number of wrong predictions; None where outcomes are not labels."""
        return None

    @property
    def sharded(self) -> int:
        """The number of shards that learners have played apart; 0 for one learner."""
        return 0

    @property
    def start(self) -> Start | None:
        """The trained model that the game began with; None if the learner was untrained."""
        return None

    @property
    def averaged(self) -> bool:
        """True if ``noregret.averaged`` makes the learner predict with the mean of its weights."""
        return False

    @property
    def delayed(self) -> bool:
        """True if some outcome was learned after a later prediction."""
        return False

    # The proof.

    # How to keep the rows, if only sums over them were kept.
    rows_cure: ClassVar[str] = "play with keep='rows'"

    @property
    def promises(self) -> bool:
        """False if theorems are about the game of each key, not about all of them together."""
        return True

    def per_key(self, theorem: str | None, limits: Limits) -> Grouped:
        """Return the best predictor of each key, and the theorem's promise."""
        raise NotImplementedError

    @abstractmethod
    def check(self) -> None:
        """Raise an error if the record of the game is incomplete."""

    @abstractmethod
    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> BaseEvidence:
        """Return the evidence for theorems; answers are cached in ``answers``, or in the game."""

    def certificate(
        self, theorem: str | None = None, *, limits: Limits = USUAL, **given: Any
    ) -> Certificate:
        """Return the certificate: the loss, the best in hindsight, and the theorem's bound.

        Parameters
        ----------
        theorem
            The theorem to evaluate; by default the first whose assumptions held.
        limits
            How hard to search for the best in hindsight.
        **given
            Further arguments of a theorem, such as the ``radius`` of the ball to compare with.
        """
        from noregret.proof.certificates.issue import certify

        return certify(self, theorem, limits, given)

    def restated(self, witness: Mapping[str, float]) -> Certifiable | None:
        """Return this game with stated weights in place of those found; None if it found none."""
        return None

    def loss_by_sums(self) -> float:
        """Return the loss of weights computed from sums alone; here, the loss."""
        return self.loss

    def from_sums(self) -> Certifiable | None:
        """Return this game with only sums over its rows; None if there are few rows."""
        return None

    def _repr_html_(self) -> str:
        return as_text("game card", self)

    def __repr__(self) -> str:
        mean = f", mean loss {self.loss / self.rounds:.6g}" if self.rounds else ""
        return f"<{type(self).__name__} of {self.learner!r}: {self.rounds} rounds{mean}>"
