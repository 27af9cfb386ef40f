"""Rows in files that workers read parts of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import beside
from noregret.streams.block import Block, Floats, Sparse


def rows_in(blocks: list[Block], order: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the rows of some blocks in another order: one dense table, or sparse rows."""
    tables = [block.X for block in blocks if not isinstance(block.X, Sparse)]
    if blocks and len(tables) == len(blocks) and len({X.shape[1] for X in tables}) == 1:
        return {"X": np.concatenate(tables)[order]}
    rows = [sparse_of(block.X) for block in blocks]
    inside = [slice(int(each.starts[0]), int(each.starts[-1])) for each in rows]
    indices = [each.indices[part] for each, part in zip(rows, inside, strict=True)]
    data = [each.data[part] for each, part in zip(rows, inside, strict=True)]
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(each.starts) for each in rows)])
    entries = ranges(ends_of(lengths)[:-1][order], lengths[order])
    return {
        "starts": ends_of(lengths[order]),
        "indices": np.concatenate([np.zeros(0, np.int32), *indices])[entries],
        "data": np.concatenate([np.zeros(0), *data])[entries],
    }


def ends_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where rows of some lengths begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of several ranges, one after the other."""
    before = ends_of(lengths)[:-1]
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def sparse_of(X: Floats | Sparse) -> Sparse:
    """Return rows as sparse rows, with their zeros."""
    if isinstance(X, Sparse):
        return X
    rows, width = X.shape
    starts = np.arange(rows + 1, dtype=np.int64) * width
    return Sparse(starts, np.tile(np.arange(width, dtype=np.int32), rows), np.ravel(X))


def moved(rows: Sparse, places: NDArray[np.int32], known: int) -> Sparse:
    """Return rows with features at other positions, in increasing order."""
    new = np.concatenate([np.arange(known, dtype=np.int32), places])
    indices = new[rows.indices]
    if (new[:-1] < new[1:]).all():
        return rows._replace(indices=indices)
    order = np.lexsort((indices, np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))))
    return Sparse(rows.starts, indices[order], rows.data[order])


def write(path: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays to a file, atomically."""
    from safetensors.numpy import save

    contents = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    with beside(path) as made, open(made, "wb") as file:
        file.write(contents)
