"""The proof that no linear predictor separates the labels."""

from __future__ import annotations

import math

import numpy as np

from noregret.hindsight.curvature import DENSE
from noregret.hindsight.dependence import independent_columns, surely_curved
from noregret.hindsight.rounding import Floats, growth, norm_above
from noregret.hindsight.rows import Rows


def surely_inseparable(rows: Rows, labels: Floats, p: Floats) -> bool:
    """Whether Σ p_t y_t x_t is so near to zero that some p' ≥ 0 surely has it at zero.

    Let p be at least ``least`` where it is not zero, and Z the rows there. If ZᵀZ ≥ s D², then
    p' = p − Z (ZᵀZ)⁻¹ Σ p y x differs from p by at most ‖D⁻¹ Σ p y x‖/√s; where that is less than
    ``least``, no p'_t is negative. So no v has all y_t (v·x_t) > 0: their sum weighted by p' is 0.
    """
    if rows.shape[1] > DENSE:
        return False
    for share in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8):
        least = share * float(p.max(initial=0.0))
        heavy = p >= least
        some, q = Rows(rows.pick(heavy), labels[heavy], features=rows.shape[1]), p[heavy]
        gram = some.gram(np.ones(len(q)))
        kept = independent_columns(some, gram)
        columns = np.arange(rows.shape[1]) if kept is None else kept
        norms, curved = surely_curved(gram[np.ix_(columns, columns)], growth(some.survey.depth + 4))
        used = norms > 0
        if curved > 0 and not some.combine(np.ones(len(q)), absolute=True)[columns][~used].any():
            left, off = some.combined(some.outcomes * q)
            moved = norm_above((np.abs(left) + off)[columns][used] / norms[used]) * 1.01
            if moved < least * math.sqrt(curved):
                return True
    return False
