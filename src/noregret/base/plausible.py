"""A guard against absurd forecasts and outcomes, such as a misplaced decimal point.

A forecast is *absurd* if it lies far outside the outcomes so far, and its column usually does not:

    x < low − k·s  or  x > high + k·s,    k = 5·(1 + 10/t)

after t outcomes between ``low`` and ``high``. The scale s is the largest of their range; of the
lower quartiles of the errors in a row, among the first hundred rows (not the medians: an absurd
forecast spoils the average and others derived from it); and of max(|low|, |high|)/(10·t), as the
first outcomes may be equal. A column that lies outside in more than four fifths of its rows is
biased, or in another unit: it is never absurd. (With half of them, a learner that diverges would be
back with its whole weight once it has been outside as long as inside.) If fewer than half of the
forecasts of a row would be left, none is absurd: the outcomes may be about to jump. Numbers that no
master accepts are left for it to refuse.

An *outcome* is absurd if it lies outside the same limits, and no forecast of its row is within a
quarter of the width between the limits of it, nor outside the same limit, unless ten times as far.
The first five are not, nor more than one, and
one per hundred outcomes, as the outcomes may have jumped. The range of outcomes leaves it out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.checks import state_arrays, state_numbers
from noregret.limits import MAX_VALUE

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Ranges of the outcomes that a forecast may lie outside them, after many rows and after few.
FACTOR, EARLY = 5.0, 10.0
# The least scale after one outcome, relative to its size.
RELATIVE = 0.1
# Rows whose errors set the scale, besides the range of the outcomes.
MEASURED_ROWS = 100
# Rows outside per row inside, above which a column is biased.
BIASED = 4.0
# Outcomes before the first that may be absurd, and per one that is.
FIRST_OUTCOMES, OUTCOMES_PER_ABSURD = 5, 100
# An outcome is foreseen by a forecast nearer to it than this part of the width between the limits,
# or beyond the same limit, by at most so many times as much.
UNFORESEEN, AS_FAR = 0.25, 10.0
FRESH = {"rows": 0, "low": 0.0, "high": 0.0, "error": 0.0, "aside": 0}


class Plausible:
    """The guard of one table; the result does not depend on how rows come in blocks.

    Parameters
    ----------
    columns
        The number of columns of forecasts.

    Examples
    --------
    >>> import numpy as np
    >>> guard = Plausible(2)
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 300.0], [4.0, 5.0]])
    >>> guard.absurd(X, np.array([1.5, 2.5, 3.5, 4.5])).tolist()
    [[False, False], [False, False], [False, True], [False, False]]
    """

    def __init__(self, columns: int = 0) -> None:
        self.numbers: dict[str, Any] = dict(FRESH)
        # Rows of each column outside the limits minus ``BIASED`` times those inside.
        self.balance = np.zeros(columns)

    def absurd(
        self, X: Floats, y: Floats, learn: bool = True, derived: Flags | None = None
    ) -> Flags:
        """Return which forecasts are absurd, judging each row by the rows before it.

        Parameters
        ----------
        X
            Rows of forecasts, NaN if missing.
        y
            The outcomes; NaN for a row without one.
        learn
            False to judge without learning from the outcomes.
        derived
            Which columns are computed from the others, and not counted among those left.
        """
        return self.judge(X, y, learn, derived)[0]

    def judge(
        self, X: Floats, y: Floats, learn: bool = True, derived: Flags | None = None
    ) -> tuple[Flags, Flags]:
        """Return which forecasts are absurd, and which outcomes.

        Parameters
        ----------
        X, y, learn, derived
            As for ``absurd``.

        Examples
        --------
        >>> X = np.array([[1.0, 2.0]] * 9)
        >>> y = np.array([1.5, 1.0, 2.0, 1.2, 1.8, 1.4, 1.3, 150.0, 1.6])
        >>> np.flatnonzero(Plausible(2).judge(X, y)[1]).tolist()
        [7]
        """
        with np.errstate(all="ignore"):
            wrong = np.zeros(len(y), bool)
            least, most, after = self._limits(X, y)
            while (at := self._absurd_outcome(X, y, least, most, wrong)) is not None:
                wrong[at] = True
                y = np.where(wrong, np.nan, y)
                least, most, after = self._limits(X, y)
            if learn:
                self.numbers = after | {"aside": self.numbers["aside"] + int(wrong.sum())}
            outside = np.less(X, least[:, None]) | np.greater(X, most[:, None])
            outside &= np.abs(X) <= MAX_VALUE
            if not outside.any():
                if learn:
                    inside = np.count_nonzero(~np.isnan(X[~np.isnan(y)]), 0)
                    self.balance = self.balance - BIASED * inside
                return outside, wrong
            step = np.where(outside, 1.0, np.where(np.isnan(X), 0.0, -BIASED))
            step[np.isnan(y)] = 0.0
            balance = np.cumsum(np.vstack([self.balance, step]), axis=0)
        if learn:
            self.balance = balance[-1].copy()
        outside &= balance[:-1] <= 0
        if outside.any():
            awake = ~np.isnan(X) if derived is None else ~(np.isnan(X) | derived)
            left = np.count_nonzero(awake & ~outside, axis=1)
            outside &= ((left > 0) & (2 * left >= np.count_nonzero(awake, axis=1)))[:, None]
        return outside, wrong

    def _absurd_outcome(
        self, X: Floats, y: Floats, least: Floats, most: Floats, wrong: Flags
    ) -> int | None:
        """Return the first row, after those known to be wrong, whose outcome is absurd."""
        found = np.flatnonzero(((y < least) | (y > most)) & (np.abs(y) <= MAX_VALUE))
        if not found.size:
            return None
        rows = self.numbers["rows"] + np.concatenate([[0], np.cumsum(~np.isnan(y))])
        aside = self.numbers["aside"] + int(wrong.sum())
        for at in found.tolist():
            forecasts = X[at][~np.isnan(X[at])]
            if rows[at] < max(FIRST_OUTCOMES, OUTCOMES_PER_ABSURD * aside) or not forecasts.size:
                continue
            side, edge = (1, most[at]) if y[at] > most[at] else (-1, least[at])
            above, width = side * (forecasts - edge), most[at] - least[at]
            near = np.abs(forecasts - y[at]) <= UNFORESEEN * width
            near |= (above > 0) & (above <= AS_FAR * side * (y[at] - edge))
            if width > 0 and not near.any():
                return int(at)
        return None

    def _limits(self, X: Floats, y: Floats) -> tuple[Floats, Floats, dict[str, Any]]:
        """Return the limits of each row, infinite before the first outcome; and new numbers."""
        if len(y) == 1 and self.numbers["rows"] >= MEASURED_ROWS:
            return self._limits_of_one(float(y[0]))
        past, known = self.numbers, ~np.isnan(y)
        rows = past["rows"] + np.concatenate([[0], np.cumsum(known)])
        first = past["rows"] > 0
        low = np.fmin.accumulate(np.concatenate([[past["low"] if first else np.nan], y]))
        high = np.fmax.accumulate(np.concatenate([[past["high"] if first else np.nan], y]))
        errors = np.zeros(len(y) + 1)
        errors[0] = past["error"]
        if past["rows"] < MEASURED_ROWS:
            measured = np.flatnonzero(known & (rows[:-1] < MEASURED_ROWS))
            errors[measured + 1] = quartiles(np.abs(X[measured] - y[measured, None]))
        error = np.fmax.accumulate(errors)
        after = dict(past)
        if rows[-1]:
            after |= {
                "rows": int(rows[-1]),
                "low": float(low[-1]),
                "high": float(high[-1]),
                "error": float(error[-1]),
            }
        size = RELATIVE * np.maximum(np.abs(low), np.abs(high)) / np.maximum(1, rows)
        scale = np.maximum(np.maximum(high - low, error), size)[:-1]
        room = FACTOR * (1 + EARLY / np.maximum(1, rows[:-1])) * scale
        # Limits that are not numbers, before the first outcome, exclude nothing.
        return low[:-1] - room, high[:-1] + room, after

    def _limits_of_one(self, y: float) -> tuple[Floats, Floats, dict[str, Any]]:
        """Return the limits of a single row: the same without arrays."""
        past = self.numbers
        low, high = past["low"], past["high"]
        size = RELATIVE * max(abs(low), abs(high)) / past["rows"]
        room = FACTOR * (1 + EARLY / past["rows"]) * max(high - low, past["error"], size)
        after = dict(past)
        if not math.isnan(y):
            after |= {"rows": past["rows"] + 1, "low": min(low, y), "high": max(high, y)}
        return np.array([low - room]), np.array([high + room]), after

    # The experts and the state.

    def join(self) -> None:
        """Add a column."""
        self.balance = np.append(self.balance, 0.0)

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays and numbers of the state."""
        return {"balance": self.balance.copy()}, dict(self.numbers)

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], columns: int) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        state_arrays(arrays, {"balance": columns})
        state_numbers(numbers, FRESH, ("low", "high"))
        if numbers["low"] > numbers["high"]:
            raise ValueError("the lowest outcome is above the highest")
        self.balance, self.numbers = np.array(arrays["balance"]), dict(numbers)


def quartiles(errors: Floats) -> Floats:
    """Return the lower quartile of each row, without NaN; 0 for a row of nothing else."""
    if not errors.size:
        return np.zeros(len(errors))
    ordered = np.sort(errors, axis=1)  # NaN comes last
    awake = (~np.isnan(errors)).sum(axis=1)
    at = np.maximum(0, awake - 1) // 4
    return np.asarray(np.nan_to_num(ordered[np.arange(len(errors)), at], nan=0.0))
