"""An expert derived from the others: a linear combination of their forecasts, learned online.

A mixture stays between the forecasts that it mixes, which is not enough if, say, all of them are
too high. This expert starts at the average of the forecasts and learns to add a constant, a share
of the average itself, and shares of each expert's difference from it, by recursive least squares:

    ŷ = x̄ + s·(b₀ + b₁·(x̄ − m)/s + Σᵢ wᵢ·(xᵢ − x̄)/s)
    b, w = argmin Σ ((y − ŷ)/s)² + ridge·(‖b‖² + ‖w‖²)

with m the mean outcome and s the average's root mean square error so far, so that units do not
matter. A sleeping expert counts as forecasting the average. With more than a hundred experts only
the average is corrected, as the time per row is quadratic in their number. The result is clipped to
the range of the outcomes so far and of the current forecasts. Absurd forecasts count as missing
(see ``noregret.base.plausible``): a single one would spoil the average, and the fit for good.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.plausible import Plausible
from noregret.streams.parsing.recursive_least_squares import MAX_CORRECTED_EXPERTS, correct, fresh

Floats = NDArray[np.float64]
# The ridge penalty, and what each expert adds to it. Penalties from 1 to 20 are about as good on
# most sets of real and simulated forecasts; with few rows and many experts it must be larger.
RIDGE, RIDGE_PER_EXPERT = 3.0, 0.5


class Correcting:
    """A least-squares correction of experts' forecasts.

    Parameters
    ----------
    experts
        The number of experts.
    ridge
        The penalty for departing from the average; by default 3 + n/2 for n experts that each have
        a share.

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

    def correct(
        self, X: Floats, columns: Any, at: int, y: Floats, rows: NDArray[np.int64] | None = None
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
        """
        chosen = np.arange(len(X)) if rows is None else np.ascontiguousarray(rows, dtype=np.int64)
        places = np.asarray(columns, dtype=np.int32)
        forecasts = X[np.ix_(chosen, places)]
        absurd = self.guard.absurd(forecasts, y[chosen])
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
    return RIDGE + RIDGE_PER_EXPERT * (experts if experts <= MAX_CORRECTED_EXPERTS else 0)
