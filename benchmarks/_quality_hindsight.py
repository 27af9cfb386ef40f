"""The best fixed linear predictor in hindsight, with an intercept: what no peer may know."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, sparse

from benchmarks._quality_sets import Floats, Set

MOST = 1000  # columns, as a dense matrix


def best_linear(rows: Set) -> Floats:
    """Return its scores: by least squares, or by the least log loss."""
    X = rows.X.toarray() if sparse.issparse(rows.X) and rows.X.shape[1] <= MOST else rows.X
    if sparse.issparse(X):
        Z = sparse.csr_matrix(sparse.hstack([X, np.ones((len(rows.y), 1))]))
    else:
        mean, spread = X.mean(axis=0), X.std(axis=0)
        flat = spread <= 1e-12 * (1e-300 + np.abs(mean))
        Z = np.column_stack([(X - mean) / np.where(flat, np.inf, spread), np.ones(len(X))])
    if not rows.classes:
        return np.asarray(Z @ least_squares(Z, rows.y))
    return np.asarray(Z @ (newton if isinstance(Z, np.ndarray) else slopes)(Z, rows.y))


def least_squares(Z: Any, y: Floats) -> Floats:
    if sparse.issparse(Z):
        return np.asarray(sparse.linalg.lsqr(Z, y, iter_lim=500, atol=1e-12, btol=1e-12)[0])
    return np.asarray(np.linalg.lstsq(Z, y, rcond=1e-12)[0])


def loss_and_slope(w: Floats, Z: Any, y: Floats) -> tuple[float, Floats]:
    """Return the mean log loss, and its gradient."""
    scores = Z @ w
    loss = float((np.logaddexp(0, scores) - y * scores).mean())
    return loss, np.asarray(Z.T @ (np.exp(-np.logaddexp(0, -scores)) - y) / len(y))


def newton(Z: Floats, y: Floats) -> Floats:
    """Minimise the log loss by Newton's steps, halved while they go up."""
    w = np.zeros(Z.shape[1])
    loss, slope = loss_and_slope(w, Z, y)
    for _ in range(60):
        p = np.exp(-np.logaddexp(0, -(Z @ w)))
        curve = (Z * (p * (1 - p))[:, None]).T @ Z / len(y) + 1e-10 * np.eye(len(w))
        step = np.linalg.solve(curve, slope)
        while np.abs(step).max() > 1e-9 and loss_and_slope(w - step, Z, y)[0] > loss:
            step /= 2
        lower = loss_and_slope(w - step, Z, y)
        if not lower[0] < loss - 1e-12:
            break
        w, (loss, slope) = w - step, lower
    return w


def slopes(Z: Any, y: Floats) -> Floats:
    """Minimise the log loss by its slopes alone, where columns are many."""
    found = optimize.minimize(
        loss_and_slope, np.zeros(Z.shape[1]), (Z, y), "L-BFGS-B", jac=True, options={"gtol": 1e-7}
    )
    return np.asarray(found.x)
