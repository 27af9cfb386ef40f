"""The result of a mix, as shown by the summary, the report and ``--json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from noregret.app.results.mix_history import History
from noregret.app.results.run import Result

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate


class Expert(NamedTuple):
    """One expert.

    Parameters
    ----------
    name
        The column's name, or that of a forecast made from the others.
    total
        Its total loss; in rounds without a forecast, that of the mixture.
    awake
        The number of rounds with a forecast.
    weight
        Its weight in the next round; the mean over many series.
    added
        Whether its forecasts are made from the others.
    own, beside
        Its own loss while awake, and that of the mixture in the same rounds; None if not known.
    """

    name: str
    total: float
    awake: int
    weight: float
    added: bool
    own: float | None = None
    beside: float | None = None


class Steady(NamedTuple):
    """The plain average of the learners of a tournament that went on to the end."""

    name: str
    total: float


class Convex(NamedTuple):
    """The best fixed weights in hindsight: their loss, its gap, and the weights."""

    total: float
    gap: float
    weights: dict[str, float]


class Group(NamedTuple):
    """One series of several: rounds, losses of the mixture and the average, its best expert.

    The best is one of those that were awake in at least half of its rounds, if there are any.
    """

    name: str
    rounds: int
    total: float
    average: float
    best: str
    best_total: float


class Stretch(NamedTuple):
    """Consecutive rounds, first and last, and the expert that they belong to."""

    first: int
    last: int
    expert: int


@dataclass(frozen=True)
class MixResult(Result):
    """A finished or interrupted mix: a run whose features are experts.

    Parameters
    ----------
    loss_parameter
        The quantile, if the loss has one.
    experts
        All of them, in alphabetical order.
    average, median
        The total losses of the uniform average and of the median; None if not known.
    steady
        The average of the learners that did not stop; None if none of them stopped, or all.
    convex, without_convex
        The best fixed weights in hindsight; or None, and why.
    regret, bound
        The regret against the best expert and its bound, as the masters track them; sums over many
        series.
    groups
        The series, if there are several, in the order of the data.
    group_certificates
        Their certificates, if made.
    history
        Losses and weights over time, if recorded.
    leaders
        The expert with the largest weight over time, and the best sequence in hindsight with few
        switches.
    left_out
        Columns that are not experts because they hold no numbers.
    no_forecasts
        Columns of numbers that were left out as no forecasts, each with the reason.
    open_rows
        Rows whose outcome is still to come: predicted, not learned from.
    set_aside
        The number of forecasts that the master set aside as absurd.
    outcomes_aside
        The number of outcomes that count, but were not learned, as they are absurd.
    batches, waited
        The number of batches, None if there are none, and the loss that waiting for their outcomes
        has added.
    """

    kind: ClassVar[str] = "mix"
    loss_parameter: float | None = None
    experts: tuple[Expert, ...] = ()
    average: float | None = None
    median: float | None = None
    steady: Steady | None = None
    convex: Convex | None = None
    without_convex: str = ""
    regret: float | None = None
    bound: float | None = None
    groups: tuple[Group, ...] = ()
    group_certificates: tuple[Certificate, ...] = ()
    history: History | None = None
    leaders: tuple[tuple[Stretch, ...], tuple[Stretch, ...]] = ((), ())
    left_out: tuple[str, ...] = ()
    no_forecasts: dict[str, str] = field(default_factory=dict)
    open_rows: int = 0
    set_aside: int = 0
    outcomes_aside: int = 0
    batches: int | None = None
    waited: float = 0.0

    @property
    def best(self) -> Expert | None:
        """The best of the experts that are not made from the others."""
        own = [expert for expert in self.experts if not expert.added]
        return min(own, key=lambda expert: expert.total, default=None)

    @property
    def best_awake(self) -> Expert | None:
        """The same among those that slept no more than half of the time."""
        own = [expert for expert in self.ranked if not expert.added and self.mostly_awake(expert)]
        return own[0] if own else None

    def mostly_awake(self, expert: Expert) -> bool:
        """Return whether an expert was awake in at least half of the rounds."""
        return 2 * expert.awake >= self.rows

    @property
    def ranked(self) -> list[Expert]:
        """All experts by loss, those asleep most of the time last.

        While asleep they are charged the loss of the mixture, and would rank like it.
        """
        return sorted(self.experts, key=lambda one: (not self.mostly_awake(one), one.total))

    @property
    def least(self) -> Expert | None:
        """The best of all experts."""
        return min(self.experts, key=lambda expert: expert.total, default=None)
