"""ML-Poly round by round, against the same rule in NumPy, for a few and for many experts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Row, faster, must_agree, race
from noregret import MlPoly

PACKAGES = ("numpy",)
Floats = NDArray[np.float64]


def in_numpy(X: Floats, y: Floats) -> float:
    """Play ML-Poly with gradients as one would write it."""
    regret, squares, largest, total = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, 0.0
    for x, outcome in zip(X, y, strict=True):
        weights = np.maximum(regret, 0.0) / np.maximum(largest + squares, 1e-300)
        size = weights.sum()
        weights = weights / size if size > 0 else np.full(len(x), 1 / len(x))
        guess = weights @ x
        total += (guess - outcome) ** 2
        regrets = 2 * (guess - outcome) * (guess - x)
        regret += regrets
        squared = regrets * regrets
        squares += squared
        largest = max(largest, squared.max())
    return float(total)


def compiled(X: Floats, y: Floats) -> float:
    """Play our ML-Poly."""
    master = MlPoly()
    master.learn_many(X, y)
    return float(master.total_loss)


def run(quick: bool) -> Iterator[Row]:
    for experts in (10, 100, 1_000):
        rounds = 500 if quick else 2_000_000 // experts // 10
        draw = np.random.default_rng(2)
        y = draw.standard_normal(rounds)
        X = y[:, None] + draw.standard_normal((rounds, experts)) * draw.uniform(0.5, 2, experts)
        must_agree(compiled(X, y), in_numpy(X, y), "what ML-Poly pays")
        ours, peer = race(
            partial(compiled, X, y), partial(in_numpy, X, y), seconds=0 if quick else 3
        )
        yield faster(
            f"ML-Poly, {experts:,} experts, per round",
            f"{ours / rounds * 1e6:.2f} µs",
            f"NumPy {peer / rounds * 1e6:.1f} µs",
            peer / ours,
        )
