"""The best OR of features and the best AND of literals in hindsight.

Features are 0 and 1. Whether some rule fits all rounds is decided exactly. Finding the shortest OR
is a set-cover problem: a short one is found greedily, and any that fits is a valid witness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from noregret.base.mistakes import are_mistakes
from noregret.hindsight.losses import as_labels
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.rows import Rows

# Number of features up to which every OR is tried.
MAX_ENUMERATED_FEATURES = 12
DISJUNCTIONS = "disjunctions of features"
CONJUNCTIONS = "conjunctions of literals"


def score_disjunction(X: Floats, weights: Floats) -> Floats:
    """Return scores that are positive if some feature of weight 1 is present."""
    return np.asarray(X @ weights - 0.5)


def score_conjunction(X: Floats, weights: Floats) -> Floats:
    """Return ½ minus the number of failed literals: weight 1 requires a feature, −1 its absence."""
    wanted = np.maximum(weights, 0.0)
    return np.asarray(0.5 - (wanted.sum() - X @ wanted) - X @ np.maximum(-weights, 0.0))


SCORED: dict[str, Callable[[Floats, Floats], Floats]] = {
    DISJUNCTIONS: score_disjunction,
    CONJUNCTIONS: score_conjunction,
}
# The weights that a rule may have.
WEIGHTS: dict[str, tuple[float, ...]] = {DISJUNCTIONS: (0.0, 1.0), CONJUNCTIONS: (-1.0, 0.0, 1.0)}


def best_disjunction(rows: Rows) -> Answer:
    """Return an OR of few features that fits the labels, or else one with few mistakes.

    Up to 12 features it is the best of all; beyond, one that no further feature improves.

    Examples
    --------
    >>> best_disjunction(Rows([[1, 0, 1], [0, 1, 0], [0, 0, 1]], [1, 1, 0])).witness
    array([1., 1., 0.])
    """
    table, labels, counts, binary = booleans(rows)
    safe = ~table[labels < 0].any(axis=0)
    left = table[labels > 0] & safe
    impossible = binary and not left.any(axis=1).all()
    weights = np.zeros(table.shape[1])
    while left.any():
        best = int(np.argmax(left.sum(axis=0)))
        weights[best] = 1.0
        left = left[~left[:, best]]
    answer = rule_answer(rows, weights, DISJUNCTIONS, impossible)
    if not answer.loss or not binary:
        return answer
    cost = counts * labels  # mistakes made, or avoided, by predicting negative
    if table.shape[1] <= MAX_ENUMERATED_FEATURES:
        every = np.array(list(product((0, 1), repeat=table.shape[1])), dtype=np.float64)
        wrong = cost @ (table.astype(np.float64) @ every.T == 0)
        best_of_all = rule_answer(rows, every[np.argmin(wrong)], DISJUNCTIONS, True)
        return replace(best_of_all, lower=best_of_all.loss, exact=True)
    return rule_answer(rows, improved(table, cost), DISJUNCTIONS, impossible)


def improved(table: NDArray[np.bool_], cost: Floats) -> Floats:
    """Return an OR built greedily: the most useful feature is added until none helps."""
    weights, silent = np.zeros(table.shape[1]), np.ones(len(cost), dtype=bool)
    while silent.any():
        gains = cost[silent] @ table[silent]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        weights[best] = 1.0
        silent &= ~table[:, best]
    return weights


def best_conjunction(rows: Rows) -> Answer:
    """Return the AND of all literals that no positive example contradicts.

    Examples
    --------
    >>> best_conjunction(Rows([[1, 0, 1], [1, 0, 0], [0, 0, 1]], [1, 1, 0])).witness
    array([ 1., -1.,  0.])
    """
    table, labels, _, binary = booleans(rows)
    positive = table[labels > 0]
    if len(positive):
        weights = np.asarray(positive.all(axis=0) * 1.0 - (~positive).all(axis=0) * 1.0)
    else:
        weights = never(table)
    # Without a positive example some AND always fits: that of a feature and its negation.
    return rule_answer(rows, weights, CONJUNCTIONS, binary and len(positive) > 0)


def never(table: NDArray[np.bool_]) -> Floats:
    """Return one literal per feature, chosen greedily so that few rows satisfy all of them."""
    weights = np.zeros(table.shape[1])
    left = table
    for i in range(table.shape[1]):
        if not len(left):
            break
        weights[i] = 1.0 if 2 * left[:, i].sum() <= len(left) else -1.0
        left = left[left[:, i] == (weights[i] > 0)]
    return weights


def booleans(rows: Rows) -> tuple[NDArray[np.bool_], Floats, Floats, bool]:
    """Return the distinct rows as truth values, their labels and counts, and if all are 0 or 1.

    Any value other than 0 counts as 1.
    """
    seen: dict[bytes, int] = {}
    binary = True
    labels = as_labels(rows.outcomes)
    at, width = 0, rows.shape[1]
    for block, y in rows.blocks():
        dense = np.zeros((len(y), width + 1), dtype=bool)
        part = block.toarray() if hasattr(block, "toarray") else np.asarray(block)
        dense[:, : part.shape[1]] = part != 0
        binary = binary and bool(np.isin(part, (0.0, 1.0)).all())
        dense[:, width] = labels[at : at + len(y)] > 0
        at += len(y)
        for row, times in zip(*np.unique(dense, axis=0, return_counts=True), strict=True):
            key = row.tobytes()
            seen[key] = seen.get(key, 0) + int(times)
    if not seen:
        return np.zeros((0, width), dtype=bool), np.zeros(0), np.zeros(0), binary
    table = np.frombuffer(b"".join(seen), dtype=bool).reshape(len(seen), width + 1)
    counts = np.array(list(seen.values()), dtype=np.float64)
    return table[:, :width], np.where(table[:, width], 1.0, -1.0), counts, binary


def rule_answer(rows: Rows, weights: Floats, words: str, impossible: bool) -> Answer:
    """Return a rule with its mistakes over all rounds; ``impossible`` if no rule fits them all."""
    score = SCORED[words]
    marks = as_labels(rows.outcomes)
    missed, at = 0, 0
    for block, y in rows.blocks():
        scores = score(block, weights[: block.shape[1]])
        if words == CONJUNCTIONS:  # features of later blocks are absent here
            scores = scores - np.maximum(weights[block.shape[1] :], 0.0).sum()
        missed += int(np.count_nonzero(are_mistakes(marks[at : at + len(y)], scores)))
        at += len(y)
    return Answer(words, float(missed), float(impossible and missed > 0), weights)
