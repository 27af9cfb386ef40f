"""Auto: no rate, no scale, no horizon, no choice.

Many learners see every row at once, and a master mixes what they say:

    filters         least squares with four memories, from all rounds to the last hundred or so
    first order     AdaGrad at four rates, and diagonal filters with four memories
    combinations    small filters over what those say
    outcomes        the same again with the latest outcomes, and how far off the mixture was
    guesses         the running mean, the last outcome; even odds, where outcomes are labels

None depends on the unit of a feature or of the outcomes. Filters rest when there are more than 256
features. Log-odds are mixed as chances, which are never 0 or 1.

Promise. For every learner k of the bank, with prior weight π_k: where outcomes are labels,
L_A − L_k ≤ ln(1/π_k). Else AdaHedge's bound, where s_t is how far the losses of a round are
apart, S the largest s_t and n the number of learners:
(1 + ln(1/π_k)/ln n)(½√(ln n Σ s_t²) + S(⅔ ln n + 1)) + [o_k]₊. An outcome far beyond the usual
errors counts as if it were nearer, so that it cannot outweigh all others; o_k is what such rounds
cost more, beside k, than what counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.auto.bank import Bank, DelayedBank
from noregret.auto.predicting import LOSSES
from noregret.base.registry import register
from noregret.checks import one_of
from noregret.linear.learner import Floats, Learner
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.auto.findings import Member
    from noregret.proof.theorems.evidence import Evidence

# Outcomes that may be out at most.
MOST_DELAY = 100_000


def regret_to_the_best(evidence: Evidence) -> float:
    """Return what the mixture lost more than the best of the bank."""
    return -float(evidence.account("excess").min())


def promise(evidence: Evidence) -> float:
    """Return the price of the best of the bank."""
    return float(evidence.account("price")[int(evidence.account("excess").argmin())])


@register
class Auto(Learner):
    """Many learners side by side and the mixture of them: nothing to choose.

    Parameters
    ----------
    loss
        ``square``, ``absolute``, ``quantile``, or ``logistic`` where outcomes are labels.
    loss_parameter
        The quantile, between 0 and 1.
    recent
        Whether some learners see the latest outcomes. Turn it off where these will not be known.
    delay
        Number of outcomes that are still out when a prediction is made. With 24, the prediction
        of round t that counts is made from the outcomes up to round t − 25 and nothing later, so
        that losses and certificates are those of a service whose outcomes come 24 rounds late;
        learning takes twice as long. ``predict_one`` uses all that was learned: in such a
        service, call ``learn_one`` when an outcome arrives. No theorem covers delayed outcomes.

    Examples
    --------
    The features are in metres and in grams, and nobody said so:

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
    unproven = "The promises of auto are about outcomes that are not delayed: delay=0."
    engine: Bank
    theorems = (
        Theorem(
            name="auto",
            quantity="regret to the bank",
            formula=(
                r"L_A - L_k \le \left(1 + \frac{\ln(1/\pi_k)}{\ln n}\right)"
                r" \left( \tfrac12\sqrt{\ln n \sum_t s_t^2} + S\big(\tfrac23\ln n+1\big) \right)"
                r" + [o_k]_+"
            ),
            plain=(
                "regret to k <= (1 + ln(1/prior)/ln n) (sqrt(Σ s_t² ln n)/2 + S (2/3 ln n + 1))"
                " + max(0, o_k)"
            ),
            where=(
                r"$k$ is any learner of the bank or either of the mixtures that are weighed beside"
                r" them, $\pi_k$ its prior weight and $n$ their number; $s_t$ is how far their"
                r" losses in round $t$ are apart, and $S$ the largest $s_t$. An outcome that is"
                r" eight usual errors off counts as if it were no further off than that; $o_k$ is"
                r" what the regret to $k$ was more in such rounds than what counted"
            ),
            assumptions=(Structural("the square, the absolute or the quantile loss"),),
            measured=regret_to_the_best,
            bound=promise,
            covers=lambda p: p["loss"] != "logistic" and p["delay"] == 0,
            source="de Rooij, van Erven, Grünwald and Koolen, 2014, with a prior",
        ),
        Theorem(
            name="auto-chances",
            quantity="regret to the bank",
            formula=r"L_A - L_k \le \ln(1/\pi_k)",
            plain="regret to k <= ln(1/prior)",
            where=(
                r"$k$ is any learner of the bank or the mixture that is weighed beside them, and"
                r" $\pi_k$ its prior weight"
            ),
            assumptions=(Structural("the logistic loss; chances are mixed"),),
            measured=regret_to_the_best,
            bound=promise,
            covers=lambda p: p["loss"] == "logistic" and p["delay"] == 0,
            source="Vovk, 1990; the mixture of Bayes",
        ),
    )

    def __init__(
        self,
        loss: str = "square",
        loss_parameter: float | None = None,
        recent: bool = True,
        delay: int = 0,
    ) -> None:
        one_of("loss", loss, LOSSES)
        if not isinstance(recent, bool):
            raise ValueError(f"recent must be True or False: got {recent!r}")
        counts = isinstance(delay, Integral) and not isinstance(delay, bool)
        if not (counts and 0 <= delay <= MOST_DELAY):
            raise ValueError(f"delay must be a whole number up to {MOST_DELAY:,}: got {delay!r}")
        kind = DelayedBank if delay else Bank
        super().__init__(kind(loss, loss_parameter, recent, int(delay)))
        self.loss, self.loss_parameter = loss, loss_parameter
        self.recent, self.delay = recent, delay

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Go on from a state, or raise ValueError where it does not fit."""
        if self.delay and "behind.rounds" not in numbers:
            raise ValueError(
                "with a delay, earlier versions counted losses that were not served: learn it anew"
            )
        super().set_state(arrays, numbers, names)

    # What it has found.

    @property
    def members(self) -> list[Member]:
        """The learners of the bank: the name, the kind, the weight and the loss so far of each."""
        from noregret.auto.findings import members_of

        return self._entry.undisturbed(lambda: members_of(self.engine))

    @property
    def history(self) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Floats]:
        """Rounds, about a hundred, and the weights of all learners after them, a row each."""
        return self._entry.undisturbed(self.engine.history)

    @property
    def _caveat(self) -> str | None:
        """What to know before predicting many rows with it that nothing is learned from."""
        from noregret.auto.findings import caveat_of

        return self._entry.undisturbed(lambda: caveat_of(self.engine))

    def findings(self, features: Sequence[str] | None = None) -> dict[str, Any]:
        """Return what it has found, as plain values; names of features may be given."""
        from noregret.auto.findings import findings_of

        return self._entry.undisturbed(lambda: findings_of(self.engine, self._named(features)))

    def describe(self, features: Sequence[str] | None = None) -> str:
        """Say in plain words what it has found: who leads, drift, which features matter."""
        from noregret.auto.findings import words_of

        return self._entry.undisturbed(lambda: words_of(self.engine, self._named(features)))

    def _named(self, features: Sequence[str] | None) -> Callable[[int], str]:
        """Return what tells the name of a feature: there may be millions, of which few are told."""
        known = self.engine.size
        if features is not None and len(features) != known:
            raise ValueError(f"{known} features are known: got {len(features)} names")
        names = features or self._entry.known.names
        return names.__getitem__ if names else str
