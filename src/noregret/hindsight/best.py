"""The best fixed predictor in hindsight: one function per class of predictors.

Each returns an ``Answer``: a witness, its loss, and a lower bound on the loss of every predictor in
the class. The square loss is solved exactly and fast from sums over the rows (see ``square``), all
other losses by Newton's method on the rows, which stops at a relative gap of 1e-6 by default.
"""

from __future__ import annotations

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.checks import positive
from noregret.errors import NoRegretError
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.classes.simplex import Simplex
from noregret.hindsight.losses import Losses, is_square, losses_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits, exactly, share
from noregret.hindsight.proofs.deadline import expired, time_limit
from noregret.hindsight.proofs.levelling import MAX_WORK, dense, levelled
from noregret.hindsight.proofs.rounding import Floats, downward, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers import quadratic
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.hindsight.solvers.doubled import Doubled
from noregret.hindsight.solvers.dual_ascent import ascended
from noregret.hindsight.solvers.newton import Found, minimise, proven
from noregret.hindsight.solvers.square import LeastSquares
from noregret.hindsight.solvers.tangent import Quadratic, over_rows
from noregret.hindsight.sparse import compact

# Most columns whose principal axes are computed.
MAX_TURNED = 512


def best_linear(rows: Rows, *, limits: Limits = USUAL) -> Answer:
    """Return the best linear predictor for the square loss, one of small norm if it is not unique.

    Examples
    --------
    >>> best_linear(Rows([[1.0], [1.0]], [0.0, 1.0])).witness
    array([0.5])
    """
    with time_limit(limits):
        return quadratic.best_linear(square_loss(rows), limits)


def best_ridge(rows: Rows, penalty: float, scale: float = 1.0) -> Answer:
    """Return the minimiser of  scale · L(u) + penalty · ‖u‖²  for the square loss L.

    This is the right-hand side of the bounds of Widrow-Hoff (scale 1/(1−η), penalty X²/η) and of
    the Vovk-Azoury-Warmuth forecaster (scale 1, penalty λ).
    """
    return quadratic.best_ridge(square_loss(rows), penalty, scale)


def best_in_ball(
    rows: Rows,
    loss: str | Loss,
    radius: float,
    *,
    loss_parameter: float | None = None,
    limits: Limits = USUAL,
    start: Floats | None = None,
) -> Answer:
    """Return the best predictor of norm at most ``radius``.

    Parameters
    ----------
    rows
        The examples. Labels may be −1/+1 or 0/1.
    loss
        The name of a convex loss, or a custom loss. The lower bound is valid only if it is convex,
        which is not checked for a custom loss.
    radius
        U > 0.
    loss_parameter
        The ε, δ or quantile of a loss that has one and is given by name.
    limits
        When to stop. The interval is valid wherever the search stops.
    start
        Weights to begin the search at, moved into the ball; zero if not given.

    Examples
    --------
    >>> rows = Rows([[1.0], [1.0], [1.0]], [0.0, 1.0, 5.0])
    >>> answer = best_in_ball(rows, "absolute", radius=0.5)
    >>> round(answer.loss, 5), answer.relative_gap < 1e-6
    (5.5, True)
    """
    if not rows.shape[1] and not radius:
        raise NoRegretError("there are no features to compare with")
    ball, rows = Ball(positive("radius", radius)), compact(rows)
    losses = losses_of(loss, rows.outcomes, loss_parameter)
    if is_square(loss):
        return quadratic.best_in_ball(square_loss(rows), radius)
    begin = np.zeros(rows.shape[1])
    if start is not None and np.isfinite(start).all():
        begin[: len(start)] = ball.inside(start[: len(begin)])
    with time_limit(limits):
        found = ascended(rows, losses, ball, begin, limits)
        if found is None:
            found = minimise(rows, losses, ball, begin, limits)
        elif not found.is_close(limits) and not expired(share(found.gap, found.loss)):
            found = minimise(rows, losses, ball, found.w, limits, found)
    found.w = ball.inside(found.w)
    attained, lower = proven(rows, losses, ball, found)
    words = f"ball of radius {exactly(radius)}"
    if not limits.is_reached(attained, lower):
        with time_limit(limits):
            other = turned(rows, losses, ball, found.w, limits)
        if other is not None:
            better, floor = proven(rows, losses, ball, other)
            lower = max(lower, floor)
            if better < attained:
                attained, found = better, other
    if not limits.is_reached(attained, lower):
        lower = max(lower, levelled(rows, losses, words, found.w, found.slopes))
    return Answer(words, attained, limits.widened(attained, lower), found.w)


