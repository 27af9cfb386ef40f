"""The best weights for several classes: one column of W per class, in a ball of the Frobenius norm.

Both losses are the maximum over p in the simplex of  Σ_r p_r (d_r + s_r − s_y) − μ Σ_r p_r ln p_r
for the scores s = W x: the softmax loss with d = 0 and μ = 1, the multiclass hinge with d_r = 1 for
r ≠ y and μ = 0. So any probabilities p give a line below the loss, with slopes p − e_y, and the
search and its proof are those of ``solvers.newton`` on scores laid out row after row. A smaller μ
than that of the loss, above 0, makes the hinge smooth.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noregret.checks import positive
from noregret.errors import NoRegretError
from noregret.hindsight.blocks import magnitude, padded, row_slice
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.margin import Margin, largest_margin
from noregret.hindsight.proofs.answer import USUAL, Answer, Limits, exactly
from noregret.hindsight.proofs.deadline import check_time
from noregret.hindsight.proofs.levelling import levelled
from noregret.hindsight.proofs.rounding import Floats, growth, two_sum
from noregret.hindsight.rows import ROWS_PER_SUM, Rows, Survey
from noregret.hindsight.solvers.curvature import MAX_DENSE, Curvature, Factored, ManyRows
from noregret.hindsight.solvers.newton import minimise, proven
from noregret.limits import SMALLEST, UNIT

SOFTMAX, HINGE = "softmax", "multiclass-hinge"


def best_classes(
    rows: Rows, loss: str, radius: float, *, classes: int | None = None, limits: Limits = USUAL
) -> Answer:
    """Return the best weights of Frobenius norm at most ``radius``.

    Parameters
    ----------
    rows
        The examples; outcomes are the numbers of their classes, from 0.
    loss
        ``softmax`` or ``multiclass-hinge``.
    radius
        The largest norm, above 0.
    classes
        The number of classes; by default the number that occur.
    limits
        When to stop. The interval is valid wherever the search stops.

    Examples
    --------
    >>> rows = Rows([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 2])
    >>> answer = best_classes(rows, "softmax", radius=1.0)
    >>> answer.witness.shape, answer.relative_gap < 1e-6
    ((6,), True)
    """
    if not rows.shape[1]:
        raise NoRegretError("there are no features to compare with")
    matrix = ClassRows(rows, classes)
    ball, losses = Ball(positive("radius", radius)), ClassLosses(loss, matrix)
    found = minimise(matrix, losses, ball, np.zeros(matrix.shape[1]), limits)
    attained, lower = proven(matrix, losses, ball, found)
    words = f"ball of radius {exactly(radius)}"
    if not limits.is_reached(attained, lower):
        lower = max(lower, levelled(matrix, losses, words, found.w, found.slopes))
    return Answer(words, attained, limits.widened(attained, lower), found.w)


def largest_class_margin(
    rows: Rows, *, classes: int | None = None, limits: Limits = USUAL
) -> Margin:
    """Return the largest γ with (W x)_y − (W x)_r ≥ γ in all rounds, for all r ≠ y, and ‖W‖ = 1.

    That is the margin for two labels of the rows e_y xᵀ − e_r xᵀ, one for every rival r.
    """
    from scipy import sparse

    matrix = ClassRows(rows, classes)
    n, K = rows.shape[1], matrix.classes
    pairs, at = Rows(features=n * K), 0
    for block, y in rows.blocks():
        code = matrix.codes[at : at + len(y)]
        at += len(y)
        wide = sparse.csr_array(padded(block, n)).tocoo()
        for rival in range(K):
            keep = (code != rival)[wide.row]
            row, column, value = wide.row[keep], wide.col[keep], wide.data[keep]
            places = np.concatenate([column * K + code[row], column * K + rival])
            made = sparse.csr_array(
                (np.concatenate([value, -value]), (np.tile(row, 2), places)), shape=(len(y), n * K)
            )
            used = np.flatnonzero(code != rival)
            if len(used):
                pairs.add(made[used], np.ones(len(used)))
    if not pairs.kept:
        raise NoRegretError("all examples are of one class: there is no margin")
    return largest_margin(pairs, limits=limits)


class ClassRows(Rows):
    """Examples whose scores are W x, laid out row after row; weights are W, feature after feature.

    Parameters
    ----------
    rows
        The x_t; outcomes are the numbers of their classes.
    classes
        K.
    """

    def __init__(self, rows: Rows, classes: int | None = None) -> None:
        super().__init__()
        self.single = rows
        codes = rows.outcomes.astype(np.intp)
        if (codes != rows.outcomes).any() or codes.min(initial=0) < 0:
            raise NoRegretError("outcomes are the numbers of classes, from 0")
        self.codes: NDArray[np.intp] = codes
        self.outputs = self.classes = max(int(codes.max(initial=-1)) + 1, classes or 0)

    @cached_property
    def survey(self) -> Survey:
        """Summary of the rows, with n K weights."""
        single = self.single.survey
        return single._replace(features=single.features * self.classes)

    @cached_property
    def marks(self) -> Floats:
        """1 at the class of each round, laid out as scores are."""
        made = np.zeros((len(self.codes), self.classes))
        made[np.arange(len(self.codes)), self.codes] = 1.0
        return made

    def scores(self, weights: Floats, *, absolute: bool = False) -> Floats:
        """Return W x of all rows, or |W| |x|."""
        W = weights.reshape(-1, self.classes)
        parts = [
            (magnitude(block) if absolute else block) @ W[: block.shape[1]]
            for block, _ in self.single.blocks()
        ]
        return np.concatenate(parts).reshape(-1) if parts else np.zeros(0)

    def combine(self, shares: Floats, *, absolute: bool = False) -> Floats:
        """Return Σ x aᵀ over the rows, or Σ |x| |a|ᵀ."""
        sums = np.zeros((self.single.shape[1], self.classes))
        for block, part in self.single.paired(shares.reshape(-1, self.classes)):
            sums[: block.shape[1]] += (magnitude(block) if absolute else block).T @ part
        return sums.reshape(-1)

    def combined(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return Σ x aᵀ from compensated sums, and bounds on the errors.

        The slopes a = p − e_y have errors too, as p is divided by a rounded sum.
        """
        sums, lost, sizes = (np.zeros((self.single.shape[1], self.classes)) for _ in range(3))
        doubt = np.zeros_like(sums)
        slopes = shares.reshape(-1, self.classes)
        unsure = np.abs(slopes) + 2 * self.marks
        at = 0
        for block, part in self.single.paired(slopes):
            width, more = block.shape[1], unsure[at : at + len(part)]
            at += len(part)
            for start in range(0, len(part), ROWS_PER_SUM):
                few = slice(start, start + ROWS_PER_SUM)
                rows, a = row_slice(block, few), part[few]
                sums[:width], rest = two_sum(sums[:width], rows.T @ a)
                lost[:width] += rest
                sizes[:width] += magnitude(rows).T @ np.abs(a)
                doubt[:width] += magnitude(rows).T @ more[few]
        off = growth(ROWS_PER_SUM + 8) * sizes + growth(self.classes + 8) * 1.01 * doubt
        return (sums + lost).reshape(-1), (off + len(slopes) * SMALLEST).reshape(-1)

    def curvature(self, weights: Floats) -> Curvature:
        """Return the matrix of second derivatives for probabilities divided by μ."""
        P = weights.reshape(-1, self.classes)
        width = 1.0 / float(P.sum(axis=1).max(initial=0.0) or 1.0)
        P = P * width
        if self.shape[1] <= MAX_DENSE:
            return Factored(self.dense_curvature(P) / width)
        return ClassCurvature(self, P, width)

    def dense_curvature(self, P: Floats) -> Floats:
        """Return Σ x xᵀ ⊗ (diag(p) − p pᵀ), where p_k (1 − p_k) = Σ_{r ≠ k} p_k p_r."""
        n, K = self.single.shape[1], self.classes
        made = np.zeros((n, K, n, K))
        for k in range(K):
            for r in range(k):
                gram = self.single.gram(P[:, k] * P[:, r], check_time)
                made[:, k, :, k] += gram
                made[:, r, :, r] += gram
                made[:, k, :, r] = made[:, r, :, k] = -gram
        return made.reshape(n * K, n * K)


