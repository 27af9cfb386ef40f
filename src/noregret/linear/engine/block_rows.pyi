from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.engine.entry import Entry

Floats = NDArray[np.float64]
Starts = NDArray[np.int64]
Indices = NDArray[np.int32]

def positions(entry: Entry, names: Iterable[str | None]) -> list[int]: ...
def admit_names(entry: Entry, names: Iterable[str]) -> None: ...
def play_dense(
    entry: Entry,
    X: Floats,
    y: Floats,
    out: Floats | None = None,
    importances: Floats | None = None,
    constant: float = 0.0,
) -> None: ...
def play_groups(
    entries: list[Entry],
    starts: Starts,
    stops: Starts,
    X: Floats,
    y: Floats,
    out: Floats,
    first: int,
) -> tuple[int, int, float, int]: ...
def play_columns(
    entry: Entry,
    columns: Sequence[Floats],
    y: Floats,
    out: Floats | None = None,
    importances: Floats | None = None,
) -> None: ...
def rows_of_columns(columns: Sequence[Floats], rows: int) -> Floats: ...
def play_sparse(
    entry: Entry,
    starts: Starts,
    indices: Indices,
    data: Floats,
    y: Floats,
    out: Floats | None = None,
    importances: Floats | None = None,
    constant: float = 0.0,
) -> None: ...
def learn_weighted(entry: Entry, x: Any, y: Any, importance: float) -> None: ...
def score_dense(entry: Entry, X: Floats, out: Floats) -> None: ...
def score_columns(entry: Entry, columns: Sequence[Floats], out: Floats) -> None: ...
def score_sparse(
    entry: Entry,
    starts: Starts,
    indices: Indices,
    data: Floats,
    unseen: Starts,
    unseen_sums: Floats,
    unseen_squares: Floats,
    out: Floats,
) -> None: ...
def play_rows(
    entry: Entry,
    starts: Starts,
    indices: Indices,
    data: Floats,
    y: Floats,
    importances: Floats | None = None,
    out: Floats | None = None,
    names: Callable[[int, int], list[str]] | None = None,
) -> None: ...
def score_rows(
    entry: Entry, starts: Starts, indices: Indices, data: Floats, out: Floats
) -> None: ...
