"""Batch methods and filters: what they state of themselves, against rational numbers."""

from __future__ import annotations

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

import noregret
from noregret.batch.boosting import boosted
from noregret.batch.weak import StumpFinder
from noregret.errors import NoRegretError
from noregret.hindsight.sliding import correlated
from tests.exactness.arithmetic import Matrix, Vector, dot, fractions, gram, solve, square, table
from tests.exactness.intervals import outside, untrue
from tests.exactness.margins import hinge, separators, signed
from tests.exactness.protocol import Case
from tests.exactness.tables import KINDS, Floats

# What a certificate lets a figure exceed its bound by, relatively.
ROUNDING = Fraction(1, 10**9)
SQUARE = ("linear-regression", "ridge", "filter")
LABELS = ("soft-margin-svm", "hard-margin-svm", "ada-boost")
# Cases of a short run.
SHORT = 40


def draw(seed: int) -> Case:
    """Return a question to a batch method."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice([*SQUARE, *LABELS]))
    rows, columns = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    kind = str(rng.choice(list(KINDS)))
    X = np.clip(KINDS[kind](rng, rows, columns), -1e70, 1e70)
    y = X @ rng.integers(-2, 3, columns) + rng.normal(size=rows) * (rng.random() < 0.7)
    labels = np.where(y + rng.normal(size=rows) * (rng.random() < 0.5) > 0, 1.0, -1.0)
    check = {
        "linear-regression": lambda: of_least_squares(X, y),
        "ridge": lambda: of_ridge(X, y),
        "filter": lambda: of_filter(X[:, 0], y, columns),
        "soft-margin-svm": lambda: of_soft_margin(X, labels),
        "hard-margin-svm": lambda: of_hard_margin(X, labels),
        "ada-boost": lambda: of_boosting(X, labels),
    }[name]
    return Case(name, "square" if name in SQUARE else "labels", kind, check)


def squares(rows: Matrix, y: Vector, w: Vector) -> Fraction:
    """Return the square loss."""
    return sum(((dot(row, w) - now) ** 2 for row, now in zip(rows, y, strict=True)), Fraction(0))


def best_of_all(rows: Matrix, y: Vector, penalty: Fraction) -> Vector:
    """Return weights of the least loss plus penalty, zero for columns that depend on others."""
    G = gram(rows)
    for i in range(len(G)):
        G[i][i] += penalty
    found = solve(G, [dot(column, y) for column in zip(*rows, strict=True)])
    assert found is not None  # the normal equations have a solution
    return found


def fitted(name: str, X: Floats, y: Floats, **options: float) -> Any:
    """Return a method fitted to examples; None where it says that it cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return noregret.make(name, **options).fit(X, y)
        except NoRegretError:
            return None


def of_answer(answer_low: float, loss: float, reach: float, rows: Matrix, y: Vector,
              witness: Floats) -> str:  # fmt: skip
    """Check an interval of square losses: its witness, and the best that is within reach."""
    own, best = squares(rows, y, fractions(witness)), best_of_all(rows, y, Fraction(0))
    within = reach == np.inf or square(best) <= Fraction(reach) ** 2
    return untrue(answer_low, loss, own, squares(rows, y, best) if within else own)


def of_stated(best: Any, rows: Matrix, y: Vector) -> str:
    """Check the interval of square losses that a certificate states."""
    reach = float(best.comparator.rpartition(" ")[2]) if "at most" in best.comparator else np.inf
    witness = np.array(list(best.witness.values()))
    return of_answer(best.loss - best.gap, best.loss, reach, rows, y, witness)


def of_least_squares(X: Floats, y: Floats) -> str:
    """Check least squares: the interval of the best there is."""
    method = fitted("linear-regression", X, y)
    if method is None:
        return ""
    try:
        stated = method.certificate()
    except NoRegretError:
        return ""
    return of_stated(stated.hindsight, table(X), fractions(y))


