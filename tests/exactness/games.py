"""Certificates of games over tables: experts, arms and assets, against rational numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

import noregret
from noregret import play
from noregret.errors import BadExample
from noregret.hindsight.portfolio import REBALANCED
from tests.exactness.arithmetic import SURE, Vector, fractions, table, weights_of
from tests.exactness.experts import advice, error_of, given, paid
from tests.exactness.intervals import outside, untrue
from tests.exactness.losses import OWN, OWN_SHARE
from tests.exactness.portfolios import beaten, pays, relatives
from tests.exactness.protocol import Case
from tests.exactness.tables import Floats, tenths

MASTERS = ("hedge", "ada-hedge", "boa", "squint", "ml-poly", "fixed-share")
GRADIENTS = ("boa", "squint", "ml-poly")
POLICIES = ("exp3", "exp3-ix", "ucb1", "thompson")
STRATEGIES = ("eg-portfolio", "uniform-rebalanced", "buy-and-hold", "ons-portfolio")
LOSSES = ("given", "square", "absolute", "zero-one", "log", "percentage")
# Cases of a short run.
SHORT = 40


def draw(seed: int) -> Case:
    """Return a game and its certificate."""
    rng = np.random.default_rng(seed)
    family = int(rng.integers(3))
    if family == 0:
        loss = str(rng.choice(LOSSES))
        kind, X, y = advice(rng, loss)
        X, y = np.clip(X, -1e120, 1e120), np.clip(y, -1e120, 1e120)
        if loss == "given":
            X = np.abs(X)
        naps = loss not in ("given", "zero-one") and rng.random() < 0.4
        if naps and X.shape[1] > 1 and len(X) < 1000:
            X = np.where(rng.random(X.shape) < 0.3, np.nan, X)
            X[:, 0] = np.nan_to_num(X[:, 0], nan=0.5)
            kind = "sleeping"
        if loss in OWN and rng.random() < OWN_SHARE:
            loss = "own " + loss
        name = str(rng.choice(MASTERS))
        return Case(name, loss, kind, lambda: of_experts(name, loss, X, y))
    if family == 1:
        kind, low, high, X = rewards(rng)
        name = str(rng.choice(POLICIES))
        return Case(name, "missed reward", kind, lambda: of_arms(name, low, high, X))
    kind, X = relatives(rng)
    X = X[:, : int(rng.integers(1, X.shape[1] + 1))]
    name = str(rng.choice(STRATEGIES))
    return Case(name, "log-wealth", kind, lambda: of_assets(name, X[X.max(axis=1) > 0]))


def stated(certificate: Any) -> tuple[float, float]:
    """Return the ends of the hindsight interval that a certificate states, as a reader has them."""
    best = certificate.hindsight
    return best.loss - best.gap, best.loss


def of_experts(name: str, loss: str, X: Floats, y: Floats) -> str:
    """Check what a certificate says of the best expert; who slept said what the mixture said."""
    options: dict[str, Any] = {} if loss == "given" else {"loss": given(loss, X, y)[1]}
    if loss == "zero-one" and name in GRADIENTS:
        options["gradient"] = False
    if name == "fixed-share":
        options["rate"] = 1.0
    master = noregret.make(name, **options)
    try:
        game = play(master, X, None if loss == "given" else y, predictions=True)
    except BadExample:
        return ""  # losses beyond all numbers: said, not answered
    certificate = game.certificate()
    words = certificate.hindsight.comparator
    if not words.startswith(("the best expert", "sequences")) or (
        np.isnan(X).any() and master._round.pays_expected
    ):
        return ""
    said = np.where(np.isnan(X), game.predictions[:, None], X) if np.isnan(X).any() else X
    losses = paid(loss, table(said), fractions(y))
    totals = [sum(column, Fraction(0)) for column in zip(*losses, strict=True)]
    error = error_of(loss, len(X))
    low, high = stated(certificate)
    if words != "the best expert":
        return outside(low, np.inf, min(totals), error)
    weights = list(certificate.hindsight.witness.values())
    return untrue(low, high, totals[int(np.argmax(weights))], min(totals), error)


def rewards(rng: np.random.Generator) -> tuple[str, float, float, Floats]:
    """Return a kind of data, the range of the rewards, and these."""
    rows, arms = int(rng.integers(1, 40)), int(rng.integers(2, 5))
    kind = str(rng.choice(["plain", "tenths", "huge offset", "ill-scaled", "tiny range"]))
    X = rng.random((rows, arms))
    if kind == "tenths":
        return kind, 0.0, 1.0, tenths(rng, rows, arms)
    if kind == "huge offset":
        return kind, 1e8, 1e8 + 1.0, 1e8 + X
    if kind == "ill-scaled":
        return kind, 0.0, 9e99, X * 10.0 ** rng.integers(-150, 99, X.shape)
    if kind == "tiny range":
        return kind, 0.3, 0.3 + 1e-9, 0.3 + 1e-10 * X
    return kind, 0.0, 1.0, X


def of_arms(name: str, low: float, high: float, X: Floats) -> str:
    """Check what a certificate says of the best arm."""
    game = play(noregret.make(name, low=low, high=high), X)
    certificate = game.certificate()
    totals = [
        sum((Fraction(high) - x for x in column), Fraction(0))
        for column in zip(*table(X), strict=True)
    ]
    below, above = stated(certificate)
    own = totals[int(np.argmax(list(certificate.hindsight.witness.values())))]
    return untrue(below, above, own, min(totals))


def of_assets(name: str, X: Floats) -> str:
    """Check what a certificate says of the best portfolio."""
    if not len(X) or (name == "buy-and-hold" and not (X > 0).all(axis=0).any()):
        return ""
    if (X <= 0).all(axis=1).any():
        return ""
    try:
        certificate = play(noregret.make(name), X).certificate()
    except noregret.NoRegretError:
        return ""  # ruin, or nothing finite to compare with: said, not answered
    return of_portfolios(certificate, X)


def of_portfolios(certificate: Any, X: Floats, drawn: Sequence[Vector] = ()) -> str:
    """Check the best portfolio of a certificate, where it is one of those drawn against them."""
    low, high = stated(certificate)
    rows = table(X)
    u = np.array(list(certificate.hindsight.witness.values()))
    own = pays(rows, weights_of(u))
    if high < np.inf and (own is None or Fraction(high) < own - SURE * len(X)):
        return f"the witness pays {own if own is None else float(own)!r}, more than {high!r}"
    words, assets = certificate.hindsight.comparator, np.eye(X.shape[1])
    rivals = list(drawn)
    if "drawn" not in words:
        rivals = [weights_of(rival) for rival in (*assets, u)]
    if words == REBALANCED:
        rivals += [weights_of(a + b) for a, b in combinations(assets, 2)]
    return next(filter(None, (beaten(rows, low, rival) for rival in rivals)), "")
