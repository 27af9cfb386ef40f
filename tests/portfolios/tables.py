"""Relatives to play: at random, and as an adversary would have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from noregret.portfolios import make

Floats = NDArray[np.float64]

# Every strategy, with parameters that make a difference.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("eg-portfolio", {}),
    ("blend-portfolio", {}),
    ("eg-portfolio", {"rate": 2.0}),
    ("universal-portfolio", {"points": 64}),
    ("ons-portfolio", {}),
    ("ons-portfolio", {"rate": 1.0, "ridge": 0.1}),
    ("ons-portfolio", {"rate": 1.0, "ridge": 1.0, "damping": 0.125}),
    ("uniform-rebalanced", {}),
    ("buy-and-hold", {}),
    ("follow-the-leader", {}),
    ("eg-portfolio", {"rate": 0.5, "cost": 0.01}),
    ("ons-portfolio", {"cost": 0.002}),
]
# Those of them that may hold nothing of most assets, and lose all when the others fall to 0.
RECKLESS = ("follow-the-leader", "ons-portfolio", "buy-and-hold", "eg-portfolio")


def built(variant: tuple[str, dict[str, Any]]) -> Any:
    """Return a fresh strategy."""
    return make(variant[0], **variant[1])


def name_of(variant: tuple[str, dict[str, Any]]) -> str:
    """Return what a test is called by."""
    return " ".join([variant[0], *(f"{k}={v}" for k, v in variant[1].items())])


def usual(rows: int, assets: int, seed: int = 0, width: float = 0.05) -> Floats:
    """Return relatives as of a market."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0.0005, width, (rows, assets)))


def crash(rows: int, assets: int) -> Floats:
    """One asset leads, and then falls to a thousandth."""
    X = np.full((rows, assets), 1.0)
    X[:, 0] = 1.2
    X[rows // 2, 0] = 0.001
    return X


def alternating(rows: int, assets: int) -> Floats:
    """Cover's example: the first stands still, the others double and halve in turn."""
    X = np.ones((rows, assets))
    X[::2, 1:], X[1::2, 1:] = 2.0, 0.5
    return X


def switching(rows: int, assets: int) -> Floats:
    """Return relatives with which the leader falls next."""
    X = np.full((rows, assets), 1.1)
    X[np.arange(rows), np.arange(rows) % assets] = 0.3
    return X


def one_winner(rows: int, assets: int) -> Floats:
    """One of the assets gains in every round, the others lose."""
    X = np.full((rows, assets), 0.6)
    X[:, -1] = 1.0
    return X


def unkind(rows: int, assets: int) -> Floats:
    """Nearly all is lost in every round but on one asset drawn at random."""
    rng = np.random.default_rng(5)
    X = np.full((rows, assets), 1e-6)
    X[np.arange(rows), rng.integers(0, assets, rows)] = 1.0
    return X


ADVERSARIES: list[Callable[[int, int], Floats]] = [
    usual,
    crash,
    alternating,
    switching,
    one_winner,
    unkind,
]


@st.composite
def tables(draw: st.DrawFn, least: float = 0.01, most: float = 3.0, zeros: bool = False) -> Floats:
    """Relatives of any kind."""
    rows, assets = draw(st.integers(1, 20)), draw(st.integers(1, 4))
    number = st.floats(least, most)
    if zeros:
        number = st.one_of(number, st.just(0.0))
    X = np.array([[draw(number) for _ in range(assets)] for _ in range(rows)], dtype=np.float64)
    X[X.max(axis=1) == 0, 0] = 1.0
    return X
