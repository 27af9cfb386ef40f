"""All predictors, with a price for each weight that rises with its size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.hindsight.losses import losses_of
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.hindsight.proofs.deadline import expired
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.centred import Centred
from noregret.hindsight.solvers.newton import minimise

# Most rounds, and the least relative gain of a round for another to follow.
MAX_ROUNDS, MIN_GAIN = 30, 1e-6
MAX_DISTANCE = 1e6

Prices = Callable[[Floats], Floats]


def best_priced(
    rows: Rows, loss: Loss, prices: Prices, bends: Prices, start: Floats, limits: Limits = USUAL
) -> Floats:
    """Return a u that nearly minimises  L(u) + Σ prices(u).

    Parameters
    ----------
    rows
        The examples.
    loss
        Any convex loss.
    prices
        The price of each weight: convex in u_i, but concave in u_i².
    bends
        The a_i > 0 of the parabolas a_i u² + b_i that touch price_i at u_i. They lie above the
        price, so minimising loss plus parabolas lowers the total.
    start
        The starting point.
    limits
        The limits of each round.
    """
    losses = losses_of(loss, rows.outcomes)
    limits = replace(limits, tolerance=max(limits.tolerance, 1e-6), steps=min(limits.steps, 60))

    def total(u: Floats) -> float:
        return float(losses.value(rows.scores(u)).sum()) + float(prices(u).sum())

    best = min((start, np.zeros_like(start)), key=total)
    least = total(best)
    for _ in range(MAX_ROUNDS):
        found = minimise(rows, losses, Centred(bends(best), np.zeros_like(best)), best, limits).w
        direction, step, before = found - best, 1.0, least
        # Parabolas are steeper than prices, so a longer step is often better.
        while step < MAX_DISTANCE and (paid := total(farther := best + step * direction)) < least:
            found, least, step = farther, paid, 2 * step
        if not before - least > MIN_GAIN * abs(before) or expired():
            return found if least < before else best
        best = found
    return best
