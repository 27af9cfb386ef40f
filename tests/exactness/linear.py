"""Answers about linear predictors: what the witness pays, and that none of the class pays less.

That a lower end is right is proven, not sampled. For the square loss the minimum is known exactly,
or to many digits by duality. For other losses an answer rests on slopes a_t: with the conjugates in
exact arithmetic they prove  min over the class of (Σ a_t x_t)·u − Σ ℓ*(a_t),  and the lower end
must not be above that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from noregret.errors import NoRegretError
from noregret.hindsight import (
    Answer,
    Limits,
    Rows,
    best,
    best_in_ball,
    best_in_box,
    best_in_simplex,
    best_linear,
    best_penalised,
    best_ridge,
)
from noregret.hindsight.classes import box
from noregret.hindsight.solvers import logarithmic, newton, penalised, quadratic
from noregret.hindsight.solvers.logarithmic import best_logarithm
from noregret.hindsight.solvers.priced_hinge import best_priced_hinge
from noregret.hindsight.solvers.tangent import Quadratic, over_rows
from tests.exactness.arithmetic import (
    SURE,
    Matrix,
    Vector,
    dot,
    exp,
    fractions,
    gram,
    ln,
    root_above,
    shown,
    solve,
    square,
    table,
)
from tests.exactness.data import Examples, Floats, Rng, drawn, power
from tests.exactness.losses import LABELLED, LOSSES, OWN, OWN_SHARE, conjugate, loss, own
from tests.exactness.proofs import sum_of
from tests.exactness.protocol import Case
from tests.exactness.secular import secular
from tests.exactness.weightings import best_weightings, paying_for_distance

# The classes for the square loss alone; for any loss; and for the hinge and the log loss.
SQUARE = ("linear", "ridge")
ANY = ("ball", "box", "penalised", "simplex", "entropy", "signed", "signed entropy")
OTHER = ("priced hinge", "logarithm")


@dataclass
class Task:
    """A question to hindsight."""

    group: str
    loss: str
    examples: Examples
    rng: Rng
    own: bool = False

    @property
    def rows(self) -> Rows:
        """The examples, sometimes as a sparse table or in blocks."""
        X, y = self.examples.X, self.examples.y
        way = self.rng.integers(4)
        if way == 0:
            return Rows(sparse.csr_array(X), y)
        if way == 1:
            half = len(y) // 2
            return Rows(X[:half], y[:half], features=X.shape[1]).add(X[half:], y[half:])
        return Rows(X, y)


def draw(seed: int) -> Case:
    """Return a question with the check of its answer."""
    rng = np.random.default_rng((11, seed))
    group = str(rng.choice([*SQUARE, *ANY, *OTHER], p=np.array([3, 2, *[2] * 7, 0.2, 1]) / 20.2))
    name = "square"
    if group in ANY and rng.random() < 0.8:
        name = str(rng.choice([*LOSSES][1:]))
    name = {"priced hinge": "hinge", "logarithm": "log"}.get(group, name)
    kind, examples = drawn(rng)
    if name in LABELLED:
        examples = examples.labels(rng)
    own = group in ANY and name in OWN and rng.random() < OWN_SHARE
    task = Task(group, name, examples, rng, own)

    def check() -> str:
        with np.errstate(all="ignore"):
            try:
                return next(CHECKS.get(group, of_any_loss)(task), "")
            except NoRegretError:  # a refusal claims nothing
                return ""

    return Case(group, "own " * own + name, kind, check)


def paid(task: Task, u: Vector) -> Fraction:
    """Return the exact loss of a predictor."""
    X, y = table(task.examples.X), fractions(task.examples.y)
    return sum((loss(task.loss, dot(x, u), v) for x, v in zip(X, y, strict=True)), Fraction(0))


def attained(answer: Answer, exactly: Fraction) -> Iterator[str]:
    """Check the answer's form, and that the witness pays no more than it says."""
    if math.isnan(answer.loss) or math.isnan(answer.lower) or answer.lower == math.inf:
        yield f"the interval is [{answer.lower!r}, {answer.loss!r}]"
    elif math.isfinite(answer.loss) and Fraction(answer.loss) < exactly:
        yield f"the witness pays {shown(exactly)}, above {answer.loss!r}"
    elif answer.lower > answer.loss:
        yield f"the lower end {answer.lower!r} is above {answer.loss!r}"


def no_less(answer: Answer, proven: Fraction, better: Fraction | None = None) -> Iterator[str]:
    """Check a lower end against a bound proven exactly, or a predictor that pays less."""
    if not math.isfinite(answer.lower) or Fraction(answer.lower) <= proven:
        return
    if better is None or better < Fraction(answer.lower):
        least = proven if better is None else better
        yield f"the lower end {answer.lower!r} is above {shown(least)}, the loss {answer.loss!r}"


