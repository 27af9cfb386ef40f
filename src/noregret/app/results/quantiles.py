"""The result of mixing quantiles, as shown by the summary and ``--json``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple


class Level(NamedTuple):
    """The forecasts of one quantile.

    Parameters
    ----------
    level
        The level, between 0 and 1.
    experts
        The number of forecasters.
    mixture, average
        Mean pinball loss of the mixture after sorting, and of the forecasters' average.
    best, best_loss
        The forecaster with the least loss, and its mean pinball loss; in rounds without a forecast,
        that of the mixture before sorting.
    below, average_below
        The share of outcomes below the mixture, and below the average.
    regret, bound
        Of the mixture before sorting: its loss minus that of the best in hindsight, and the proven
        limit; None if there is no certificate, or no bound.
    holds
        Whether the regret is within the bound, but for rounding; None if unknown.
    """

    level: float
    experts: int
    mixture: float
    average: float
    best: str
    best_loss: float
    below: float
    average_below: float
    regret: float | None
    bound: float | None
    holds: bool | None


@dataclass(frozen=True)
class QuantileResult:
    """All figures of a mix of quantiles.

    Parameters
    ----------
    sources, target, learner
        The files, the column of outcomes, and the master.
    rows
        The number of rounds in which every level was forecast and the outcome is known.
    levels
        The levels in increasing order.
    covered, average_covered
        The share of outcomes from the lowest to the highest quantile of the mixture, and of the
        average.
    crossed
        The number of rounds in which sorting changed the order.
    outputs
        The files written, by kind.
    skipped
        The number of bad rows, at the level with most of them.
    notes
        Remarks on the columns, each with a label.
    """

    sources: tuple[str, ...]
    target: str
    learner: str
    rows: int
    levels: tuple[Level, ...]
    covered: float
    average_covered: float
    crossed: int
    outputs: dict[str, str]
    skipped: int = 0
    notes: tuple[tuple[str, str], ...] = ()

    kind: ClassVar[str] = "quantiles"

    @property
    def nominal(self) -> float:
        """The share of outcomes that the central interval should cover."""
        return self.levels[-1].level - self.levels[0].level

    @property
    def sums(self) -> tuple[float, float]:
        """The mean pinball loss of the mixture and of the average, summed over the levels."""
        return sum(each.mixture for each in self.levels), sum(each.average for each in self.levels)

    @property
    def crps(self) -> tuple[float, float]:
        """CRPS of the mixture and of the average: twice the mean over levels of pinball losses."""
        mixture, average = self.sums
        return 2 * mixture / len(self.levels), 2 * average / len(self.levels)

    @property
    def regret(self) -> float | None:
        """The regret before sorting, summed over the levels; sorting does not increase it."""
        found = [each.regret for each in self.levels if each.regret is not None]
        return sum(found) if len(found) == len(self.levels) else None

    @property
    def holds(self) -> bool | None:
        """Whether the promises of all levels hold; None if one is unknown, and none is broken."""
        found = [each.holds for each in self.levels]
        return False if False in found else None if None in found else True

    @property
    def bound(self) -> float | None:
        """The proven limit on the regret, summed over the levels."""
        found = [each.bound for each in self.levels if each.bound is not None]
        return sum(found) if len(found) == len(self.levels) else None
