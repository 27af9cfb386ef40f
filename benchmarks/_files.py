"""Files to learn from: written once into the system's folder for temporary files, then reused."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._data import names, regression

FOLDER = Path(tempfile.gettempdir()) / "noregret-benchmarks"


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is removed at the end."""
    FOLDER.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir=FOLDER)


TEXT_ROWS = 1_300_000  # more than 500 MB of text
TABLE_ROWS = 1_000_000
NONZEROS, FEATURES = 30, 50_000
CHUNK = 20_000
READ_BYTES = 2**20

Bytes = NDArray[np.uint8]


def kept(name: str, write: Callable[[Path], None]) -> Path:
    """Return a file that is written only if it is not there yet, whole and of the right size."""
    path, size = FOLDER / name, FOLDER / f"{name}.size"
    if path.exists() and size.exists() and size.read_text() == str(path.stat().st_size):
        return path
    FOLDER.mkdir(exist_ok=True)
    part = path.with_name(f"{name}.part")
    write(part)
    part.replace(path)
    size.write_text(str(path.stat().st_size))
    return path


# Sparse text: 30 of 50,000 features a row, some much more frequent than others.


def vw_text(rows: int = TEXT_ROWS) -> Path:
    """Return a file of VW lines: ``0.317 |a w12:0.1234 … |b w31007:-0.05123 …``."""
    cells = padded([f" w{k + 1}:" for k in range(FEATURES)])
    return kept(f"sparse-{rows}.vw", lambda path: write_text(path, rows, cells, (" |a", " |b")))


def svmlight_text(rows: int = TEXT_ROWS) -> Path:
    """Return a file of the same rows as svmlight lines: ``0.317 12:0.1234 … 31007:-0.05123 …``."""
    cells = padded([f" {k + 1}:" for k in range(FEATURES)])
    return kept(f"sparse-{rows}.svmlight", lambda path: write_text(path, rows, cells, ("", "")))


def write_text(path: Path, rows: int, cells: Bytes, opening: tuple[str, str]) -> None:
    """Write rows as text; half of each row's features come after each opening."""
    half = NONZEROS // 2
    opened = [np.frombuffer(mark.encode(), np.uint8) for mark in opening]
    outcomes = padded([f"{k / 1000:.3f}" for k in range(-20_000, 20_001)])
    values, written = some_values()
    with path.open("wb") as file:
        for at, chosen, outcome in sparse_chunks(rows, values):
            many = len(outcome)
            row = np.concatenate([cells[at], written[chosen]], axis=2).reshape(many, 2, -1)
            assert row.shape[2] % half == 0
            parts = [outcomes[outcome + 20_000]]
            for k, mark in enumerate(opened):
                parts += [np.broadcast_to(mark, (many, len(mark))), row[:, k]]
            parts.append(np.full((many, 1), ord("\n"), np.uint8))
            line = np.concatenate(parts, axis=1).ravel()
            file.write(line[line != 0].tobytes())  # what only fills up goes


def sparse_chunks(rows: int, values: NDArray[np.float64]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield features, which of the values they have, and outcomes in thousandths."""
    random = np.random.default_rng(7)
    true = random.standard_normal(FEATURES)
    part = FEATURES // NONZEROS
    for start in range(0, rows, CHUNK):
        shape = (min(CHUNK, rows - start), NONZEROS)
        at = np.arange(NONZEROS) * part + (part * random.random(shape) ** 3).astype(np.int64)
        chosen = random.integers(0, len(values), shape)
        exact = (true[at] * values[chosen]).sum(axis=1) + 0.1 * random.standard_normal(shape[0])
        yield at, chosen, np.clip(np.rint(1000 * exact), -20_000, 20_000).astype(np.int64)


def some_values() -> tuple[NDArray[np.float64], Bytes]:
    """Return numbers of four to six digits, and how they are written."""
    random = np.random.default_rng(8)
    drawn = random.standard_normal(2**16) / NONZEROS**0.5
    texts = [f"{v:.{d}g}" for v, d in zip(drawn, random.integers(4, 7, 2**16), strict=True)]
    return np.array(texts, float), padded(texts)


def padded(texts: list[str]) -> Bytes:
    """Return texts as rows of bytes, filled up with zeros."""
    table = np.array([text.encode() for text in texts])
    return table.view(np.uint8).reshape(len(texts), -1)


# Dense text: every feature in every row.


def dense_text(rows: int, columns: int) -> Path:
    """Return a file of VW lines: ``0.317 | x0:0.1234 x1:-0.05123 …``."""
    return kept(f"dense-{rows}-{columns}.vw", lambda path: write_dense(path, rows, columns))


def write_dense(path: Path, rows: int, columns: int) -> None:
    """Write rows as text, with outcomes that are linear but for noise."""
    random = np.random.default_rng(7)
    true = random.standard_normal(columns)
    values, written = some_values()
    cells = padded([f" x{k}:" for k in range(columns)])
    with path.open("wb") as file:
        for start in range(0, rows, CHUNK):
            many = min(CHUNK, rows - start)
            chosen = random.integers(0, len(values), (many, columns))
            exact = values[chosen] @ true + 0.1 * random.standard_normal(many)
            names = np.broadcast_to(cells, (many, *cells.shape))
            row = np.concatenate([names, written[chosen]], axis=2).reshape(many, -1)
            outcomes = padded([f"{y:.3f} |" for y in exact])
            ends = np.full((many, 1), ord("\n"), np.uint8)
            line = np.concatenate([outcomes, row, ends], axis=1).ravel()
            file.write(line[line != 0].tobytes())


# A table of numbers: 20 columns and the outcome ``y``, every digit written.


def csv_table(rows: int = TABLE_ROWS) -> Path:
    """Return a CSV file, as pandas writes it."""
    return kept(f"table-{rows}.csv", lambda path: write_csv(arrow_table(rows), path))


def write_csv(table: Any, path: Path) -> None:
    """Write a table as CSV; the names, which Arrow would put in quotes, as they are."""
    from pyarrow import csv

    with path.open("wb") as file:
        file.write((",".join(table.column_names) + "\n").encode())
        csv.write_csv(table, file, csv.WriteOptions(include_header=False))


def parquet_table(rows: int = TABLE_ROWS) -> Path:
    """Return the same table as a Parquet file."""
    from pyarrow import parquet

    return kept(f"table-{rows}.parquet", lambda path: parquet.write_table(arrow_table(rows), path))


def arrow_table(rows: int) -> Any:
    """Return the table."""
    import pyarrow as pa

    X, y = regression(rows, 20)
    return pa.table({name: X[:, k] for k, name in enumerate(names(20))} | {"y": y})


def repeated(path: Path, size: int, header: bool, into: Path) -> Path:
    """Write a file over and over into another until that has the size; its header only once."""
    with path.open("rb") as source, into.open("wb") as file:
        while file.tell() < size:
            source.seek(0)
            if header and file.tell():
                source.readline()
            shutil.copyfileobj(source, file)
    return into


def read(path: Path) -> None:
    """Read a file into one buffer, over and over."""
    buffer = bytearray(READ_BYTES)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
