"""An expert derived from the others: a linear combination of their forecasts, learned online.

A mixture stays between the forecasts that it mixes, which is not enough if, say, all of them are
too high. This expert starts at the average of the forecasts and learns to add a constant, a share
of the average itself, and shares of each expert's difference from it, by recursive least squares:

    ŷ = x̄ + s·(b₀ + b₁·(x̄ − m)/s + Σᵢ wᵢ·(xᵢ − x̄)/s)
    b, w = argmin Σ ((y − ŷ)/s)² + ridge·(‖b‖² + ‖w‖²)

with m the mean outcome and s the average's root mean square error so far, so that units do not
matter. A sleeping expert counts as forecasting the average. With more than a hundred experts only
the average is corrected, as the time per row is quadratic in their number. The result is clipped to
the range of the outcomes so far and of the current forecasts. Absurd forecasts and outcomes count
as missing (see ``noregret.base.plausible``): a single one would spoil the fit for good.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.plausible import Plausible
from noregret.streams.batches import stretches
from noregret.streams.parsing.recursive_least_squares import MAX_CORRECTED_EXPERTS, correct, fresh

Floats = NDArray[np.float64]
# The ridge penalty, and what experts add to it. Penalties from 1 to 20 are about as good on most
# sets of real and simulated forecasts of a few experts; with few rows and many experts it must be
# larger.
RIDGE, RIDGE_PER_EXPERT, RIDGE_PER_SQUARE = 3.0, 0.5, 0.02


class Correcting:
    """A least-squares correction of experts' forecasts.

    Parameters
    ----------
    experts
        The number of experts.
    ridge
        The penalty for departing from the average; by default 3 + n/2 + n²/50 for n experts that
        each have a share.

    Examples
    --------
    Both are 2 too high, always:

    >>> import numpy as np
    >>> outcomes = np.sin(np.arange(200.0))
    >>> noise = np.cos(np.arange(200.0) * 7)
    >>> X = np.column_stack([outcomes + 2 + noise, outcomes + 2 - noise, np.zeros(200)])
    >>> Correcting(2).correct(X, [0, 1], 2, outcomes)
    >>> bool(abs(X[-1, 2] - outcomes[-1]) < 0.3)
    True
    """

    def __init__(self, experts: int, ridge: float | None = None) -> None:
        self.experts = experts
        self.state = fresh(experts, penalty(experts) if ridge is None else ridge)
        self.guard = Plausible(experts)
        # The open batch, what was learned before it, and whether a row of it is learned.
        self.batch, self.before, self.begun = -1, self, False

    def correct(
        self,
        X: Floats,
        columns: Any,
        at: int,
        y: Floats,
        rows: NDArray[np.int64] | None = None,
        batches: NDArray[np.int64] | None = None,
    ) -> None:
        """Fill a column of rows with corrected forecasts, learning from each outcome on the way.

        Parameters
        ----------
        X
            Rows of forecasts, NaN if missing.
        columns
            The columns of the experts.
        at
            The column to fill.
        y
            The outcomes; a row whose outcome is NaN is corrected, but not learned from.
        rows
            The rows to process, in this order; all by default.
        batches
            The batch of each of these rows: rows of a batch are corrected with what was learned
            before it. By default each row is a batch of its own.
        """
        chosen = np.arange(len(X)) if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
        places = np.asarray(columns, dtype=np.int32)
        if batches is None:
            self.in_turn(X, places, at, y, chosen)
            return
        for part, together in stretches(batches, self.batch):
            if together:
                self.at_once(X, places, at, y, chosen[part], int(batches[part.start]))
            else:
                self.in_turn(X, places, at, y, chosen[part])

    def at_once(
        self, X: Floats, places: Any, at: int, y: Floats, rows: NDArray[np.int64], batch: int
    ) -> None:
        """Correct rows of a batch with what was learned before it; then learn from them."""
        if batch != self.batch:
            self.batch, self.before, self.begun = batch, self.copy(), False
        # Until one is learned, rows are corrected in turn with what was learned before the batch.
        learned = np.flatnonzero(~np.isnan(y[rows]))
        first = 0 if self.begun else int(learned[0]) + 1 if len(learned) else len(rows)
        self.begun |= len(learned) > 0
        later = rows[first:]
        table = np.ascontiguousarray(X[later])
        self.before.correct(table, places, at, np.full(len(later), np.nan))
        self.in_turn(X, places, at, y, rows)
        X[later, at] = table[:, at]

    def copy(self) -> Correcting:
        """Return a copy that learns for itself."""
        made = Correcting(self.experts)
        made.state = (self.state[0].copy(), self.state[1].copy(), self.state[2].copy())
        made.guard.set_state(*self.guard.get_state(), self.experts)
        return made

    def in_turn(
        self, X: Floats, places: Any, at: int, y: Floats, chosen: NDArray[np.int64]
    ) -> None:
        """Correct each of some rows, and learn from its outcome."""
        forecasts = X[np.ix_(chosen, places)]
        absurd, wrong = self.guard.judge(forecasts, y[chosen])
        if wrong.any():
            y = y.copy()
            y[chosen[wrong]] = np.nan
        if not absurd.any():
            correct(X, places, at, y, chosen, *self.state)
            return
        forecasts[absurd] = np.nan
        table = np.column_stack([forecasts, np.empty(len(chosen))])
        own = np.arange(self.experts, dtype=np.int32), self.experts
        correct(table, *own, y[chosen], np.arange(len(chosen)), *self.state)
        X[chosen, at] = table[:, -1]


def penalty(experts: int) -> float:
    """Return the default of the ridge penalty."""
    shares = experts if experts <= MAX_CORRECTED_EXPERTS else 0
    return RIDGE + RIDGE_PER_EXPERT * shares + RIDGE_PER_SQUARE * shares**2
