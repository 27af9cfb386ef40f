"""Margins and bounds on mistakes, against rational arithmetic and planted separators."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from noregret.hindsight.margin import Margin, largest_margin
from noregret.hindsight.perceptron import best_mistake_bound
from noregret.hindsight.proofs.confidence import Moved, best_confidence_bound
from noregret.hindsight.rows import Rows
from noregret.hindsight.weights_margin import largest_margin_of_weights
from tests.exactness.arithmetic import Vector, dot, root_above, solve, table
from tests.exactness.protocol import Case
from tests.exactness.tables import KINDS, Floats

# Cases of a short run.
SHORT = 40


def draw(seed: int) -> Case:
    """Return a question about margins."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    kind = str(rng.choice([*KINDS, "planted", "contradiction"]))
    X = KINDS.get(kind, KINDS["plain"])(rng, rows, columns)
    X = np.clip(X, -1e140, 1e140)
    y = np.where(rng.random(len(X)) < 0.5, -1.0, 1.0)
    direction = rng.integers(-3, 4, columns).astype(float)
    if kind == "planted" or rng.random() < 0.6:
        y = np.where(X @ direction >= 0, 1.0, -1.0)
    if kind == "contradiction":
        X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    group = str(
        rng.choice(["margin", "weights", "weights of either sign", "mistake bound", "confidence"])
    )
    check = {
        "margin": lambda: of_margin(X, y),
        "weights": lambda: of_weights(X, y, None),
        "weights of either sign": lambda: of_weights(X, y, 2.5),
        "mistake bound": lambda: of_mistakes(X, y),
        "confidence": lambda: of_confidence(X, y, rng.random(len(X)) < 0.6, rng.random() < 0.5),
    }[group]
    return Case(
        group, "hinge" if "bound" in group or group == "confidence" else "margin", kind, check
    )


def signed(X: Floats, y: Floats) -> list[Vector]:
    """Return y x of every round."""
    return [
        [Fraction(label) * v for v in row] for row, label in zip(table(X), y.tolist(), strict=True)
    ]


def ends(found: Margin) -> str:
    """Return what is wrong with an interval as such."""
    good = found.lower <= found.upper < np.inf
    return "" if good else f"from {found.lower!r} to {found.upper!r}"


def of_margin(X: Floats, y: Floats) -> str:
    """Check the margin of a unit vector: the witness has the lower end, no candidate the upper."""
    found = largest_margin(Rows(X, y))
    if wrong := ends(found):
        return wrong
    rows = signed(X, y)
    if found.lower > 0:
        w = [Fraction(v) for v in found.witness.tolist()]
        least = min(dot(w, row) for row in rows)
        if least <= 0 or least**2 < Fraction(found.lower) ** 2 * dot(w, w):
            return f"the witness has not the margin {found.lower!r}"
    for v in separators(rows):
        least, size = min(dot(v, row) for row in rows), dot(v, v)
        if least > 0 and least**2 > Fraction(found.upper) ** 2 * size:
            return f"a margin of square {float(least**2 / size)!r}, above {found.upper!r}"
    return ""


def separators(rows: list[Vector]) -> Iterator[Vector]:
    """Yield the shortest Σ a_t y_t x_t with equal scores on some rounds: the best is among them."""
    n = len(rows[0])
    for size in range(1, n + 1):
        for few in combinations(rows, size):
            gram = [[dot(one, other) for other in few] for one in few]
            if shares := solve(gram, [Fraction(1)] * size):
                yield [dot(shares, column) for column in zip(*few, strict=True)]


