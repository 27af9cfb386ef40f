"""Weightings that pay the least square loss, by their conditions, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tests.exactness.arithmetic import Matrix, Vector, dot, gram, ln, rounded, solve

# Shares of the largest weight up to which one counts as none.
NO_WEIGHT = (Fraction(0), Fraction(1, 10**9), Fraction(1, 10**5), Fraction(1, 100))

NEWTON_STEPS = 60


def best_weightings(Z: Matrix, y: Vector, near: Vector) -> Iterator[Vector]:
    """Yield weightings of columns that are best among those of their own columns.

    Which columns have weight is taken from a weighting near by; those that would have less than
    none leave, one by one. The best of all weightings is among them where ``near`` is near enough.
    """
    for share in NO_WEIGHT:
        held = [k for k, weight in enumerate(near) if weight > share * max(near)]
        while held:
            found = balanced([[row[k] for k in held] for row in Z], y)
            if found is None:
                break
            if min(found) >= 0:
                weights = [Fraction(0)] * len(near)
                for k, weight in zip(held, found, strict=True):
                    weights[k] = weight
                yield weights
                break
            del held[found.index(min(found))]


def balanced(Z: Matrix, y: Vector) -> Vector | None:
    """Return weights of sum 1, of any sign, at which all columns have the same slope."""
    count, columns = len(Z[0]), zip(*Z, strict=True)
    system = [[*row, Fraction(1)] for row in gram(Z)] + [[Fraction(1)] * count + [Fraction(0)]]
    found = solve(system, [*(dot(list(column), y) for column in columns), Fraction(1)])
    return None if found is None else found[:count]


def paying_for_distance(Z: Matrix, y: Vector, b: Fraction, near: Vector) -> Vector:
    """Return weights q that nearly minimise ‖Z q − y‖² + b KL(q ‖ uniform): Newton's method."""
    q, n = [max(weight, Fraction(1, 2**100)) for weight in near], len(near)
    square = gram(Z)
    for _ in range(NEWTON_STEPS):
        slopes = [
            dot(list(c), [dot(z, q) - v for z, v in zip(Z, y, strict=True)])
            for c in zip(*Z, strict=True)
        ]
        system = [[2 * v for v in row] + [Fraction(1)] for row in square]
        for i in range(n):
            system[i][i] += b / q[i]
        right = [-2 * g - b * (ln(n * v) + 1) for g, v in zip(slopes, q, strict=True)]
        whole = [Fraction(1)] * n + [Fraction(0)]
        step = solve([*system, whole], [*right, 1 - sum(q, Fraction(0))])
        if step is None:
            break
        reach = [-v / d for v, d in zip(q, step, strict=False) if d < 0]
        taken = min([Fraction(1), *(Fraction(9, 10) * r for r in reach)])
        q = [rounded(v + taken * d) for v, d in zip(q, step, strict=False)]
        if max(map(abs, step[:n])) < Fraction(1, 10**30):
            break
    return [v / sum(q) for v in q]
