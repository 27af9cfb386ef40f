"""NumPy's archives of arrays."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from noregret.base.atomic_files import new_hash
from noregret.base.sparse_rows import sparse_parts
from noregret.errors import BadExample, NoRegretError, Place, WrongUsage
from noregret.linear.inputs import as_array, as_floats, as_outcomes, block_rows
from noregret.streams.block import Block, Floats, Sparse
from noregret.streams.open_file import binary
from noregret.streams.options import Options
from noregret.streams.seals import Range
from noregret.streams.source import STDIN, Indivisible, Part, Paths
from noregret.streams.stream import NOT_STANDARD, Reading, State, Stream, reader_of
from noregret.streams.text_reading import FOR_TABLES

# Exceptions that NumPy, SciPy and zipfile raise for a damaged or inconsistent archive.
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


class NpzReading(Reading):
    """One pass through archives of arrays, each of which is read into memory."""

    named = False
    fixed = True

    def __init__(self, stream: Stream, learning: bool, state: State | None) -> None:
        super().__init__(stream, learning, state)
        if self.scaler is not None and self.options.intercept:
            self.scaler.leave_out([0])

    def jobs(self, mark: dict[str, Any] | None) -> Iterator[Callable[[], Any]]:
        """Yield a job for every few rows."""
        start = mark or {"file": 0, "row": 0}
        if self.unchecked and self.seals is not None:
            for number in range(start["file"] + 1):
                X, y = self.arrays(self.paths[number])
                for seal in self.seals.of_file(number):
                    seal.check(digest_of(X, y, seal.start, seal.stop), self.paths[number], "rows")
            self.unchecked = False
        last = len(self.paths) - 1 if self.part is None else self.part.file
        for number in range(start["file"], last + 1):
            path = self.paths[number]
            X, y = self.arrays(path)
            if (mark is None and number == 0) or not self.width:
                self.width = X.shape[1] + self.options.intercept
            if X.shape[1] + self.options.intercept != self.width:
                raise BadExample(
                    f"{X.shape[1]} columns, but the files before it have another number", file=path
                )
            if self.options.scale == "standard" and hasattr(X, "tocsr"):
                raise BadExample(
                    "sparse, and standardising would make it dense", NOT_STANDARD, file=path
                )
            first = start["row"] if number == start["file"] else 0
            step = block_rows(X.shape[1])
            for row in range(first, X.shape[0], step):
                yield partial(self.cut, number, X, y, row, min(row + step, X.shape[0]))

    def part_mark(self, part: Part) -> dict[str, Any]:
        """Return the mark at the start of a whole file: arrays are not read in parts."""
        if part.stop is not None:
            raise Indivisible(self.paths[part.file])
        return {"file": part.file, "row": 0}

    def cut(self, number: int, X: Any, y: Any, start: int, stop: int) -> Any:
        """Return a range of rows in the form that learners take."""
        rows: Floats | Sparse
        if hasattr(X, "tocsr"):
            starts, indices, data, _ = sparse_parts(X[start:stop])
            rows = Sparse(starts, indices, data.copy())
            if self.options.intercept:
                rows = with_intercept(rows)
        else:
            rows = np.array(as_floats(X[start:stop]))
            if self.options.intercept:
                rows = np.insert(rows, 0, 1.0, axis=1)
        outcomes = as_outcomes(y[start:stop])
        if outcomes.bad is not None:
            raise BadExample(
                f"the outcome is {outcomes.bad}, not a number",
                file=self.paths[number],
                row=start + len(outcomes.values) + 1,
            )
        digest = None if self.seals is None else digest_of(X, y, start, stop)
        return number, rows, outcomes.values, start, stop, digest

    def settle(self, raw: Any) -> Block:
        """Make a block of some rows."""
        number, rows, y, start, stop, digest = raw
        if self.seals is not None and digest is not None:
            self.seals.add(number, [Range(start, stop, digest)], start + 1, stop)
        return Block(
            rows,
            y,
            lambda row: Place(self.paths[number], row=start + row + 1),
            {"file": number, "row": stop},
        )

    def arrays(self, path: str) -> tuple[Any, Any]:
        """Return the rows and the outcomes."""
        try:
            with binary(path) as file:
                archive = np.load(file, allow_pickle=False)
                if isinstance(archive, np.ndarray):
                    raise BadExample(
                        "one array, not an archive", "use numpy.savez(file, X=…, y=…)", file=path
                    )
                return self.rows_of(path, {name: archive[name] for name in archive.files})
        except NoRegretError:
            raise
        except DAMAGED as error:
            raise BadExample(f"damaged, or not an archive of arrays: {error}", file=path) from None

    def rows_of(self, path: str, parts: dict[str, Any]) -> tuple[Any, Any]:
        """Return the rows and the outcomes from the arrays of an archive."""
        y = parts.get("y")
        if y is None or ("X" not in parts and not parts.keys() >= set(SPARSE)):
            there = ", ".join(parts) or "nothing"
            raise BadExample(
                f"needs X and y, or y and {', '.join(SPARSE)}: there is {there}", file=path
            )
        if "X" in parts:
            X = as_array(parts["X"])
        else:
            from scipy import sparse

            if parts["data"].dtype.kind not in "fiub":
                raise BadExample(f"data must be numbers: got {parts['data'].dtype}", file=path)
            shape = tuple(int(n) for n in parts["shape"].ravel())
            X = sparse.csr_array(tuple(parts[name] for name in SPARSE[:3]), shape=shape)
            X.check_format(full_check=True)
        if y.ndim != 1 or len(y) != X.shape[0]:
            raise BadExample(f"{X.shape[0]} rows, but outcomes of shape {y.shape}", file=path)
        return X, y


def digest_of(X: Any, y: Any, start: int, stop: int) -> bytes:
    """Return a digest of some rows and their outcomes."""
    rows = X[start:stop]
    parts = [rows.indptr, rows.indices, rows.data] if hasattr(X, "tocsr") else [rows]
    digest = new_hash()
    for part in (*parts, y[start:stop]):
        digest.update(np.ascontiguousarray(part).tobytes())
    found: bytes = digest.digest()
    return found


def with_intercept(rows: Sparse) -> Sparse:
    """Return sparse rows with a column of ones before the others."""
    at = rows.starts[:-1]
    return Sparse(
        rows.starts - rows.starts[0] + np.arange(len(rows.starts)),
        np.insert(rows.indices + np.int32(1), at, 0).astype(np.int32),
        np.insert(rows.data, at, 1.0),
    )


class NpzStream(Stream):
    """Archives with the arrays ``X`` and ``y``; or ``y`` and the parts of a CSR matrix.

    The parts are ``data``, ``indices``, ``indptr`` and ``shape``. The arrays are read into memory.
    """

    name = "npz"
    extensions = (".npz",)
    reading_class = NpzReading
    meaningless = (*FOR_TABLES, "hash", "follow")

    def __init__(self, paths: Paths, options: Options) -> None:
        super().__init__(paths, options)
        if STDIN in self.paths:
            raise WrongUsage("archives of arrays cannot be read from standard input")


read_npz = reader_of(NpzStream)
