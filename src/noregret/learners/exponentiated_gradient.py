"""Exponentiated gradient.

Keep non-negative weights that add up to 1, and change each by a factor:

    w_i ← w_i · exp(−η · loss'(w·x, y) · x_i) / Z

The signed form has weights of either sign with Σ|w_i| ≤ U: it is the same update on the doubled
example (U x, −U x). Both find a few good features among many irrelevant ones: the regret grows
with the logarithm of the number of features.

Promise. Square loss, R = max_t (max_i x_{t,i} − min_i x_{t,i}), any c > 0, η = 2c/(R²(2+c)):
the cumulative loss is at most the minimum over u in the simplex of
(1 + c/2)·L(u) + (1/2 + 1/c)·R²·KL(u‖uniform).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.checks import not_negative, positive, whole
from noregret.linear.engine.multiplicative import Multiplicative
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import AtMost, Shown, Structural, known_from_the_start
from noregret.proof.theorems.shards import OverShards
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def promise(evidence: Evidence) -> float:
    """Return the bound at the measured spread R of the examples.

    In terms of the rate, (1/2 + 1/c) R² is 1/η and 1 + c/2 is 1/(1 − ηR²/2).
    """
    return promise_to(1, evidence)


def promise_to(learners: int, evidence: Evidence) -> float:
    """Return the bound for so many learners, each of which pays for its own uniform weights."""
    rate, spread = evidence.params["rate"], evidence.largest("spread")
    scale = 1 / (1 - rate * spread**2 / 2)
    return evidence.best_in_simplex(evidence.params["weight"], learners / rate, scale).loss


def tuned(
    dimension: int,
    loss: float,
    spread: float | None = None,
    peak: float | None = None,
    weight: float | None = None,
) -> dict[str, Any]:
    """Return the best rate if some u in the simplex, or its signed form, loses at most ``loss``.

    Either ``spread``, the largest max x − min x of an example, or ``peak``, the largest |x_i|, must
    be known; the signed form needs ``peak``.
    """
    n = whole("dimension", dimension) * (1 if weight is None else 2)
    if (spread is None) == (peak is None) or (weight is not None and peak is None):
        raise ValueError(
            "give peak, the largest |x_i| of any example; or, for the simplex,"
            " spread, the largest max x − min x"
        )
    if peak is not None:
        total = 1.0 if weight is None else positive("weight", weight)
        wide = 2 * total * positive("peak", peak)
    else:
        wide = positive("spread", spread)
    least = wide**2 * 1e-12  # at the rate 2/R² the bound is infinite
    c = wide * math.sqrt(2 * math.log(max(2, n)) / max(least, not_negative("loss", loss)))
    return {"rate": 2 * c / (wide**2 * (2 + c)), "dimension": dimension, "weight": weight}


@register
class ExponentiatedGradient(Learner):
    """Multiplicative updates on the simplex, or with signed weights of bounded total size.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``.
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds, for the horizon schedule.
    weight
        U, above 0, for weights of either sign with Σ|w_i| ≤ U. If None, the simplex.
    dimension
        n, the number of features if known beforehand; weights start at 1/n. By default the number
        of columns, or of the names seen so far.
    step
        ``explicit``, or ``implicit`` for the exact minimiser.
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    >>> learner = ExponentiatedGradient(rate=0.5)
    >>> for x, y in [({"good": 1.0, "bad": 0.0}, 1.0), ({"good": 0.0, "bad": 1.0}, 0.0)] * 20:
    ...     learner.learn_one(x, y)
    >>> dict(zip(learner.features, learner.weights.round(2).tolist()))
    {'bad': 0.03, 'good': 0.97}

    References
    ----------
    J. Kivinen and M. K. Warmuth, "Exponentiated gradient versus gradient descent for linear
    predictors", 1997.
    """

    name = "exponentiated-gradient"
    theorems = (
        Theorem(
            name="eg",
            quantity="loss",
            formula=(
                r"L_A \le \min_{u \in \Delta} \left[ \left(1+\tfrac c2\right) L_u"
                r" + \left(\tfrac12+\tfrac1c\right) R^2 \,\mathrm{KL}(u\|w_1) \right]"
            ),
            plain="loss <= min over u in the simplex of  (1+c/2) L(u) + (1/2+1/c) R² KL(u‖uniform)",
            assumptions=(
                Structural(r"square loss, explicit steps at a constant rate, $w_1$ uniform"),
                AtMost(
                    r"$\max_i x_{t,i} - \min_i x_{t,i} \le R$ in every round with $\eta R^2 < 2$,"
                    r" and $c = 2\eta R^2/(2 - \eta R^2)$; for the signed form"
                    r" $R = 2U\max\|x_t\|_\infty$",
                    "spread",
                    lambda p: math.sqrt(2 / p["rate"]) * (1 - 1e-9),
                    "spread(x)",
                ),
                Shown(
                    "all features appear in the first round, or `dimension` gives their number",
                    known_from_the_start,
                ),
            ),
            bound=promise,
            covers=lambda p: (
                loss_name(p) == "square" and p["schedule"] == "constant" and p["step"] == "explicit"
            ),
            best=lambda e: e.best_in_simplex(e.params["weight"]),
            tune=tuned,
            tuning=(
                r"$\eta = 2c/(R^2(2+c))$; if some $u$ has loss at most $K$,"
                r" $c = R\sqrt{2\ln n/K}$ is best, with $2n$ for $n$ in the signed form"
            ),
            over_shards=OverShards(
                lambda e: promise_to(len(e.shards), e),
                r"\sum_k L_k \le \min_u \left[ \left(1+\tfrac c2\right) L_u"
                r" + K \left(\tfrac12+\tfrac1c\right) R^2 \,\mathrm{KL}(u \| w_1) \right]",
                "loss <= min over u of  (1 + c/2) L(u) + K (1/2 + 1/c) R² KL(u, uniform)",
            ),
            source="Kivinen and Warmuth, 1997",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        weight: float | None = None,
        dimension: int | None = None,
        step: str = "explicit",
        loss_parameter: float | None = None,
    ) -> None:
        super().__init__(
            Multiplicative(
                loss,
                rate,
                schedule,
                horizon,
                weight=1.0 if weight is None else weight,
                mirrored=weight is not None,
                dimension=dimension,
                step=step,
                loss_parameter=loss_parameter,
            )
        )
        self.loss, self.rate, self.schedule, self.horizon = loss, rate, schedule, horizon
        self.weight, self.dimension, self.step = weight, dimension, step
        self.loss_parameter = loss_parameter
