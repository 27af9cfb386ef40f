"""From online to batch: pass a learner over the examples once, and keep the mean of its weights.

A learner that predicts independent examples well, each before it learns from it, has good weights
on average. Their mean,

    v = (w_1 + … + w_m)/m,  with the weights w_t that predicted example t before it was seen,

has a risk, the expected loss on a new example, close to the learner's mean loss.

Promise. For a convex loss in [0, B] and independent examples, with probability at least 1 − δ the
risk of v is at most  L/m + B √(2 ln(1/δ)/m),  where L is the learner's cumulative loss. On
average over samples, the risk is at most the average of L/m, and of the bound on L by the learner's
own theorem, divided by m.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.registry import built, find, register
from noregret.batch.method import Batch, Solution
from noregret.batch.online_game import OnlineGame, Pass, ready_to_pass, shuffled
from noregret.batch.tables import played
from noregret.checks import one_of, seed_of
from noregret.linear.engine.boolean_rules import Conjunction, Winnow1
from noregret.linear.fixed_predictor import FixedPredictor
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
    """Return an untrained learner: the one of that name, or a clone."""
    if isinstance(learner, str):
        made: Learner = built(find(learner, Learner.family), {})
        return made
    return learner.clone()


def checked_learner(learner: Any) -> Learner | str:
    """Return a learner that predicts with w·x, or raise an error."""
    if not isinstance(learner, Learner | str):
        raise TypeError(
            f"learner must be a learner, such as WidrowHoff(), or its name: got {learner!r}"
        )
    made = fresh(learner)
    if isinstance(learner, Learner) and learner.rounds:
        raise ValueError(
            f"the learner has already learned from {learner.rounds} examples, which the theorems do"
            " not cover: pass an untrained one, such as learner.clone()"
        )
    if not made.engine.linear:
        raise ValueError(
            f"{made.name} does not predict with w·x, so neither its mean nor its last weights can"
            " replace it: use another learner"
        )
    if isinstance(made.engine, Winnow1 | Conjunction):
        raise ValueError(
            f"{made!r} is a rule with a threshold, which the mean of its weights is not: use"
            " another learner"
        )
    if made.engine.mean_kept:
        raise ValueError(f"{made!r} is averaged already: pass the learner without averaging")
    return learner


def own_theorems(learner: Learner) -> list[Theorem]:
    """Return the learner's theorems that bound its loss on any examples."""
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
    """Check the assumptions of the learner's own theorem."""
    from noregret.proof.certificates.issue import surely

    theorem, findings = own_promise(evidence)
    for found in findings:
        if not surely(found):
            name = f"{found.name}, as {theorem.name} assumes"
            return Finding(name, found.limit, found.measured, found.holds, found.first_violation)
    names = "; ".join(found.name for found in findings[1:]) or "nothing"
    known = all(found.holds for found in findings)
    return Finding(f"the assumptions of {theorem.name}: {names}", None, None, known or None)


def own_bound(evidence: OnlineEvidence) -> float:
    """Return the bound of the learner's own theorem on its loss per round."""
    theorem, _ = own_promise(evidence)
    assert theorem.bound is not None
    bound = theorem.bound(evidence)
    if theorem.quantity == "regret":
        best = evidence.usual() if theorem.best is None else theorem.best(evidence)
        bound += best.loss
    return bound / evidence.rounds


EXCHANGEABLE = Trusted(
    "the examples and the new one are exchangeable: drawn independently, or with all orders equally"
    " likely",
    "the examples and the new one are exchangeable",
)


@register
class OnlineToBatch(Batch):
    """The mean weights of a learner's single pass over the examples, as a fixed predictor.

    Parameters
    ----------
    learner
        An untrained learner, or its name. It must predict with w·x, unlike ``auto`` and ``vaw``.
    take
        ``average`` for the mean of the weights of all rounds, ``last-half`` for that of the second
        half, which leaves out the beginning, ``last`` for the final weights: often good, but
        without a theorem.
    order
        ``given``, or ``shuffled`` if the order of the examples carries information, such as time,
        that new ones will not share.
    seed
        The seed of the shuffle.

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
    _proven_by_weights = False
    unproven = "The last weights are often good, but only means of weights have a theorem."
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
            plain="E[risk of v] <= E[the bound of the learner's own theorem on its loss, over m]",
            where=(
                r"$L^*$ is the bound of the learner's own theorem on its loss over $m$ examples, at"
                r" the best $u$ for the sample; on average at most its value at any fixed $u$"
            ),
            assumptions=(
                EXCHANGEABLE,
                CONVEX,
                Shown(
                    "the assumptions of the learner's own theorem, for samples like this one",
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
        self.seed = seed_of(seed)
        super().__init__()

    def _new_fixed(self) -> FixedPredictor:
        """Return the predictor that reads the examples, with the loss of the learner."""
        return FixedPredictor(fresh(self.learner).engine.loss)

    def _new_game(self, **options: Any) -> OnlineGame:
        """Return a game that reads examples and passes over them, from scratch."""
        return OnlineGame(self, **options)

    def _one_pass(self, rows: Rows) -> Pass:
        """Pass an untrained learner over rows."""
        learner = ready_to_pass(fresh(self.learner), self.take != "last")
        ordered = rows if self.order == "given" else shuffled(rows, self.seed)
        return Pass(learner, ordered, rows.shape[0] // 2 if self.take == "last-half" else 0)

    def _taken(self, passed: Pass) -> Solution:
        """Return the selected weights of a pass."""
        weights = passed.last if self.take == "last" else passed.mean
        figures = {"loss": passed.loss, "rounds": passed.rounds - passed.cut}
        return Solution(weights, figures)

    def _check_found(self, found: Solution) -> None:
        """Raise ValueError if the result in a file is invalid."""
        loss, rounds = found.numbers.get("loss"), found.numbers.get("rounds")
        if not isinstance(loss, float) or not np.isfinite(loss):
            raise ValueError(f"the loss is {loss!r}")
        if not isinstance(rounds, int) or not 0 < rounds < 2**62:
            raise ValueError(f"rounds are {rounds!r}")

    @property
    def progressive_loss(self) -> float:
        """The mean loss of the averaged rounds, each predicted before its example was learned.

        With ``take="last"``, of all rounds.
        """
        figures: Mapping[str, Any] = self.solution.numbers
        return float(figures["loss"] / figures["rounds"])

    def risk(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return the mean loss of the predictor on these examples, which should be new.

        Parameters
        ----------
        X, y, target
            As in ``fit``.
        """
        game = played(self._ready(), X, y, target)
        return game.loss / game.rounds