def turned(rows: Rows, losses: Losses, ball: Ball, begin: Floats, limits: Limits) -> Found | None:
    """Search along the principal axes of the rows, which leave the ball as it is.

    Where columns are far from zero, all but one axis have the digits that differ between the rows.
    None is returned for many rows, and if time is up.
    """
    rounds, columns = rows.shape
    if rounds * columns * min(rounds, columns) > MAX_WORK or columns > MAX_TURNED or expired():
        return None
    X = dense(rows)
    axes = np.linalg.svd(X, full_matrices=columns > rounds)[2].T
    found = minimise(
        Rows(X @ axes, rows.outcomes), losses, ball, ball.inside(axes.T @ begin), limits
    )
    found.w = ball.inside(axes @ found.w)
    return found


def best_in_simplex(
    rows: Rows,
    loss: str | Loss,
    *,
    entropy: float = 0.0,
    scale: float = 1.0,
    weight: float | None = None,
    loss_parameter: float | None = None,
    limits: Limits = USUAL,
    start: Floats | None = None,
) -> Answer:
    """Return the weights u in the simplex that minimise  scale · L(u) + entropy · KL(u ‖ uniform).

    The weights are non-negative and sum to 1. This is the right-hand side of the bound of
    exponentiated gradient; with ``entropy=0``, the best predictor in the simplex.

    Parameters
    ----------
    rows
        The examples.
    loss
        The name of a convex loss, or a custom loss.
    entropy, scale
        b ≥ 0 and a > 0 in a L(u) + b KL(u ‖ uniform).
    weight
        U, for weights of either sign. The features are then (U x, −U x), and the witness holds the
        weights of all U x_i followed by those of all −U x_i.
    loss_parameter
        The ε, δ or quantile of a loss that has one and is given by name.
    limits
        When to stop. The interval is valid wherever the search stops.
    start
        Positive weights to start the search from; uniform by default.

    Examples
    --------
    >>> rows = Rows([[0.0, 1.0], [0.0, 1.0]], [0.0, 1.0])
    >>> answer = best_in_simplex(rows, "square")
    >>> answer.witness.round(3), round(answer.loss, 5)
    (array([0.5, 0.5]), 0.5)
    """
    if is_square(loss) and rows.shape[1] <= MAX_DENSE:
        square = square_loss(rows)
        return quadratic.best_in_simplex(square, entropy, scale, weight, limits, start)
    a, words = positive("scale", scale), quadratic.simplex_words(entropy, weight)
    if weight is not None:
        rows = Doubled(rows, positive("weight", weight))
    simplex = Simplex(rows.shape[1], entropy and positive("entropy", entropy) / a)
    losses = losses_of(loss, rows.outcomes, loss_parameter)
    begin = simplex.centre if start is None else start
    found = minimise(rows, losses, simplex, begin, limits)
    attained, lower = proven(rows, losses, simplex, found)
    return Answer(words, upward(a * attained), downward(a * lower), found.w)


def square_loss(rows: Rows) -> Quadratic:
    """Return the square loss on the rows, from sums unless there are too many features."""
    if rows.shape[1] > MAX_DENSE:
        return over_rows(compact(rows))
    sums: LeastSquares | None = rows.square_sums()
    if sums is None:
        sums = LeastSquares(rows.shape[1])
        for block, outcomes in rows.blocks():
            sums.add(block, outcomes)
    return sums.quadratic(rows)
