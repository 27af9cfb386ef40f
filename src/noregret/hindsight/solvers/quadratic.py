"""The best predictor for the square loss: of all, with a penalty, in a ball, in the simplex.

A linear system gives the minimum of a quadratic function; the rest of this module refines and
proves it. Lower bounds come from the tangent at the end of the search (see ``tangent``), and from
the parabola above the tangent as far as curvature is proven.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import ROUND_DOWN, Context
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.checks import positive
from noregret.errors import NoRegretError
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.classes.domain import Domain
from noregret.hindsight.losses import losses_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits, exactly, share
from noregret.hindsight.proofs.deadline import OutOfTime, expired, tell
from noregret.hindsight.proofs.rounding import (
    Floats,
    dot,
    downward,
    growth,
    norm,
    norm_above,
    upward,
)
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers.curvature import Factored, ManyRows, Search
from noregret.hindsight.solvers.dependence import faint_columns, independent_columns, surely_curved
from noregret.hindsight.solvers.doubled import Doubled
from noregret.hindsight.solvers.newton import minimise
from noregret.hindsight.solvers.sharp import REFINEMENTS, OnColumns, at_most, sharpened
from noregret.hindsight.solvers.tangent import Quadratic, SquareLoss, Tangent
from noregret.hindsight.solvers.triangular import Careful, corners, few_rows, nearest_to_zero
from noregret.limits import SMALLEST, UNIT

if TYPE_CHECKING:
    from noregret.hindsight.classes.simplex import Simplex

# The share of the loss by which a lower bound for dependent columns may be lowered for its reach.
MAX_BOUND_LOSS = 1e-7
# The relative residual of the gradient at which conjugate gradients end.
MIN_REST = 1e-12
# Largest norm up to which a lower bound is claimed, if not for all predictors.
MAX_NORM = 1e300
# How that norm is written.
THREE_DIGITS = Context(prec=3, rounding=ROUND_DOWN)


def best_linear(loss: Quadratic, limits: Limits = USUAL) -> Answer:
    """Return the best of all linear predictors; of several, one of small norm."""
    if loss.gram is not None:
        faint = faint_columns(loss.gram, loss.lost, loss.rows)
        if faint.any():
            return best_but_for(loss, loss.gram, faint)
    norms, least = surely_curved(loss.gram, loss.gram_error)
    if least == 0 and loss.rows is not None and loss.gram is not None:
        kept = independent_columns(loss.rows)
        if kept is not None:
            return best_of_kept(loss, kept)
    if isinstance(loss.curvature, ManyRows) and loss.rows is not None:
        w, tangent = descended_over_rows(loss.rows, loss.loss, loss.curvature, limits)
    else:
        w, tangent = descended(loss, 0.0)
    lower, reach = lowest_of_all(tangent, w, norms, least)
    attained = at_most(tangent.high)
    answer = Answer(up_to(reach), attained, lower, w, exact=loss.gram is not None, reach=reach)
    return sharpened(answer, loss, lambda on_rows: on_rows.best_ridge(0.0, up_to(math.inf)))


def up_to(reach: float) -> str:
    """Return the name of the class of linear predictors up to a norm, in three digits.

    The norm is rounded down: what is proven up to a norm holds up to each smaller one.

    Examples
    --------
    >>> up_to(1.999)
    'linear predictors of norm at most 1.99'
    """
    if math.isinf(reach):
        return "all linear predictors"
    text = f"{reach:.3g}"
    if float(text) > reach:
        text = f"{float(THREE_DIGITS.create_decimal(reach)):.3g}"
    return f"linear predictors of norm at most {text}"


def best_of_kept(loss: Quadratic, kept: NDArray[np.intp]) -> Answer:
    """Return the best of all, if the kept columns span all others."""
    assert loss.gram is not None
    gram = loss.gram[np.ix_(kept, kept)]
    inner = Kept(loss.loss, loss.features, kept)
    rows = None if loss.rows is None else loss.rows.only(kept)
    only = Quadratic(len(kept), inner, Factored(gram), gram, loss.gram_error, rows, loss.lost)
    answer = best_linear(only)
    return replace(answer, witness=inner.whole(answer.witness))


def best_but_for(loss: Quadratic, gram: Floats, faint: NDArray[np.bool_]) -> Answer:
    """Return the best of all if underflow hides some columns, which the witness does not use.

    With weights b on the hidden columns B, √L is at least the least √L of the others minus
    ‖B‖‖b‖: so the lower bound holds up to a norm, beyond which nothing is claimed.
    """
    answer = best_of_kept(loss, np.flatnonzero(~faint))
    squares = np.diag(gram)[faint] * (1 + 2 * loss.gram_error) + 2 * loss.lost
    root = math.sqrt(answer.lower) * (1 - MAX_BOUND_LOSS / 2)
    reach = min(answer.reach, MAX_NORM, MAX_BOUND_LOSS / 8 * root / norm_above(np.sqrt(squares)))
    if root == 0 or reach < norm_above(answer.witness):
        return replace(answer, comparator=up_to(math.inf), lower=0.0, reach=math.inf)
    lower = downward(root * root)
    return replace(answer, comparator=up_to(reach), lower=lower, reach=reach)


class Kept:
    """A square loss with some free weights; the others are zero."""

    def __init__(self, loss: SquareLoss, features: int, kept: NDArray[np.intp]) -> None:
        self.loss, self.features, self.kept = loss, features, kept

    def whole(self, w: Floats) -> Floats:
        """Return all weights."""
        whole = np.zeros(self.features)
        whole[self.kept] = w
        return whole

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient by the free weights."""
        return self.loss.gradient(self.whole(w))[self.kept]

    def tangent(self, w: Floats) -> Tangent:
        """Return the tangent by the free weights."""
        low, high, gradient, off = self.loss.tangent(self.whole(w))
        return Tangent(low, high, gradient[self.kept], off[self.kept])


