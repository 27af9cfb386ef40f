"""Winnow: mistakes that grow with the logarithm of the number of features.

Only after a mistake, multiply:

    if y (w·x) ≤ 0:   w_i ← w_i · exp(η y x_i) / Z

``normalised`` keeps the weights on the simplex, ``balanced`` lets them have either sign (a copy
of every feature with the opposite sign), and ``winnow1`` is Littlestone's first algorithm for
features that are 0 or 1: weights start at 1, double when a positive was missed, vanish when a
negative was taken; it says yes when the weights of the features present exceed n/2.

Promise. If x ∈ [−1,1]ⁿ and some u ≥ 0 with Σu_i = 1 has y (u·x) ≥ δ in every round, normalised
Winnow with η = ½ ln((1+δ)/(1−δ)) makes at most 2 ln(n)/δ² mistakes. If the label is an OR of k
of n features, Winnow1 makes at most 2k·log₂n + 2.
"""

from __future__ import annotations

from noregret.checks import one_of
from noregret.core.engine import Engine
from noregret.core.multiplicative import Multiplicative
from noregret.core.rules import Winnow1
from noregret.learner import Learner
from noregret.registry import register
from noregret.theorem import Theorem

FORMS = ("normalised", "balanced", "winnow1")


@register
class Winnow(Learner):
    """Binary classification by multiplicative updates on mistakes.

    Parameters
    ----------
    rate
        η, above 0; without it 0.1. Winnow1 has none: its factor is 2.
    form
        ``normalised``, ``balanced`` or ``winnow1``.
    dimension
        n, where the number of features is known beforehand. Without it, n is the number of
        columns, or of the names seen so far.

    Examples
    --------
    >>> learner = Winnow(form="winnow1", dimension=8)
    >>> for x, y in [({"a": 1, "c": 1}, True), ({"b": 1, "c": 1}, False)] * 3:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one({"a": 1}), learner.predict_one({"c": 1}), learner.mistakes
    (True, False, 4)

    References
    ----------
    N. Littlestone, "Learning quickly when irrelevant attributes abound", 1988.
    """

    name = "winnow"
    theorems = (
        Theorem(
            name="winnow",
            quantity="mistakes",
            bound=r"M \le \frac{2 \ln n}{\delta^2}",
            assumptions=(
                r"$x_t \in [-1,1]^n$ in every round",
                r"some $u \ge 0$ with $\|u\|_1 = 1$ has $y_t (u \cdot x_t) \ge \delta$"
                r" in every round; for the balanced form $u$ may have either sign, and $n$ reads"
                r" $2n$",
            ),
            tuning=r"$\eta = \tfrac12 \ln \frac{1+\delta}{1-\delta}$",
            source="Littlestone, 1988",
        ),
        Theorem(
            name="winnow1",
            quantity="mistakes",
            bound=r"M \le 2k \log_2 n + 2",
            assumptions=(
                r"$x_t \in \{0,1\}^n$ in every round",
                r"the label is the OR of $k$ of the features",
            ),
            source="Littlestone, 1988",
        ),
    )

    def __init__(
        self, rate: float | None = None, form: str = "normalised", dimension: int | None = None
    ) -> None:
        one_of("form", form, FORMS)
        engine: Engine
        if form == "winnow1":
            if rate is not None:
                raise ValueError("winnow1 takes no rate: its factor is 2")
            engine = Winnow1(dimension)
        else:
            engine = Multiplicative(
                "mistake",
                rate=0.1 if rate is None else rate,
                mirrored=form == "balanced",
                dimension=dimension,
            )
        super().__init__(engine)
        self.rate, self.form, self.dimension = rate, form, dimension
