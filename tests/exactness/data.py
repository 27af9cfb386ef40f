"""Examples that hurt floating-point arithmetic, by kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator


class Examples(NamedTuple):
    """A table of examples with real outcomes, and weights that fit them well if there are some."""

    X: Floats
    y: Floats
    planted: Floats | None = None

    def labels(self, rng: Rng) -> Examples:
        """Return the same rows with outcomes −1 and +1, sometimes separable."""
        y = np.where(self.y > np.median(self.y), 1.0, -1.0)
        if rng.random() < 0.5:
            with np.errstate(all="ignore"):
                scores = self.X @ rng.normal(size=self.X.shape[1])
            y = np.where(scores > 0, 1.0, -1.0)
        if rng.random() < 0.3:
            y = (y + 1) / 2
        return Examples(self.X, y)


def shape(rng: Rng) -> tuple[int, int]:
    """Return a few rounds and features, more rounds more often."""
    return int(rng.integers(2, 9)), int(rng.integers(1, 4))


def power(rng: Rng, low: float, high: float, size: int | tuple[int, ...] = 1) -> Floats:
    """Return powers of ten, not whole ones."""
    return np.asarray(10.0 ** rng.uniform(low, high, size=size))


def plain(rng: Rng) -> Examples:
    X = rng.normal(size=shape(rng))
    return Examples(X, rng.normal(size=len(X)))


def whole(rng: Rng) -> Examples:
    """Small whole numbers: many ties, kinks that are met, exact dependences."""
    X = rng.integers(-3, 4, size=shape(rng)).astype(float)
    return Examples(X, rng.integers(-3, 4, size=len(X)).astype(float))


def planted(rng: Rng) -> Examples:
    """Outcomes that some weights meet exactly."""
    X = rng.integers(-9, 10, size=shape(rng)).astype(float)
    u = np.asarray(rng.integers(-4, 5, size=X.shape[1]) / 4, dtype=np.float64)
    return Examples(X, X @ u, u)


def scaled_columns(rng: Rng) -> Examples:
    X = rng.normal(size=shape(rng))
    return Examples(X * power(rng, -150, 149, X.shape[1]), rng.normal(size=len(X)))


def scaled_rows(rng: Rng) -> Examples:
    X = rng.normal(size=shape(rng))
    return Examples(X * power(rng, -150, 149, (len(X), 1)), rng.normal(size=len(X)))


def scaled_outcomes(rng: Rng) -> Examples:
    X = rng.normal(size=shape(rng))
    return Examples(X, rng.normal(size=len(X)) * power(rng, -150, 149, len(X)))


def scaled_all(rng: Rng) -> Examples:
    X = rng.normal(size=shape(rng))
    X = X * power(rng, -150, 149)
    return Examples(X, rng.normal(size=len(X)) * power(rng, -150, 149))


def spread(rng: Rng) -> Examples:
    """Numbers of all sizes between 1e-8 and 1e8."""
    size = shape(rng)
    X = rng.normal(size=size) * power(rng, -8, 8, size)
    return Examples(X, rng.normal(size=size[0]) * power(rng, -8, 8, size[0]))


def subnormal(rng: Rng) -> Examples:
    X = rng.normal(size=shape(rng))
    X[:, 0] *= power(rng, -322, -290)
    if rng.random() < 0.5:
        X *= power(rng, -20, 0)
    y = rng.normal(size=len(X)) * power(rng, -320 if rng.random() < 0.5 else -3, 0)
    return Examples(X, y)


def collinear(rng: Rng) -> Examples:
    """One column is a whole-numbered combination of others, or the same again."""
    rounds, n = shape(rng)
    X = rng.integers(-9, 10, size=(rounds, n + 1)).astype(float)
    X[:, -1] = X[:, :-1] @ rng.integers(-2, 3, size=n)
    if rng.random() < 0.3:
        X *= 0.1
    return Examples(X, rng.normal(size=rounds))


def nearly_collinear(rng: Rng) -> Examples:
    """One column is a combination of others but for a few of its last digits."""
    rounds, n = shape(rng)
    X = rng.normal(size=(rounds, n + 1))
    X[:, -1] = X[:, :-1] @ rng.normal(size=n)
    X[:, -1] += rng.normal(size=rounds) * power(rng, -17, -4)
    y = rng.normal(size=rounds)
    if rng.random() < 0.5:  # so that huge weights pay
        y = y * 1e-3 + (X[:, -1] - X[:, 0]) * power(rng, 0, 12)
    return Examples(X, y)


def repeated(rng: Rng) -> Examples:
    X = rng.normal(size=shape(rng))
    at = rng.integers(0, len(X), size=3 * len(X))
    return Examples(X[at], rng.normal(size=len(at)))


def offset(rng: Rng) -> Examples:
    """Small differences on top of large numbers, in features, outcomes or both."""
    X = rng.normal(size=shape(rng))
    y = rng.normal(size=len(X))
    far = power(rng, 3, 14)
    if rng.random() < 0.8:
        X = X + far * rng.choice([-1.0, 1.0])
    if rng.random() < 0.5:
        y = y + far
    return Examples(X, y)


def holes(rng: Rng) -> Examples:
    """Mostly zeros; whole rows and columns of zeros among them."""
    X = rng.normal(size=shape(rng))
    X[rng.random(X.shape) < 0.6] = 0.0
    return Examples(X, rng.normal(size=len(X)) * rng.integers(0, 2, size=len(X)))


def wide(rng: Rng) -> Examples:
    rounds = int(rng.integers(1, 4))
    X = rng.normal(size=(rounds, rounds + int(rng.integers(1, 3))))
    return Examples(X, rng.normal(size=rounds))


def single(rng: Rng) -> Examples:
    X = rng.normal(size=(1, int(rng.integers(1, 4)))) * power(rng, -20, 20)
    return Examples(X, rng.normal(size=1) * power(rng, -20, 20))


def close(rng: Rng) -> Examples:
    """Outcomes that a predictor nearly meets: nearly all digits of the loss cancel."""
    X = rng.normal(size=shape(rng)) * power(rng, -3, 3)
    u = rng.normal(size=X.shape[1]) * power(rng, -3, 3)
    y = X @ u
    return Examples(X, y * (1 + rng.normal(size=len(y)) * power(rng, -16, -6)), u)


def many_rows(rng: Rng) -> Examples:
    """More rows than are summed at a time, of few digits each, so that fractions stay short."""
    X = np.round(rng.normal(size=(int(rng.integers(130, 400)), int(rng.integers(1, 4)))) * 64) / 64
    y = X @ np.round(rng.normal(size=X.shape[1]) * 8) / 8
    return Examples(X, y + np.round(rng.normal(size=len(y)) * 4) / 4 + float(rng.integers(2)) * 1e9)


def many_columns(rng: Rng) -> Examples:
    """As many columns as products are vectorised over."""
    X = rng.integers(-9, 10, size=(int(rng.integers(9, 20)), int(rng.integers(8, 12)))) / 8
    return Examples(X, rng.integers(-99, 100, size=len(X)) / 8)


KINDS: dict[str, Callable[[Rng], Examples]] = {
    "random": plain,
    "whole numbers": whole,
    "planted": planted,
    "scaled columns": scaled_columns,
    "scaled rows": scaled_rows,
    "scaled outcomes": scaled_outcomes,
    "scaled": scaled_all,
    "spread": spread,
    "subnormal": subnormal,
    "collinear": collinear,
    "nearly collinear": nearly_collinear,
    "repeated rows": repeated,
    "huge offset": offset,
    "sparse": holes,
    "wide": wide,
    "single row": single,
    "nearly met": close,
    "many rows": many_rows,
    "many columns": many_columns,
}


def drawn(rng: Rng) -> tuple[str, Examples]:
    """Return examples of a kind drawn at random."""
    shares = np.array([0.2 if kind.startswith("many") else 1.0 for kind in KINDS])  # they take long
    kind = str(rng.choice(list(KINDS), p=shares / shares.sum()))
    return kind, KINDS[kind](rng)
