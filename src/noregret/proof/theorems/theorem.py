"""Theorems: the promises of learners.

A theorem is written where its learner is. What it takes for granted is in ``assumptions``; what it
may look at when a game is over is the ``Evidence``, of tables the ``TableEvidence``.
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
    "regret to the bank",
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
    "regret to the bank": "the regret to the best of its members",
    "objective": "the objective",
    "updates": "the number of updates in all passes",
}
# Those that are the regret, by whatever name.
REGRETS = ("regret", "log-wealth regret")


class Wording(NamedTuple):
    """The words that a promise is told in, kept with it so that nothing has to be looked up.

    Parameters
    ----------
    about
        What is bounded.
    plain
        The promise in one line.
    likely
        Whether it holds with a stated chance only.
    remedies
        For every assumption of its own that is measured, what to do where it did not hold.
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
        The name it is known by, in kebab case.
    quantity
        What it bounds: the cumulative ``loss``, the ``regret``, the number of ``mistakes`` or
        ``corrections``, the
        ``risk`` on examples to come or its mean over samples, the ``expected risk``, the
        ``training mistakes``, the ``log-wealth regret``, the ``expected regret``, which the theorem
        says how to measure, or the ``regret to the bank`` of learners that are mixed.
    formula
        The promise in LaTeX.
    plain
        The promise in one line of plain text.
    where
        What the letters in it are, in Markdown with LaTeX.
    assumptions
        What must hold of the data and the parameters.
    bound
        The promise as a number, once a game has been played.
    covers
        Whether it speaks of a learner with these parameters.
    best
        The best fixed predictor that the learner is compared with; the usual one if not given.
    measured
        What the bound is about, where that is not what the learner counts itself.
    so_far
        The bound at a moment of the game, where it can be had cheaply.
    tune
        From what is known beforehand to the parameters that the promise asks for.
    tuning
        The same in words.
    about
        What it bounds in words, where that is not simply the quantity.
    needs_rows
        Whether the bound needs the rows themselves, not only sums over them.
    asks
        What its certificate has to be told, or may be, written as arguments.
    source
        Who proved it, and where.
    warning
        Whether it says what goes wrong, not what is promised.
    likely
        Whether it holds with a stated chance only, so that it may fail without anyone's fault.
    beside
        Whether certificates state it beside the theorem that they were asked for, or else the
        first; never in its place, unless it is asked for by name.
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

    @property
    def wording(self) -> Wording:
        """The words for a promise of this theorem."""
        from noregret.proof.theorems.assumptions import Structural

        about = self.about or QUANTITIES[self.quantity]
        measured = [each for each in self.assumptions if not isinstance(each, Structural)]
        return Wording(about, self.plain, self.likely, tuple(each.remedy for each in measured))
