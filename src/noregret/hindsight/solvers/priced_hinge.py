"""The smallest hinge loss plus a multiple of the norm (not of its square)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from noregret.hindsight.losses import losses_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits
from noregret.hindsight.proofs.deadline import expired
from noregret.hindsight.proofs.rounding import norm_above, total, upward
from noregret.hindsight.rows import Rows, score_error
from noregret.hindsight.solvers.penalised import best_penalised

MAX_TRIES = 24


def best_priced_hinge(rows: Rows, price: float, *, limits: Limits = USUAL) -> Answer:
    """Return the smallest  H(u) + price · ‖u‖  found over u.

    The value at any u is a valid bound, so it need not be proven to be the minimum. The minimiser
    also minimises H(u) + p ‖u‖² for the p with 2 p ‖u‖ = price. As 2 p ‖u‖ increases with p,
    bisection finds that p.

    Examples
    --------
    >>> answer = best_priced_hinge(Rows([[2.0], [2.0], [2.0]], [1, 1, 1]), price=1.0)
    >>> round(answer.loss, 3)
    0.5
    """
    losses, sharper = losses_of("hinge", rows.outcomes), replace(limits, tolerance=1e-4)
    best, bound = np.zeros(rows.shape[1]), float(rows.shape[0])
    low, high, p = 0.0, math.inf, price * rows.survey.longest / 2
    for _ in range(MAX_TRIES):
        if not 0 < p < 1e90 or expired():
            break
        u = best_penalised(rows, "hinge", p, limits=sharper).witness
        size = norm_above(u)
        hinge = total(losses.value_above(rows.scores(u), score_error(rows, u)))
        here = upward(hinge + price * size)
        if here < bound:
            best, bound = u, here
        low, high = (p, high) if 2 * p * size < price else (low, p)
        if high <= low * 1.001:
            break
        p = math.sqrt(low * high) if low and math.isfinite(high) else 4 * low or high / 4
    return Answer("any predictor, best found", bound, 0.0, best)
