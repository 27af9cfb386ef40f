"""Proven bounds for functions in a kernel's space: norms, scores, and the best in a ball.

All bounds hold for functions f = Σ c_i k(s_i, ·) and kernels in exact arithmetic. For
lines a_t s − c_t below the losses (see ``newton``), no f of norm at most U pays less than

    −U ‖Σ a_t φ(x_t)‖ − Σ c_t,      ‖Σ a_t φ(x_t)‖² = aᵀKa over all examples.

If functions are limited to landmarks S, the norm is that of the projection on their span, and

    bᵀK⁻¹b ≤ 2 c·b − cᵀKc + ‖D⁻¹(b − Kc)‖²/s,      b = Σ a_t k(S, x_t),

for any c, where K − s D² is surely positive semidefinite.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.checks import positive
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.kernel_rows import KernelRows
from noregret.hindsight.losses import Losses, losses_of
from noregret.hindsight.proofs.answer import Answer, Limits, exactly
from noregret.hindsight.proofs.rounding import Floats, downward, growth, norm_above, total, upward
from noregret.hindsight.solvers.newton import minimise
from noregret.limits import SMALLEST, UNIT

# Most times a function is scaled down until its norm is proven to be within a ball.
MAX_TRIES = 8


def summed(terms: Floats) -> Floats:
    """Return the sum of every row by halves: each number is added to others so often at most."""
    while terms.shape[1] > 1:
        if terms.shape[1] % 2:
            terms = np.pad(terms, ((0, 0), (0, 1)))
        terms = terms[:, ::2] + terms[:, 1::2]
    return terms[:, 0] if terms.shape[1] else np.zeros(len(terms))


def times(matrix: Floats, off: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return the product of a matrix, known up to an error, and a vector, and its own error."""
    depth = max(1, len(a)).bit_length() + 2
    sizes = np.abs(a)
    error = np.abs(matrix) @ sizes * growth(depth) + off @ sizes
    return summed(matrix * a), error * (1 + 2 * growth(len(a))) + len(a) * 5e-324


def root_of_form(matrix: Floats, off: Floats, a: Floats) -> float:
    """Return an upper bound of √(aᵀMa), at least 0."""
    if not a.any():
        return 0.0
    scale = float(np.abs(a).max())
    b = a / scale  # one rounding each, covered by the error
    image, error = times(matrix, off, b)
    error += 4 * UNIT * (np.abs(matrix) @ np.abs(b)) + 4 * UNIT * np.abs(image)
    value, lost = total(b * image), total(np.abs(b) * error) + 4 * len(b) * SMALLEST
    return upward(root_above(max(0.0, upward(value + lost, abs(value)))) * scale)


def root_above(square: float) -> float:
    """Return an upper bound of the square root."""
    return upward(math.sqrt(square) * (1 + 4 * UNIT))


def norm_of(space: KernelRows, at: NDArray[np.intp], c: Floats) -> float:
    """Return an upper bound of the norm of Σ c_i k(s_i, ·), s some rows of the table."""
    used = np.flatnonzero(c)
    part = np.ix_(at[used], at[used])
    K, off = space.products
    return root_of_form(K[part], off[part], c[used])


def scores_of(space: KernelRows, at: NDArray[np.intp], c: Floats) -> tuple[Floats, Floats]:
    """Return the score of every example, and a bound on its error."""
    used = np.flatnonzero(c)
    parts = [times(near, off, c[used]) for near, off in space.near(at[used])]
    if not parts:
        return np.zeros(0), np.zeros(0)
    found, errors = zip(*parts, strict=True)
    return np.concatenate(found), np.concatenate(errors)


def pull_above(space: KernelRows, a: Floats) -> float:
    """Return an upper bound of ‖Σ a_t φ(x_t)‖, projected if functions are limited to landmarks.

    The a_t of equal examples are added first.
    """
    if not a.any():
        return 0.0
    if space.complete:
        place = space.distinct[2]
        order = np.argsort(place, kind="stable")
        ends = np.flatnonzero(np.diff(place[order])) + 1
        sums = np.array([total(part) for part in np.split(a[order], ends)])
        return root_of_form(*space.products, sums)
    return projection_above(space, a)