# The square loss, of which the minimum is known.


def square_ways(task: Task) -> Quadratic:
    """Return the loss as a quadratic in one of the ways it comes in."""
    way = task.rng.integers(4)
    if way == 0:
        return best.square_loss(task.rows)
    if way == 1:
        return over_rows(task.rows)
    return sum_of(task.rng, task.examples).quadratic(task.rows if way == 2 else None)


def of_linear(task: Task) -> Iterator[str]:
    """Check the best of all linear predictors."""
    answer = best_linear(task.rows)
    if task.rng.random() < 0.8:
        answer = quadratic.best_linear(square_ways(task))
    u = fractions(answer.witness)
    yield from attained(answer, paid(task, u))
    if math.isinf(answer.reach):
        if "all linear predictors" not in answer.comparator:
            yield f"no limit, but {answer.comparator!r}"
        yield from no_less(answer, least_square(task, None)[0])
    else:
        stated = float(answer.comparator.rpartition(" ")[2])
        if square(u) > Fraction(stated) ** 2:
            yield f"the witness is longer than {stated!r}"
        yield from no_less(answer, *least_square(task, Fraction(stated)))


def of_ridge(task: Task) -> Iterator[str]:
    """Check the best with a penalty."""
    b, a = float(power(task.rng, -12, 12)[0]), float(power(task.rng, -3, 3)[0])
    answer = best_ridge(task.rows, b, a)
    if task.rng.random() < 0.8:
        answer = quadratic.best_ridge(square_ways(task), b, a)
    scale, penalty = Fraction(a), Fraction(b)

    def total(u: Vector) -> Fraction:
        return scale * paid(task, u) + penalty * square(u)

    yield from attained(answer, total(fractions(answer.witness)))
    yield from no_less(answer, total(ridge_point(task, penalty / scale)))


def ridge_point(task: Task, penalty: Fraction) -> Vector:
    """Return the minimiser of L(u) + penalty ‖u‖²."""
    X = table(task.examples.X)
    G, m = gram(X), moment(X, fractions(task.examples.y))
    for i in range(len(G)):
        G[i][i] += penalty
    found = solve(G, m)
    assert found is not None
    return found


def moment(X: Matrix, y: Vector) -> Vector:
    """Return Σ y x."""
    return [dot(list(column), y) for column in zip(*X, strict=True)]


def least_square(task: Task, radius: Fraction | None) -> tuple[Fraction, Fraction]:
    """Return a lower bound and what a predictor of norm at most the radius pays: they nearly meet.

    Without a radius they are the same. With one, the multiplier λ of ‖u‖² ≤ radius² is found in
    decimals; for any λ and u, F = L + λ(‖·‖² − radius²) is nowhere below F(u) − ‖∇F(u)‖²/(4λ).
    """
    X, y = table(task.examples.X), fractions(task.examples.y)
    G, m = gram(X), moment(X, y)
    free = solve(G, m)
    assert free is not None  # the normal equations have a solution
    least = paid(task, free)
    if radius is None or square(free) <= radius * radius:
        return least, least
    multiplier, u = secular(G, m, radius)
    pull = [dot(row, u) - v + multiplier * w for row, v, w in zip(G, m, u, strict=True)]
    low = paid(task, u) + multiplier * (square(u) - radius**2) - square(pull) / multiplier
    longest = max(Fraction(1), root_above(square(u)) / radius)
    return low, paid(task, [v / longest for v in u])


# Other losses, by the slopes that an answer rests on.


@contextmanager
def recorded_in(*modules: ModuleType) -> Iterator[list[tuple[Rows, newton.Found]]]:
    """Note what the searches of some modules find, for as long as it lasts."""
    seen: list[tuple[Rows, newton.Found]] = []
    search = newton.minimise

    def noted(rows: Rows, *others: Any) -> newton.Found:
        found = search(rows, *others)
        seen.append((rows, found))
        return found

    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(patch.object(module, "minimise", noted))
        yield seen