def of_ridge(X: Floats, y: Floats) -> str:
    """Check ridge regression: the bound on its objective, and that a kept promise is one."""
    penalty = 0.3
    method = fitted("ridge", X, y, penalty=penalty)
    if method is None:
        return ""
    try:
        promise = method.certificate().theorem
    except NoRegretError:
        return ""
    assert promise is not None
    if promise.bound is None:
        return ""  # it says itself that the least objective is not known
    rows, exact_y = table(X), fractions(y)
    w, best = (
        fractions(method.weights),
        best_of_all(rows, exact_y, Fraction(penalty)),
    )
    own = squares(rows, exact_y, w) + Fraction(penalty) * dot(w, w)
    least = squares(rows, exact_y, best) + Fraction(penalty) * dot(best, best)
    nothing = dot(exact_y, exact_y) + Fraction(1e-290)  # what underflow may take
    if Fraction(promise.bound) < least - ROUNDING * nothing:
        return f"the bound {promise.bound!r} is below the least objective, {float(least)!r}"
    if promise.holds and own > Fraction(promise.bound) + 2 * ROUNDING * nothing:
        return f"kept, with an objective of {float(own)!r} and a bound of {promise.bound!r}"
    return ""


def of_filter(x: Floats, d: Floats, taps: int) -> str:
    """Check the best fixed filter: windows of a signal as rows."""
    answer = correlated([(x, d)], taps).best()
    windows = [[x[t - i] if t >= i else 0.0 for i in range(taps)] for t in range(len(x))]
    rows, exact_d = table(np.array(windows)), fractions(d)
    return of_answer(answer.lower, answer.loss, answer.reach, rows, exact_d, answer.witness)


def of_soft_margin(X: Floats, y: Floats) -> str:
    """Check the objective of the soft-margin machine."""
    penalty = 0.3
    method = fitted("soft-margin-svm", X, y, penalty=penalty)
    if method is None:
        return ""
    low, high = method.objective
    rows = signed(X, y)

    def objective(w: Vector) -> Fraction:
        return hinge(rows, w) + Fraction(penalty) * dot(w, w)

    own = objective(fractions(method.weights))
    if Fraction(high) < own:
        return f"the weights have {float(own)!r}, more than {high!r}"
    for v in separators(rows):
        for scale in (1, Fraction(1, 2), 2):
            if wrong := outside(low, high, max(own, Fraction(low)), Fraction(0)):
                return wrong
            if objective([scale * w for w in v]) < Fraction(low):
                return f"lower end {low!r}, and some weights have less"
    return ""


def of_hard_margin(X: Floats, y: Floats) -> str:
    """Check the largest margin, and the length of the weights at a margin of 1."""
    method = fitted("hard-margin-svm", X, y)
    if method is None:
        return ""
    low, high = method.margin
    rows = signed(X, y)
    best = Fraction(0)
    for v in separators(rows):
        least = min(dot(v, row) for row in rows)
        if least > 0:
            best = max(best, least**2 / dot(v, v))
    if not Fraction(low) ** 2 <= best <= Fraction(high) ** 2:
        return f"margin from {low!r} to {high!r}, and its square is {float(best)!r}"
    if not low > 0:
        return ""
    promise = method.certificate().theorem
    w = fractions(method.weights)
    least = min(dot(w, row) for row in rows)
    measured = None if promise is None else promise.measured
    if measured is None or (least > 0 and Fraction(measured) >= dot(w, w) / least**2):
        return ""
    return f"‖w‖² is stated as {measured!r} and is more"


def of_boosting(X: Floats, y: Floats) -> str:
    """Check AdaBoost: the mean of exp(−y F) is the product of its factors, and bounds mistakes."""
    finder = StumpFinder(np.asfortranarray(X), y)
    run = boosted(finder, y, 12, None)
    if not run.votes:
        return ""
    said = [finder.predictions(found) for found in run.found]
    scores = [
        sum(
            (Fraction(vote) * int(each[i]) for vote, each in zip(run.votes, said, strict=True)),
            Fraction(0),
        )
        for i in range(len(y))
    ]
    margins = [Fraction(label) * score for label, score in zip(y.tolist(), scores, strict=True)]
    mistakes = sum(margin <= 0 for margin in margins)
    bound = len(y) * float(np.exp(np.sum(run.factors)))
    if run.mistakes[-1] != mistakes and 0 not in margins:
        return f"{run.mistakes[-1]} mistakes, and there are {mistakes}"
    if run.factors[-1] == -np.inf:
        return "" if not mistakes else "a classifier without mistakes makes some"
    with localcontext() as context:
        context.prec = 60
        exact = sum((-Decimal(m.numerator) / Decimal(m.denominator)).exp() for m in margins)
    if abs(Decimal(bound) - exact) > Decimal("1e-9") * max(Decimal(1), exact):
        return f"bound {bound!r}, and it is {exact:.17g}"
    return ""
