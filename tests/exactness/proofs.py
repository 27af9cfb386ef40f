"""Every step of a proof: errors of sums, lines below losses, floors of domains, tangents.

An answer's interval is made of these. Each is checked for itself, at points that no search needs
to come by, so that what rounding takes is seen even where the whole leaves room for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from noregret.hindsight import LeastSquares, Rows
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.classes.box import Box
from noregret.hindsight.classes.simplex import Simplex
from noregret.hindsight.losses import losses_of
from noregret.hindsight.rows import score_error
from noregret.hindsight.solvers.centred import Centred
from noregret.hindsight.solvers.dependence import faint_columns, surely_curved
from noregret.hindsight.solvers.doubled import Doubled
from noregret.hindsight.solvers.penalised import Penalised
from noregret.hindsight.solvers.tangent import OnRows, Tangent
from noregret.hindsight.sums import add_outer_products
from tests.exactness import losses as exact
from tests.exactness.arithmetic import (
    SURE,
    Matrix,
    Vector,
    dot,
    exp,
    fractions,
    gram,
    ln,
    shown,
    square,
    table,
)
from tests.exactness.data import Examples, Floats, Rng, drawn, power
from tests.exactness.protocol import Case

Check = Callable[[Rng, Examples], Iterator[str]]


def draw(seed: int) -> Case:
    """Return a step of a proof with data to try it on."""
    rng = np.random.default_rng((7, seed))
    step = str(rng.choice(list(STEPS)))
    kind, examples = drawn(rng)
    loss = "any"
    if step == "lines":
        loss = str(rng.choice(list(exact.LOSSES)))
        return Case(step, loss, kind, lambda: first(lines(rng, examples, loss)))
    return Case(step, loss, kind, lambda: first(STEPS[step](rng, examples)))


def first(failures: Iterator[str]) -> str:
    """Return the first failure."""
    return next(failures, "")


def numbers(rng: Rng, size: int) -> Floats:
    """Return numbers of one size or of many, some of them zero."""
    made = rng.normal(size=size) * power(rng, -12, 12)
    if rng.random() < 0.3:
        made *= power(rng, -100, 100, size)
    made[rng.random(size) < 0.2] = 0.0
    return made


def off_by(name: str, value: float, exactly: Fraction, off: float) -> Iterator[str]:
    """Compare a number with the exact one."""
    known = math.isfinite(value) and math.isfinite(off)
    if known and abs(Fraction(float(value)) - exactly) > Fraction(float(off)):
        yield f"{name}: {value!r} is {shown(exactly)}, off by more than {off!r}"


def not_above(name: str, value: float, exactly: Fraction) -> Iterator[str]:
    """Compare a lower bound with the exact number."""
    if (
        math.isnan(value)
        or value == math.inf
        or (math.isfinite(value) and Fraction(float(value)) > exactly)
    ):
        yield f"{name}: {value!r} is above {shown(exactly)}"


def not_below(name: str, value: float, exactly: Fraction) -> Iterator[str]:
    """Compare an upper bound with the exact number."""
    yield from not_above(name, -value, -exactly)


def sums(rng: Rng, examples: Examples) -> Iterator[str]:
    """Scores and combinations, of single and of doubled rows."""
    rows: Rows = Rows(examples.X, examples.y)
    X = table(examples.X)
    if rng.random() < 0.4:
        weight = float(power(rng, -3, 3)[0])
        rows = Doubled(rows, weight)
        X = [[Fraction(weight) * s * v for s in (1, -1) for v in x] for x in X]
    rounds, n = rows.shape
    w, a = numbers(rng, n), numbers(rng, rounds)
    if isinstance(rows, Doubled):
        w = np.abs(w)
    for x, score, off in zip(X, rows.scores(w), score_error(rows, w), strict=True):
        yield from off_by("score", score, dot(x, fractions(w)), off)
    for column, value, off in zip(zip(*X, strict=True), *rows.combined(a), strict=True):
        yield from off_by("combination", value, dot(list(column), fractions(a)), off)
    longest = max(square(x) for x in X)
    if not isinstance(rows, Doubled):
        yield from not_below("longest²", 0.0, Fraction(0))
        if Fraction(rows.survey.longest) ** 2 < longest:
            yield f"longest row {rows.survey.longest!r} is below {math.sqrt(longest)!r}"


def lines(rng: Rng, examples: Examples, name: str) -> Iterator[str]:
    """Lines below the losses and values above them."""
    if name in exact.LABELLED:
        examples = examples.labels(rng)
    y, parameter = examples.y, exact.LOSSES[name]
    made = losses_of(name, y, parameter)
    scores = numbers(rng, len(y)) if rng.random() < 0.7 else y * (1 + numbers(rng, len(y)) * 1e-16)
    off = np.abs(numbers(rng, len(y)))
    with np.errstate(all="ignore"):
        above = made.value_above(scores, off)
        width = float(power(rng, -10, 10)[0])
        smooth = made.smoothed(width, made.slope(numbers(rng, len(y))))
        found = [made.lines(scores), smooth.lines(scores)]
    for t in range(len(y)):
        s, outcome = Fraction(scores[t]), Fraction(y[t])
        for there in (s, s - Fraction(off[t]), s + Fraction(off[t])):
            yield from not_below("value", above[t], exact.loss(name, there, outcome))
        for slopes, constants in found:
            if not math.isfinite(slopes[t]):
                continue
            sure = exact.conjugate(name, Fraction(slopes[t]), outcome)
            if sure is None:
                yield f"slope {slopes[t]!r} is none of the {name} loss at {y[t]!r}"
            else:
                yield from not_below("constant", constants[t], sure)


def floors(rng: Rng, examples: Examples) -> Iterator[str]:
    """The lowest point of a linear function over a domain, and what points pay."""
    n = examples.X.shape[1]
    g, off, w = numbers(rng, n), np.abs(numbers(rng, n)) * power(rng, -16, 0), numbers(rng, n)
    steep = [abs(a) + b for a, b in zip(fractions(g), fractions(off), strict=True)]
    radius = float(power(rng, -8, 8)[0])
    with np.errstate(all="ignore"):
        ball, box = Ball(radius), Box(radius)
        floor = ball.lowest_below(g, off)
        if floor > 0 or Fraction(floor) ** 2 < Fraction(radius) ** 2 * square(steep):
            yield f"ball: floor {floor!r}"
        if square(fractions(ball.inside(w))) > Fraction(radius) ** 2:
            yield "ball: outside"
        yield from not_above("box", box.lowest_below(g, off), -Fraction(radius) * sum(steep))
        if max(map(abs, box.inside(w)), default=0.0) > radius:
            yield "box: outside"
        yield from penalised(rng, g, off, w, steep)
        yield from simplex(rng, g, off, n)


def penalised(rng: Rng, g: Floats, off: Floats, w: Floats, steep: Vector) -> Iterator[str]:
    """The same for predictors that pay for their squares."""
    n = len(g)
    p, centre = power(rng, -8, 8, n), numbers(rng, n)
    paid = sum((a * a / (4 * b) for a, b in zip(steep, fractions(p), strict=True)), Fraction(0))
    single = square(steep) / (4 * Fraction(p[0]))
    costs = [a * a * b for a, b in zip(fractions(w), fractions(p), strict=True)]
    one, each, away = Penalised(float(p[0])), Centred(p, np.zeros(n)), Centred(p, centre)
    yield from not_above("penalised", one.lowest_below(g, off), -single)
    yield from not_above("weighted", each.lowest_below(g, off), -paid)
    price = Fraction(p[0]) * square(fractions(w))
    yield from not_below("penalised price", one.price_above(w), price)
    yield from not_below("weighted price", each.price_above(w), sum(costs, Fraction(0)))
    inner = dot(fractions(g), fractions(centre))
    spread = dot(fractions(off), [abs(v) for v in fractions(centre)])
    yield from not_above("centred", away.lowest_below(g, off), inner - spread - paid)
    moved = [a - b for a, b in zip(fractions(w), fractions(centre), strict=True)]
    price = sum((a * a * b for a, b in zip(moved, fractions(p), strict=True)), Fraction(0))
    yield from not_below("centred price", away.price_above(w), price)


def simplex(rng: Rng, g: Floats, off: Floats, n: int) -> Iterator[str]:
    """The same for weightings, with and without a price."""
    entropy = 0.0 if rng.random() < 0.3 else float(power(rng, -6, 6)[0])
    domain = Simplex(n, entropy)
    low = [a - b for a, b in zip(fractions(g), fractions(off), strict=True)]
    least, b = min(low), Fraction(entropy)
    if entropy:
        mean = sum((exp((least - v) / b) for v in low), Fraction(0)) / n
        least -= b * ln(mean)
    yield from not_above("simplex", domain.lowest_below(g, off), least + abs(least) * SURE)
    u = domain.inside(np.abs(numbers(rng, n)) + power(rng, -30, 0, n))
    whole = sum(fractions(u), Fraction(0))
    if abs(whole - 1) > Fraction(4, 2**53) or (u < 0).any():
        yield f"simplex: weights sum to 1 + {float(whole - 1)!r}"
    terms = [v / whole * ln(v / whole * n) for v in fractions(u) if v]
    price = b * sum(terms, Fraction(0))
    yield from not_below("entropy", domain.price_above(u), price - b * SURE)


def sum_of(rng: Rng, examples: Examples) -> LeastSquares:
    """Return sums over the examples, made in one of several ways."""
    X, y = examples.X, examples.y
    way, made = rng.integers(3), LeastSquares(X.shape[1])
    half = len(y) // 2
    parts = (slice(0, half), slice(half, None))
    if way == 0:
        return made.add(X, y)
    for part in parts:
        if way == 1:
            made.merge(LeastSquares().add(X[part], y[part]))
        else:
            z = np.ascontiguousarray(np.column_stack([y[part], X[part]]))
            product = np.zeros((z.shape[1], z.shape[1]))
            add_outer_products(z, product)
            made.add_product(product, len(z))
    return made


def tangents(rng: Rng, examples: Examples) -> Iterator[str]:
    """The square loss and its gradient at a point, from rows and from sums."""
    rows, n = Rows(examples.X, examples.y), examples.X.shape[1]
    w = examples.planted if examples.planted is not None and rng.random() < 0.5 else numbers(rng, n)
    if rng.random() < 0.3:
        with np.errstate(all="ignore"):
            best = np.linalg.lstsq(examples.X, examples.y, rcond=None)[0]
        w = np.asarray(best, dtype=np.float64) if np.isfinite(best).all() else w
    X, u = table(examples.X), fractions(w)
    residue = [dot(x, u) - Fraction(y) for x, y in zip(X, examples.y.tolist(), strict=True)]
    loss = square(residue)
    gradient = [2 * dot(list(column), residue) for column in zip(*X, strict=True)]
    with np.errstate(all="ignore"):
        found = {"rows": OnRows(rows).tangent(w), "sums": sum_of(rng, examples).tangent(w)}
        for name, tangent in found.items():
            yield from tangent_holds(name, tangent, loss, gradient)
            constant = loss - dot(gradient, u)
            below = tangent.constant_below(w)
            if not math.isnan(below):
                yield from not_above(f"{name}: constant", below, constant)


def tangent_holds(name: str, tangent: Tangent, loss: Fraction, gradient: Vector) -> Iterator[str]:
    """Compare a tangent with the exact one."""
    if not math.isnan(tangent.low):
        yield from not_above(f"{name}: low", tangent.low, loss)
    if not math.isnan(tangent.high):
        yield from not_below(f"{name}: high", tangent.high, loss)
    for value, off, sure in zip(tangent.gradient, tangent.off, gradient, strict=True):
        yield from off_by(f"{name}: gradient", value, sure, off)


def curvature(rng: Rng, examples: Examples) -> Iterator[str]:
    """Curvature that is proven is there."""
    with np.errstate(all="ignore"):
        whole = sum_of(rng, examples).quadratic()
        assert whole.gram is not None
        if not np.isfinite(whole.gram).all():
            return
        if faint_columns(whole.gram, whole.lost, None).any():
            return
        norms, least = surely_curved(whole.gram, whole.gram_error)
    if not 0 < least < math.inf:
        return
    G = gram(table(examples.X))
    for i, length in enumerate(norms.tolist()):
        G[i][i] -= Fraction(least) * Fraction(length) ** 2
    if not is_semidefinite(G):
        yield f"the Gram matrix less {least!r} times its diagonal has a negative eigenvalue"


def is_semidefinite(A: Matrix) -> bool:
    """Return whether a symmetric matrix has no negative eigenvalue, by elimination."""
    A = [list(row) for row in A]
    for k in range(len(A)):
        if A[k][k] < 0 or (A[k][k] == 0 and any(A[k][k:])):
            return False
        if A[k][k] == 0:
            continue
        for i in range(k + 1, len(A)):
            factor = A[i][k] / A[k][k]
            A[i] = [a - factor * b for a, b in zip(A[i], A[k], strict=True)]
    return True


STEPS: dict[str, Check] = {
    "sums": sums,
    "lines": lambda rng, examples: iter(()),
    "floors": floors,
    "tangents": tangents,
    "curvature": curvature,
}
