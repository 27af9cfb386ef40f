"""The file of predictions: gathered row by row, written whole at the end."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.model_file import beside

if TYPE_CHECKING:
    from noregret.learner import Learner

Floats = NDArray[np.float64]
# Rows written at a time.
ROWS = 65_536
SUFFIXES = (".csv", ".parquet", ".pq")


def check_name(path: str) -> None:
    """Refuse a file name that does not say what to write."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise NoRegretError(f"{path}: predictions are written to a .csv or a .parquet file")


class Spool:
    """Numbers gathered in a file, a few for each row; a file with a name outlives the process.

    Parameters
    ----------
    columns
        How many numbers a row has.
    path
        Where; without, in a temporary file.
    rows
        How many rows to go on after; what the file holds beyond is forgotten.
    """

    def __init__(self, columns: int, path: str | None = None, rows: int = 0) -> None:
        self.columns, self.path, self.rows = columns, path, rows
        if path is None:
            self.file: IO[bytes] = tempfile.TemporaryFile(prefix="noregret-")  # noqa: SIM115
        elif rows:
            self.file = open(path, "r+b")  # noqa: SIM115
            size = 8 * columns * rows
            if os.fstat(self.file.fileno()).st_size < size:
                raise NoRegretError(f"{path}: shorter than when the checkpoint was made")
            self.file.truncate(size)
            self.file.seek(size)
        else:
            self.file = open(path, "w+b")  # noqa: SIM115

    def add(self, *columns: Floats) -> None:
        """Gather rows."""
        np.column_stack(columns).astype(np.float64, copy=False).tofile(self.file)
        self.rows += len(columns[0])

    def settle(self) -> None:
        """Have all of it on disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def blocks(self) -> Iterator[Floats]:
        """Yield what was gathered."""
        self.file.flush()
        self.file.seek(0)
        left = self.rows
        while left:
            rows = min(left, ROWS)
            yield np.fromfile(self.file, count=rows * self.columns).reshape(rows, self.columns)
            left -= rows

    def close(self) -> None:
        """Let go of it."""
        self.file.close()
        if self.path is not None:
            Path(self.path).unlink(missing_ok=True)


def tables(blocks: Iterator[Floats], tags: list[str] | None, learner: Learner) -> Iterator[Any]:
    """Yield Arrow tables of rows: their number, the prediction, the outcome, and what fits besides."""
    import pyarrow as pa

    done = 0
    for block in blocks:
        row, scores, outcomes = block.T
        columns: dict[str, Any] = {
            "row": row.astype(np.int64),
            "prediction": np.asarray(learner.answers(scores)),
        }
        if not np.isnan(outcomes).all():
            columns["outcome"] = outcomes
        if learner.engine.loss.name == "logistic":
            columns["probability"] = np.exp(-np.logaddexp(0.0, -scores))
        elif learner.engine.loss.labels:
            columns["score"] = scores
        if tags is not None:
            columns["tag"] = pa.array(tags[done : done + len(block)], pa.string())
        done += len(block)
        yield pa.table(columns)


def write(path: str, found: Iterator[Any]) -> None:
    """Write tables to a CSV or Parquet file, whole or not at all."""
    from pyarrow import parquet

    with beside(path) as place:
        if path.lower().endswith(".csv"):
            with open(place, "wb") as file:
                write_csv(file, found)
            return
        writer: Any = None
        try:
            for table in found:
                writer = writer or parquet.ParquetWriter(place, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()


def show(found: Iterator[Any]) -> None:
    """Print tables as CSV; a reader that has seen enough may close the pipe."""
    with suppress(BrokenPipeError):
        write_csv(sys.stdout.buffer, found)
        sys.stdout.buffer.flush()


def write_csv(file: IO[bytes], found: Iterator[Any]) -> None:
    """Write tables as CSV, the names of the first on the first line."""
    import pyarrow as pa
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False)
    named = False
    for table in found:
        if not named:
            file.write(",".join(table.column_names).encode() + b"\n")
            named = True
        rows = pa.BufferOutputStream()
        csv.write_csv(table, rows, options)
        file.write(rows.getvalue())
        file.flush()
