"""Auto for several classes: no rate, scale, horizon or model to choose.

A bank of learners sees every row, and a master mixes their probabilities:

    filters         softmax regression by Newton steps, with four memories
    first order     AdaGrad at four rates, and diagonal filters with four memories
    trees           a Mondrian forest, from round 129 on, with up to 128 features and 32 classes
    combinations    the softmax of weighted logarithms of others' probabilities
    classes         frequencies in all rounds, in the latest, and after the latest class
    even odds       the same probability for each class

No learner depends on the unit of a feature. Filters are switched off above 256 features; one
covariance serves all classes; a value beyond three times a feature's root mean square counts as
that much. No probability is ever 0.

Promise. For every learner k of the bank, with prior weight π_k: L_A − L_k ≤ ln(1/π_k). A class
takes part from the round in which it first appears.
"""

from __future__ import annotations

from typing import Any, ClassVar

from noregret.auto.banked import Banked
from noregret.auto.class_bank import ClassBank
from noregret.base.registry import register
from noregret.checks import one_of
from noregret.learners.auto import MEMBERS, promise, regret_to_the_best
from noregret.linear.class_learner import ClassLearner
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem


@register
class AutoClasses(Banked, ClassLearner):
    """A mixture of many learners over several classes, with nothing to tune.

    Scores are logarithms of probabilities.

    Parameters
    ----------
    recent
        If True, some learners also use the latest classes. Set it to False if these will not be
        known when predictions are made.
    members
        ``all``, or ``linear`` for a bank without the forest, which is faster, and is what models
        and certificates of versions without it have.

    Examples
    --------
    >>> learner = AutoClasses()
    >>> for t in range(300):
    ...     x = {"height": 1e-3 * (t % 7), "weight": 1e6 * (t % 5)}
    ...     learner.learn_one(x, ["low", "middle", "high"][(t % 7 > 2) + (t % 7 > 4)])
    >>> learner.predict_one({"height": 0.006, "weight": 1e6})
    'high'

    References
    ----------
    V. Vovk, "Aggregating strategies", 1990. D. Böhning, "Multinomial logistic regression
    algorithm", 1992. G. J. Bierman, "Factorization methods for discrete sequential estimation",
    1977.
    """

    name = "auto-classes"
    engine: ClassBank
    _earlier: ClassVar[dict[str, Any]] = {"members": "linear"}
    theorems = (
        Theorem(
            name="auto-classes",
            quantity="regret to the best member",
            formula=r"L_A - L_k \le \ln(1/\pi_k)",
            plain="regret against k <= ln(1/π_k)",
            where=(
                r"$k$ is any learner of the bank or the mixture weighted with them, $\pi_k$ its"
                r" prior weight; a class takes part from the round in which it first appears"
            ),
            assumptions=(Structural("the log loss; probabilities are mixed"),),
            measured=regret_to_the_best,
            bound=promise,
            source="Vovk, 1990; Bayesian mixture",
        ),
    )

    def __init__(self, recent: bool = True, members: str = "all") -> None:
        if not isinstance(recent, bool):
            raise ValueError(f"recent must be True or False: got {recent!r}")
        one_of("members", members, MEMBERS)
        super().__init__(ClassBank(recent, members == "all"))
        self.recent, self._members = recent, members

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the constructor; the attribute ``members`` lists the learners."""
        return {"recent": self.recent, "members": self._members}
