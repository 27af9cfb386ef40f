"""The point of a ball that minimises a quadratic, to many digits."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from tests.exactness.arithmetic import Matrix, Vector, rounded


def secular(G: Matrix, m: Vector, radius: Fraction) -> tuple[Fraction, Vector]:
    """Return λ and u with (G + λ) u = m and ‖u‖ = radius, or λ next to 0 where ‖u‖ is less."""
    with localcontext(Context(prec=500, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        A, b = [[as_decimal(v) for v in row] for row in G], [as_decimal(v) for v in m]
        wanted, trace = as_decimal(radius), sum(A[i][i] for i in range(len(A)))
        least = multiplier = trace * Decimal("1e-150") or Decimal(1)
        for _ in range(80):
            u = eliminated(A, b, multiplier)
            size = sum((v * v for v in u), Decimal(0)).sqrt()
            if (size <= wanted and multiplier == least) or not size:
                break
            slope = eliminated(A, u, multiplier)
            fall = sum((v * w for v, w in zip(u, slope, strict=True)), Decimal(0))
            step = size * size / fall * (size - wanted) / wanted
            if abs(step) <= multiplier * Decimal("1e-60"):
                break
            multiplier = max(least, multiplier / 16, multiplier + step)
        return rounded(Fraction(multiplier)), [rounded(Fraction(v), 1200) for v in u]


def as_decimal(value: Fraction) -> Decimal:
    """Return a fraction to as many digits as are kept."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def eliminated(A: list[list[Decimal]], b: list[Decimal], multiplier: Decimal) -> list[Decimal]:
    """Return the solution of (A + λ) x = b, A positive semidefinite."""
    n = len(b)
    system = [[*row, right] for row, right in zip(A, b, strict=True)]
    for i in range(n):
        system[i][i] += multiplier
    for i in range(n):
        for k in range(i + 1, n):
            factor = system[k][i] / system[i][i]
            system[k] = [v - factor * w for v, w in zip(system[k], system[i], strict=True)]
    x = [Decimal(0)] * n
    for i in reversed(range(n)):
        rest = sum((system[i][k] * x[k] for k in range(i + 1, n)), Decimal(0))
        x[i] = (system[i][n] - rest) / system[i][i]
    return x
