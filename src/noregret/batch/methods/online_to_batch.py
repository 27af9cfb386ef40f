"""From online to batch: a learner passes over the examples once, and its mean weights are kept.

A learner that does well on independent examples, each before it has seen it, has good weights on
average over its rounds. The mean of them,

    v = (w_1 + … + w_m)/m,  with the weights w_t that predicted example t before it was seen,

has a risk, the expected loss on a new example, near what the learner paid.

Promise. For a convex loss in [0, B] and independent examples, with probability at least 1 − δ the
risk of v is at most  L/m + B √(2 ln(1/δ)/m),  where L is what the learner paid on the way. On
average over samples, the risk is at most the average of L/m; and of what the learner's own theorem
allows, over m.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.registry import built, find, register
from noregret.batch.intake import FixedPredictor
from noregret.batch.method import Batch, Solution
from noregret.batch.online_game import OnlineGame, Pass, ready_to_pass, shuffled
from noregret.batch.tables import played
from noregret.checks import one_of
from noregret.experts.master import checked_seed
from noregret.linear.engine.boolean_rules import Conjunction, Winnow1
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import CONVEX, Finding, Shown, Structural, Trusted
from noregret.proof.theorems.averaging import HIGH_PROBABILITY, mean_loss
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.batch.online_game import OnlineEvidence
    from noregret.hindsight import Rows

Floats = NDArray[np.float64]
TAKES, ORDERS = ("average", "last", "last-half"), ("given", "shuffled")


def fresh(learner: Learner | str) -> Learner:
    """Return a learner that has learned nothing: the one of that name, or a clone."""
    if isinstance(learner, str):
        made: Learner = built(find(learner, Learner.family), {})
        return made
    return learner.clone()


def checked_learner(learner: Any) -> Learner | str:
    """Return a learner whose mean weights mean something, or say why they do not."""
    if not isinstance(learner, Learner | str):
        raise TypeError(
            f"pass over examples with a learner, such as WidrowHoff(), or its name: got {learner!r}"
        )
    made = fresh(learner)
    if isinstance(learner, Learner) and learner.rounds:
        raise ValueError(
            f"the learner has learned from {learner.rounds} examples already, which promises for"
            " one pass know nothing of: give a fresh one, such as learner.clone()"
        )
    if not made.engine.linear:
        raise ValueError(
            f"{made.name} predicts with more than w·x alone, so that neither its mean nor its last"
            " weights are what it predicts with: take another learner"
        )
    if isinstance(made.engine, Winnow1 | Conjunction):
        raise ValueError(
            f"{made!r} is a rule with a threshold of its own, which the mean of its weights is not:"
            " take another learner"
        )
    if made.engine.mean_kept:
        raise ValueError(f"{made!r} is averaged already: give the plain learner")
    return learner


def own_theorems(learner: Learner) -> list[Theorem]:
    """Return the learner's theorems that bound its loss on any examples, and not another one."""
    return [
        theorem
        for theorem in learner.theorems
        if theorem.quantity in ("loss", "regret")
        and theorem.measured is None
        and theorem.bound is not None
        and not (theorem.likely or theorem.warning)
        and theorem.covers(learner.params)
    ]


def own_promise(evidence: OnlineEvidence) -> tuple[Theorem, tuple[Finding, ...]]:
    """Return the learner's first theorem whose assumptions held, or else its first."""
    from noregret.proof.certificates.issue import chosen

    theorem, findings = chosen(own_theorems(evidence.learner), evidence)
    assert theorem is not None
    return theorem, findings


def as_its_theorem_assumes(evidence: OnlineEvidence) -> Finding:
    """Check all that the learner's own theorem assumes."""
    from noregret.proof.certificates.issue import surely

    theorem, findings = own_promise(evidence)
    for found in findings:
        if not surely(found):
            name = f"{found.name}, as {theorem.name} assumes"
            return Finding(name, found.limit, found.measured, found.holds, found.first_violation)
    names = "; ".join(found.name for found in findings[1:]) or "nothing"
    known = all(found.holds for found in findings)
    return Finding(f"all that {theorem.name} assumes: {names}", None, None, known or None)


def own_bound(evidence: OnlineEvidence) -> float:
    """Return what the learner's own theorem lets it pay in a round."""
    theorem, _ = own_promise(evidence)
    assert theorem.bound is not None
    most = theorem.bound(evidence)
    if theorem.quantity == "regret":
        best = evidence.usual() if theorem.best is None else theorem.best(evidence)
        most += best.loss
    return most / evidence.rounds


EXCHANGEABLE = Trusted(
    "the examples and the new one are exchangeable: drawn independently, or in any order as likely"
    " as in any other",
    "examples and the new one are exchangeable",
)


