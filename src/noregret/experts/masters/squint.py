"""Squint: exponential weights at many rates at once.

    w_i ∝ prior_i · Σ_j γ_j η_j exp(η_j R_i − η_j² V_i),    η_j = 2^−j/(2B), γ_j = 1/((j+1)(j+2))

R_i is the regret to expert i and V_i the sum of its squares. All rates are used together, and the
best one for the data prevails. Regrets larger than B, the largest so far, are clipped to it; rates
that have become too large are dropped.

Promise. For every expert i and every rate of the grid:
regret ≤ B + (ln(1/prior_i) + ln(1/γ_j))/η_j + η_j V_i.
"""

from __future__ import annotations

from noregret.base.compiled.second_order_weights import Grid
from noregret.base.registry import register
from noregret.experts.assumptions import MIXED
from noregret.experts.master import promise
from noregret.experts.second_order import SecondOrder
from noregret.proof.theorems.theorem import Theorem


@register
class Squint(SecondOrder):
    """Exponential weights at a grid of rates, without a rate to choose.

    Examples
    --------
    >>> master = Squint()
    >>> for t in range(200):
    ...     master.learn_one({"low": t - 1.0, "high": t + 3.0}, float(t))
    >>> master.weights().round(2).tolist()
    [0.75, 0.25]

    References
    ----------
    W. M. Koolen and T. van Erven, "Second-order quantile methods for experts and combinatorial
    games", 2015.
    """

    name = "squint"
    _weighing = Grid
    theorems = (
        Theorem(
            name="squint",
            quantity="regret",
            formula=(
                r"L_A - L_i \le B + \min_j \left[ \frac{\ln(1/v_i) + \ln(1/\gamma_j)}{\eta_j}"
                r" + \eta_j \sum_t r_{t,i}^2 \right]"
            ),
            plain="regret to i <= B + min over j of  (ln(1/prior) + ln(1/γ_j))/η_j + η_j Σ r²",
            where=(
                "$i$ is any expert; $r$ is the regret to $i$ in a round and $B$ the largest"
                r" $|r|$ to any expert; $j = 0, 1, \dots$ counts the rates: $\eta_j$ is $1/(2B)$"
                r" halved $j$ times, and $\gamma_j = 1/((j+1)(j+2))$ its prior weight"
            ),
            assumptions=(MIXED,),
            bound=promise,
            source=(
                "Koolen and van Erven, 2015, on a grid of rates with regrets clipped to the range"
                " seen; with one such sum per 256-fold growth of the range"
            ),
        ),
    )