def of_any_loss(task: Task) -> Iterator[str]:
    """Check a class that is searched, for any loss."""
    rng, rows = task.rng, task.rows
    name, parameter = (own(task.loss), None) if task.own else (task.loss, LOSSES[task.loss])
    radius = float(power(rng, -4, 4)[0])
    entropy = float(power(rng, -4, 4)[0]) if "entropy" in task.group else 0.0
    scale = float(power(rng, -2, 2)[0]) if "entropy" in task.group else 1.0
    weight = radius if "signed" in task.group else None
    limits = Limits(steps=int(rng.choice([3, 30, 200])), seconds=1.0)
    with recorded_in(best, box, penalised, quadratic) as seen:
        match task.group:
            case "ball":
                if name == "square" and rng.random() < 0.8:
                    answer = quadratic.best_in_ball(square_ways(task), radius)
                else:
                    answer = best_in_ball(
                        rows, name, radius, loss_parameter=parameter, limits=limits
                    )
            case "box":
                answer = best_in_box(rows, name, radius, loss_parameter=parameter, limits=limits)
            case "penalised":
                answer = best_penalised(rows, name, radius, loss_parameter=parameter, limits=limits)
            case _:
                answer = best_in_simplex(
                    rows,
                    name,
                    entropy=entropy,
                    scale=scale,
                    weight=weight,
                    loss_parameter=parameter,
                    limits=limits,
                )
    yield from BY_CLASS.get(task.group, in_simplex)(
        Asked(task, answer, Fraction(radius), Fraction(entropy), Fraction(scale), seen)
    )


@dataclass
class Asked:
    """A question with its numbers and its answer."""

    task: Task
    answer: Answer
    radius: Fraction
    entropy: Fraction
    scale: Fraction
    seen: list[tuple[Rows, newton.Found]]

    def slopes(self) -> tuple[Vector, Fraction] | None:
        """Return Σ a_t x_t and Σ ℓ*(a_t) of the slopes that the answer rests on."""
        return combined(self.task, self.seen[-1][1].slopes)


def combined(task: Any, slopes: Floats) -> tuple[Vector, Fraction] | None:
    """Return Σ a_t x_t and Σ ℓ*(a_t), exactly; None where a slope is none of its loss."""
    a, y = fractions(slopes), fractions(task.examples.y)
    costs = [conjugate(task.loss, s, v) for s, v in zip(a, y, strict=True)]
    if any(cost is None for cost in costs):
        return None
    g = [dot(list(column), a) for column in zip(*table(task.examples.X), strict=True)]
    return g, sum((cost for cost in costs if cost is not None), Fraction(0))


def floor_of(asked: Asked, lowest: Callable[[Vector], Fraction]) -> Iterator[str]:
    """Check a lower end against what its slopes prove; never negative losses prove zero."""
    found = asked.slopes()
    if found is None:
        if asked.answer.lower > 0 or asked.task.loss == "linear":
            yield "a slope is none of its loss"
        return
    g, constant = found
    proven = asked.scale * (lowest(g) - constant)
    if asked.task.loss != "linear":
        proven = max(proven, Fraction(0))
    yield from no_less(asked.answer, proven)


def in_ball(asked: Asked) -> Iterator[str]:
    """Check the ball."""
    task, answer, u = asked.task, asked.answer, fractions(asked.answer.witness)
    if square(u) > asked.radius**2:
        yield "the witness is outside of the ball"
    yield from attained(answer, paid(task, u))
    if task.loss == "square":
        yield from no_less(answer, *least_square(task, asked.radius))
    else:
        yield from floor_of(asked, lambda g: -asked.radius * root_above(square(g)) * (1 - SURE))


def in_box(asked: Asked) -> Iterator[str]:
    """Check the box."""
    u = fractions(asked.answer.witness)
    if max(map(abs, u)) > asked.radius:
        yield "the witness is outside of the box"
    yield from attained(asked.answer, paid(asked.task, u))
    yield from floor_of(asked, lambda g: -asked.radius * sum(map(abs, g)))


def with_penalty(asked: Asked) -> Iterator[str]:
    """Check all predictors that pay for their length."""
    u, p = fractions(asked.answer.witness), asked.radius
    yield from attained(asked.answer, paid(asked.task, u) + p * square(u))
    yield from floor_of(asked, lambda g: -square(g) / (4 * p))


