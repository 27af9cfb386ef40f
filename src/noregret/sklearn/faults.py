"""Errors of rows in scikit-learn's wording, with row and column."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, Diverged, NoRegretError


def refuse_unusable(X: Any, names: Any) -> None:
    """Raise BadExample if a table contains NaN or infinity."""
    values = X.data if hasattr(X, "tocsr") else X
    if values.dtype.kind != "f" or np.isfinite(np.sum(values)):
        return
    if hasattr(X, "tocsr"):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
            raise unusable(values[bad[0]], row, int(X.indices[bad[0]]), names)
    for start in range(0, len(values), 4_096):  # no mask of the whole table
        bad_rows, columns = np.nonzero(~np.isfinite(values[start : start + 4_096]))
        if len(bad_rows):
            row, column = start + int(bad_rows[0]), int(columns[0])
            raise unusable(values[row, column], row, column, names)


def unusable(value: float, row: int, column: int, names: Any) -> BadExample:
    """Return the error for NaN or infinity."""
    what = "NaN" if np.isnan(value) else "infinity"
    name = str(column) if names is None else repr(names[column])
    cure = "fill it in or drop the row" if what == "NaN" else "every value must be finite"
    feature = str(column if names is None else names[column])
    return BadExample(f"Input X contains {what} in column {name}", cure, row=row, feature=feature)


def explained(error: NoRegretError, X: Any, row: int, names: Any) -> NoRegretError:
    """Return an error with its row, and the name of its column."""
    if isinstance(error, BadExample) and error.feature is not None:
        column = int(error.feature)
        value = float(X[row, column])
        if not np.isfinite(value):
            return unusable(value, row, column, names)
    error.row = row
    return error


def refuse_scores(X: Any, names: Any) -> NoReturn:
    """Raise the reason why predictions are not finite."""
    refuse_unusable(X, names)
    raise Diverged("a prediction is too large for float64", "scale the columns down")


def row_of(part: slice | NDArray[np.int64], played: int) -> int:
    """Return the row at a position of a part."""
    return part.start + played if isinstance(part, slice) else int(part[played])
