"""The universal portfolio: its wealth is an integral or a mean, known as a rational number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

import noregret
from noregret import play
from tests.exactness.arithmetic import Matrix, Vector, dot, ln, table, weights_of
from tests.exactness.games import of_portfolios
from tests.exactness.portfolios import relatives
from tests.exactness.protocol import Case
from tests.exactness.tables import Floats

# What verdicts make room for, as a share of the logarithms of single rounds.
ROUNDING = Fraction(1, 10**9)
# Cases of a short run.
SHORT = 40


def draw(seed: int) -> Case:
    """Return a game of the universal portfolio."""
    rng = np.random.default_rng((13, seed))
    kind, X = relatives(rng)
    if rng.random() < 0.5:
        X = X[:, :2]
    X = X[X.max(axis=1) > 0][:60]
    points = int(rng.choice([2, 20, 150]))
    group = "integral" if X.shape[1] == 2 else f"{points} points"
    return Case(group, "log-wealth", kind, lambda: of_universal(X, points))


def of_universal(X: Floats, points: int) -> str:
    """Check the wealth, the best portfolio, and promises that no data can break."""
    if not len(X):
        return ""
    strategy = noregret.UniversalPortfolio(points=points)
    try:
        certificate = play(strategy, X).certificate()
    except noregret.NoRegretError:
        return ""  # ruin, or nothing finite to compare with: said, not answered
    rows, two = table(X), X.shape[1] == 2
    drawn = [] if two else [weights_of(point) for point in strategy._points_at]
    wealth = integral(rows) if two else mean(rows, drawn)
    size = sum((abs(ln(max(row))) + 1 for row in rows), Fraction(0))
    if abs(Fraction(certificate.loss.total) + ln(wealth)) > ROUNDING * size:
        return f"paid {certificate.loss.total!r}, and it is {float(-ln(wealth))!r}"
    promise = certificate.theorem
    assert promise is not None
    sure = two or promise.name == "universal-portfolio-drawn"
    most = math.log(len(X) + 1) if two else math.log(points)
    if sure and (promise.bound != most or not promise.holds):
        return f"{promise.name} always holds: measured {promise.measured!r}, bound {promise.bound}"
    return of_portfolios(certificate, X, drawn)


def integral(rows: Matrix) -> Fraction:
    """Return ∫ Π (u a + (1−u) b) du over u from 0 to 1, for the relatives (a, b) of all rounds."""
    parts = [Fraction(1)]  # of u^k (1−u)^(n−k)
    for a, b in rows:
        parts = [
            b * (parts[k] if k < len(parts) else 0) + a * (parts[k - 1] if k else 0)
            for k in range(len(parts) + 1)
        ]
    n = len(rows)
    return sum((part / math.comb(n, k) for k, part in enumerate(parts)), Fraction(0)) / (n + 1)


def mean(rows: Matrix, drawn: list[Vector]) -> Fraction:
    """Return the mean wealth of some portfolios."""
    wealths = (math.prod((dot(u, row) for row in rows), start=Fraction(1)) for u in drawn)
    return sum(wealths, Fraction(0)) / len(drawn)