@register
class OnlineToBatch(Batch):
    """A learner's one pass over the examples, made a predictor for the next one.

    Parameters
    ----------
    learner
        Who learns: a learner that has learned nothing yet, or the name of one. Its predictions
        must be w·x, which those of ``auto`` and ``vaw`` are not.
    take
        ``average`` for the mean of the weights of all rounds, ``last-half`` for that of the later
        half of them, which forgets the clumsy beginning, ``last`` for the weights that have
        learned every example: often good, but nothing is promised for them.
    order
        ``given``, or ``shuffled`` where the order of the examples may tell something, such as
        time, that a new one will not share.
    seed
        Of the shuffle.

    Examples
    --------
    >>> import noregret
    >>> method = OnlineToBatch(noregret.WidrowHoff(rate=0.5))
    >>> method.fit([[1.0], [1.0], [1.0]], [1.0, 1.0, 1.0]).weights  # the mean of 0, 1/2 and 3/4
    array([0.41666667])
    >>> method.certificate(largest_loss=1.0).theorem.name
    'online-to-batch-high-probability'

    References
    ----------
    N. Cesa-Bianchi, A. Conconi and C. Gentile, "On the generalization ability of on-line learning
    algorithms", 2004.
    """

    name = "online-to-batch"
    proven_by_weights = False
    unproven = "The last weights are often good, but only means of weights have a promise."
    theorems = (
        HIGH_PROBABILITY,
        Theorem(
            name="online-to-batch-expectation",
            quantity="expected risk",
            formula=r"\mathbb{E}[R_v] \le \mathbb{E}\left[\frac{L_A}{m}\right]",
            plain="E[risk of v] <= E[loss/m]",
            where=r"the expectation is over samples of $m$ examples",
            assumptions=(
                EXCHANGEABLE,
                CONVEX,
                Structural("$v$ is the mean of the weights of those rounds whose loss is $L_A$"),
            ),
            bound=mean_loss,
            covers=lambda params: params["take"] != "last",
            measured=lambda evidence: None,
            beside=True,
            source="Cesa-Bianchi, Conconi and Gentile, 2004",
        ),
        Theorem(
            name="online-to-batch-comparator",
            quantity="expected risk",
            formula=(
                r"\mathbb{E}[R_v] \le \mathbb{E}\left[\frac{L^*}{m}\right], \text{ as in }"
                r" \mathbb{E}[R_v] \le \min_u \left[\frac{R_u}{1-\eta}"
                r" + \frac{\|u\|^2}{\eta\,m}\right]"
            ),
            plain="E[risk of v] <= E[what the learner's own theorem lets it pay, over m]",
            where=(
                r"$L^*$ is the bound of the learner's own theorem on its loss over $m$ examples, at"
                r" the best $u$ for the sample; on average that is no more than at the best for all"
            ),
            assumptions=(
                EXCHANGEABLE,
                CONVEX,
                Shown(
                    "what the learner's own theorem assumes, of this sample as of others like it",
                    as_its_theorem_assumes,
                ),
                Structural("$v$ is the mean of the weights of all rounds"),
            ),
            bound=own_bound,
            covers=lambda params: (
                params["take"] == "average" and bool(own_theorems(fresh(params["learner"])))
            ),
            measured=lambda evidence: None,
            beside=True,
            source="Cesa-Bianchi, Conconi and Gentile, 2004",
        ),
    )

    def __init__(
        self,
        learner: Learner | str = "widrow-hoff",
        take: str = "average",
        order: str = "given",
        seed: int = 0,
    ) -> None:
        self.learner = checked_learner(learner)
        self.take, self.order = one_of("take", take, TAKES), one_of("order", order, ORDERS)
        self.seed = checked_seed(seed)
        super().__init__()

    def new_fixed(self) -> FixedPredictor:
        """Return who takes examples in: outcomes are what the learner's loss says."""
        return FixedPredictor(fresh(self.learner).engine.loss)

    def new_game(self, **options: Any) -> OnlineGame:
        """Return a game that takes examples in and passes over them, from scratch."""
        return OnlineGame(self, **options)

    def one_pass(self, rows: Rows) -> Pass:
        """Let a fresh learner pass over rows."""
        learner = ready_to_pass(fresh(self.learner), self.take != "last")
        ordered = rows if self.order == "given" else shuffled(rows, self.seed)
        return Pass(learner, ordered, rows.shape[0] // 2 if self.take == "last-half" else 0)

    def taken(self, passed: Pass) -> Solution:
        """Return the weights that are wanted of a pass."""
        weights = passed.last if self.take == "last" else passed.mean
        figures = {"loss": passed.loss, "rounds": passed.rounds - passed.cut}
        return Solution(weights, figures)

    def check_found(self, found: Solution) -> None:
        """Raise ValueError where what a file says was found makes no sense."""
        loss, rounds = found.numbers.get("loss"), found.numbers.get("rounds")
        if not isinstance(loss, float) or not np.isfinite(loss):
            raise ValueError(f"the loss is {loss!r}")
        if not isinstance(rounds, int) or not 0 < rounds < 2**62:
            raise ValueError(f"rounds are {rounds!r}")

    @property
    def progressive_loss(self) -> float:
        """The mean loss that the averaged weights paid, each on an example not yet seen.

        With ``take="last"``, that of all rounds.
        """
        figures: Mapping[str, Any] = self.solution.numbers
        return float(figures["loss"] / figures["rounds"])

    def risk(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return the mean loss of the predictor on these examples, which should be new to it.

        Parameters
        ----------
        X, y, target
            As in ``fit``.
        """
        game = played(self.ready(), X, y, target)
        return game.loss / game.rounds