def descended(loss: Quadratic, penalty: float) -> tuple[Floats, Tangent]:
    """Minimise L(w) + penalty ‖w‖² up to rounding; return w and the tangent there."""
    w = best = np.zeros(loss.features)
    left = math.inf
    for _ in range(REFINEMENTS):
        pull = 0.5 * loss.loss.gradient(w) + penalty * w
        before, left = left, min(left, norm(pull))
        if left < before:
            best = w
        if left > 0.5 * before or left == 0.0:
            break
        w = w + loss.curvature.solve(penalty, -pull, Search(accuracy=1e-6))
    tangent = loss.loss.tangent(best)
    if not math.isfinite(tangent.high):
        best = np.zeros(loss.features)
        tangent = loss.loss.tangent(best)
    return best, tangent


class Descent:
    """The gap that ``lowest_of_all`` will find, during conjugate gradients from w.

    With p = ∇L(w)/2 and rest = −p − G v, L(w + v) = L(w) + p·v − rest·v; and no
    predictor within twice the norm of w + v is better by more than 6 ‖w + v‖ ‖rest‖.
    """

    def __init__(self, w: Floats, pays: float, pull: Floats, tolerance: float) -> None:
        self.w, self.pays, self.pull, self.tolerance = w, pays, pull, tolerance
        self.gap = math.inf

    def is_enough(self, v: Floats, rest: Floats) -> bool:
        """Return True if v is good enough."""
        pays = max(0.0, self.pays + dot(self.pull, v) - dot(rest, v))
        self.gap = share(6 * norm(self.w + v) * norm(rest), pays)
        tell(pays, pays * (1 - self.gap))
        return self.gap <= 0.5 * self.tolerance or expired(self.gap)


def descended_over_rows(
    rows: Rows, loss: SquareLoss, curvature: ManyRows, limits: Limits
) -> tuple[Floats, Tangent]:
    """Minimise L(w) by conjugate gradients; return w and the tangent there."""
    w, before = np.zeros(rows.shape[1]), math.inf
    for _ in range(REFINEMENTS):
        residues = rows.scores(w) - rows.outcomes
        pays, pull = dot(residues, residues), rows.combine(residues)
        if not norm(pull) < 0.5 * before:  # limited by rounding
            break
        descent, before = Descent(w, pays, pull, limits.tolerance), norm(pull)
        moved = w + curvature.solve(0.0, -pull, Search(None, MIN_REST, done=descent.is_enough))
        residues = rows.scores(moved) - rows.outcomes
        if not dot(residues, residues) < pays:
            break
        w = moved
        if descent.gap <= 0.5 * limits.tolerance or expired(descent.gap):
            break
    return w, loss.tangent(w)


def lowest_of_all(tangent: Tangent, w: Floats, norms: Floats, least: float) -> tuple[float, float]:
    """Return a lower bound for all linear predictors, and the norm up to which it holds."""
    if tangent.low <= 0:
        return 0.0, math.inf
    steepest = tangent.steepest()
    if least > 0:
        # L(u) − L(w) ≥ g·(u − w) + least ‖D(u − w)‖², whose minimum is −‖D⁻¹g‖²/(4 least).
        root = norm_above(steepest[norms > 0] / norms[norms > 0] * (1 + 8 * UNIT))
        drop = upward(root * root, SMALLEST)
        lower = downward(tangent.low - upward(drop / (4 * least)), tangent.low)
        return max(0.0, lower), math.inf
    slope = norm_above(steepest)
    if slope == 0:
        return tangent.low, math.inf
    if expired() and not w.any():  # no step was taken, so there is no norm
        return 0.0, math.inf
    reach = min(MAX_NORM, max(MAX_BOUND_LOSS * tangent.low / slope, 2 * norm(w)))
    lower = lower_over(Ball(1.01 * reach), tangent, w)  # the text of the class has a rounded norm
    return (lower, reach) if lower > 0 else (0.0, math.inf)


