"""Keys, and the rows of each key in tables of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

K = TypeVar("K", bound=object)
Key = str | int | tuple[str | int, ...]


def rows_by_key(keys: list[K]) -> Iterator[tuple[K, NDArray[np.int64]]]:
    """Yield each key in order of appearance, with its rows in order."""
    order, spans = sorted_by_key(keys)
    for key, start, end in spans:
        yield key, order[start:end]


def sorted_by_key(keys: list[K]) -> tuple[NDArray[np.int64], Iterator[tuple[K, int, int]]]:
    """Return rows in the order of their keys' appearance, and each key with its range of them."""
    numbers: dict[K, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(numbers)))
    ends = ends.tolist()
    return order, zip(numbers, [0, *ends], ends, strict=False)


def taken(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a table of any kind."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and hasattr(X, "column_names"):  # Arrow
        return X.take(rows)
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    return X[rows]


def without_column(X: Any, name: str) -> tuple[Any, list[Any]]:
    """Return a data frame without a column, and the values of that column."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    if name not in names:
        from difflib import get_close_matches

        near = get_close_matches(name, list(map(str, names)))
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no column {name!r}{hint}")
    column = X[name]
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    if hasattr(X, "drop_columns"):
        return X.drop_columns([name]), values
    return (X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop(name)), values


def twins(key: Key) -> Iterator[Key]:
    """Yield the same key with numbers as text, and with text as numbers."""
    if isinstance(key, tuple):
        yield tuple(map(str, key))
    elif isinstance(key, int):
        yield str(key)
    elif key.isascii() and key.lstrip("-").isdigit() and str(int(key)) == key:
        yield int(key)


def key_of(key: Any) -> Key:
    """Return a key, or raise TypeError if it is not one."""
    if isinstance(key, str):
        return str(key)
    if isinstance(key, Integral) and not isinstance(key, bool):
        return int(key)
    if isinstance(key, tuple) and len(key) > 1 and not any(isinstance(part, tuple) for part in key):
        return tuple(key_of(part) for part in key)  # type: ignore[misc]
    raise TypeError(f"a key is a string or a whole number, or a tuple of several: got {key!r}")


def worst_first(
    keys: list[Key], rounds: list[int], losses: list[float]
) -> tuple[list[Key], list[int], list[float]]:
    """Return records in the order of their mean losses, the largest first, then of their texts."""
    means = np.array(losses) / np.maximum(rounds, 1)
    by_mean = np.argsort(-means, kind="stable")
    order = by_mean.tolist()
    same = np.flatnonzero(means[by_mean[1:]] == means[by_mean[:-1]])
    # Texts are compared only within runs of equal means.
    for run in np.split(same, np.flatnonzero(np.diff(same) > 1) + 1) if len(same) else ():
        part = slice(int(run[0]), int(run[-1]) + 2)
        order[part] = sorted(order[part], key=lambda at: str(keys[at]))
    return [keys[k] for k in order], [rounds[k] for k in order], [losses[k] for k in order]
