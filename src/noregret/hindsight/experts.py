"""The best expert after the fact, and the best mixture of experts.

A mixture q says q·x. As its weights sum to 1, it is off by q·(x − y): hindsight looks at the
residuals x − y, which lose nothing where all the forecasts are large numbers and close together.
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
from noregret.hindsight.expert_losses import MAX_FLOAT, Doubts, Given, blocks_of, expert_losses
from noregret.hindsight.given_loss import Confined, GivenLoss, functions_of
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits
from noregret.hindsight.proofs.rounding import Floats, downward, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers import quadratic
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.hindsight.solvers.logarithmic import best_logarithm
from noregret.hindsight.solvers.newton import minimise, proven
from noregret.hindsight.solvers.square import LeastSquares
from noregret.limits import SMALLEST, UNIT

BEST, MIXTURES = "the best expert", "convex combinations of the experts"
# Up to this many numbers are held in memory as they are needed, and beyond made anew in each pass.
MAX_HELD_NUMBERS = 2**25
# Losses that scale with the residuals, and how: those beyond the range are brought into it.
DEGREE = {"square": 2, "absolute": 1, "quantile": 1}
PLAIN_RANGE = (1e-100, 1e100)
# The relative gap with which an answer from sums alone is as good as one from the rows.
SHARP_GAP = 1e-6

Change = Callable[[Floats, Floats, int], tuple[Floats, Floats]]


def best_expert(
    given: Given,
    loss: Any = None,
    *,
    loss_parameter: float | None = None,
    doubts: Doubts | None = None,
) -> Answer:
    """Return the expert of least cumulative loss; of several, the first.

    Parameters
    ----------
    given
        Advice and outcomes as ``Rows``; or a table of losses; or a function that returns a fresh
        iterator of blocks each time it is called, (advice, outcomes) or losses.
    loss
        By name, or one of your own; None where the table holds losses.
    loss_parameter
        The loss's quantile, where it was given by name.
    doubts
        By how much the losses of a table may be off, as for ``expert_losses``.

    Examples
    --------
    >>> answer = best_expert([[1.0, 0.0, 0.5], [1.0, 1.0, 0.25]])
    >>> answer.witness, answer.loss
    (array([0., 0., 1.]), 0.75)
    """
    totals = expert_losses(given, loss, loss_parameter=loss_parameter, doubts=doubts)
    witness = np.zeros(len(totals.off))
    witness[totals.best] = 1.0
    loss_above, lower = float(totals.above[totals.best]), float(totals.below.min())
    return Answer(BEST, loss_above, lower, witness, exact=True)


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
    given
        Advice and outcomes as ``Rows``; or a table of losses; or a function that returns a fresh
        iterator of blocks each time it is called, (advice, outcomes) or losses.
    loss
        By name, or one of your own (whose convexity is taken on trust: the lower bound holds if it
        is convex); None where the table holds losses, of which a mixture pays q·loss.
    loss_parameter
        The loss's quantile, where it was given by name.
    limits
        When to stop. The interval is honest wherever it stops.

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
            prepared(given, residuals), name, None, limits
        )
    elif name in DEGREE:
        answer = best_by_residuals(prepared(given, residuals), name, parameter, limits)
    elif name == "percentage":
        relative = prepared(given, shares_of_outcomes)
        answer = best_by_residuals(relative, "absolute", None, limits)
    elif name == "log":
        answer = best_by_logarithms(given, limits)
    elif name or not getattr(loss, "convex", True):
        shown = name or getattr(loss, "name", "given")
        raise ValueError(f"the {shown} loss is not convex: no best mixture can be proven")
    else:
        answer = best_by_functions(prepared(given, as_they_are), loss, limits)
    return replace(answer, comparator=MIXTURES)


def known_as(loss: Any, loss_parameter: float | None) -> tuple[str, float | None]:
    """Return the name of a loss of the library and its parameter; no name for one of your own."""
    if loss is None or isinstance(loss, PythonLoss):
        return "", None
    from noregret.base.expert_losses import expert_loss

    if isinstance(loss, str):
        found = expert_loss(loss, loss_parameter)
        return found.name, found.parameter
    name, parameter = getattr(loss, "name", ""), getattr(loss, "parameter", None)
    if name not in (*DEGREE, "percentage", "log"):
        return "", None
    # One of your own may be called like one of the library, and be another.
    x, y = np.array([0.25, 0.75, 0.5]), np.array([1.0, 1.0, 0.5])
    alike = np.allclose(loss.value(x, y), expert_loss(name, parameter).value(x, y), rtol=1e-12)
    return (name, parameter) if alike else ("", None)


def best_by_residuals(
    rows: Rows, loss: str, loss_parameter: float | None, limits: Limits
) -> Answer:
    """Return the best mixture for a loss of the residuals alone, of whatever size."""
    largest = max((size_of(X) for X, _ in rows.blocks()), default=0.0)
    if largest == 0.0 or PLAIN_RANGE[0] < largest < PLAIN_RANGE[1] or not math.isfinite(largest):
        return best_of_residuals(rows, loss, loss_parameter, limits)
    exponent = math.frexp(largest)[1]
    scaled = prepared(rows, lambda X, y, _: (np.ldexp(X, -exponent), y))
    answer = best_of_residuals(scaled, loss, loss_parameter, limits)
    # Numbers may have underflowed: a mixture's residual is then off by less than the smallest.
    lost = 4 * scaled.shape[0] * SMALLEST
    back = DEGREE[loss] * exponent
    with np.errstate(over="ignore"):
        high, low = np.ldexp([upward(answer.loss + lost), max(0.0, answer.lower - lost)], back)
    # What is too small for a number is still not zero.
    above, below = upward(max(float(high), SMALLEST)), downward(float(low))
    return replace(answer, loss=above, lower=min(max(0.0, below), MAX_FLOAT))


def best_by_sums(given: Given, limits: Limits) -> Answer | None:
    """Return the best mixture for the square loss by one pass, where that is sharp enough."""
    sums, sizes = LeastSquares(), [0.0]
    for X, y in changed(given, residuals):
        sizes.append(size_of(X))
        if X.shape[1] > MAX_DENSE or not (
            sizes[-1] == 0.0 or PLAIN_RANGE[0] < sizes[-1] < PLAIN_RANGE[1]
        ):
            return None
        sums.add(X, y)
    if not any(sizes):
        return None
    start = favouring_small(np.diag(sums.gram))
    answer = quadratic.best_in_simplex(sums.quadratic(), 0.0, 1.0, None, limits, start)
    return answer if answer.relative_gap <= max(limits.tolerance, SHARP_GAP) else None


def best_of_residuals(
    rows: Rows, loss: str, loss_parameter: float | None, limits: Limits
) -> Answer:
    """Return the best mixture where the rows are residuals of moderate size."""
    start = favouring_small(rows.column_squares(np.ones(rows.shape[0])))
    return best_in_simplex(rows, loss, loss_parameter=loss_parameter, limits=limits, start=start)


def favouring_small(squares: Floats) -> Floats:
    """Return weights to start from at which no expert, however wrong, outweighs all others."""
    sizes = np.sqrt(squares)
    least = float(sizes[sizes > 0].min(initial=np.inf))
    shares = 1 / np.maximum(sizes, 0.1 * least) if math.isfinite(least) else np.ones(len(sizes))
    return np.asarray(shares / shares.sum())


def size_of(X: Floats) -> float:
    """Return the size of the largest number."""
    return float(np.abs(X).max(initial=0.0))


def best_by_logarithms(given: Given, limits: Limits) -> Answer:
    """Return the best mixture for −y ln x − (1 − y) ln(1 − x)."""
    rows = prepared(given, probabilities)
    answer = best_logarithm(rows, limits)
    # 1 − x and 1 − y are rounded once, so that a logarithm is off by less than a rounding of 1.
    off = 4 * UNIT * (float(rows.outcomes.sum()) + answer.loss)
    if math.isinf(answer.loss):
        return answer
    return replace(answer, loss=upward(answer.loss + off), lower=max(0.0, answer.lower - off))


def best_by_functions(rows: Rows, loss: Any, limits: Limits) -> Answer:
    """Return the best mixture for a loss of which value and derivative can be asked."""
    ends = [(float(X.min()), float(X.max())) for X, _ in rows.blocks() if X.size]
    low, high = min((a for a, _ in ends), default=0.0), max((b for _, b in ends), default=0.0)
    confined, simplex = Confined(*functions_of(loss), low, high), Simplex(rows.shape[1], 0.0)
    answers = []
    for smooth in (True, False):  # most losses are, and are done with quickly
        losses = GivenLoss(confined, rows.outcomes, smooth)
        with np.errstate(all="ignore"):  # a search that is led astray only proves less
            found = minimise(rows, losses, simplex, simplex.centre, limits)
            answers.append(Answer(MIXTURES, *proven(rows, losses, simplex, found), found.w))
        simplex = Simplex(rows.shape[1], 0.0)
        if answers[-1].relative_gap <= limits.tolerance:
            break
    best = min(answers, key=lambda answer: answer.loss)
    return replace(best, lower=max(answer.lower for answer in answers))


def prepared(given: Given, change: Change) -> Rows:
    """Return changed rows; each number may be rounded twice, for which the proofs leave room."""
    kept, numbers = Rows(), 0
    for X, y in changed(given, change):
        numbers += X.size
        if numbers > MAX_HELD_NUMBERS:
            return Rows(source=lambda: changed(given, change))
        kept.add(X, y)
    return kept


def changed(given: Given, change: Change) -> Iterator[tuple[Floats, Floats]]:
    """Yield changed rows, few at a time."""
    before = 0
    for table, outcomes in blocks_of(given):
        if outcomes is None:
            raise ValueError("a loss needs outcomes: give (advice, outcomes), or only losses")
        for X, y in pieces(table, outcomes):
            yield change(X, y, before)
            before += len(y)


def as_they_are(X: Floats, y: Floats, before: int) -> tuple[Floats, Floats]:
    """Return the rows."""
    return X, y


def residuals(X: Floats, y: Floats, before: int) -> tuple[Floats, Floats]:
    """Return x − y, whose best value is 0."""
    with np.errstate(over="ignore"):
        return X - y[:, None], np.zeros_like(y)


def shares_of_outcomes(X: Floats, y: Floats, before: int) -> tuple[Floats, Floats]:
    """Return (x − y)/|y|."""
    if not y.all():
        raise BadExample(
            "the percentage loss needs outcomes other than 0",
            round=before + 1 + int(np.argmin(np.abs(y))),
        )
    with np.errstate(over="ignore"):
        return (X - y[:, None]) / np.abs(y)[:, None], np.zeros_like(y)


def probabilities(X: Floats, y: Floats, before: int) -> tuple[Floats, Floats]:
    """Return what was said of either outcome, weighted by how much of it came."""
    wrong = ~((X.min(axis=1) >= 0) & (X.max(axis=1) <= 1) & (y >= 0) & (y <= 1))
    if wrong.any():
        raise BadExample(
            "the log loss needs advice and outcomes between 0 and 1",
            round=before + 1 + int(np.argmax(wrong)),
        )
    one, other = y > 0, y < 1
    return np.concatenate([X[one], 1 - X[other]]), np.concatenate([y[one], 1 - y[other]])