def best_ridge(loss: Quadratic, penalty: float, scale: float = 1.0) -> Answer:
    """Return the minimiser of  scale · L(u) + penalty · ‖u‖²."""
    b, a = positive("penalty", penalty), positive("scale", scale)
    w, tangent = descended(loss, b / a)
    size = norm(w)
    paid = b * size * size
    off = (growth(len(w)) + 16 * UNIT) * paid
    attained = upward(a * tangent.high + paid + off, SMALLEST if size or tangent.high else 0.0)
    # The objective has curvature b or more, so its minimum is within ‖gradient‖²/(4b) of its value.
    pull = a * np.abs(tangent.gradient + 2 * (b / a) * w) + a * tangent.off
    pull += 16 * UNIT * (a * np.abs(tangent.gradient) + 2 * b * np.abs(w))
    slope = norm_above(pull)
    drop = upward(slope * slope, SMALLEST) / (4 * b)
    lower = downward(a * tangent.low + paid - off - upward(drop), abs(a * tangent.low) + paid)
    words = f"all linear predictors, paying {b:.6g} ‖u‖²"
    exact = loss.gram is not None
    answer = Answer(words, at_most(attained), max(0.0, lower), w, exact)
    return sharpened(answer, loss, lambda on_rows: on_rows.best_ridge(b / a, words, a))


def best_in_ball(loss: Quadratic, radius: float) -> Answer:
    """Return the best predictor of norm at most the radius, by the secular equation."""
    if not loss.features and not radius:
        raise NoRegretError("there are no features to compare with")
    ball = Ball(positive("radius", radius))
    w = best = np.zeros(loss.features)
    gap, idle = math.inf, 0
    for _ in range(REFINEMENTS):
        gradient = loss.loss.gradient(w)
        above_lowest = dot(w, gradient) - ball.lowest(gradient)
        idle = idle + 1 if above_lowest > 0.5 * gap else 0
        if above_lowest < gap:
            gap, best = above_lowest, w
        if idle > 3 or gap <= 0 or expired():
            break
        w = ball.target(w, 0.5 * gradient, loss.curvature)
    tangent = loss.loss.tangent(best)
    lower = max(0.0, lower_over(ball, tangent, best))
    hidden = loss.gram is not None and faint_columns(loss.gram, loss.lost, loss.rows).any()
    if norm(best) < radius and not hidden:
        everywhere, reach = lowest_of_all(tangent, best, *surely_curved(loss.gram, loss.gram_error))
        lower = max(lower, everywhere if reach >= radius else 0.0)
    witness = ball.inside(best)
    attained = at_most(loss.loss.tangent(witness).high)
    words = f"ball of radius {exactly(radius)}"
    answer = Answer(words, attained, lower, witness, exact=loss.gram is not None)
    return sharpened(answer, loss, lambda on_rows: on_rows.best_in_ball(radius, words))


def best_in_simplex(
    loss: Quadratic,
    entropy: float,
    scale: float,
    weight: float | None,
    limits: Limits,
    start: Floats | None = None,
) -> Answer:
    """Return the weighting that minimises  scale · L(u) + entropy · KL(u ‖ uniform).

    The search uses n rows with the same Gram matrix and moment; the proof uses L itself. If sums
    lose too many digits for it, both are repeated with the rows, if available.
    """
    answer = best_weights(loss, same_sums(loss), entropy, scale, weight, limits, start)
    if loss.rows is None or answer.relative_gap <= limits.tolerance:
        return answer
    try:
        with np.errstate(all="ignore"):  # NaN is never sharper
            return sharper(answer, loss, loss.rows, entropy, scale, weight, limits, start)
    except (NoRegretError, np.linalg.LinAlgError, OutOfTime):  # the rows are too large or small
        return answer


def sharper(
    answer: Answer,
    loss: Quadratic,
    rows: Rows,
    entropy: float,
    scale: float,
    weight: float | None,
    limits: Limits,
    start: Floats | None,
) -> Answer:
    """Return the best weighting computed from the rows, or the answer if that is no sharper."""
    exact = replace(loss, loss=Careful(rows))
    other = best_weights(exact, few_rows(rows), entropy, scale, weight, limits, start)
    answer = other if other.gap < answer.gap else answer
    if entropy or answer.relative_gap <= limits.tolerance:
        return answer
    answer = proven_again(answer, loss, scale, weight, limits)
    if answer.relative_gap <= limits.tolerance:
        return answer
    u = nearest_to_zero(corners(rows, weight))
    from noregret.hindsight.classes.simplex import Simplex

    simplex, words = Simplex(len(u), 0.0), simplex_words(0.0, weight)
    other = weighting(exact, simplex, u, u, words, positive("scale", scale), weight)
    other = proven_again(other, loss, scale, weight, limits)
    return other if other.gap < answer.gap else answer


