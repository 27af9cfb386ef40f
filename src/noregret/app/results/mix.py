"""The result of a mix, as shown by the summary, the report and ``--json``."""

from __future__ import annotations

from dataclasses import dataclass
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
        The column's name, or what it was made of the others.
    total
        What it paid in all; where it slept, what the mixture paid.
    awake
        In how many rounds it said something.
    weight
        Its share for the next round; over many series the mean of these.
    added
        Whether it was made of the others.
    own, beside
        What it paid itself while awake, and what the mixture paid in the same rounds; None where
        that is not known.
    """

    name: str
    total: float
    awake: int
    weight: float
    added: bool
    own: float | None = None
    beside: float | None = None


class Convex(NamedTuple):
    """The best fixed weights in hindsight: what they pay, how sure that is, and which."""

    total: float
    gap: float
    weights: dict[str, float]


class Group(NamedTuple):
    """One series of several: rounds, what the mixture and the average paid, its best expert.

    The best is one of those that were awake in at least half of its rounds, if there are any.
    """

    name: str
    rounds: int
    total: float
    average: float
    best: str
    best_total: float


class Stretch(NamedTuple):
    """Some rounds in a row, first and last, and the expert that they belong to."""

    first: int
    last: int
    expert: int


@dataclass(frozen=True)
class MixResult(Result):
    """A mix that is over, or was stopped: a run whose features are experts.

    Parameters
    ----------
    loss_parameter
        The quantile, where the loss has one.
    experts
        All of them, in alphabetical order.
    average, median
        What the uniform average and the median of those awake paid in all; None if not known.
    convex, without_convex
        The best fixed weights in hindsight; or None, and why.
    regret, bound
        The regret to the best expert and what it is at most, as the masters know them; over many
        series the sums.
    groups
        The series, where there are several, in the order of the data.
    group_certificates
        Theirs, where they were made.
    history
        How it went, where that was noted.
    leaders
        Whose weight was largest when, and whom hindsight would have followed, with few switches.
    left_out
        Columns that are no experts, since they hold no numbers.
    open_rows
        Rows whose outcome is still to come: predicted, not learned from.
    """

    kind: ClassVar[str] = "mix"
    loss_parameter: float | None = None
    experts: tuple[Expert, ...] = ()
    average: float | None = None
    median: float | None = None
    convex: Convex | None = None
    without_convex: str = ""
    regret: float | None = None
    bound: float | None = None
    groups: tuple[Group, ...] = ()
    group_certificates: tuple[Certificate, ...] = ()
    history: History | None = None
    leaders: tuple[tuple[Stretch, ...], tuple[Stretch, ...]] = ((), ())
    left_out: tuple[str, ...] = ()
    open_rows: int = 0

    @property
    def best(self) -> Expert | None:
        """The best of the experts that were there, not made of the others."""
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
        """All experts by what they paid, and after them those that slept most of the time.

        While asleep they are counted as the mixture: who never said a word would be as good as it.
        """
        return sorted(self.experts, key=lambda one: (not self.mostly_awake(one), one.total))

    @property
    def least(self) -> Expert | None:
        """The best of all experts."""
        return min(self.experts, key=lambda expert: expert.total, default=None)
