"""Theorems: the promises of learners.

A theorem is defined with its learner. ``assumptions`` has the kinds of assumptions; it is
evaluated on the ``Evidence`` of a finished game, or on the ``TableEvidence`` of tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from noregret.base.compiled.losses import Loss

if TYPE_CHECKING:
    from noregret.hindsight import Answer
    from noregret.proof.record.moment import Moment
    from noregret.proof.theorems.assumptions import Assumption
    from noregret.proof.theorems.shards import OverShards


def loss_name(params: Mapping[str, Any]) -> str:
    """Return the name of the loss among the parameters; empty for one written in Python."""
    loss = params["loss"]
    return loss if isinstance(loss, str) else str(loss.name) if type(loss) is Loss else ""


Quantity = Literal[
    "loss",
    "regret",
    "mistakes",
    "corrections",
    "risk",
    "expected risk",
    "training mistakes",
    "log-wealth regret",
    "expected regret",
    "regret to the best member",
    "objective",
    "updates",
]
QUANTITIES: dict[str, str] = {
    "loss": "the cumulative loss",
    "regret": "the regret",
    "mistakes": "the number of mistakes",
    "corrections": "the number of corrections",
    "risk": "the risk on new examples",
    "expected risk": "the mean risk on new examples, over samples like this one",
    "training mistakes": "the number of mistakes on the examples that it was fitted to",
    "log-wealth regret": "the regret in log-wealth",
    "expected regret": "the expected regret",
    "regret to the best member": "the regret against the best of its members",
    "objective": "the objective",
    "updates": "the number of updates in all passes",
}
# Names in certificates of version 0.1.0.
OLD_QUANTITIES = {"regret to the bank": "regret to the best member"}
# Quantities that are regrets.
REGRETS = ("regret", "log-wealth regret")


class Wording(NamedTuple):
    """The texts of a promise.

    Parameters
    ----------
    about
        The bounded quantity.
    plain
        The promise in one line.
    likely
        True if it holds only with a stated probability.
    remedies
        The remedy for each of its measured assumptions.
    """

    about: str
    plain: str = ""
    likely: bool = False
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Theorem:
    """A promise: what is bounded, by what, under which assumptions.

    Parameters
    ----------
    name
        The name in kebab case.
    quantity
        What it bounds: the cumulative ``loss``, the ``regret``, the number of ``mistakes`` or
        ``corrections``, the ``risk`` on future examples or its mean over samples, the ``expected
        risk``, the ``training mistakes``, the ``log-wealth regret``, the ``expected regret``, which
        the theorem says how to measure, or, of learners that are mixed, the ``regret to the best
        member``.
    formula
        The promise in LaTeX.
    plain
        The promise in one line of plain text.
    where
        The meaning of the symbols, in Markdown with LaTeX.
    assumptions
        What must hold for the data and the parameters.
    bound
        The bound as a number, from the evidence of a game.
    covers
        Whether it applies to a learner with these parameters.
    best
        The best fixed predictor to compare with; by default the usual one.
    measured
        The bounded quantity, if the learner does not count it itself.
    so_far
        The bound during the game, if it is cheap.
    tune
        A function from what is known beforehand to the parameters that the theorem needs.
    tuning
        The same in words.
    about
        The bounded quantity in words, if that is not simply the quantity.
    needs_rows
        True if the bound needs the rows, not only sums over them.
    asks
        The further arguments of its certificate, required or optional.
    source
        The reference.
    warning
        True if it states a failure, not a promise.
    likely
        True if it holds only with a stated probability, so that it may fail by chance.
    beside
        True if certificates state it in addition to the chosen theorem, and choose it only by name.
    delayed
        True if outcomes may come after later predictions; all others assume that they do not.
    over_shards
        What it says about learners that each play a shard of the rows; None if that is not known.
    """

    name: str
    quantity: Quantity
    formula: str
    plain: str
    assumptions: tuple[Assumption, ...]
    bound: Callable[[Any], float] | None = None
    covers: Callable[[Mapping[str, Any]], bool] = lambda params: True
    best: Callable[[Any], Answer] | None = None
    measured: Callable[[Any], float | None] | None = None
    so_far: Callable[[Moment], float | None] | None = None
    tune: Callable[..., dict[str, Any]] | None = None
    tuning: str = ""
    needs_rows: bool = False
    asks: str = ""
    about: str = ""
    source: str = ""
    warning: bool = False
    likely: bool = False
    beside: bool = False
    where: str = ""
    delayed: bool = False
    over_shards: OverShards | None = None

    @property
    def wording(self) -> Wording:
        """The texts of this theorem's promise."""
        from noregret.proof.theorems.assumptions import Structural

        about = self.about or QUANTITIES[self.quantity]
        measured = [each for each in self.assumptions if not isinstance(each, Structural)]
        return Wording(about, self.plain, self.likely, tuple(each.remedy for each in measured))