def proven_again(
    answer: Answer, loss: Quadratic, scale: float, weight: float | None, limits: Limits
) -> Answer:
    """Return the best weighting with a lower bound that hardly depends on where the search ended.

    A tangent is below the loss by the error of the search; a parabola by the square of that.
    """
    if answer.relative_gap <= limits.tolerance:
        return answer
    u = answer.witness if weight is None else weight * np.subtract(*np.split(answer.witness, 2))
    with np.errstate(all="ignore"):
        on_rows = OnColumns.of(loss)
        if on_rows is None or not math.isfinite(answer.loss):
            return answer
        enough = (1 - limits.tolerance) * answer.loss / scale
        lower = downward(scale * on_rows.lowest_of_weights(u, weight, enough))
    return replace(answer, lower=max(answer.lower, lower)) if math.isfinite(lower) else answer


def best_weights(
    loss: Quadratic,
    rows: Rows,
    entropy: float,
    scale: float,
    weight: float | None,
    limits: Limits,
    start: Floats | None = None,
) -> Answer:
    """Search a few rows for the best weighting, and prove it by the loss."""
    a = positive("scale", scale)
    if weight is not None:
        rows = Doubled(rows, positive("weight", weight))
    from noregret.hindsight.classes.simplex import Simplex

    simplex = Simplex(rows.shape[1], entropy and positive("entropy", entropy) / a)
    losses = losses_of("square", rows.outcomes)
    begin = simplex.centre if start is None else start
    found = minimise(rows, losses, simplex, begin, limits)

    words = simplex_words(entropy, weight)
    return weighting(loss, simplex, found.w, found.lines_at, words, a, weight)


def weighting(
    loss: Quadratic,
    simplex: Simplex,
    u: Floats,
    lines_at: Floats,
    words: str,
    a: float,
    weight: float | None,
) -> Answer:
    """Return a weighting with its loss, and a lower bound by the tangents at two points."""

    def tangent(u: Floats) -> Tangent:
        if weight is None:
            return loss.loss.tangent(u)
        return loss.loss.tangent(weight * np.subtract(*np.split(u, 2))).doubled(weight)

    at_best = tangent(u)
    # u sums to 1 up to rounding, which changes the scores as little.
    blurred = float((8 * UNIT * at_best.steepest()) @ u)
    attained = upward(at_best.high + blurred + simplex.price_above(u), abs(at_best.high))
    lower = max(
        0.0,
        lower_over(simplex, at_best, u),
        lower_over(simplex, tangent(lines_at), lines_at),
    )
    return Answer(words, upward(a * at_most(attained)), max(0.0, downward(a * lower)), u)


def simplex_words(entropy: float, weight: float | None) -> str:
    """Return the name of the class."""
    name = "simplex" if weight is None else f"weights of either sign, total {exactly(weight)}"
    return f"{name}, paying {entropy:.6g} KL(u, uniform)" if entropy else name


def same_sums(loss: Quadratic) -> Rows:
    """Return n + 1 rows with the Gram matrix, the moment and the energy of the loss."""
    assert loss.gram is not None
    tangent = loss.loss.tangent(np.zeros(loss.features))
    moment = -0.5 * tangent.gradient
    norms = np.sqrt(np.diag(loss.gram))
    scale = np.where(norms > 0, norms, 1.0)
    values, vectors = np.linalg.eigh(loss.gram / scale / scale[:, None])
    kept = values > values.max(initial=0.0) * len(values) * 4 * UNIT
    roots = np.sqrt(values[kept])
    outcomes = (vectors[:, kept].T @ (moment / scale)) / roots
    rest = math.sqrt(max(0.0, tangent.high - dot(outcomes, outcomes)))
    rows = Rows(roots[:, None] * vectors[:, kept].T * scale, outcomes, features=loss.features)
    return rows.add(np.zeros((1, loss.features)), [rest])


def lower_over(domain: Domain, tangent: Tangent, w: Floats) -> float:
    """Return a lower bound of the loss over a domain, by the tangent at w."""
    floor, constant = domain.lowest_below(tangent.gradient, tangent.off), tangent.constant_below(w)
    return downward(floor + constant, abs(floor) + abs(constant))
