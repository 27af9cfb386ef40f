"""Auto: no rate, scale, horizon or model to choose.

A bank of learners sees every row, and a master mixes their predictions:

    filters         least squares with four memories, from all rounds to the last hundred or so
    first order     AdaGrad at four rates, and diagonal filters with four memories
    trees           a Mondrian forest, from round 129 on, with up to 64 features; boosted trees
                    over the latest rows, from round 161 on, with up to 256 features
    combinations    small filters over the predictions of those
    outcomes        the same with the latest outcomes and the latest errors of the mixture
    constants       the running mean and the last outcome, as they are; even odds for labels

No learner depends on the unit of a feature or of the outcomes. Filters are switched off above 256
features. For labels, probabilities are mixed, and they are never 0 or 1.

Promise. For every learner k of the bank, with prior weight π_k: for labels,
L_A − L_k ≤ ln(1/π_k); for numbers AdaHedge's bound,
(1 + ln(1/π_k)/ln n) Δ + [o_k]₊  with  Δ ≤ ½√(ln n Σ s_t²) + S(⅔ ln n + 1),
where Δ is the cost of mixing, which is measured, s_t the range of the learners' losses in round t,
S the largest s_t and n the number of learners. When learners are weighted, a single outlying
outcome is clipped to eight usual errors, and losses far beyond the usual count alike, so that one
round cannot outweigh all others; o_k is the regret against k that this left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

from noregret.auto.bank import LOSSES, Bank, DelayedBank
from noregret.auto.banked import Banked
from noregret.base.registry import register
from noregret.checks import one_of
from noregret.proof.theorems.assumptions import Assumption, Finding, Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence

MAX_DELAY = 100_000  # outcomes
MEMBERS = ("all", "linear")


def regret_to_the_best(evidence: Evidence) -> float:
    """Return the loss of the mixture minus that of the best learner of the bank."""
    return -float(evidence.account("excess").min())


def promise(evidence: Evidence) -> float:
    """Return the bound on the regret against the best member."""
    return float(evidence.account("price")[int(evidence.account("excess").argmin())])


def measured_promise(evidence: Evidence) -> float:
    """Return the bound on the regret against the best member by the measured cost of mixing."""
    return float(evidence.account("cost")[int(evidence.account("excess").argmin())])


def has_forward_filter(params: Mapping[str, Any]) -> bool:
    """Return whether the bank of these parameters has the filter with a promise."""
    return bool(params.get("edition", 1) > 1)


def linear_promise(evidence: Evidence) -> float:
    """Return the bound on the loss by that of linear predictors."""
    return float(evidence.account("linear")[0])


@dataclass(frozen=True)
class ForwardFilterPlayed(Assumption):
    """The forward filter took part in every round."""

    remedy = "It needs at most 256 features, and values that double precision can square."

    def check(self, evidence: Evidence) -> Finding:
        """Return the number of rounds without it."""
        lost = float(evidence.account("linear")[1])
        return Finding("rounds without the forward filter = 0", 0.0, lost, lost == 0)


@register
class Auto(Banked):
    """A mixture of many learners, with nothing to tune.

    Parameters
    ----------
    loss
        ``square``, ``absolute`` or ``quantile`` for numbers, ``logistic`` for labels. Several
        classes have a learner of their own, AutoClasses.
    loss_parameter
        The quantile, between 0 and 1.
    recent
        If True, some learners also use the latest outcomes. Set it to False if these will not be
        known when predictions are made.
    delay
        Number of outcomes still unknown when a prediction is made, up to 100,000. With 24, the
        prediction that counts for round t uses only the outcomes up to round t − 25, so losses and
        certificates are those of a service whose outcomes arrive 24 rounds late; learning takes
        twice as long. ``predict_one`` uses everything learned so far: in such a service, call
        ``learn_one`` when an outcome arrives. No theorem covers delayed outcomes.
    edition
        The members and rules of the bank: 3; models and certificates keep theirs. 2 has no boosted
        trees, and 1 is that of version 0.1.
    members
        ``all``, or ``linear`` for a bank without trees, which is several times as fast.

    Examples
    --------
    Features in metres and in grams need no scaling:

    >>> learner = Auto()
    >>> for t in range(300):
    ...     x = {"height": 1e-3 * (t % 7), "weight": 1e6 * (t % 5)}
    ...     learner.learn_one(x, 1e3 * x["height"] - 2e-6 * x["weight"] + 50)
    >>> round(learner.predict_one({"height": 0.004, "weight": 3e6}), 1)
    48.0

    References
    ----------
    V. Vovk, "Competitive on-line statistics", 2001. S. de Rooij, T. van Erven, P. D. Grünwald and
    W. M. Koolen, "Follow the leader if you can, hedge if you must", 2014. G. J. Bierman,
    "Factorization methods for discrete sequential estimation", 1977.
    """

    name = "auto"
    unproven = "The theorems of auto hold for outcomes without delay (delay=0)."
    engine: Bank
    _earlier: ClassVar[dict[str, Any]] = {"edition": 1, "members": "linear"}
    theorems = (
        Theorem(
            name="auto-mixing",
            quantity="regret to the best member",
            formula=(
                r"L_A - L_k \le \left(1 + \frac{\ln(1/\pi_k)}{\ln n}\right) \Delta_T + [o_k]_+,"
                r" \quad \Delta_T = \sum_t \Big( w_t\cdot\ell_t"
                r" + \tfrac{1}{\eta_t} \ln \sum_k w_{t,k} e^{-\eta_t \ell_{t,k}} \Big)"
            ),
            plain="regret against k <= (1 + ln(1/π_k)/ln n) Δ + max(0, o_k), Δ the cost of mixing",
            where=(
                r"$k$ is any learner of the bank or either of the two mixtures weighted with them,"
                r" $\pi_k$ its prior weight and $n$ their number; $\ell_t$ are their losses in"
                r" round $t$, $w_t$ their weights and $\eta_t = \ln n/\Delta_{t-1}$ the rate. The"
                r" cost of mixing $\Delta_T$ is measured; it is never more than the first factor of"
                r" ``auto`` allows, and small where the leading learners agree."
                r" $o_k$ is the part of the regret to $k$ that clipping of outlying outcomes"
                r" and limits on losses far beyond the usual left out"
            ),
            assumptions=(Structural("the square, the absolute or the quantile loss"),),
            measured=regret_to_the_best,
            bound=measured_promise,
            # Of edition 1, the cost is lost in rounding where outcomes grow exponentially.
            covers=lambda p: p["loss"] != "logistic" and p["delay"] == 0 and p["edition"] > 1,
            source="de Rooij, van Erven, Grünwald and Koolen, 2014, with a prior",
        ),
        Theorem(
            name="auto",
            quantity="regret to the best member",
            formula=(
                r"L_A - L_k \le \left(1 + \frac{\ln(1/\pi_k)}{\ln n}\right)"
                r" \left( \tfrac12\sqrt{\ln n \sum_t s_t^2} + S\big(\tfrac23\ln n+1\big) \right)"
                r" + [o_k]_+"
            ),
            plain=(
                "regret against k <= (1 + ln(1/π_k)/ln n) (sqrt(Σ s_t² ln n)/2 + S (2/3 ln n + 1))"
                " + max(0, o_k)"
            ),
            where=(
                r"$k$ is any learner of the bank or either of the two mixtures weighted with them,"
                r" $\pi_k$ its prior weight and $n$ their number; $s_t$ is the range of their"
                r" losses in round $t$, and $S$ the largest $s_t$. For the weights, an outcome more"
                r" than eight usual errors off is clipped to eight unless it lasts, and losses far"
                r" beyond the usual are limited; $o_k$ is the part of the regret to $k$ that this"
                r" left out"
            ),
            assumptions=(Structural("the square, the absolute or the quantile loss"),),
            measured=regret_to_the_best,
            bound=promise,
            covers=lambda p: p["loss"] != "logistic" and p["delay"] == 0,
            source="de Rooij, van Erven, Grünwald and Koolen, 2014, with a prior",
        ),
        Theorem(
            name="auto-linear",
            quantity="loss",
            formula=(
                r"L_A \le y_1^2 + \min_u \Big[ L_u + (u(x_1) - y_1)^2"
                r" + \sum_j \lambda_j u_j^2 \Big] + \sum_t v_t + C_k"
            ),
            plain="loss <= y1² + min over u of  L(u) + (u(x1) - y1)² + Σ λ_j u_j²,  + Σ v_t + C",
            where=(
                r"$u(x) = u_0 + \sum_j u_j x_j$ is any predictor that is linear in the features;"
                r" $\lambda_j$ is the square of the first difference of feature $j$ from its value"
                r" in the first row. $v_t = (y_t - y_1)^2 z_t/(1 + z_t)$ with $z_t = x_t^\top"
                r" A_{t-1}^{-1} x_t$, where $A_{t-1}$ is the matrix of the penalties plus the rows"
                r" before $t$, all counted from the first row; if the prediction of the forward"
                r" filter was clipped, or the row has new features or another importance than 1,"
                r" what that cost is added. $C_k$ is the price of that filter among the members, by"
                r" the theorem auto-mixing. The minimum over $u$ is exact"
            ),
            assumptions=(
                Structural("the square loss"),
                ForwardFilterPlayed("at most 256 features, so that the forward filter took part"),
            ),
            bound=linear_promise,
            beside=True,
            covers=lambda p: p["loss"] == "square" and p["delay"] == 0 and has_forward_filter(p),
            source="Vovk, 2001; Azoury and Warmuth, 2001; with the price of a member",
        ),
        Theorem(
            name="auto-chances",
            quantity="regret to the best member",
            formula=r"L_A - L_k \le \ln(1/\pi_k)",
            plain="regret against k <= ln(1/π_k)",
            where=(
                r"$k$ is any learner of the bank or the mixture weighted with them, $\pi_k$ its"
                r" prior weight"
            ),
            assumptions=(Structural("the logistic loss; probabilities are mixed"),),
            measured=regret_to_the_best,
            bound=promise,
            covers=lambda p: p["loss"] == "logistic" and p["delay"] == 0,
            source="Vovk, 1990; Bayesian mixture",
        ),
    )

    def __init__(
        self,
        loss: str = "square",
        loss_parameter: float | None = None,
        recent: bool = True,
        delay: int = 0,
        edition: int = 3,
        members: str = "all",
    ) -> None:
        if loss == "softmax":
            raise ValueError(
                "the softmax loss is for several classes: use auto-classes (AutoClasses in Python),"
                " the form of auto for these"
            )
        one_of("loss", loss, LOSSES)
        if not isinstance(recent, bool):
            raise ValueError(f"recent must be True or False: got {recent!r}")
        counts = isinstance(delay, Integral) and not isinstance(delay, bool)
        if not (counts and 0 <= delay <= MAX_DELAY):
            raise ValueError(f"delay must be a whole number up to {MAX_DELAY:,}: got {delay!r}")
        counts = isinstance(edition, Integral) and not isinstance(edition, bool)
        if not (counts and edition in (1, 2, 3)):
            raise ValueError(f"edition must be 1, 2 or 3: got {edition!r}")
        one_of("members", members, MEMBERS)
        kind = DelayedBank if delay else Bank
        trees = members == "all"
        super().__init__(kind(loss, loss_parameter, recent, int(delay), int(edition), trees))
        self.loss, self.loss_parameter = loss, loss_parameter
        self.recent, self.delay = recent, delay
        self.edition, self._members = int(edition), members

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the constructor; the attribute ``members`` lists the learners."""
        named = {name: getattr(self, name) for name in self._parameters() if name != "members"}
        return {**named, "members": self._members}

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state, or raise ValueError if it does not fit."""
        if self.delay and "behind.rounds" not in numbers:
            raise ValueError(
                "models with a delay saved by earlier versions counted losses of predictions that"
                " were never served: train again"
            )
        super().set_state(arrays, numbers, names)
