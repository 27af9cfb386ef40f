"""Weightings that pay the least square loss, by their conditions, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tests.exactness.arithmetic import Matrix, Vector, dot, gram, solve

# Shares of the largest weight up to which one counts as none.
NO_WEIGHT = (Fraction(0), Fraction(1, 10**9), Fraction(1, 10**5), Fraction(1, 100))


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
