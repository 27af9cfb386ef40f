"""Stochastic gradient descent as scikit-learn makes it, row by row.

A call of its `partial_fit` takes half a millisecond, whatever the row. So its rule is written out
here, and must come to the same scores as scikit-learn itself on the first rows, at every rate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks._harness import Disagreement
from benchmarks._quality_sets import Floats, Set

CHECKED = 50  # rows: later, its long steps at first make any rounding grow
ALIKE = 1e-6
SHRINK = 1e-4  # the weight of its penalty
DIVERGED = 1e6  # scores as large are only rounding errors
MOST = 1e12  # slopes are cut there
SPARSE = 0.01  # on sparse rows its intercept takes smaller steps


def scikit_learn(rows: Set, rate: float | None = None, scaled: bool = True) -> Floats:
    """Return what it says; at a rate, which is constant for classes, or at its defaults."""
    seen = standardised(rows) if scaled else (rows.X, rows.X)
    scores = written_out(*seen, rows, rate)
    first = rows.first(CHECKED)
    itself = by_itself(seen[0][:CHECKED], seen[1][:CHECKED], first, rate)
    known = np.abs(itself) < DIVERGED
    apart = np.abs(itself - scores[:CHECKED])[known] / (1 + np.abs(itself[known]))
    if apart.size and not apart.max() <= ALIKE:
        raise Disagreement(
            f"scikit-learn's SGD at {rate}: written out, it is {apart.max():.2g} off"
        )
    return scores


def written_out(before: Any, after: Any, rows: Set, rate: float | None) -> Floats:
    """Return the scores of its rule; weights are kept but for a factor that shrinks."""
    w, factor, intercept = np.zeros(after.shape[1]), 1.0, 0.0
    ease = SPARSE if sparse.issparse(after) else 1.0
    labels = (2 * rows.y - 1 if rows.classes else rows.y).tolist()
    scores = np.full(len(labels), np.inf)
    looks, learns = row_by_row(before), row_by_row(after)
    with np.errstate(all="ignore"):
        for k, (y, (at, x), (_, z)) in enumerate(zip(labels, looks, learns, strict=True)):
            scores[k] = factor * float(w[at] @ x) + intercept
            score = factor * float(w[at] @ z) + intercept
            slope = -y * float(np.exp(-np.logaddexp(0, y * score))) if rows.classes else score - y
            step = length(k + 1, rows.classes, rate)
            factor *= max(0.0, 1 - step * SHRINK)
            move = -step * min(max(slope, -MOST), MOST)
            w[at] += move / factor * z
            intercept += ease * move
            if not np.isfinite(w[at]).all():  # scikit-learn stops there
                break
    return scores


def row_by_row(X: Any) -> Any:
    """Yield where a row is not 0, and what it is there."""
    if not sparse.issparse(X):
        return ((slice(None), row) for row in X)
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return ((X.indices[a:b], X.data[a:b]) for a, b in ends)


def length(t: int, classes: bool, rate: float | None) -> float:
    """Return the length of a step."""
    if not classes:
        return (0.01 if rate is None else rate) / math.sqrt(math.sqrt(t))
    return 1 / (SHRINK * (1000 + t - 1)) if rate is None else rate


def by_itself(before: Any, after: Any, rows: Set, rate: float | None) -> Floats:
    """Return the scores of scikit-learn itself."""
    import sklearn
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    options: dict[str, Any] = {} if rate is None else {"eta0": rate}
    if rows.classes and rate is not None:
        options["learning_rate"] = "constant"  # its default has no rate
    model: Any = SGDRegressor(random_state=0, **options)
    first: dict[str, Any] = {}
    if rows.classes:
        model = SGDClassifier(loss="log_loss", random_state=0, **options)
        first = {"classes": np.array([0.0, 1.0])}
    scores = np.full(len(rows.y), np.inf)
    scores[0] = 0
    quiet = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with quiet, np.errstate(all="ignore"):
        for k in range(len(scores)):
            if k > 0:
                scores[k] = (before[k : k + 1] @ model.coef_.ravel())[0] + model.intercept_[0]
            try:
                model.partial_fit(after[k : k + 1], rows.y[k : k + 1], **first)
            except ValueError:  # it diverged: what is left stays infinite
                break
    return scores


def standardised(rows: Set) -> tuple[Any, Any]:
    """Return the rows as seen before they count in the means and spreads, and after."""
    if not len(rows.quantities):
        return rows.X, rows.X
    start = rows.X[0, rows.quantities]
    moved = rows.X[:, rows.quantities] - start
    count = np.arange(1, len(rows.y) + 1)[:, None]
    mean = np.cumsum(moved, axis=0) / count
    spread = np.sqrt(np.maximum(np.cumsum(moved**2, axis=0) / count - mean**2, 0))
    spread[spread <= 1e-9 * np.abs(mean)] = 0
    before, after = rows.X.copy(), rows.X.copy()
    before[0, rows.quantities] = 0
    before[1:, rows.quantities] = divided(moved[1:] - mean[:-1], spread[:-1])
    after[:, rows.quantities] = divided(moved - mean, spread)
    return before, after


def divided(a: Floats, b: Floats) -> Floats:
    """Return a / b, and 0 where b is."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
