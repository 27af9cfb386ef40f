"""The result of a tournament: that of a mix whose experts are learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from noregret.app.results.mix import MixResult


class Standing(NamedTuple):
    """A learner of a tournament, or the mixture.

    Parameters
    ----------
    name
        Its name.
    rounds
        The number of rounds in which it has predicted.
    total
        Its total loss in these rounds.
    weight
        Its weight in the next round; None for the mixture.
    accuracy
        The share of labels that it predicted rightly; None if outcomes are numbers.
    stopped
        Why it has stopped before the end; None if it has not.
    """

    name: str
    rounds: int
    total: float
    weight: float | None = None
    accuracy: float | None = None
    stopped: str | None = None


@dataclass(frozen=True)
class TournamentResult(MixResult):
    """A finished tournament.

    Parameters
    ----------
    standings
        The mixture first, then the learners, the best first.
    """

    kind: ClassVar[str] = "tournament"
    standings: tuple[Standing, ...] = ()

    @property
    def winner(self) -> Standing | None:
        """The best learner in hindsight, if it has predicted every row."""
        best = next(iter(self.standings[1:]), None)
        return best if best is not None and best.rounds == self.standings[0].rounds else None
