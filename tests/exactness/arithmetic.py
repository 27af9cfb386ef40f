"""Exact arithmetic: fractions, and decimals of many digits where there are exponentials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

# Exponentials and logarithms are right to this many digits, sums and products of fractions exactly.
DIGITS = 60
CONTEXT = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
# What a result of a few thousand operations in decimals may be off by, relatively.
SURE = Fraction(1, 10**50)

Vector = list[Fraction]
Matrix = list[Vector]


def fractions(values: Iterable[float] | np.ndarray[Any, Any]) -> Vector:
    """Return numbers as they are, without rounding."""
    return [Fraction(float(v)) for v in values]


def table(values: np.ndarray[Any, Any]) -> Matrix:
    """Return a table as it is, without rounding."""
    return [fractions(row) for row in np.asarray(values)]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Return Σ a b."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def square(a: Sequence[Fraction]) -> Fraction:
    """Return ‖a‖²."""
    return dot(a, a)


def decimal(value: Fraction) -> Decimal:
    """Return a fraction to many digits."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def exp(value: Fraction) -> Fraction:
    """Return the exponential to many digits; 0 below 10^-4000."""
    if value < -9000:
        return Fraction(0)
    return Fraction(CONTEXT.exp(decimal(value)))


def ln(value: Fraction) -> Fraction:
    """Return the natural logarithm to many digits."""
    return Fraction(CONTEXT.ln(decimal(value)))


def ln1p(value: Fraction) -> Fraction:
    """Return ln(1 + value) to many digits, also of small values."""
    if abs(value) > Fraction(1, 10**20):
        return ln(1 + value)
    x = rounded(value)
    return x - x**2 / 2 + x**3 / 3 - x**4 / 4


def shown(value: Fraction) -> str:
    """Write a number down, also where floating-point numbers do not reach."""
    return f"{decimal(value):.17g}"


def rounded(value: Fraction, bits: int = 240) -> Fraction:
    """Return a number near the value with a short numerator and denominator."""
    if not value:
        return value
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    return Fraction(round(scaled)) / Fraction(2) ** shift


def solve(A: Matrix, b: Vector) -> Vector | None:
    """Return a solution of A x = b, free unknowns zero; None where there is none."""
    n = len(A[0]) if A else 0
    system = [[*row, right] for row, right in zip(A, b, strict=True)]
    pivots: list[int] = []
    for column in range(n):
        at = len(pivots)
        best = next((k for k in range(at, len(system)) if system[k][column]), None)
        if best is None:
            continue
        system[at], system[best] = system[best], system[at]
        lead = system[at][column]
        system[at] = [v / lead for v in system[at]]
        for k, row in enumerate(system):
            if k != at and row[column]:
                factor = row[column]
                system[k] = [v - factor * w for v, w in zip(row, system[at], strict=True)]
        pivots.append(column)
    if any(row[n] for row in system[len(pivots) :]):
        return None
    x = [Fraction(0)] * n
    for row, column in zip(system, pivots, strict=False):
        x[column] = row[n]
    return x


def gram(X: Matrix) -> Matrix:
    """Return Σ x xᵀ."""
    n = len(X[0]) if X else 0
    return [[sum((x[i] * x[j] for x in X), Fraction(0)) for j in range(n)] for i in range(n)]


def root_above(value: Fraction) -> Fraction:
    """Return the square root, rounded up in a place far behind any that matters."""
    if not value:
        return value
    shift = 400 + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt(math.floor(value * 2**shift)) + 1, 2 ** (shift // 2))


def weights_of(witness: np.ndarray[Any, Any]) -> Vector:
    """Return weights of the simplex, divided by their exact sum."""
    exact = fractions(witness)
    return [value / sum(exact) for value in exact]