def of_weights(X: Floats, y: Floats, weight: float | None) -> str:
    """Check the margin of weights of sum 1: a game, solved exactly by trying all small supports."""
    found = largest_margin_of_weights(Rows(X, y), weight=weight)
    if wrong := ends(found):
        return wrong
    rows = signed(X, y)
    if weight is not None:
        rows = [[s * Fraction(weight) * v for s in (1, -1) for v in row] for row in rows]
    u = [Fraction(v) for v in found.witness.tolist()]
    if min(u) < 0 or abs(sum(u, Fraction(0)) - 1) > Fraction(1, 10**12):
        return f"the witness {found.witness} is no weighting"
    own = min(dot(u, row) for row in rows) / sum(u, Fraction(0))
    if own < Fraction(found.lower):
        return f"the witness has {float(own)!r}, not {found.lower!r}"
    value = game_value(rows)
    if value is not None and not Fraction(found.lower) <= value <= Fraction(found.upper):
        return f"from {found.lower!r} to {found.upper!r}, and the margin is {float(value)!r}"
    return ""


def game_value(rows: list[Vector]) -> Fraction | None:
    """Return the value of a matrix game: the best that its square subgames lead to."""
    n = len(rows[0])
    best = max(min(row[i] for row in rows) for i in range(n))
    for size in range(1, min(n, len(rows)) + 1):
        for columns in combinations(range(n), size):
            for few in combinations(range(len(rows)), size):
                matrix = [[*(rows[t][i] for i in columns), Fraction(-1)] for t in few]
                matrix.append([*(Fraction(1) for _ in columns), Fraction(0)])
                u = solve(matrix, [*(Fraction(0) for _ in few), Fraction(1)])
                if u and min(u[:-1]) >= 0:
                    full = [u[columns.index(i)] if i in columns else Fraction(0) for i in range(n)]
                    best = max(best, min(dot(full, row) for row in rows))
    return best


def hinge(rows: list[Vector], u: Vector) -> Fraction:
    """Return the hinge loss."""
    return sum((max(Fraction(0), 1 - dot(u, row)) for row in rows), Fraction(0))


def bound_of(rows: list[Vector], u: Vector, longest: Fraction) -> Fraction:
    """Return the bound of the perceptron's theorem."""
    reach = root_above(dot(u, u)) * longest
    return ((reach + root_above(reach**2 + 4 * hinge(rows, u))) / 2) ** 2


NEAR = Fraction(1, 10**40)


def of_mistakes(X: Floats, y: Floats) -> str:
    """Check the bound: the witness has it, and no candidate one below the lower end."""
    answer = best_mistake_bound(Rows(X, y))
    if not 0 <= answer.lower <= answer.loss < np.inf:
        return f"from {answer.lower!r} to {answer.loss!r}"
    rows = signed(X, y)
    longest = root_above(max(dot(row, row) for row in rows))
    own = bound_of(rows, [Fraction(v) for v in answer.witness.tolist()], longest)
    if Fraction(answer.loss) < own * (1 - NEAR):
        return f"the witness has the bound {float(own)!r}, above {answer.loss!r}"
    for v in separators(rows):
        for scale in (Fraction(1), Fraction(1, 2), Fraction(9, 10)):
            bound = bound_of(rows, [scale * w for w in v], longest)
            if bound * (1 + NEAR) < Fraction(answer.lower):
                return f"lower end {answer.lower!r}, and there is the bound {float(bound)!r}"
    return ""


def of_confidence(X: Floats, y: Floats, moves: Any, diagonal: bool) -> str:
    """Check the bound of confidence-weighted learning: not below H_u + u·z at its witness u."""
    answer = best_confidence_bound(Moved(Rows(X, y), moves * 1.0, 0.5, diagonal), [], 0)
    rows = signed(X, y)
    used = [row for row, moved in zip(rows, moves, strict=True) if moved]
    z = [sum((row[i] for row in used), Fraction(0)) for i in range(len(rows[0]))]
    u = [Fraction(v) for v in answer.witness.tolist()]
    exact = hinge(rows, u) + dot(u, z)
    if not answer.loss < np.inf or Fraction(answer.loss) < min(exact, Fraction(len(y))):
        return f"bound {answer.loss!r}, and at the witness it is {float(exact)!r}"
    return ""
