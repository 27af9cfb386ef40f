"""The largest margin of a function in a kernel's space, and labels that no function separates."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from noregret.hindsight.kernel_rows import KernelRows, dense
from noregret.hindsight.losses import as_labels, losses_of
from noregret.hindsight.margin import Margin, largest_margin
from noregret.hindsight.perceptron import best_mistake_bound, mistake_bound
from noregret.hindsight.proofs.answer import Answer, Limits
from noregret.hindsight.proofs.kernel_proofs import (
    functions,
    norm_of,
    paid_above,
    pull_above,
    scores_of,
)
from noregret.hindsight.proofs.rounding import Floats, downward, total, upward
from noregret.hindsight.solvers.priced_hinge import best_priced_hinge
from noregret.limits import UNIT


def margin_in_space(space: KernelRows, limits: Limits) -> Margin:
    """Return the largest margin γ of a function of norm 1; the witness holds its coefficients.

    The upper end is valid for all functions of the space, and infinite if only those of the support
    vectors were searched.
    """
    labels, at = as_labels(space.rows.outcomes), space.chosen[0]
    found = largest_margin(space.model, limits=limits)
    low, best = 0.0, np.zeros(len(at))
    for c in functions(space, found.witness):
        scores, off = scores_of(space, at, c)
        least, size = float((labels * scores - off).min()), norm_of(space, at, c)
        if 0 < size < math.inf and (there := downward(least / size * (1 - 4 * UNIT))) > low:
            low, best = there, c
    upper = math.inf
    if space.complete:
        weight = total(found.shares) * (1 - 8 * UNIT)
        upper = upward(pull_above(space, labels * found.shares) / weight)
    if not low and contradicted_after(space) is not None:
        upper = 0.0
    return Margin(low, upper, best, found.shares)


def contradicted_after(space: KernelRows) -> int | None:
    """Return the first round whose example occurred before with the other label, or None."""
    labels, seen, at = as_labels(space.rows.outcomes).tolist(), dict[bytes, float](), 0
    for block, _ in space.rows.blocks():
        for x in dense(block, space.rows.shape[1]) + 0.0:  # so that −0 is 0
            if seen.setdefault(x.tobytes(), labels[at]) != labels[at]:
                return at + 1
            at += 1
    return None


def fewest_mistakes(space: KernelRows, tried: list[Floats]) -> tuple[float, Floats]:
    """Return an upper bound on the mistakes of the best of some functions, and its coefficients."""
    labels, counts = as_labels(space.rows.outcomes), []
    for c in tried:
        scores, off = scores_of(space, space.chosen[0], c)
        counts.append(float(np.count_nonzero(~(labels * scores - off > 0))))
    best = int(np.argmin(counts))
    return counts[best], tried[best]


def mistake_bound_in_space(space: KernelRows, reach: float, limits: Limits) -> Answer:
    """Return the smallest ((‖u‖R + √(‖u‖²R² + 4 H_u))/2)² found over functions u."""
    found = best_mistake_bound(space.model, limits=limits)
    return best_by(space, found.witness, lambda size, hinge: mistake_bound(size, hinge, reach))


def priced_hinge_in_space(space: KernelRows, price: float, limits: Limits) -> Answer:
    """Return the smallest  H(u) + price · ‖u‖  found over functions u."""
    found = best_priced_hinge(space.model, price, limits=limits)
    return best_by(space, found.witness, lambda size, hinge: upward(hinge + price * size))


def best_by(space: KernelRows, w: Floats, bound: Callable[[float, float], float]) -> Answer:
    """Return the function near coordinates w whose norm and hinge loss give the smallest bound."""
    losses = losses_of("hinge", space.rows.outcomes)
    tried = [np.zeros(len(w)), *functions(space, w)]
    bounds = [
        bound(norm_of(space, space.chosen[0], c), paid_above(space, losses, c)) for c in tried
    ]
    best = int(np.argmin(bounds))
    return Answer("any function, best found", bounds[best], 0.0, tried[best])
