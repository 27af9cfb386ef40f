"""A learner that cycles through the examples until a whole pass makes no update.

It must learn only from mistakes, as the perceptron does, or from near mistakes:

    repeat:   for every example (x, y) in turn:   learn from it, if it is a mistake
    until a whole pass makes no update

Promise. The passes together are a stream with the same R and γ: so the perceptron makes at most
(R/γ)² updates in all of them, and max-margin as many as its theorem allows. Then every example is
classified correctly. If no weights separate the labels, it would never stop: this is proven, and a
warning is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from noregret.base.registry import register
from noregret.batch.method import Batch, Solution
from noregret.batch.methods.online_to_batch import fresh
from noregret.checks import truth, whole
from noregret.hindsight.blocks import padded
from noregret.learners import max_margin, perceptron
from noregret.linear.engine.boolean_rules import Conjunction, Winnow1
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import Shown, Structural, separable
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.hindsight import Rows

# Passes after which separability is checked.
PASSES_BEFORE_CHECK = 10


def checked_learner(learner: Any) -> Learner | str:
    """Return a learner that can converge, or raise an error."""
    if not isinstance(learner, Learner | str):
        raise TypeError(
            f"learner must be a learner, such as Perceptron(), or its name: got {learner!r}"
        )
    made = fresh(learner)
    if isinstance(learner, Learner) and learner.rounds:
        raise ValueError(
            f"the learner has already learned from {learner.rounds} examples: pass an untrained"
            " one, such as learner.clone()"
        )
    rule = isinstance(made.engine, Winnow1 | Conjunction)
    if made.engine.mean_kept or rule or not made.engine.linear:
        raise ValueError(f"{made!r} does not predict with w·x for its latest weights")
    if made.engine.loss.name != "mistake" and not hasattr(made, "corrections"):
        raise ValueError(
            f"{made.name} learns from more than mistakes and would never converge: use perceptron,"
            " max-margin or winnow, or online-to-batch for a single pass"
        )
    return learner


def updates_of(learner: Learner) -> int:
    """Return the number of updates of a learner."""
    return int(getattr(learner, "corrections", learner.mistakes))


def of_learner(ask: Callable[[Any], Any]) -> Callable[[BatchEvidence], Any]:
    """Wrap a function of a learner's theorem, so that it sees the learner's parameters."""

    def asked(evidence: BatchEvidence) -> Any:
        seen = copy(evidence)
        seen.params = fresh(evidence.params["learner"]).params
        return ask(seen)

    return asked


def cycles(name: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return a predicate: whether the learner has that name."""
    return lambda params: fresh(params["learner"]).name == name


