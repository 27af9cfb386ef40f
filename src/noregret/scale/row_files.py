"""Rows in files that workers read parts of."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import naming
from noregret.streams.block import Block, Floats, Sparse

# Arrays in files begin at multiples of so many bytes, and the header's length takes so many.
ALIGNED, WORD = 64, 8
# Bytes of the digest at the end of a file.
DIGEST = 16


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
    joined = Sparse(
        ends_of(lengths),
        np.concatenate([np.zeros(0, np.int32), *indices]),
        np.concatenate([np.zeros(0), *data]),
    )
    return in_order(joined, order)._asdict()


def in_order(rows: Sparse, order: NDArray[np.int64]) -> Sparse:
    """Return rows in another order."""
    lengths = np.diff(rows.starts)
    entries = ranges(rows.starts[:-1][order], lengths[order])
    return Sparse(ends_of(lengths[order]), rows.indices[entries], rows.data[entries])


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


def write(path: str, arrays: dict[str, NDArray[Any]], **facts: Any) -> None:
    """Write arrays and facts to a file, atomically.

    First the length of a header in JSON, then the header, then the arrays as they are in memory,
    and a digest of all that. Nothing is flushed to disk: a file that the machine's end has damaged
    is found by its digest.
    """
    kept, at = {name: np.ascontiguousarray(array) for name, array in arrays.items()}, 0
    places = dict[str, list[Any]]()
    for name, array in kept.items():
        places[name] = [array.dtype.str, array.shape, at]
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    header = json.dumps({"arrays": places, "size": at, "facts": facts}).encode()
    header = header.ljust(-(-(len(header) + WORD) // ALIGNED) * ALIGNED - WORD)
    made = f"{path}.{os.getpid()}-{secrets.token_hex(4)}"
    try:
        with naming(path), open(made, "wb") as file:
            digest = hashlib.blake2b(digest_size=DIGEST)
            head = np.frombuffer(len(header).to_bytes(WORD, "little") + header, dtype=np.uint8)
            for array in (head, *kept.values()):
                for some in (array.data if array.size else b"", bytes(-array.nbytes % ALIGNED)):
                    digest.update(some)
                    file.write(some)
            file.write(digest.digest())
        os.replace(made, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(made)
        raise


class Stored:
    """A file that ``write`` has written: its facts, and its arrays, which are read when used.

    Changes to the arrays do not go to the file.

    Parameters
    ----------
    path
        The file.
    whole
        Whether to read all of it now, and raise ValueError if it is damaged.
    """

    def __init__(self, path: str, whole: bool = False) -> None:
        with open(path, "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        end = len(self.memory) - DIGEST
        if whole and digest_of(memoryview(self.memory)[:end]) != self.memory[end:]:
            raise ValueError(f"{path} is damaged")
        self.start = WORD + int.from_bytes(self.memory[:WORD], "little")
        header = json.loads(self.memory[WORD : self.start])
        if end != self.start + header["size"]:
            raise ValueError(f"{path} is incomplete")
        self.places, self.facts = header["arrays"], header["facts"]

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def __getitem__(self, name: str) -> NDArray[Any]:
        kind, shape, at = self.places[name]
        return np.ndarray(shape, kind, self.memory, self.start + at)

    def place_of(self, name: str) -> int:
        """Return where an array begins in the file."""
        return self.start + int(self.places[name][2])


def stored(path: str) -> Stored | None:
    """Return a file that was written before; None if there is none, or it is damaged."""
    try:
        return Stored(path, whole=True)
    except (OSError, ValueError, KeyError):
        return None


def digest_of(data: bytes | memoryview) -> bytes:
    """Return the digest of some bytes."""
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


def file_digest(path: str) -> str:
    """Return the digest of a whole file in hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=DIGEST)
    with open(path, "rb") as file:
        while some := file.read(1 << 20):
            digest.update(some)
    return digest.hexdigest()


def as_text(value: Any) -> NDArray[np.uint8]:
    """Return a value in JSON, as an array."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
