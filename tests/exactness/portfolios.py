"""The best asset and the best constant rebalanced portfolio, against logarithms of many digits."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from noregret.hindsight.portfolio import best_asset, best_rebalanced, loss_of
from tests.exactness.arithmetic import SURE, Matrix, Vector, dot, ln, table, weights_of
from tests.exactness.protocol import Case
from tests.exactness.tables import Floats

# Cases of a short run.
SHORT = 40


def relatives(rng: np.random.Generator) -> tuple[str, Floats]:
    """Return a kind of data and the relatives of some assets."""
    rows, columns = int(rng.integers(1, 15)), int(rng.integers(2, 5))
    X = np.exp(0.1 * rng.normal(size=(rows, columns)))
    kind = str(
        rng.choice(
            [
                "plain",
                "near 1",
                "ill-scaled",
                "ill-scaled rows",
                "ill-scaled columns",
                "zeros",
                "equal",
                "two-point",
                "beside a giant",
                "subnormal",
                "long",
            ]
        )
    )
    if kind == "near 1":
        X = 1 + 1e-12 * rng.normal(size=X.shape)
    elif kind == "ill-scaled":
        X = X * 10.0 ** rng.integers(-150, 150, X.shape)
    elif kind == "ill-scaled rows":
        X = X * 10.0 ** rng.integers(-290, 290, (rows, 1))
    elif kind == "ill-scaled columns":
        X = X * 10.0 ** rng.integers(-150, 150, columns)
    elif kind == "zeros":
        X = X * (rng.random(X.shape) < 0.7)
        X[np.arange(rows), rng.integers(0, columns, rows)] = 1.0
    elif kind == "equal":
        X = np.repeat(X[:, :1], columns, axis=1)
    elif kind == "two-point":
        X = rng.choice([0.5, 1.0, 2.0], X.shape)
    elif kind == "beside a giant":  # one asset is next to nothing wherever the other is not
        X[:, 0] *= 10.0 ** rng.integers(-320, -290, rows)
        X[: rows // 2, 1:] = 0.0
        X[: rows // 2, 0] = 10.0 ** rng.integers(-320, -290, rows // 2)
    elif kind == "subnormal":
        X = rng.integers(1, 9, X.shape) * 5e-324 * 10.0 ** rng.integers(0, 12, (rows, 1))
    elif kind == "long":
        X = np.tile(X, (400 // rows, 1))
    return kind, X


def draw(seed: int) -> Case:
    """Return a question about portfolios."""
    rng = np.random.default_rng(seed)
    kind, X = relatives(rng)
    if rng.random() < 0.25:
        return Case("best asset", "log-wealth", kind, lambda: of_asset(X))
    if rng.random() < 0.25:
        u = rng.dirichlet(np.ones(X.shape[1])) * (rng.random(X.shape[1]) < 0.7)
        u = u / u.sum() if u.any() else np.full(len(u), 1 / len(u))
        return Case("any portfolio", "log-wealth", kind, lambda: of_portfolio(X, u))
    return Case("rebalanced", "log-wealth", kind, lambda: of_rebalanced(X))


def pays(rows: Matrix, u: Vector) -> Fraction | None:
    """Return minus the log-wealth; None where all is lost."""
    wealths = [dot(u, row) for row in rows]
    return None if min(wealths) == 0 else -sum(map(ln, wealths), Fraction(0))


def beaten(rows: Matrix, lower: float, u: Vector) -> str:
    """Return what is wrong with a lower end, as some portfolio has it."""
    paid = pays(rows, u)
    if (
        paid is None
        or lower == -np.inf
        or (lower < np.inf and Fraction(lower) <= paid + SURE * len(rows))
    ):
        return ""
    return f"lower end {lower!r}, and {[float(w) for w in u]} pays {float(paid)!r}"


def of_asset(X: Floats) -> str:
    """Check the best asset."""
    if not (X > 0).all(axis=0).any():
        return ""
    answer, rows = best_asset(lambda: [X]), table(X)
    for i in range(X.shape[1]):
        if wrong := beaten(rows, answer.lower, [Fraction(i == k) for k in range(X.shape[1])]):
            return wrong
    own = pays(rows, weights_of(answer.witness))
    if own is None or Fraction(answer.loss) < own - SURE * len(rows):
        return f"the witness pays {own if own is None else float(own)!r}, more than {answer.loss!r}"
    return ""


def of_portfolio(X: Floats, u: Floats) -> str:
    """Check what a portfolio pays, with its rounding."""
    loss, off = loss_of(lambda: [X], u)
    own = pays(table(X), weights_of(u))
    if own is None:
        return "" if loss == np.inf else f"loss {loss!r} where all is lost"
    if loss < np.inf and abs(Fraction(loss) - own) > Fraction(off) + SURE * len(X):
        return f"loss {loss!r} ± {off!r}, and it is {float(own)!r}"
    return "" if loss < np.inf else f"infinite, and it is {float(own)!r}"


def of_rebalanced(X: Floats) -> str:
    """Check the best constant rebalanced portfolio: its witness, and whether another beats it."""
    answer, rows = best_rebalanced(lambda: [X]), table(X)
    if np.isnan(answer.loss) or np.isnan(answer.lower) or answer.lower > answer.loss:
        return f"an interval from {answer.lower!r} to {answer.loss!r}"
    u = answer.witness
    if (u < 0).any() or abs(u.sum() - 1) > 1e-12:
        return f"the witness {u} is no portfolio"
    own = pays(rows, weights_of(u))
    if answer.loss < np.inf and (own is None or Fraction(answer.loss) < own - SURE * len(rows)):
        return f"the witness pays {own if own is None else float(own)!r}, more than {answer.loss!r}"
    for rival in rivals(X, u):
        if wrong := beaten(rows, answer.lower, weights_of(rival)):
            return wrong
    return ""


def rivals(X: Floats, u: Floats) -> Iterator[Floats]:
    """Yield portfolios that may beat the one found: itself, improved by Cover's rule, and pairs."""
    n = X.shape[1]
    yield u
    yield from np.eye(n)
    better = np.where(u > 0, u, 1e-9)
    X = X / X.max(axis=1, keepdims=True)
    for _ in range(30):
        with np.errstate(all="ignore"):
            pull = np.nan_to_num((X / (X @ better)[:, None]).mean(axis=0), posinf=1.0)
        better = better * pull
        if not 0 < better.sum() < np.inf:
            return
        better = better / better.sum()
    yield better
    for i, j in combinations(range(n), 2):
        pair = np.zeros(n)
        pair[[i, j]] = 0.5
        yield pair
