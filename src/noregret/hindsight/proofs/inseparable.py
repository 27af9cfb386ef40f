"""The proof that no linear predictor separates the labels."""

from __future__ import annotations

import math

import numpy as np

from noregret.hindsight.blocks import is_sparse
from noregret.hindsight.proofs.rounding import Floats, growth, norm_above
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.hindsight.solvers.dependence import faint_columns, independent_columns, surely_curved
from noregret.limits import SMALLEST

# Rows whose scores differ relatively by less may be equal; at most MAX_PAIRS pairs are compared.
SAME_SCORE, MAX_PAIRS = 1e-12, 100


def contradiction(rows: Rows, labels: Floats) -> list[int]:
    """Return two rows with y x = −y' x', or one row of zeros; nothing if there are none.

    No v has y (v·x) > 0 for both of them, or for that one.
    """
    direction = np.random.default_rng(0).normal(size=rows.shape[1])
    # Products with 1 do not underflow, so only a row of zeros has the sum 0.
    lengths = rows.scores(np.ones(rows.shape[1]), absolute=True)
    if not lengths.all():
        return [int(np.argmin(lengths))]
    scores = labels * rows.scores(direction)
    sizes = rows.scores(np.abs(direction), absolute=True)
    order = np.argsort(np.abs(scores), kind="stable")
    one, other = order[:-1], order[1:]
    near = np.abs(scores[one] + scores[other]) <= SAME_SCORE * sizes[one]
    for k in np.flatnonzero(near)[:MAX_PAIRS]:
        pair = sorted((int(one[k]), int(other[k])))
        if cancel(rows, labels, pair):
            return pair
    return []


def cancel(rows: Rows, labels: Floats, pair: list[int]) -> bool:
    """Return whether two rows, each times its label, add up to zero."""
    chosen = np.zeros(rows.shape[0], dtype=bool)
    chosen[pair] = True
    both = rows.pick(chosen)
    one, other = both.toarray() if is_sparse(both) else both
    return bool((labels[pair[0]] * one == -labels[pair[1]] * other).all())


def surely_inseparable(rows: Rows, labels: Floats, p: Floats) -> bool:
    """Return whether Σ p_t y_t x_t is so close to 0 that it is exactly 0 for some p' ≥ 0.

    Let p be at least ``least`` where it is not zero, and Z the rows there. If ZᵀZ ≥ s D², then
    p' = p − Z (ZᵀZ)⁻¹ Σ p y x differs from p by at most ‖D⁻¹ Σ p y x‖/√s; if that is less than
    ``least``, no p'_t is negative. So no v has all y_t (v·x_t) > 0: their sum weighted by p' is 0.
    """
    if rows.shape[1] > MAX_DENSE:
        return False
    for share in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8):
        least = share * float(p.max(initial=0.0))
        heavy = p >= least
        some, q = Rows(rows.pick(heavy), labels[heavy], features=rows.shape[1]), p[heavy]
        gram = some.gram(np.ones(len(q)))
        kept = independent_columns(some)
        columns = np.arange(rows.shape[1]) if kept is None else kept
        if faint_columns(gram, 4 * len(q) * SMALLEST, some)[columns].any():
            continue  # products of such small numbers may underflow
        norms, curved = surely_curved(gram[np.ix_(columns, columns)], growth(some.survey.depth + 4))
        used = norms > 0
        if curved > 0:
            left, off = some.combined(some.outcomes * q)
            moved = norm_above((np.abs(left) + off)[columns][used] / norms[used]) * 1.01
            if moved < least * math.sqrt(curved):
                return True
    return False
