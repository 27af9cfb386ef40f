"""All prunings of the trees of a forest, enumerated in high precision."""

from __future__ import annotations

from decimal import Decimal, getcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

getcontext().prec = 60
Floats = NDArray[np.float64]
LEFT, RIGHT, PARENT, FEATURE, THRESHOLD, TIME, LOSS, COUNT, STOP = range(9)
FIELDS, RATES = 14, 2
EXCESS = 12
PRIOR_TIME = (1000, 1)  # of prunings, at each rate


class Pruning(NamedTuple):
    """Its leaves, its loss with what collapses add to it, and its prior probability."""

    leaves: frozenset[int]
    loss: Decimal
    prior: Decimal


def tables(learner: Any) -> list[Floats]:
    """Return the nodes of each tree."""
    found: list[Floats] = learner.engine.grove.tables()
    return found


def go_on(table: Floats, k: int, rate: int = 0) -> Decimal:
    """Return the prior probability that a pruning that gets to a node goes on below it."""
    begin = Decimal(0) if k == 0 else Decimal(table[int(table[k, PARENT]), TIME])
    return (begin + PRIOR_TIME[rate]) / (Decimal(table[k, TIME]) + PRIOR_TIME[rate])


def prunings(table: Floats, k: int = 0, rate: int = 0) -> list[Pruning]:
    """Return all prunings of the subtree of a node."""
    own = Decimal(table[k, LOSS]) + Decimal(table[k, EXCESS + rate])
    if not table[k, LEFT]:
        return [Pruning(frozenset({k}), own, Decimal(1))]
    go = go_on(table, k, rate)
    left, right = (prunings(table, int(table[k, side]), rate) for side in (LEFT, RIGHT))
    return [
        Pruning(frozenset({k}), own, 1 - go),
        *(
            Pruning(a.leaves | b.leaves, a.loss + b.loss, go * a.prior * b.prior)
            for a in left
            for b in right
        ),
    ]


def says(table: Floats, k: int, x: Floats) -> list[tuple[Decimal, Decimal]]:
    """Return the predictions of a subtree's prunings and their weights, at the proven rate."""
    own = Decimal(table[k, FIELDS])
    if not table[k, LEFT]:
        return [(own, Decimal(1))]
    side = LEFT if x[int(table[k, FEATURE])] <= table[k, THRESHOLD] else RIGHT
    stop = Decimal(table[k, STOP])
    below = says(table, int(table[k, side]), x)
    return [(own, stop), *((said, weight * (1 - stop)) for said, weight in below)]


def mixture(table: Floats, k: int, x: Floats) -> float:
    """Return the mean of the prunings of a node's subtree, for numbers."""
    return float(sum(said * weight for said, weight in says(table, k, x)))


def mixed_loss(table: Floats, k: int, x: Floats, y: float, unit: Decimal) -> float:
    """Return the loss of the mixture of a node's subtree: that of its likelihood."""
    if not unit:
        return 0.0
    odds = [
        weight * (-((said - Decimal(y)) ** 2) / unit).exp() for said, weight in says(table, k, x)
    ]
    return float(-unit * Decimal(sum(odds)).ln())


def unit_of(learner: Any) -> Decimal:
    """Return 1 / the proven rate."""
    if learner.engine.loss.name != "square":
        return Decimal(1)
    scale = Decimal(learner.get_state()[0]["outcomes"][3])
    return 2 * scale**2 if learner.edition == 1 else scale**2 / 2


def growth_of(learner: Any) -> float:
    """Return what a range of outcomes that grows adds to the bound."""
    if learner.engine.loss.name != "square":
        return 0.0
    state = learner.get_state()[0]
    return float(
        8 / 3 * state["outcomes"][3] ** 2 if learner.edition == 1 else state["interval"][2]
    )


def after_first(learner: Any, y: Any) -> float:
    """Return the loss of a forest; that of numbers is without the first, as in its accounts."""
    square = learner.engine.loss.name == "square"
    return float(learner.total_loss - (y[0] ** 2 if square else 0.0))


def below(table: Floats, k: int) -> set[int]:
    """Return a node and all below it."""
    if not table[k, LEFT]:
        return {k}
    return {k} | below(table, int(table[k, LEFT])) | below(table, int(table[k, RIGHT]))
