"""BOA, Bernstein online aggregation: exponential weights with a second-order penalty.

    w_i ∝ prior_i · η_i · exp(η_i · Σ (r_i − η_i r_i²))
    η_i = min(1/(2B), √(ln(1/prior_i)/Σ r_i²))

r_i is the regret of a round, B the largest |r| so far. Larger regrets are clipped to B, so the
range need not be known. The bound on the regret to an expert grows with the sum of squares of that
regret: if an expert is reliably better, it stays bounded.

Promise. For every expert i: regret ≤ B + Σ η_i r_i² + (ln(1/prior_i) + ln(1 + D))/η_i, where D is
the cost of decreasing rates: for each decrease from η to η', the largest difference x − x^(η/η'),
about (η/η' − 1)/e and below 1, weighted by the prior. It grows logarithmically.
"""

from __future__ import annotations

from noregret.base.compiled.second_order_weights import Bernstein
from noregret.base.registry import register
from noregret.experts.assumptions import MIXED
from noregret.experts.master import promise
from noregret.experts.second_order import SecondOrder
from noregret.proof.theorems.theorem import Theorem


@register
class Boa(SecondOrder):
    """Bernstein online aggregation with a rate per expert, without a rate to choose.

    Examples
    --------
    >>> master = Boa()
    >>> for t in range(200):
    ...     master.learn_one({"low": t - 1.0, "high": t + 3.0}, float(t))
    >>> master.weights().round(2).tolist()
    [0.75, 0.25]

    References
    ----------
    O. Wintenberger, "Optimal learning with Bernstein online aggregation", 2017. P. Gaillard,
    G. Stoltz and T. van Erven, "A second-order bound with excess losses", 2014.
    """

    name = "boa"
    _weighing = Bernstein
    theorems = (
        Theorem(
            name="boa",
            quantity="regret",
            formula=(
                r"L_A - L_i \le B + \sum_t \eta_{t,i} r_{t,i}^2"
                r" + \frac{\ln(1/v_i) + \ln(1 + D)}{\eta_{T,i}}"
            ),
            plain="regret to i <= B + Σ η r² + (ln(1/prior) + ln(1 + D))/η, D of order ln T",
            where=(
                "$i$ is any expert; $r$ is the regret to $i$ in a round and $B$ the largest"
                r" $|r|$ to any expert; $\eta$ is the rate of $i$, in the sum that of each round"
                " and below the fraction the last; $D$ is the cost of decreasing rates; $T$ is the"
                " number of rounds"
            ),
            assumptions=(MIXED,),
            bound=promise,
            source=(
                "after Wintenberger, 2017, and Gaillard, Stoltz and van Erven, 2014, theorem 3,"
                " with exp(x − x²) ≤ 1 + x and regrets clipped to the range seen"
            ),
        ),
    )
