"""The best expert in hindsight, and the best mixture of experts.

A mixture q predicts q·x. As its weights sum to 1, its error is q·(x − y), so the search uses the
residuals x − y. They keep their digits when all forecasts are large and close together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from noregret.base.compiled.losses import PythonLoss
from noregret.errors import BadExample
from noregret.hindsight.best import best_in_simplex
from noregret.hindsight.blocks import pieces
from noregret.hindsight.classes.simplex import Simplex
from noregret.hindsight.expert_losses import (
    MAX_FLOAT,
    NO_OUTCOMES,
    Doubts,
    Given,
    blocks_of,
    expert_losses,
)
from noregret.hindsight.given_loss import Confined, GivenLoss, functions_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits
from noregret.hindsight.proofs.rounding import Floats, downward, growth, norm_above, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers import quadratic
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.hindsight.solvers.logarithmic import best_logarithm
from noregret.hindsight.solvers.newton import minimise, proven
from noregret.hindsight.solvers.square import LeastSquares
from noregret.limits import SMALLEST, UNIT

BEST, MIXTURES = "the best expert", "convex combinations of the experts"
# Transformed tables of up to this many numbers are held in memory; larger ones are recomputed in
# each pass.
MAX_HELD_NUMBERS = 2**25
# Losses that are homogeneous in the residuals, with their degree. Residuals outside of this range
# are rescaled.
DEGREE = {"square": 2, "absolute": 1, "quantile": 1}
UNSCALED_RANGE = (1e-100, 1e100)
# An answer from sums alone is accepted up to this relative gap.
MAX_SUMS_GAP = 1e-6

# From a block, its outcomes and the number of rows before it to another block with its outcomes.
Transform = Callable[[Floats, Floats, int], tuple[Floats, Floats]]


def best_expert(
    given: Given,
    loss: Any = None,
    *,
    loss_parameter: float | None = None,
    doubts: Doubts | None = None,
) -> Answer:
    """Return the expert with the smallest cumulative loss, the first one in case of ties.

    Parameters
    ----------
    given
        Advice and outcomes as ``Rows``; or a table of losses; or a function that returns a new
        iterator of blocks, (advice, outcomes) or losses, each time it is called.
    loss
        The name of a loss, or a custom loss; None if the table holds losses.
    loss_parameter
        The quantile of a loss given by name.
    doubts
        Rounding errors in the losses of a table, as returned by ``doubts_of``. By default a table
        of losses is exact.

    Examples
    --------
    >>> answer = best_expert([[1.0, 0.0, 0.5], [1.0, 1.0, 0.25]])
    >>> answer.witness, answer.loss
    (array([0., 0., 1.]), 0.75)
    """
    return expert_losses(given, loss, loss_parameter=loss_parameter, doubts=doubts).answer(BEST)


def best_convex(
    given: Given,
    loss: Any = None,
    *,
    loss_parameter: float | None = None,
    limits: Limits = USUAL,
) -> Answer:
    """Return the best mixture of experts: weights q ≥ 0 of sum 1 for the forecasts q·x.

    Parameters
    ----------
    given, loss_parameter
        As in ``best_expert``.
    loss
        The name of a loss, or a custom loss; None if the table holds losses, of which a mixture
        pays the weighted mean. The lower bound is valid only if the loss is convex, which is not
        checked for a custom loss.
    limits
        When to stop. The interval is valid wherever the search stops.

    Examples
    --------
    >>> answer = best_convex(Rows([[0.0, 1.0], [0.0, 1.0]], [0.0, 1.0]), "square")
    >>> answer.witness.round(3), round(answer.loss, 5)
    (array([0.5, 0.5]), 0.5)
    """
    name, parameter = known_as(loss, loss_parameter)
    if loss is None:
        answer = best_expert(given)  # the minimum of a linear function is at a corner
    elif name == "square":
        answer = best_by_sums(given, limits) or best_by_residuals(
            transformed(given, residuals), name, None, limits
        )
    elif name in DEGREE:
        answer = best_by_residuals(transformed(given, residuals), name, parameter, limits)
    elif name == "percentage":
        relative = transformed(given, relative_residuals)
        answer = best_by_residuals(relative, "absolute", None, limits)
    elif name == "log":
        answer = best_by_logarithms(given, limits)
    elif name or not getattr(loss, "convex", True):
        shown = name or getattr(loss, "name", "given")
        raise ValueError(f"the {shown} loss is not convex, so no mixture can be proven best")
    else:
        answer = best_by_functions(transformed(given, lambda X, y, _: (X, y)), loss, limits)
    return replace(answer, comparator=MIXTURES)


def known_as(loss: Any, loss_parameter: float | None) -> tuple[str, float | None]:
    """Return the name and parameter of a loss of the library; an empty name for a custom loss."""
    if loss is None or isinstance(loss, PythonLoss):
        return "", None
    from noregret.base.expert_losses import expert_loss

    if isinstance(loss, str):
        found = expert_loss(loss, loss_parameter)
        return found.name, found.parameter
    name, parameter = getattr(loss, "name", ""), getattr(loss, "parameter", None)
    if name not in (*DEGREE, "percentage", "log"):
        return "", None
    # A custom loss may have the name of another loss of the library.
    x, y = np.array([0.25, 0.75, 0.5]), np.array([1.0, 1.0, 0.5])
    alike = np.allclose(loss.value(x, y), expert_loss(name, parameter).value(x, y), rtol=1e-12)
    return (name, parameter) if alike else ("", None)


def best_by_residuals(
    rows: Rows, loss: str, loss_parameter: float | None, limits: Limits
) -> Answer:
    """Return the best mixture for a loss of the residuals, rescaled if they are huge or tiny."""
    largest = max((size_of(X) for X, _ in rows.blocks()), default=0.0)
    if not (0 < largest < math.inf) or is_unscaled(largest):
        return best_of_residuals(rows, loss, loss_parameter, limits)
    exponent = math.frexp(largest)[1]
    scaled = transformed(rows, lambda X, y, _: (np.ldexp(X, -exponent), y))
    answer = best_of_residuals(scaled, loss, loss_parameter, limits)
    # Where numbers underflow, the error of a mixture's residual is below the smallest number.
    lost = 4 * scaled.shape[0] * SMALLEST
    back = DEGREE[loss] * exponent
    with np.errstate(over="ignore"):
        high, low = np.ldexp([upward(answer.loss + lost), max(0.0, answer.lower - lost)], back)
    # A positive loss that underflows to zero must stay positive.
    above, below = upward(max(float(high), SMALLEST)), downward(float(low))
    return replace(answer, loss=above, lower=min(max(0.0, below), MAX_FLOAT))


def best_by_sums(given: Given, limits: Limits) -> Answer | None:
    """Return the best mixture for the square loss from one pass; None if it is not accurate."""
    sums, largest = LeastSquares(), 0.0
    for X, y in transformed_blocks(given, residuals):
        size = size_of(X)
        if X.shape[1] > MAX_DENSE or not (size == 0.0 or is_unscaled(size)):
            return None
        largest = max(largest, size)
        sums.add(X, y)
    if not largest:
        return None
    start = start_weights(np.diag(sums.gram))
    answer = quadratic.best_in_simplex(sums.quadratic(), 0.0, 1.0, None, limits, start)
    return answer if answer.relative_gap <= max(limits.tolerance, MAX_SUMS_GAP) else None


def best_of_residuals(
    rows: Rows, loss: str, loss_parameter: float | None, limits: Limits
) -> Answer:
    """Return the best mixture for rows that are residuals of moderate size."""
    start = start_weights(rows.column_squares(np.ones(rows.shape[0])))
    answer = best_in_simplex(rows, loss, loss_parameter=loss_parameter, limits=limits, start=start)
    # For other losses, the errors of scores allow for the rounding of the residuals.
    return allowing_for_residuals(answer, rows) if loss == "square" else answer


def allowing_for_residuals(answer: Answer, rows: Rows) -> Answer:
    """Widen an answer for the square loss by the rounding of the residuals d = x − y themselves.

    The residual q·d of a mixture is off by at most e = 2u Σ q_i |d_i|, so the root of its loss by
    the norm of e over the rounds. Besides, r² ≥ 2 s r − s² for any s, here the residuals of the
    witness: no mixture pays less than the least of 2 Σ_t s_t d_ti − Σ_t s_t² over the experts i.
    This second lower bound does not suffer from huge residuals of experts without weight.
    """
    once, q = 2 * UNIT * (1 + growth(rows.shape[1])), np.abs(answer.witness)
    largest = np.concatenate([np.abs(X).max(axis=1, initial=0.0) for X, _ in rows.blocks()])
    highest = math.sqrt(answer.loss) + once * norm_above(rows.scores(q, absolute=True))
    lowest = math.sqrt(max(0.0, answer.lower)) - once * norm_above(largest)
    s = rows.scores(answer.witness)
    sums, off = rows.combined(s)
    sizes = once * (1 + growth(len(s))) * rows.combine(np.abs(s), absolute=True)
    tangent = downward(2 * float((sums - off - sizes).min()) - upward(norm_above(s) ** 2))
    lower = max(downward(lowest**2) if lowest > 0 else 0.0, tangent)
    return replace(answer, loss=upward(highest**2), lower=min(lower, answer.lower))


def start_weights(squares: Floats) -> Floats:
    """Return weights inversely proportional to the norm of each expert's residuals.

    A search that starts from them is not dominated by an expert with huge errors.
    """
    sizes = np.sqrt(squares)
    least = float(sizes[sizes > 0].min(initial=np.inf))
    shares = 1 / np.maximum(sizes, 0.1 * least) if math.isfinite(least) else np.ones(len(sizes))
    return np.asarray(shares / shares.sum())


def size_of(X: Floats) -> float:
    """Return the largest absolute value."""
    return float(np.abs(X).max(initial=0.0))


def is_unscaled(size: float) -> bool:
    """Return whether residuals of this size need no rescaling."""
    return UNSCALED_RANGE[0] < size < UNSCALED_RANGE[1]


def best_by_logarithms(given: Given, limits: Limits) -> Answer:
    """Return the best mixture for −y ln x − (1 − y) ln(1 − x)."""
    rows = transformed(given, probabilities)
    answer = best_logarithm(rows, limits)
    # 1 − x and 1 − y are rounded once, so the error of a logarithm is below one rounding of 1.
    off = 4 * UNIT * (float(rows.outcomes.sum()) + answer.loss)
    if math.isinf(answer.loss):
        return answer
    return replace(answer, loss=upward(answer.loss + off), lower=max(0.0, answer.lower - off))


def best_by_functions(rows: Rows, loss: Any, limits: Limits) -> Answer:
    """Return the best mixture for a custom loss, given by its value and derivative."""
    ends = [(float(X.min()), float(X.max())) for X, _ in rows.blocks() if X.size]
    low, high = min((a for a, _ in ends), default=0.0), max((b for _, b in ends), default=0.0)
    confined, simplex = Confined(*functions_of(loss), low, high), Simplex(rows.shape[1], 0.0)
    answers = []
    for smooth in (True, False):  # most losses are smooth, and these are solved fast
        losses = GivenLoss(confined, rows.outcomes, smooth)
        with np.errstate(all="ignore"):  # a search that goes astray only proves less
            found = minimise(rows, losses, simplex, simplex.centre, limits)
            answers.append(Answer(MIXTURES, *proven(rows, losses, simplex, found), found.w))
        simplex = Simplex(rows.shape[1], 0.0)
        if answers[-1].relative_gap <= limits.tolerance:
            break
    best = min(answers, key=lambda answer: answer.loss)
    return replace(best, lower=max(answer.lower for answer in answers))


def transformed(given: Given, transform: Transform) -> Rows:
    """Return transformed rows; the proofs allow for two roundings per number."""
    kept, numbers = Rows(), 0
    for X, y in transformed_blocks(given, transform):
        numbers += X.size
        if numbers > MAX_HELD_NUMBERS:
            return Rows(source=lambda: transformed_blocks(given, transform))
        kept.add(X, y)
    return kept


def transformed_blocks(given: Given, transform: Transform) -> Iterator[tuple[Floats, Floats]]:
    """Yield transformed rows block by block."""
    before = 0
    for table, outcomes in blocks_of(given):
        if outcomes is None:
            raise ValueError(NO_OUTCOMES)
        for X, y in pieces(table, outcomes):
            yield transform(X, y, before)
            before += len(y)


def residuals(X: Floats, y: Floats, before: int) -> tuple[Floats, Floats]:
    """Return x − y, with 0 as the outcome."""
    with np.errstate(over="ignore"):
        return X - y[:, None], np.zeros_like(y)


def relative_residuals(X: Floats, y: Floats, before: int) -> tuple[Floats, Floats]:
    """Return (x − y)/|y|, with 0 as the outcome."""
    if not y.all():
        raise BadExample(
            "the percentage loss is not defined for an outcome of 0",
            round=before + 1 + int(np.argmin(np.abs(y))),
        )
    with np.errstate(over="ignore"):
        return (X - y[:, None]) / np.abs(y)[:, None], np.zeros_like(y)


def probabilities(X: Floats, y: Floats, before: int) -> tuple[Floats, Floats]:
    """Return the forecast probabilities of 1 and of 0, with the outcomes y and 1 − y as weights."""
    wrong = ~((X.min(axis=1) >= 0) & (X.max(axis=1) <= 1) & (y >= 0) & (y <= 1))
    if wrong.any():
        raise BadExample(
            "the log loss needs advice and outcomes between 0 and 1",
            round=before + 1 + int(np.argmax(wrong)),
        )
    one, other = y > 0, y < 1
    return np.concatenate([X[one], 1 - X[other]]), np.concatenate([y[one], 1 - y[other]])
