"""``fit`` of noregret.sklearn against scikit-learn's SGD with equal settings, and equal answers.

Both make one pass of gradient descent in the given order, at a constant rate, without penalty, with
an intercept. scikit-learn halves the square loss, and for sparse rows lets the intercept learn at a
hundredth of the rate, which is what a constant column of a tenth does.

Limits, on a Xeon with AVX-512: reading the dense table once takes 39 ms (10 GB/s), a quarter of
scikit-learn's 147 ms for the square loss; rounds take 34 ns per row besides. A number of a sparse
row takes 4 ns, 2 of them for the scan: its products are added to one of eight sums by its column,
so that sparse rows give the same bits as dense ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.preprocessing import StandardScaler

from benchmarks._data import regression, sparse_rows
from benchmarks._harness import Grid, Row, duration, faster, must_agree, race
from benchmarks._quality_sets import Set, real
from noregret.sklearn import GradientDescentClassifier, GradientDescentRegressor

PACKAGES = ("scikit-learn", "scipy")
RATE = 0.01
# Our losses and theirs.
LOSSES = {"square": None, "hinge": "hinge", "logistic": "log_loss", "mistake": "perceptron"}
SETS = {"a9a": "logistic", "flights, late": "logistic", "flights": "square"}


def run(quick: bool) -> Iterator[Row | Grid]:
    X, y = regression(20_000 if quick else 1_000_000, 50)
    for loss in LOSSES:
        yield compare("dense", X, y, loss, quick, at_least=3)
    yield compare("dense float32", X.astype(np.float32), y, "square", quick)
    yield compare("dense, by columns", np.asfortranarray(X), y, "square", quick)
    rows = 5_000 if quick else 200_000
    csr = sparse_rows(rows, 50, 50_000)
    y = csr @ np.random.default_rng(9).standard_normal(50_000)
    for loss in LOSSES:
        yield compare("CSR", csr, y, loss, quick, at_least=2)
    yield quality(quick)


def compare(
    kind: str, X: Any, y: Any, loss: str, quick: bool, at_least: float | None = None
) -> Row:
    told = y if loss == "square" else np.where(y > 0, 1, -1)
    ours, peer = pair(loss, hasattr(X, "tocsr"))
    ours.fit(X, told)
    peer.fit(X, told)
    apart = "float32" in kind  # there scikit-learn computes in float32
    if not apart:
        must_agree(ours.coef_, peer.coef_, f"weights of {kind} {loss}")
        must_agree(ours.intercept_, peer.intercept_, f"intercept of {kind} {loss}")
    seconds = 0 if quick else 6
    mine, theirs = race(lambda: ours.fit(X, told), lambda: peer.fit(X, told), seconds=seconds)
    work = f"{kind} {X.shape[0]:,} × {X.shape[1]:,}, fit, {loss} loss"
    beside = f"scikit-learn {duration(theirs)}"
    return faster(work, duration(mine), beside, theirs / mine, at_least)


def pair(loss: str, is_sparse: bool, passes: int = 1) -> tuple[Any, Any]:
    """Return our estimator and scikit-learn's with the same settings."""
    ours: dict[str, Any] = {"max_iter": passes, "shuffle": False}
    ours["intercept_scaling"] = 0.1 if is_sparse else 1.0
    theirs: dict[str, Any] = {"max_iter": passes, "shuffle": False, "tol": None, "penalty": None}
    theirs |= {"learning_rate": "constant", "eta0": RATE}
    if loss == "square":
        mine = GradientDescentRegressor(loss=loss, rate=RATE / 2, step="explicit", **ours)
        return mine, SGDRegressor(**theirs)
    mine = GradientDescentClassifier(loss=loss, rate=RATE, **ours)
    return mine, SGDClassifier(loss=LOSSES[loss], **theirs)


def quality(quick: bool) -> Grid:
    """Compare scores on the last fifth of real data after five passes over the rest."""
    known = real()
    lines = []
    for name, loss in SETS.items():
        if name in known:
            lines.append((name, scores(known[name]().shuffled(), loss, quick)))
    title = "R² or accuracy on rows held out, equal settings, five passes"
    return Grid(title, ["noregret", "scikit-learn", "rows the same"], lines)


def scores(data: Set, loss: str, quick: bool) -> list[str]:
    rows = 2_000 if quick else len(data.y)
    X, y = data.X[:rows], data.y[:rows]
    cut = rows * 4 // 5
    scaler = StandardScaler(with_mean=False).fit(X[:cut])
    X = scaler.transform(X) / np.sqrt(X.shape[1])
    ours, peer = (each.fit(X[:cut], y[:cut]) for each in pair(loss, hasattr(X, "tocsr"), 5))
    alike = np.isclose(ours.predict(X[cut:]), peer.predict(X[cut:]), rtol=1e-6).mean()
    told = X[cut:], y[cut:]
    return [f"{ours.score(*told):.4f}", f"{peer.score(*told):.4f}", f"{alike:.2%}"]
