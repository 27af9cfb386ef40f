"""The largest margin of non-negative weights of sum 1, for Winnow.

It is the value of a zero-sum game: one player chooses weights u of the features, the other weights
p of the rounds, and the payoff is Σ p_t y_t x_t·u. Any u bounds the value from below, by
min_t y_t u·x_t, and any p from above, by max_i Σ p_t y_t x_ti.
"""

from __future__ import annotations

import numpy as np

from noregret.checks import positive
from noregret.errors import NoRegretError
from noregret.hindsight.columns import without_empty_columns
from noregret.hindsight.margin import Margin, labels_of
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.hindsight.proofs.deadline import expired, remaining
from noregret.hindsight.proofs.inseparable import surely_inseparable
from noregret.hindsight.proofs.rounding import Floats, downward, total, upward
from noregret.hindsight.rows import Rows, score_error
from noregret.hindsight.solvers.doubled import Doubled


def largest_margin_of_weights(
    rows: Rows, *, weight: float | None = None, limits: Limits = USUAL
) -> Margin:
    """Return the largest margin δ of weights u ≥ 0 of sum 1, as an interval.

    This is a linear program, solved by Clarabel's interior-point method on the rows as one sparse
    matrix, which is much slower than ``largest_margin``. If the margin is negative, no such weights
    separate the labels.

    Parameters
    ----------
    rows
        The examples.
    weight
        U, for weights of either sign. The features are then (U x, −U x), and the witness holds the
        weights of all U x_i followed by those of all −U x_i.
    limits
        When to stop; only ``seconds`` is used.

    Examples
    --------
    >>> margin = largest_margin_of_weights(Rows([[1.0, 0.0], [0.0, 1.0]], [1, 1]))
    >>> round(margin.lower, 6), round(margin.upper, 6)
    (0.5, 0.5)
    """
    labels = labels_of(rows)
    if not rows.shape[1]:
        raise NoRegretError("there are no features to compare with")
    features = rows.shape[1]
    rows, columns = without_empty_columns(rows)
    if weight is not None:
        rows = Doubled(rows, positive("weight", weight))
    u, p = solved_game(rows, labels, limits)
    blur = 4  # roundings in u and p, which were divided by their sums
    low = float((labels * rows.scores(u) - score_error(rows, u, blur)).min())
    sums, off = rows.combined(labels * p)
    up = upward(float((sums + (1 + blur) * off).max()))
    if isinstance(rows, Doubled) and low <= 0 < up:
        up = 0.0 if surely_inseparable(rows.single, labels, p) else up
    witness = np.zeros((1 if weight is None else 2, features))
    witness[:, columns] = u.reshape(len(witness), -1)
    return Margin(min(downward(low), up), up, witness.ravel())


def solved_game(rows: Rows, labels: Floats, limits: Limits) -> tuple[Floats, Floats]:
    """Return nearly optimal u and p of the game with payoffs y_t x_ti."""
    import clarabel
    from scipy import sparse

    rounds, features = rows.shape
    uniform = np.full(features, 1.0 / max(1, features)), np.full(rounds, 1.0 / max(1, rounds))
    scale = rows.survey.longest
    if not scale or not rounds:
        return uniform
    block = sparse.csr_array(rows.pick(np.ones(rounds)))
    with np.errstate(over="ignore"):
        payoff = sparse.csr_array(sparse.diags_array(labels / scale) @ block)
    # min −δ with  Σ u = 1,  δ − payoff u ≤ 0,  −u ≤ 0.
    constraints = sparse.block_array(
        [
            [np.ones((1, features)), None],
            [-payoff, np.ones((rounds, 1))],
            [-sparse.eye_array(features), None],
        ],
        format="csc",
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = remaining(limits)
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    answer = clarabel.DefaultSolver(
        sparse.csc_matrix((features + 1, features + 1)),
        np.append(np.zeros(features), -1.0),
        sparse.csc_matrix(constraints),
        np.append(1.0, np.zeros(rounds + features)),
        [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(rounds + features)],
        settings,
    ).solve()
    expired()  # so that it is noted where time ran out
    parts = np.array(answer.x)[:features], np.array(answer.z)[1 : 1 + rounds]
    u, p = (np.maximum(np.nan_to_num(part), 0.0) for part in parts)
    return (
        u / total(u) if u.any() else uniform[0],
        p / total(p) if p.any() else uniform[1],
    )
