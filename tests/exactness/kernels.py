"""Answers about functions of a kernel's space, against kernels in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import noregret as nr
from noregret.errors import NoRegretError
from noregret.hindsight import Limits, Rows
from noregret.hindsight.kernel_margin import margin_in_space, priced_hinge_in_space
from noregret.hindsight.kernel_rows import KernelRows
from noregret.hindsight.proofs import kernel_proofs
from noregret.hindsight.proofs.kernel_proofs import best_in_space, norm_of, pull_above
from tests.exactness.arithmetic import (
    SURE,
    Matrix,
    Vector,
    dot,
    exp,
    fractions,
    root_above,
    shown,
    solve,
    table,
)
from tests.exactness.data import Examples, Floats, Rng, drawn, power
from tests.exactness.linear import combined, recorded_in
from tests.exactness.losses import LABELLED, LOSSES, loss
from tests.exactness.proofs import not_above, not_below, numbers
from tests.exactness.protocol import Case

GROUPS = ("kernel", "ball", "kept ball", "norms", "kept norms", "margin", "priced hinge")


class Kept(KernelRows):
    """Examples of which functions are those of the support vectors kept, however few there are."""

    complete = False


@dataclass
class Kernel:
    """A kernel with its parameters, exactly."""

    name: str
    width: float
    degree: int
    offset: float

    def __call__(self, x: Vector, z: Vector) -> Fraction:
        """Return k(x, z)."""
        if self.name == "rbf":
            away = [a - b for a, b in zip(x, z, strict=True)]
            return exp(-dot(away, away) / (2 * Fraction(self.width) ** 2))
        inner = dot(x, z)
        return inner if self.name == "linear" else (inner + Fraction(self.offset)) ** self.degree

    def gram(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return k(x, z) for all pairs."""
        return [[self(x, z) for z in Z] for x in X]


@dataclass
class Task:
    """Examples in the space of a kernel."""

    kernel: Kernel
    examples: Examples
    space: KernelRows
    rng: Rng
    loss: str

    @property
    def shown(self) -> Matrix:
        """The landmarks."""
        return table(self.space.landmarks)

    def norm2(self, c: Vector) -> Fraction:
        """Return the square of the norm of a function of the landmarks."""
        return form(self.kernel.gram(self.shown, self.shown), c)

    def scores(self, c: Vector) -> Vector:
        """Return what a function of the landmarks says of every example."""
        near = self.kernel.gram(table(self.examples.X), self.shown)
        return [dot(row, c) for row in near]

    def paid(self, c: Vector) -> Fraction:
        """Return what a function of the landmarks pays."""
        pairs = zip(self.scores(c), fractions(self.examples.y), strict=True)
        return sum((loss(self.loss, s, y) for s, y in pairs), Fraction(0))


def form(K: Matrix, c: Vector) -> Fraction:
    """Return cᵀKc."""
    return sum((a * dot(row, c) for row, a in zip(K, c, strict=True)), Fraction(0))


def draw(seed: int) -> Case:
    """Return a question about functions of a kernel, with the check of its answer."""
    rng = np.random.default_rng((13, seed))
    shares = [0.01 if group == "priced hinge" else 0.99 / 6 for group in GROUPS]  # it takes long
    group, (kind, examples) = str(rng.choice(GROUPS, p=shares)), drawn(rng)
    kernel = Kernel(
        str(rng.choice(["rbf", "rbf", "polynomial", "linear"])),
        float(power(rng, -2, 2)[0]),
        int(rng.integers(1, 5)),
        float(rng.integers(0, 3)),
    )
    size = float(np.abs(examples.X).max())
    if kernel.name != "rbf" and not 1e-20 < size < 1e20:
        examples = examples._replace(X=examples.X / size if size else examples.X)
    if kernel.name == "rbf" and rng.random() < 0.7:  # else most points are too far or too near
        kernel.width = float(
            np.clip((np.ptp(examples.X) or 1.0) * power(rng, -1, 1)[0], 1e-90, 1e90)
        )
    name = "hinge" if group == "priced hinge" else str(rng.choice(list(LOSSES)))
    if name in LABELLED or group == "margin":
        examples = examples.labels(rng)
    return Case(
        f"{group} {kernel.name}", name, kind, lambda: check(rng, group, kernel, examples, name)
    )