@register
class Cycled(Batch):
    """A learner that cycles through the examples until it separates them.

    Parameters
    ----------
    learner
        An untrained learner that learns from mistakes, or its name, such as ``perceptron``,
        ``max-margin`` or ``winnow``.
    passes
        The largest number of passes over the examples.
    intercept
        Whether to add a constant feature of value 1, which counts in the norm and the margin.

    Examples
    --------
    >>> method = Cycled("perceptron").fit([[2.0, 1.0], [1.0, 2.0], [3.0, 1.0]], [1, -1, 1])
    >>> method.separated, method.updates, method.weights
    (True, 2, array([ 1., -1.]))
    >>> method.certificate().theorem.holds
    True

    References
    ----------
    F. Rosenblatt, 1958; A. B. J. Novikoff, 1962.
    """

    name = "cycled"
    loss_name = "mistake"
    _proven_by_weights = False
    unproven = "The number of updates is bounded only for perceptron and max-margin."
    theorems = (
        Theorem(
            name="cycled-perceptron",
            quantity="updates",
            formula=r"K \le (R/\gamma)^2",
            plain="updates in all passes <= (R/γ)²",
            assumptions=(
                Shown(
                    r"some unit vector $v$ has $y_t (v \cdot x_t) \ge \gamma > 0$ for every"
                    r" example; the largest such $\gamma$ is found in hindsight",
                    separable,
                ),
                Structural(r"$R = \max_t \|x_t\|_2$"),
            ),
            bound=perceptron.by_margin,
            measured=lambda evidence: float(evidence.found["updates"]),
            covers=cycles("perceptron"),
            needs_rows=True,
            source="Novikoff, 1962",
        ),
        Theorem(
            name="cycled-max-margin",
            quantity="updates",
            formula=r"K \le \frac{2}{\gamma^2} \left(\frac{2}{\alpha} - 1\right)^2"
            r" + \frac{8}{\alpha} - 4",
            plain="updates in all passes <= (2/γ²)(2/α − 1)² + 8/α − 4",
            where=(
                r"$\alpha$ is the learner's `accuracy`; at the end every example has a margin of"
                r" at least $(1 - \alpha)\gamma$"
            ),
            assumptions=(
                Shown(
                    r"some unit vector $v$ has $y_t (v \cdot x_t)/\|x_t\|_2 \ge \gamma > 0$ for"
                    r" every example; the largest such $\gamma$ is found in hindsight",
                    of_learner(max_margin.separable),
                ),
            ),
            bound=of_learner(max_margin.promise),
            measured=lambda evidence: float(evidence.found["updates"]),
            covers=cycles("max-margin"),
            needs_rows=True,
            source="Gentile, 2001",
        ),
    )

    def __init__(
        self,
        learner: Learner | str = "perceptron",
        passes: int = 1000,
        intercept: bool = False,
    ) -> None:
        self.learner = checked_learner(learner)
        self.passes = whole("passes", passes)
        self.intercept = truth("intercept", intercept)
        super().__init__()

    def _solve(self, examples: BatchEvidence) -> Solution:
        """Cycle until a pass makes no update, or the labels are proven not to be separable."""
        learner, rows = fresh(self.learner), examples.rows
        made, known, resting = 0, None, False
        while not resting and made < self.passes and known is not False:
            before = updates_of(learner)
            passed(learner, rows)
            made, resting = made + 1, updates_of(learner) == before
            if made == PASSES_BEFORE_CHECK and not resting:
                known = examples.margin().separable
        separated = bool((examples.margins(learner.weights) > 0).all())
        if known is False:
            warn(f"no weights separate these labels, so {learner.name} would never converge")
        elif not resting:
            warn(f"{learner.name} has not converged: allow more passes")
        numbers = {"updates": updates_of(learner), "passes": made, "resting": resting}
        return Solution(
            learner.weights,
            numbers | {"separated": separated, "separable": True if separated else known},
        )

    def _check_found(self, found: Solution) -> None:
        """Raise ValueError if the result in a file is invalid."""
        kinds = {"updates": int, "passes": int, "resting": bool, "separated": bool}
        if any(type(found.numbers[name]) is not kind for name, kind in kinds.items()):
            raise ValueError("a result has the wrong type")
        if found.numbers["separable"] not in (True, False, None):
            raise ValueError("separable should be true, false or null")

    @property
    def updates(self) -> int:
        """The number of updates in all passes."""
        return int(self.solution.numbers["updates"])

    @property
    def passes_made(self) -> int:
        """The number of passes; if it converged, the last one made no update."""
        return int(self.solution.numbers["passes"])

    @property
    def converged(self) -> bool:
        """True if a whole pass made no update."""
        return bool(self.solution.numbers["resting"])

    @property
    def separated(self) -> bool:
        """True if the weights classify every example correctly."""
        return bool(self.solution.numbers["separated"])

    @property
    def separable(self) -> bool | None:
        """True if the labels are linearly separable; None if neither was proven."""
        known = self.solution.numbers["separable"]
        return None if known is None else bool(known)


def passed(learner: Learner, rows: Rows) -> None:
    """Pass over the rows once, each with all features."""
    for X, y in rows.blocks():
        learner.learn_many(padded(X, rows.shape[1]), y)


def warn(what: str) -> None:
    """Warn that it did not converge."""
    warnings.warn(f"{what}; its latest weights are used", RuntimeWarning, stacklevel=2)
