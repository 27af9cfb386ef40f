"""Tables drawn at random, written as files of every kind, and read in blocks of any size."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from pyarrow import parquet

import noregret
from noregret import streams
from noregret.streams import open_file as opened
from noregret.streams.file_formats import parquet as parquet_stream

Row = dict[str, Any]
TARGET = "sold"

# Letters that mean something to one reader or another, and some that do not.
letters = st.sampled_from(list("ab,\"'\t |:;\\#é€😀%{}[]"))
words = st.text(letters, min_size=0, max_size=6)
broken_words = st.lists(letters | st.sampled_from(["\n", "\r\n"]), max_size=6).map("".join)
names = words.map(lambda text: f"c{text}".strip())
numbers = st.one_of(
    st.integers(-1000, 1000),
    st.floats(-10, 10, allow_subnormal=False),
    st.sampled_from([0.0, 0.1, 1e-30, -2.5, 1 / 3]),
)


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 9) -> list[Row]:
    """Return rows that all have the same columns, of numbers, text and booleans."""
    kinds = {
        "number": numbers,
        "text": broken_words.map(lambda text: f"t{text}"),
        "boolean": st.booleans(),
    }
    columns = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    holds = {name: kinds[draw(st.sampled_from(sorted(kinds)))] for name in columns}
    outcomes = st.integers(-5, 5) | st.floats(-5, 5)
    row = st.fixed_dictionaries({**holds, TARGET: outcomes})
    rows = draw(st.lists(row, min_size=1, max_size=most_rows))
    return [{name: row[name] for name in rows[0]} for row in rows]


def learner() -> noregret.Learner:
    made: noregret.Learner = noregret.Nlms(rate=0.5)
    return made


def pairs_of(rows: list[Row], target: str = TARGET) -> list[tuple[Row, Any]]:
    """Return rows as ``play`` takes them."""
    return [({k: v for k, v in row.items() if k != target}, row[target]) for row in rows]


def game_of(data: Any, **options: Any) -> noregret.Game:
    """Play a fresh learner against pairs, or against files."""
    if isinstance(data, list) and data and not isinstance(data[0], str | Path):
        return noregret.play(learner(), data, predictions=True)
    return noregret.play(learner(), streams.read(data, **options), predictions=True)


def assert_same(game: noregret.Game, expected: noregret.Game) -> None:
    """Check that two games were the same, to the last bit."""
    assert game.learner.features == expected.learner.features
    assert game.learner.weights.tolist() == expected.learner.weights.tolist()
    assert game.predictions.tolist() == expected.predictions.tolist()
    assert (game.rounds, game.loss) == (expected.rounds, expected.loss)
    assert game.digest == expected.digest


def refused(file: Path, **options: Any) -> str:
    """Play a file that is refused; return what is said, having checked that it is one of ours."""
    made = learner()
    with pytest.raises((noregret.NoRegretError, OSError)) as caught:
        noregret.play(made, streams.read(file, **options))
    said = str(caught.value)
    assert file.name in said
    assert "\n" not in said
    return said


@contextmanager
def blocks_of(size: int) -> Iterator[None]:
    """Read files in blocks of ``size`` bytes, and tables in blocks of rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opened, "BLOCK", size)
        patch.setattr(parquet_stream, "ROWS_PER_BATCH", 1 + size % 7)
        yield


# Writing.


def csv_text(
    rows: list[Row],
    delimiter: str = ",",
    newline: str = "\n",
    quoting: Any = csv.QUOTE_MINIMAL,
    header: bool = True,
) -> str:
    """Return a table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    if header:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([cell(row[name]) for name in rows[0]])
    return out.getvalue()


def cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value if isinstance(value, str) else repr(value)


def write_csv(rows: list[Row], file: Path, **how: Any) -> Path:
    file.write_text(csv_text(rows, **how), "utf-8", newline="")
    return file


def write_jsonl(rows: list[Row], file: Path, ascii: bool = True) -> Path:
    lines = [json.dumps(row, ensure_ascii=ascii) for row in rows]
    file.write_text("\n".join(lines) + "\n", "utf-8", newline="")
    return file


def write_parquet(rows: list[Row], file: Path, group: int = 3) -> Path:
    columns = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    parquet.write_table(pa.table(columns), file, row_group_size=group)
    return file


def write_gzip(text: bytes, file: Path) -> Path:
    file.write_bytes(gzip.compress(text))
    return file


def write_zstd(text: bytes, file: Path) -> Path:
    with pa.CompressedOutputStream(str(file), "zstd") as out:
        out.write(text)
    return file


def frame_of(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows)


def write_all(rows: list[Row], folder: Path) -> dict[str, Any]:
    """Write a table in every way; return what to read, by a name for each."""
    folder.mkdir(exist_ok=True)
    text = csv_text(rows).encode()
    half = (len(rows) + 1) // 2
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    write_csv(rows[:half], parts / "1.csv")
    several = [parts / "1.csv"]
    if rows[half:]:
        several.append(write_csv(rows[half:], parts / "2.csv"))
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + text)
    (folder / "open.csv").write_bytes(text.removesuffix(b"\n"))
    (folder / "blank.csv").write_bytes(b"\n\r\n" + text + b"\n\n")
    (folder / "open.jsonl").write_bytes(
        write_jsonl(rows, folder / "raw.jsonl", ascii=False).read_bytes().removesuffix(b"\n")
    )
    tabs = write_csv(rows, folder / "plain.tsv", delimiter="\t")
    whole_lines = len(re.findall(b"[\r\n]", tabs.read_bytes())) == len(rows) + 1
    return {
        "csv": write_csv(rows, folder / "plain.csv"),
        "crlf": write_csv(rows, folder / "crlf.csv", newline="\r\n"),
        "quoted": write_csv(rows, folder / "quoted.csv", quoting=csv.QUOTE_ALL),
        "names quoted": write_csv(rows, folder / "names.csv", quoting=csv.QUOTE_NONNUMERIC),
        **({"tsv": tabs} if whole_lines else {}),  # values that go on over lines must be announced
        "byte order mark": folder / "bom.csv",
        "no final newline": folder / "open.csv",
        "blank lines": folder / "blank.csv",
        "gzip": write_gzip(text, folder / "packed.csv.gz"),
        "zstd": write_zstd(text, folder / "packed.csv.zst"),
        "several files": several,
        "glob": str(parts / "*.csv"),
        "parquet": write_parquet(rows, folder / "plain.parquet"),
        "jsonl": write_jsonl(rows, folder / "plain.jsonl"),
        "jsonl, no final newline": folder / "open.jsonl",
        "jsonl, gzip": write_gzip((folder / "raw.jsonl").read_bytes(), folder / "p.jsonl.gz"),
    }
