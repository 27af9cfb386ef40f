"""Exp4: experts who advise which arm to pull, and the best of them in rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import noregret
from noregret import play
from tests.exactness.arithmetic import Matrix, dot, fractions, table
from tests.exactness.games import rewards, stated
from tests.exactness.intervals import untrue
from tests.exactness.protocol import Case
from tests.exactness.tables import Floats

# Cases of a short run.
SHORT = 40


def draw(seed: int) -> Case:
    """Return a game of exp4."""
    rng = np.random.default_rng((17, seed))
    kind, low, high, X = rewards(rng)
    (rows, arms), experts = X.shape, int(rng.integers(1, 4))
    if rng.random() < 0.5:
        pulls = rng.integers(0, arms, (rows, experts)).astype(float)
        return Case("arms", "missed reward", kind, lambda: of_arms(low, high, X, pulls))
    X = X[:40]  # sums of quotients have long denominators
    chances = rng.random((len(X), experts, arms)) * 10.0 ** rng.integers(-30, 1, arms)
    chances /= chances.sum(axis=2, keepdims=True)
    return Case("chances", "missed reward", kind, lambda: of_chances(low, high, X, chances))


def of_arms(low: float, high: float, X: Floats, pulls: Floats) -> str:
    """Check the best of experts who each name an arm."""
    missed = [[Fraction(high) - x for x in row] for row in table(X)]
    totals = [
        [row[arm] for row, arm in zip(missed, said, strict=True)]
        for said in pulls.T.astype(int).tolist()
    ]
    return of_experts("arms", low, high, np.hstack([X, pulls]), X.shape[1], totals)


def of_chances(low: float, high: float, X: Floats, chances: Floats) -> str:
    """Check the best of experts who each give all arms a chance."""
    missed = [[Fraction(high) - x for x in row] for row in table(X)]
    totals = [
        [
            dot(said, row) / sum(said)
            for said, row in zip(map(fractions, chances[:, k]), missed, strict=True)
        ]
        for k in range(chances.shape[1])
    ]
    given = np.hstack([X, chances.reshape(len(X), -1)])
    return of_experts("chances", low, high, given, X.shape[1], totals)


def of_experts(form: str, low: float, high: float, given: Floats, arms: int, missed: Matrix) -> str:
    """Check what a certificate says of the best expert, by what each misses in each round."""
    game = play(noregret.Exp4(arms=arms, advice=form, low=low, high=high), given)
    certificate = game.certificate()
    totals = [sum(each, Fraction(0)) for each in missed]
    weights = np.array(list(certificate.hindsight.witness.values()))[arms:]
    chosen = np.flatnonzero(weights.reshape(len(totals), -1).all(axis=1))
    if len(chosen) != 1:
        return f"the witness {weights} is no expert"
    return untrue(*stated(certificate), totals[chosen[0]], min(totals))