class ClassCurvature(ManyRows):
    """The second derivatives of many rows and weights, solved by conjugate gradients."""

    def __init__(self, rows: ClassRows, chances: Floats, width: float) -> None:
        self.matrix, self.chances, self.width = rows, chances, width
        K = rows.classes
        self.diagonal = (
            np.stack([rows.single.column_squares(p * (1 - p)) for p in chances.T], axis=1).reshape(
                -1
            )
            / width
        )
        numbers = max(1, rows.single.survey.numbers * K)
        self.steps = int(np.clip(400_000_000 / numbers, 50, 500))

    def times(self, v: Floats) -> Floats:
        """Return H v."""
        P = self.chances
        along = self.matrix.scores(v).reshape(P.shape)
        bent = P * (along - (P * along).sum(axis=1, keepdims=True))
        return self.matrix.combine(bent.reshape(-1)) / self.width

    def full_columns(self, extra: Floats) -> None:
        """Return None: the diagonal is the only preconditioner."""


class ClassLosses:
    """A loss of several classes over all rows; scores and slopes are laid out row after row.

    Parameters
    ----------
    name
        ``softmax`` or ``multiclass-hinge``.
    rows
        The examples.
    width
        μ of the smooth stand-in for the hinge; None for the loss itself.
    """

    nonnegative = True

    def __init__(self, name: str, rows: ClassRows, width: float | None = None) -> None:
        self.name, self.rows = name, rows
        self.smooth = name == SOFTMAX
        self.width = 1.0 if self.smooth else width or 0.0

    def excess(self, scores: Floats) -> Floats:
        """Return d_r + s_r − s_y, a row per round."""
        S = scores.reshape(-1, self.rows.classes)
        own = S[np.arange(len(S)), self.rows.codes]
        excess = S - own[:, None]
        return excess if self.smooth else excess + (1.0 - self.rows.marks)

    def chances(self, scores: Floats) -> Floats:
        """Return p, which attains the maximum."""
        excess = self.excess(scores)
        top = excess.max(axis=1, keepdims=True)
        if self.width:
            made = np.exp((excess - top) / self.width)
        else:
            made = np.zeros_like(excess)
            made[np.arange(len(excess)), excess.argmax(axis=1)] = 1.0
        return np.asarray(made / made.sum(axis=1, keepdims=True))

    def value(self, scores: Floats) -> Floats:
        """Return the loss in every round, without the smoothing of the hinge."""
        excess = self.excess(scores)
        top = excess.max(axis=1)
        if not self.smooth:
            return np.asarray(top)
        return np.asarray(top + np.log(np.exp(excess - top[:, None]).sum(axis=1)))

    def value_above(self, scores: Floats, off: Floats) -> Floats:
        """Return an upper bound of the loss in every round, given bounds on errors of scores."""
        value, S = self.value(scores), scores.reshape(-1, self.rows.classes)
        wide = off.reshape(S.shape).max(axis=1) + 2 * UNIT * np.abs(S).max(axis=1)
        rounding = (self.rows.classes + 16) * UNIT * (np.abs(value) + 1.0) if self.smooth else 0.0
        return np.asarray(value + 2.01 * wide + rounding + 4 * UNIT * np.abs(value) + SMALLEST)

    def slope(self, scores: Floats) -> Floats:
        """Return p − e_y."""
        return np.asarray(self.chances(scores) - self.rows.marks).reshape(-1)

    def curvature(self, scores: Floats) -> Floats:
        """Return the probabilities divided by μ, which give the second derivatives."""
        return self.chances(scores).reshape(-1) / (self.width or 1.0)

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return slopes and constants of lines below the loss itself."""
        return self.lines_of(self.chances(scores))

    def line_of(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return lines of slopes near these below the loss, by probabilities near p + e_y."""
        p = np.maximum(0.0, slopes.reshape(-1, self.rows.classes) + self.rows.marks)
        return self.lines_of(p / p.sum(axis=1, keepdims=True))

    def lines_of(self, p: Floats) -> tuple[Floats, Floats]:
        """Return the lines of probabilities."""
        from scipy.special import xlogy

        if self.smooth:
            constant = xlogy(p, p).sum(axis=1)
        else:
            constant = -(p * (1.0 - self.rows.marks)).sum(axis=1)
        room = 4 * (self.rows.classes + 16) * UNIT * (np.abs(constant) + 1.0)
        return (p - self.rows.marks).reshape(-1), constant + room

    def smoothed(self, width: float, anchor: Floats) -> ClassLosses:
        """Return the smooth stand-in."""
        return self if self.smooth else ClassLosses(self.name, self.rows, width)
