"""Widrow-Hoff, or least mean squares.

After each outcome, take a small step against the error:

    w ← w − η (w·x − y) x

The implicit form measures the error at the end of the step instead of its start, which divides the
step by 1 + η‖x‖² and is stable at any rate.

Promise. If every ‖x‖ ≤ 1 and 0 < η < 1, the cumulative square loss is at most the minimum over u
of  L(u)/(1−η) + ‖u‖²/η.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from noregret.base.registry import register
from noregret.checks import not_negative, positive
from noregret.linear.engine.additive import Additive
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import AtMost, Chosen, Structural, Trusted
from noregret.proof.theorems.shards import OverShards
from noregret.proof.theorems.theorem import Theorem


def promise(params: Mapping[str, Any]) -> dict[str, float]:
    """Return the factors of ‖u‖² and L(u) in the bound."""
    rate, norm = params["rate"], params["norm"]
    return {"penalty": norm**2 / rate, "scale": 1 / (1 - rate)}


def tuned(radius: float, loss: float, norm: float = 1.0) -> dict[str, Any]:
    """Return the best rate if some u of norm at most ``radius`` loses at most ``loss``."""
    reach = positive("norm", norm) * positive("radius", radius)
    root = math.sqrt(not_negative("loss", loss))
    return {"rate": min(reach / (reach + root), 0.999), "norm": norm}


@register
class WidrowHoff(Learner):
    """Linear regression by least mean squares.

    Parameters
    ----------
    rate
        η, the size of the step: between 0 and 1 for the explicit step, above 0 for the implicit.
    norm
        X, above 0: the largest ‖x‖ to expect; the step is η/X².
    step
        ``explicit``, or ``implicit`` for the exact minimiser, which cannot overshoot.

    Examples
    --------
    >>> learner = WidrowHoff(rate=0.5)
    >>> for x, y in [({"size": 0.5}, 1.0), ({"size": 1.0}, 2.0)] * 40:
    ...     learner.learn_one(x, y)
    >>> round(learner.predict_one({"size": 0.25}), 3)
    0.5

    References
    ----------
    B. Widrow and M. E. Hoff, "Adaptive switching circuits", 1960. Bound: N. Cesa-Bianchi, P. M.
    Long and M. K. Warmuth, "Worst-case quadratic loss bounds for prediction using linear functions
    and gradient descent", 1996.
    """

    name = "widrow-hoff"
    theorems = (
        Theorem(
            name="widrow-hoff",
            quantity="loss",
            formula=r"L_A \le \min_u \left[ \frac{L_u}{1-\eta} + \frac{X^2\|u\|^2}{\eta} \right]",
            plain="loss <= min over u of  L(u)/(1-rate) + norm² ‖u‖²/rate",
            assumptions=(
                AtMost(
                    r"$\|x_t\|_2 \le X$ in every round, where $X$ is the parameter `norm`",
                    "norm",
                    lambda p: p["norm"],
                    "norm(x)",
                ),
                Chosen(r"$0 < \eta < 1$", "rate < 1", lambda e: e.params["rate"], 1.0),
                Structural("explicit steps from zero weights"),
            ),
            bound=lambda e: e.best_ridge(**promise(e.params)).loss,
            so_far=lambda m: m.least_loss(**promise(m.params)) if m.sums else None,
            covers=lambda p: p["step"] == "explicit",
            tune=tuned,
            tuning=(
                r"if some $u$ with $\|u\| \le U$ has loss at most $K$,"
                r" $\eta = XU/(XU + \sqrt K)$ gives $L_A \le (\sqrt K + XU)^2$"
            ),
            over_shards=OverShards(
                lambda e: (
                    e.best_ridge(
                        promise(e.params)["penalty"] * len(e.shards), promise(e.params)["scale"]
                    ).loss
                ),
                r"\sum_k L_k \le \min_u \left[ \frac{L_u}{1-\eta}"
                r" + K\,\frac{X^2\|u\|^2}{\eta} \right]",
                "loss <= min over u of  L(u)/(1-rate) + K norm² ‖u‖²/rate",
                r"$K$ is the number of shards, $L_k$ the loss of the learner on shard $k$ and $L_u$"
                " that of one $u$ on the rows of all shards",
            ),
            source="Cesa-Bianchi, Long and Warmuth, 1996",
        ),
        Theorem(
            name="online-to-batch",
            quantity="risk",
            formula=(
                r"\mathbb{E}[R_v] \le \min_u \left[ \frac{R_u}{1-\eta}"
                r" + \frac{X^2\|u\|^2}{\eta\,m} \right]"
            ),
            plain="E[risk of v] <= min over u of  risk(u)/(1-rate) + norm² ‖u‖²/(rate m)",
            assumptions=(
                Trusted(
                    "the examples are drawn independently from one distribution",
                    "examples are independent and identically distributed",
                ),
                AtMost(r"$\|x_t\|_2 \le X$ in every round", "norm", lambda p: p["norm"], "norm(x)"),
                Structural(
                    r"$v = (w_1 + \dots + w_m)/m$, the weights of `averaged`;"
                    r" $R_u$ is the expected loss of $u$ on a new example"
                ),
            ),
            covers=lambda p: p["step"] == "explicit",
            measured=lambda e: None,
            tune=tuned,
            tuning="as in widrow-hoff",
            source="Cesa-Bianchi, Conconi and Gentile, 2004",
        ),
    )

    def __init__(self, rate: float = 0.1, norm: float = 1.0, step: str = "explicit") -> None:
        positive("rate", rate)
        if not 1e-75 < positive("norm", norm) < 1e75:
            raise ValueError(f"norm must lie between 1e-75 and 1e75: got {norm!r}")
        if step == "explicit" and not rate < 1:
            raise ValueError(
                f"rate must lie between 0 and 1: got {rate!r} (use step='implicit' for larger"
                " rates, norm=X for examples of another size)"
            )
        # The square loss has slope 2(w·x − y); Widrow and Hoff step by half of it.
        super().__init__(Additive("square", rate=0.5 * rate / norm**2, step=step))
        self.rate, self.norm, self.step = rate, norm, step
