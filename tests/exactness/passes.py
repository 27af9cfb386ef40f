"""Learners made batch methods: one pass averaged, and passes until none is a mistake."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import noregret
from noregret.errors import NoRegretError
from tests.exactness.arithmetic import Matrix, Vector, dot, fractions, square, table
from tests.exactness.batch import of_stated
from tests.exactness.losses import loss as exact_loss
from tests.exactness.margins import separators, signed
from tests.exactness.protocol import Case
from tests.exactness.tables import KINDS, Floats

# What a figure may be off by, relatively, where floating-point weights are taken as they are.
ROUNDING = Fraction(1, 10**12)
TAKES = ("average", "last-half", "last")
GIVEN = {"largest_loss": 9.0, "chance": 0.1}
# Cases of a short run.
SHORT = 40


def draw(seed: int) -> Case:
    """Return a learner that passes over examples."""
    rng = np.random.default_rng((19, seed))
    rows, columns = int(rng.integers(2, 10)), int(rng.integers(1, 4))
    kind = str(rng.choice(list(KINDS)))
    X = np.clip(KINDS[kind](rng, rows, columns), -1e70, 1e70)
    y = X @ rng.integers(-2, 3, columns) + rng.normal(size=rows) * (rng.random() < 0.7)
    if rng.random() < 0.5:
        labels = np.where(y > 0, 1.0, -1.0)
        return Case("cycled", "mistakes", kind, lambda: next(of_cycles(X, labels, kind), ""))
    take, loss = str(rng.choice(TAKES)), str(rng.choice(["square", "absolute"]))
    size = float(np.linalg.norm(X, axis=1).max()) or 1.0
    rate = min(0.3 / size / size, 1e90) if loss == "square" else 0.3
    return Case(f"online-to-batch, {take}", loss, kind, lambda: of_pass(X, y, loss, rate, take))


def of_pass(X: Floats, y: Floats, loss: str, rate: float, take: str) -> str:
    """Check mean weights and losses by the weights of every round; and the best predictor."""
    learner = noregret.GradientDescent(loss=loss, rate=rate)
    method = noregret.OnlineToBatch(learner.clone(), take=take)
    try:
        certificate = method.fit(X, y).certificate(**({} if take == "last" else GIVEN))
        used = []
        for row, outcome in zip(X, y, strict=True):
            used.append(fractions(np.pad(learner.weights, (0, X.shape[1]))[: X.shape[1]]))
            learner.learn_one(row, outcome)
    except NoRegretError:
        return ""  # diverged, or too large: said, not answered
    rows, outcomes = table(X), fractions(y)
    paid = [
        exact_loss(loss, dot(w, x), now) for w, x, now in zip(used, rows, outcomes, strict=True)
    ]
    off = room(loss, used, rows, outcomes) + ROUNDING * sum(paid)
    cut = len(X) // 2 if take == "last-half" else 0
    means = [sum(column, Fraction(0)) / (len(X) - cut) for column in zip(*used[cut:], strict=True)]
    wanted = fractions(learner.weights) if take == "last" else means
    largest = max(abs(v) for w in used for v in w)
    for found, exact in zip(fractions(method.weights), wanted, strict=True):
        if abs(found - exact) > ROUNDING * len(X) * largest:
            return f"a weight is {float(found)!r}, and should be {float(exact)!r}"
    mean = sum(paid[cut:], Fraction(0)) / (len(X) - cut)
    for said, exact in ((certificate.loss.total, sum(paid)), (method.progressive_loss, mean)):
        if abs(Fraction(said) - exact) > off:
            return f"the loss is stated as {said!r}, and is {float(exact)!r}"
    if wrong := of_promise(certificate, method.progressive_loss, max(paid), len(X) - cut):
        return wrong
    best = certificate.hindsight
    if loss != "square" or "linear predictors" not in best.comparator:
        return ""
    return of_stated(best, rows, outcomes)


def room(loss: str, used: Matrix, rows: Matrix, outcomes: Vector) -> Fraction:
    """Return what rounding of the predictions can do to the sum of the losses."""
    total = Fraction(1, 10**300)
    for w, x, y in zip(used, rows, outcomes, strict=True):
        sizes = sum((abs(a * b) for a, b in zip(w, x, strict=True)), abs(y))
        off = (len(x) + 4) * sizes / 2**52
        total += off if loss == "absolute" else (2 * abs(dot(w, x) - y) + off) * off
    return total


def of_promise(certificate: Any, mean: float, most: Fraction, rounds: int) -> str:
    """Check the bound on the risk, and that none is stated where a loss was above its limit."""
    promise = certificate.theorem
    if promise is None or promise.bound is None:
        return ""
    if most > Fraction(GIVEN["largest_loss"]) * (1 + ROUNDING):
        return f"a bound, though {float(most)!r} was paid in a round"
    bound = mean + GIVEN["largest_loss"] * math.sqrt(2 * math.log(1 / GIVEN["chance"]) / rounds)
    good = math.isclose(promise.bound, bound, rel_tol=float(ROUNDING))
    return "" if good else f"the bound is {promise.bound!r}, and should be {bound!r}"


def of_cycles(X: Floats, y: Floats, kind: str) -> Iterator[str]:
    """Check what cycles of the perceptron say of the labels, the weights and their own number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        method = noregret.Cycled(passes=40).fit(X, y)
    rows = signed(X, y)
    margins = [
        min(dot(v, row) for row in rows) ** 2 / square(v)
        for v in separators(rows)
        if all(dot(v, row) > 0 for row in rows)
    ]
    w = fractions(method.weights)
    wrong = sum(dot(w, row) <= 0 for row in rows)
    if method.separated and wrong:
        yield f"said to separate the labels, with {wrong} on the wrong side"
    if method.separable is not None and method.separable != bool(margins):
        yield f"separable: {method.separable}, though there are {len(margins)} that separate"
    if kind == "ties" and (method.updates, method.passes_made) != perceptron(rows):
        yield f"{method.updates} updates in {method.passes_made} passes, not {perceptron(rows)}"
    try:
        certificate = method.certificate()
    except NoRegretError:
        return  # too large or too small for a bound: said, not answered
    best, promise = certificate.hindsight, certificate.theorem
    u = fractions(np.array(list(best.witness.values())))
    if best.loss < sum(dot(u, row) <= 0 for row in rows) or (margins and best.loss > best.gap):
        yield f"the best makes from {best.loss - best.gap} to {best.loss} mistakes"
    if promise is None or promise.bound is None:
        return
    if not margins:
        yield "a bound, though no weights separate the labels"
    least = max(square(row) for row in rows) / max(margins)
    if promise.bound < np.inf and Fraction(promise.bound) < least * (1 - ROUNDING):
        yield f"the bound {promise.bound!r} is below {float(least)!r}"
    if promise.measured != method.updates:
        yield f"{promise.measured} updates, and there were {method.updates}"


def perceptron(rows: Matrix) -> tuple[int, int]:
    """Return the updates and passes that a perceptron makes, as many as it may."""
    w, updates = [Fraction(0)] * len(rows[0]), 0
    for passes in range(1, 41):
        before = updates
        for row in rows:
            if dot(w, row) <= 0:
                w, updates = [a + b for a, b in zip(w, row, strict=True)], updates + 1
        if updates == before or (passes == 10 and not separable(rows)):
            break
    return updates, passes


def separable(rows: Matrix) -> bool:
    """Return whether some weights have all rows on their right side."""
    return any(all(dot(v, row) > 0 for row in rows) for v in separators(rows))
