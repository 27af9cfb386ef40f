"""ML-Poly: weights proportional to the positive part of the regret to each expert.

    w_i ∝ η_i · (regret to i)₊,    1/η_i = B + Σ r_i²

r_i is the regret of a round and B the largest r² so far, so there is no parameter to choose. An
expert with a negative regret has no weight. With ``gradient`` the mixture competes
with the best fixed weights. This is the default rule of the R package opera.

Promise. For every expert i: regret ≤ √(n (B + Σ r_i²)) · (√V + J/√2). V is the sum, over all rounds
in which B did not double, of the experts' mean r_t²/(B + Σ_{s<t} r_s²), which grows
logarithmically; J is the number of rounds in which it did.
"""

from __future__ import annotations

from noregret.base.compiled.second_order_weights import Polynomial
from noregret.base.registry import register
from noregret.experts.assumptions import MIXED
from noregret.experts.master import promise
from noregret.experts.second_order import SecondOrder
from noregret.proof.theorems.theorem import Theorem


@register
class MlPoly(SecondOrder):
    """Polynomially weighted averages with a rate per expert, without a rate to choose.

    Examples
    --------
    >>> master = MlPoly()
    >>> for t in range(50):
    ...     master.learn_one({"low": t - 1.0, "high": t + 3.0}, float(t))
    >>> master.weights().round(2).tolist()
    [0.75, 0.25]

    References
    ----------
    P. Gaillard, G. Stoltz and T. van Erven, "A second-order bound with excess losses", 2014.
    """

    name = "ml-poly"
    _weighing = Polynomial
    theorems = (
        Theorem(
            name="ml-poly",
            quantity="regret",
            formula=(
                r"L_A - L_i \le \sqrt{n\,\big(B + \textstyle\sum_t r_{t,i}^2\big)}"
                r"\,\big(\sqrt{V} + J/\sqrt2\big)"
            ),
            plain="regret to i <= sqrt(n (B + Σ r²)) (sqrt(V) + J/sqrt(2)), V of order ln T",
            where=(
                "$i$ is any expert and $n$ the number of experts; $r$ is the regret to $i$ in a"
                " round, $B$ the largest $r^2$ to any expert; $V$ sums the experts' mean of"
                r" $r^2/(B + \sum r^2)$, with the sum until then, over the rounds in which $B$ did"
                " not double, and $J$ counts those in which it did; $T$ is the number of rounds"
            ),
            assumptions=(MIXED,),
            bound=promise,
            source=(
                "Gaillard, Stoltz and van Erven, 2014, theorem 5, extended to an unknown range:"
                " where B more than doubles, the norm of the regrets grows by at most 1/√2"
            ),
        ),
    )