def projection_above(space: KernelRows, a: Floats) -> float:
    """Return an upper bound of the norm of Σ a_t φ(x_t), projected on the landmarks' span."""
    at = space.chosen[0]
    if not len(at):
        return 0.0
    scale, start = float(np.abs(a).max()), 0
    shares = a / scale
    parts, errors = [], np.zeros(len(at))
    for near, off in space.near(at):
        some = shares[start : start + len(near)]
        part, error = times(near.T, off.T, some)
        parts.append(part)
        errors += error + 4 * UNIT * (np.abs(near).T @ np.abs(some))
        start += len(near)
    b = np.array([total(column) for column in np.array(parts).T])
    errors = (errors + UNIT * np.abs(b)) * (1 + growth(len(parts)))
    K, off = (matrix[np.ix_(at, at)] for matrix in space.products)
    lengths, least = space.curved(at)
    if least <= 0:  # kernels may have underflowed: nothing is known
        return math.inf
    c = space.coefficients(solved(space.chosen[1], b))
    image, image_off = times(K, off, c)
    left = (np.abs(b - image) + errors + image_off) * (1 + 4 * UNIT)
    gain = 2 * b - image
    doubt = 2 * errors + image_off + 8 * UNIT * (np.abs(b) + np.abs(image))
    value, lost = total(c * gain), total(np.abs(c) * doubt * (1 + 4 * UNIT))
    rest = norm_above(left / lengths * (1 + 4 * UNIT))
    square = upward(max(0.0, value + lost) + rest * rest / least * (1 + 8 * UNIT), abs(value))
    square += 4 * (len(at) + 1) * SMALLEST  # of products that underflow
    return upward(root_above(square) * scale)


def solved(factor: Floats, b: Floats) -> Floats:
    """Return L⁻¹ b."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor, b, lower=True))


def functions(space: KernelRows, w: Floats) -> list[Floats]:
    """Return coefficients of functions near the one with these coordinates."""
    with np.errstate(all="ignore"):
        made = [space.coefficients(w, count) for count in space.counts()]
    return [c for c in made if np.isfinite(c).all()] or [np.zeros_like(w)]


def into_ball(space: KernelRows, c: Floats, radius: float) -> Floats:
    """Return the coefficients, scaled down if needed so that the norm is proven to be within."""
    for _ in range(MAX_TRIES):
        size = norm_of(space, space.chosen[0], c)
        if size <= radius:
            return c
        c = c * (radius / size * (1 - 16 * UNIT))  # if coefficients cancel, rounding may undo it
    return np.zeros_like(c)


def paid_above(space: KernelRows, losses: Losses, c: Floats) -> float:
    """Return an upper bound of the loss of a function of the landmarks."""
    return upward(total(losses.value_above(*scores_of(space, space.chosen[0], c))))


def best_in_space(space: KernelRows, loss: Loss, radius: float, limits: Limits) -> Answer:
    """Return the best function of norm at most the radius; its coefficients are the witness."""
    rows, ball = space.model, Ball(positive("radius", radius))
    losses = losses_of(loss, rows.outcomes)
    found = minimise(rows, losses, ball, np.zeros(rows.shape[1]), limits)
    tried = [into_ball(space, c, radius) for c in functions(space, found.w)]
    tried.append(np.zeros(rows.shape[1]))
    paid = [paid_above(space, losses, c) for c in tried]
    best = int(np.argmin(paid))
    floor, constant = -upward(radius * pull_above(space, found.slopes)), total(found.constants)
    lower = downward(floor - constant, abs(floor) + abs(constant))
    if losses.nonnegative:
        lower = max(0.0, lower)
    return Answer(f"RKHS ball of radius {exactly(radius)}", paid[best], lower, tried[best])
