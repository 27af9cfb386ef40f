"""The best OR of features and the best AND of literals, against all of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from noregret.hindsight.rows import Rows
from noregret.hindsight.rules import best_conjunction, best_disjunction
from tests.exactness.protocol import Case
from tests.exactness.tables import Floats

# Cases of a short run.
SHORT = 40


def draw(seed: int) -> Case:
    """Return a question about rules."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 30)), int(rng.integers(1, 7))
    X = (rng.random((rows, columns)) < rng.random()) * 1.0
    kind = str(
        rng.choice(["random", "planted", "one label", "repeated", "wide", "padded", "not 0 or 1"])
    )
    y = np.where(rng.random(rows) < 0.5, 1.0, -1.0)
    is_or = bool(rng.random() < 0.5)
    literals = rng.integers(-1, 2, columns) if not is_or else rng.integers(0, 2, columns)
    if kind == "planted":
        y = np.where(fires(X, literals, is_or), 1.0, -1.0)
    elif kind == "one label":
        y = np.full(rows, rng.choice([-1.0, 1.0]))
    elif kind == "repeated":
        X = X[rng.integers(0, rows, 3 * rows)]
        y = np.where(rng.random(len(X)) < 0.7, np.where(fires(X, literals, is_or), 1.0, -1.0), 1.0)
    elif kind == "wide" and is_or:  # more features than all ORs of them are tried of
        X = np.hstack([X, (rng.random((rows, 14 - columns)) < 0.3) * 1.0])
    elif kind == "not 0 or 1":
        X = X * rng.choice([1.0, 0.25, -1.0, 1e-300], X.shape)
    if rng.random() < 0.3:
        y = (y + 1) / 2
    return Case("or" if is_or else "and", "mistakes", kind, lambda: of_rule(X, y, is_or, kind))


def fires(X: Any, literals: Any, is_or: bool) -> Any:
    """Return where a rule says yes."""
    present = X != 0
    if is_or:
        return np.asarray(present[:, literals > 0].any(axis=1))
    return np.asarray(present[:, literals > 0].all(axis=1) & ~present[:, literals < 0].any(axis=1))


def of_rule(X: Any, y: Floats, is_or: bool, kind: str) -> str:
    """Check the best rule against every one."""
    rows = Rows(sparse.csr_array(X), y) if len(y) % 2 else Rows(X, y)
    if kind == "padded" and len(y) > 2:  # a feature that is only known later on
        X = X.copy()
        X[: len(y) // 2, -1] = 0.0
        rows = Rows(X[: len(y) // 2, :-1], y[: len(y) // 2]).add(X[len(y) // 2 :], y[len(y) // 2 :])
    answer = best_disjunction(rows) if is_or else best_conjunction(rows)
    if not np.isin(X, (0.0, 1.0)).all():
        return (
            "" if answer.lower == 0 else f"lower end {answer.lower} of features that are no truths"
        )
    truth = y > 0
    choices = (0, 1) if is_or else (-1, 0, 1)
    every = product(choices, repeat=X.shape[1])
    least = min(int((fires(X, np.array(rule), is_or) != truth).sum()) for rule in every)
    if not is_or:  # a feature and its opposite: never true
        least = min(least, int(truth.sum()))
    own = int((fires(X, answer.witness, is_or) != truth).sum())
    if own > answer.loss:
        return f"the witness errs {own} times, not {answer.loss}"
    if not answer.lower <= least <= answer.loss:
        return f"from {answer.lower} to {answer.loss}, and the best errs {least} times"
    return "" if not answer.exact or answer.lower == answer.loss == least else "not exact"
