"""Mondrian forests against River's, with as many trees: time per row, and how well they predict.

Every row is predicted before it is learned from, in the order of the file. River's AMF gets the
columns as they are, as dicts, and its defaults but for the number of trees; ours gets an array and
its defaults, which add two fresh trees. Numbers are judged by the mean square error over the
variance, labels by the log loss, with River's probabilities kept a millionth away from 0 and 1.
Both are timed by processor time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import forest
from scipy import sparse

import noregret
from benchmarks._data import regression
from benchmarks._harness import Row, duration, faster, three_digits
from benchmarks._quality_sets import Floats, Set, dense, real

PACKAGES = ("river",)
TREES, COLUMNS, EDGE = 10, 20, 1e-6
AT_LEAST = 50.0
SETS = ("flights", "flights, late", "bikes", "bikes, raw", "elec2", "bananas", "phishing", "a9a")


def run(quick: bool) -> Iterator[Row]:
    X, y = regression(500 if quick else 5000, COLUMNS)
    yield wide(500 if quick else 5000)
    yield from compared("20 dense features", dense(X, y), 0 if quick else AT_LEAST)
    sets = real()
    for name in SETS:
        if name in sets:
            rows = sets[name]()
            yield from compared(name, rows.first(300 if quick else 10_000), None)


def wide(rows: int) -> Row:
    """Compare the times on rows with as many words each, from 300 words and from 30,000."""
    rng, spent = np.random.default_rng(0), []
    at = np.sort(rng.permuted(np.tile(np.arange(300), (rows, 1)), axis=1)[:, :20])
    y = (at < 75).sum(axis=1) > 5
    for apart in (1, 100):
        starts = np.arange(rows + 1) * at.shape[1]
        X = sparse.csr_matrix((np.ones(at.size), at.ravel() * apart, starts), (rows, 300 * apart))
        learner = noregret.MondrianForest(loss="logistic", trees=TREES)
        began = time.process_time()
        learner.play_many(X, y)
        spent.append(time.process_time() - began)
    per_row = [duration(seconds / rows) for seconds in spent]
    work = f"20 words of 30,000 beside 20 of 300, {TREES} trees, {rows:,} rows, time per row"
    ratio = spent[1] / spent[0]
    return Row(work, per_row[1], per_row[0], f"{ratio:.2f}× the time", "≤ 1.5×", ratio <= 1.5)


def compared(name: str, rows: Set, at_least: float | None) -> Iterator[Row]:
    """Compare the times and the losses on some rows."""
    X = np.ascontiguousarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    (ours, own_time), (theirs, their_time) = played(X, rows), rivers(X, rows)
    work = f"{name}, {TREES} trees, {len(X):,} rows"
    per_row = [duration(seconds / len(X)) for seconds in (own_time, their_time)]
    ratio = their_time / own_time
    yield faster(f"{work}, time per row", per_row[0], per_row[1], ratio, at_least)
    measure = "log loss" if rows.classes else "error / variance"
    yield Row(
        f"{work}, {measure}",
        three_digits(ours),
        three_digits(theirs),
        f"{three_digits(ours / theirs)}× its loss",
        "≤ 1×",
        ours <= theirs,
    )


def loss_of(predicted: Floats, rows: Set) -> float:
    """Return the loss of numbers, or of probabilities of the label 1."""
    if not rows.classes:
        return float(np.mean((predicted - rows.y) ** 2) / np.var(rows.y))
    right = np.clip(np.where(rows.y > 0, predicted, 1 - predicted), EDGE, 1)
    return float(-np.mean(np.log(right)))


def played(X: Floats, rows: Set) -> tuple[float, float]:
    """Return our loss and time."""
    learner = noregret.MondrianForest(loss="logistic" if rows.classes else "square", trees=TREES)
    began = time.process_time()
    learner.play_many(X, rows.y > 0 if rows.classes else rows.y)
    spent = time.process_time() - began
    total = learner.total_loss / learner.rounds
    return total if rows.classes else total / float(np.var(rows.y)), spent


def rivers(X: Floats, rows: Set) -> tuple[float, float]:
    """Return River's loss and time."""
    kind: Any = forest.AMFClassifier if rows.classes else forest.AMFRegressor
    model, said = kind(n_estimators=TREES, seed=1), np.zeros(len(X))
    examples = [dict(enumerate(row)) for row in X.tolist()]
    outcomes = (rows.y > 0).tolist() if rows.classes else rows.y.tolist()
    began = time.process_time()
    for k, (x, y) in enumerate(zip(examples, outcomes, strict=True)):
        if rows.classes:
            said[k] = model.predict_proba_one(x).get(True, 0.0) if k else 0.5
        else:
            said[k] = model.predict_one(x) or 0.0
        model.learn_one(x, y)
    return loss_of(said, rows), time.process_time() - began
