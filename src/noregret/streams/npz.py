"""NumPy's archives of arrays."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from noregret.errors import NoRegretError
from noregret.inputs import as_array, block_rows
from noregret.streams.base import Block, Stream

# What NumPy, SciPy and zipfile raise where an archive is broken, or lies about itself.
DAMAGED = (
    ValueError,
    TypeError,
    EOFError,
    KeyError,
    OverflowError,
    MemoryError,
    RuntimeError,  # encrypted; and NotImplementedError: packed in a way that is not known
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
SPARSE = ("data", "indices", "indptr", "shape")


class NpzStream(Stream):
    """An archive with the arrays ``X`` and ``y``; or ``y`` and the parts of a CSR matrix.

    The parts are ``data``, ``indices``, ``indptr`` and ``shape``. The arrays are read whole.
    """

    extensions = (".npz",)

    def __iter__(self) -> Iterator[Block]:
        X, y = self.arrays()
        step = block_rows(X.shape[1])
        for start in range(0, X.shape[0], step):
            yield X[start : start + step], y[start : start + step]

    def arrays(self) -> tuple[Any, Any]:
        """Return the rows and the outcomes."""
        if self.target is not None:
            raise self.wrong("an .npz file has its outcomes as y: leave the target out")
        try:
            with self.path.open("rb") as file:
                archive = np.load(file, allow_pickle=False)
                if isinstance(archive, np.ndarray):
                    raise self.wrong("one array, not an archive: use numpy.savez(file, X=…, y=…)")
                return self.rows_of({name: archive[name] for name in archive.files})
        except NoRegretError:
            raise
        except DAMAGED as error:
            raise self.wrong(f"damaged, or not an archive of arrays: {error}") from None

    def rows_of(self, parts: dict[str, Any]) -> tuple[Any, Any]:
        """Put the parts together."""
        y = parts.get("y")
        if y is None or ("X" not in parts and not parts.keys() >= set(SPARSE)):
            there = ", ".join(parts) or "nothing"
            raise self.wrong(f"needs X and y, or y and {', '.join(SPARSE)}: there is {there}")
        if "X" in parts:
            X = as_array(parts["X"])
        else:
            from scipy import sparse

            if parts["data"].dtype.kind not in "fiub":
                raise self.wrong(f"data must be numbers: got {parts['data'].dtype}")
            shape = tuple(int(n) for n in parts["shape"].ravel())
            X = sparse.csr_array(tuple(parts[name] for name in SPARSE[:3]), shape=shape)
            X.check_format(full_check=True)
        if y.ndim != 1 or len(y) != X.shape[0]:
            raise self.wrong(f"{X.shape[0]} rows, but outcomes of shape {y.shape}")
        return X, y


def read_npz(path: str | Path, target: str | None = None) -> Stream:
    """Read an archive of arrays as a stream.

    Parameters
    ----------
    path
        The file.
    target
        Nothing: the outcomes are the array ``y``.
    """
    return NpzStream(path, target)