def in_simplex(asked: Asked) -> Iterator[str]:
    """Check the simplex, of single and of doubled features."""
    task, b = asked.task, asked.entropy / asked.scale
    parts = fractions(asked.answer.witness)
    whole = sum(parts, Fraction(0))
    if min(parts) < 0 or abs(whole - 1) > Fraction(8, 2**53):
        yield "the witness is outside of the simplex"
    parts = [v / whole for v in parts]
    signed, n = "signed" in task.group, task.examples.X.shape[1]
    price = b * divergence(parts) * (1 - SURE)
    u = parts
    if signed:
        u = [asked.radius * (a - c) for a, c in zip(parts[:n], parts[n:], strict=True)]
    yield from attained(asked.answer, asked.scale * (paid(task, u) + price))

    def lowest(g: Vector) -> Fraction:
        h = [asked.radius * s * v for s in (1, -1) for v in g] if signed else g
        least = min(h)
        if not b:
            return least
        mean = sum((exp((least - v) / b) for v in h), Fraction(0)) / len(h)
        return least - b * ln(mean) + (abs(least) + b) * SURE

    if task.loss != "square" or task.own:
        yield from floor_of(asked, lowest)
        return
    X, y, found = table(task.examples.X), fractions(task.examples.y), asked.seen[-1][1]
    tried = [
        fractions(signed_weights(weights, float(asked.radius)) if signed else weights)
        for weights in (found.w, found.lines_at)
    ]
    Z = [[asked.radius * s * v for s in (1, -1) for v in x] for x in X] if signed else X
    better, proven = None, tangents_of(task, tried, lowest) * asked.scale
    if math.isfinite(asked.answer.lower) and proven < Fraction(asked.answer.lower):
        for best in [paying_for_distance(Z, y, b, parts)] if b else best_weightings(Z, y, parts):
            w = best
            if signed:
                w = [asked.radius * (a - c) for a, c in zip(best[:n], best[n:], strict=True)]
            pays = asked.scale * (paid(task, w) + (b * divergence(best) if b else 0))
            better = pays if better is None else min(better, pays)
            proven = max(proven, asked.scale * tangents_of(task, [w], lowest))
    yield from no_less(asked.answer, proven, better)


def tangents_of(task: Task, tried: list[Vector], lowest: Callable[[Vector], Fraction]) -> Fraction:
    """Return the largest lower bound of the square loss that a tangent at weights proves."""
    X, y, proven = table(task.examples.X), fractions(task.examples.y), Fraction(0)
    for w in tried:
        residue = [2 * (dot(x, w) - v) for x, v in zip(X, y, strict=True)]
        g = [dot(list(c), residue) for c in zip(*X, strict=True)]
        proven = max(proven, paid(task, w) - dot(g, w) + lowest(g))
    return proven


def signed_weights(parts: Floats, weight: float) -> Floats:
    """Return the weights that parts for U x and −U x stand for, as they are rounded."""
    return np.asarray(weight * np.subtract(*np.split(parts, 2)))


def divergence(u: Vector) -> Fraction:
    """Return KL(u ‖ uniform) to many digits."""
    return sum((v * ln(v * len(u)) for v in u if v), Fraction(0))


# The rest.


def of_priced_hinge(task: Task) -> Iterator[str]:
    """Check the bound of the best predictor found that pays for its length."""
    price = float(power(task.rng, -3, 3)[0])
    answer = best_priced_hinge(task.rows, price, limits=Limits(steps=30, seconds=1.0))
    u = fractions(answer.witness)
    length = root_above(square(u)) * (1 - SURE)
    yield from attained(answer, paid(task, u) + Fraction(price) * length)


def of_logarithm(task: Task) -> Iterator[str]:
    """Check the mixture of the largest logarithm."""
    X, w = np.abs(task.examples.X), np.abs(task.examples.y)
    with recorded_in(logarithmic) as seen:
        answer = best_logarithm(Rows(X, w))
    q = fractions(answer.witness)
    q = [v / sum(q) for v in q]
    scores = [dot(x, q) for x in table(X)]
    used = [(Fraction(v), s) for v, s in zip(w, scores, strict=True) if v]
    if any(not s for _, s in used):
        if math.isfinite(answer.loss):
            yield "a loss is infinite, but not the answer"
        return
    size = sum((abs(v * ln(s)) for v, s in used), Fraction(0)) * SURE
    yield from attained(answer, -sum((v * ln(s) for v, s in used), Fraction(0)) - size)
    if not seen or not used:
        return
    scaled, found = seen[-1]
    blocks = [table(X) for X, _ in scaled.blocks()]
    rows, weights = [x for block in blocks for x in block], fractions(scaled.outcomes)
    a = fractions(found.slopes)
    if not all(s < 0 for s in a):
        return
    least = min(dot(list(column), a) for column in zip(*rows, strict=True))
    costs = sum((v * (ln(v) - ln(-s)) - v for v, s in zip(weights, a, strict=True)), Fraction(0))
    exponents = [int(np.frexp(x.max())[1]) for x, v in zip(X, w, strict=True) if v]
    moved = sum((v * e for v, e in zip(weights, exponents, strict=True)), Fraction(0))
    proven = least - costs - moved * ln(Fraction(2))
    yield from no_less(answer, max(proven, -moved * ln(Fraction(2))) + size)


BY_CLASS: dict[str, Callable[[Asked], Iterator[str]]] = {
    "ball": in_ball,
    "box": in_box,
    "penalised": with_penalty,
}
CHECKS: dict[str, Callable[[Task], Iterator[str]]] = {
    "linear": of_linear,
    "ridge": of_ridge,
    "priced hinge": of_priced_hinge,
    "logarithm": of_logarithm,
}