def check(rng: Rng, group: str, kernel: Kernel, examples: Examples, name: str) -> str:
    """Ask, and return what is wrong."""
    engine = nr.KernelGradientDescent(
        kernel=kernel.name, width=kernel.width, degree=kernel.degree, offset=kernel.offset
    ).engine
    X = examples.X
    some = X[rng.permutation(len(X))[: max(1, len(X) // 2)]]
    if rng.random() < 0.3:  # nearly the same vector twice
        some = np.concatenate([some, some[:1] * (1 + power(rng, -16, -5))])
    kind = Kept if "kept" in group else KernelRows
    space = kind(Rows(X, examples.y), engine.gram_within, some)
    task = Task(kernel, examples, space, rng, name)
    with np.errstate(all="ignore"):
        try:
            return next(CHECKS[group](task), "")
        except NoRegretError:  # a refusal claims nothing
            return ""


def of_kernel(task: Task) -> Iterator[str]:
    """Check the kernel itself."""
    X, Z = task.examples.X, task.space.vectors
    for one, other in ((X, Z), (X, X)):
        K, off = task.space.gram(one, other)
        for row, errors, sure in zip(
            K, off, task.kernel.gram(table(one), table(other)), strict=True
        ):
            for value, error, exactly in zip(row, errors, sure, strict=True):
                slack = Fraction(float(error)) + abs(exactly) * SURE
                if abs(Fraction(float(value)) - exactly) > slack:
                    yield f"kernel: {value!r} is {shown(exactly)}, off by more than {error!r}"
    K, _ = task.space.gram(X)
    if not (K == K.T).all() or (task.kernel.name == "rbf" and (K.diagonal() != 1).any()):
        yield "the Gram matrix is not symmetric, or its diagonal is not 1"


def of_norms(task: Task) -> Iterator[str]:
    """Check norms of functions, and of combinations of examples."""
    space, at = task.space, task.space.chosen[0]
    c, a = numbers(task.rng, len(at)), numbers(task.rng, len(task.examples.y))
    if task.rng.random() < 0.5:  # as ill-conditioned as it gets
        c = space.coefficients(numbers(task.rng, len(at)))
    if not np.isfinite(c).all():
        return
    size = norm_of(space, at, c)
    if math.isfinite(size) and Fraction(size) ** 2 < task.norm2(fractions(c)) * (1 - SURE):
        yield f"a norm is larger than {size!r}"
    pull = pull_above(space, a)
    if math.isfinite(pull) and Fraction(pull) ** 2 < pull_of(task, a) * (1 - SURE):
        yield f"a combination is longer than {pull!r}"


def pull_of(task: Task, a: Floats) -> Fraction:
    """Return ‖Σ a_t φ(x_t)‖², of the projection where functions are those of landmarks."""
    X, shares = table(task.examples.X), fractions(a)
    if task.space.complete:
        return form(task.kernel.gram(X, X), shares)
    near = task.kernel.gram(task.shown, X)
    b = [dot(row, shares) for row in near]
    c = solve(task.kernel.gram(task.shown, task.shown), b) if b else []
    assert c is not None  # landmarks are independent
    return dot(b, c)


def of_ball(task: Task) -> Iterator[str]:
    """Check the best of a ball."""
    radius = float(power(task.rng, -3, 3)[0])
    made = nr.make_loss(task.loss, LOSSES[task.loss])
    limits = Limits(steps=int(task.rng.choice([3, 30, 200])), seconds=1.0)
    with recorded_in(kernel_proofs) as seen:
        answer = best_in_space(task.space, made, radius, limits)
    if math.isnan(answer.loss) or math.isnan(answer.lower) or answer.lower > answer.loss:
        yield f"the interval is [{answer.lower!r}, {answer.loss!r}]"
    c = fractions(answer.witness)
    if task.norm2(c) * (1 - SURE) > Fraction(radius) ** 2:
        yield "the witness is outside of the ball"
    yield from not_below("loss", answer.loss, task.paid(c) * (1 - SURE))
    a = seen[-1][1].slopes
    found = combined(task, a)
    if found is None:
        if answer.lower > 0:
            yield "a slope is none of its loss"
        return
    proven = -Fraction(radius) * root_above(pull_of(task, a)) * (1 - SURE) - found[1]
    if task.loss != "linear":
        proven = max(proven, Fraction(0))
    yield from not_above("lower", answer.lower, proven)


def of_margin(task: Task) -> Iterator[str]:
    """Check the largest margin."""
    found = margin_in_space(task.space, Limits(steps=100, seconds=1.0))
    c, labels = fractions(found.witness), [1 if y > 0 else -1 for y in task.examples.y]
    if found.lower > 0:
        least = min(s * y for s, y in zip(task.scores(c), labels, strict=True))
        yield from not_above(
            "margin²", found.lower**2, least * abs(least) / task.norm2(c) * (1 + SURE)
        )
    if math.isfinite(found.upper) and found.upper > 0:
        p = fractions(found.shares)
        a = np.array([float(v) * y for v, y in zip(p, labels, strict=True)])
        proven = root_above(pull_of(task, a)) * (1 - SURE) / sum(p)
        yield from not_below("largest margin", found.upper, proven)


def of_priced_hinge(task: Task) -> Iterator[str]:
    """Check a bound that any function gives."""
    examples = task.examples
    price = float(power(task.rng, -3, 3)[0])
    answer = priced_hinge_in_space(task.space, price, Limits(steps=30, seconds=1.0))
    c = fractions(answer.witness)
    exactly = task.paid(c) + Fraction(price) * root_above(task.norm2(c))
    if len(examples.y):
        yield from not_below("bound", answer.loss, exactly * (1 - SURE))


CHECKS: dict[str, Any] = {
    "kernel": of_kernel,
    "ball": of_ball,
    "kept ball": of_ball,
    "norms": of_norms,
    "kept norms": of_norms,
    "margin": of_margin,
    "priced hinge": of_priced_hinge,
}
