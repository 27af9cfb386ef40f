"""A dict or a row of a data frame gives exactly the example that the same row of a file gives."""

from __future__ import annotations

import copy
import csv
import json
import math
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret import BadExample, Logistic
from noregret.errors import WrongUsage
from noregret.streams import Options, prepared, stream_of
from noregret.streams.preparing import Preparing
from noregret.streams.stream import Stream, example_of
from tests.thorough import draws

pytestmark = pytest.mark.filterwarnings("ignore::noregret.errors.DataWarning")
ROWS = 30
WORDS = ("fine", "bad", "warm", "cold", "late", "early", "Ærlig", "été", "ΣΑΣ", "straße", "x1")
START = datetime(2023, 11, 28, 21, 17, 5)


NAMES = ("Oslo", "a=b", "ø", " x", "12a", "NA", "", "None", "Straße 7", "true love")
WRITTEN = ("$1,234.5", "12%", "$5", "-3%", "1,000")
VALUES: dict[str, Callable[[Random], Any]] = {
    "whole": lambda rng: rng.choice([0, 1, -7, rng.randrange(10**6), 2**53 + 1]),
    "number": lambda rng: rng.choice([0.0, rng.gauss(0, 1), 1e-300, -2.5e12, 8.0]),
    "boolean": lambda rng: rng.random() < 0.5,
    "name": lambda rng: rng.choice(NAMES),
    "date": lambda rng: (START + timedelta(days=rng.randrange(-30000, 30000))).date(),
    "time": lambda rng: START + timedelta(seconds=rng.randrange(-(10**9), 10**9)),
    "written": lambda rng: rng.choice(WRITTEN),
    "words": lambda rng: " ".join(rng.choices(WORDS, k=9)) + f" {rng.randrange(999)}",
}
KINDS = [kind for kind in VALUES if kind != "written"]


def table_of(seed: int, kinds: list[str]) -> list[dict[str, Any]]:
    rng = Random(seed)
    columns = {f"{kind}{k}": (kind, rng.choice([0, 0, 0.2])) for k, kind in enumerate(kinds)}
    return [
        {
            name: None if rng.random() < gaps and row else VALUES[kind](rng)
            for name, (kind, gaps) in columns.items()
        }
        | {"y": rng.gauss(0, 1)}
        for row in range(ROWS)
    ]


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def written(rows: list[dict[str, Any]], suffix: str, folder: str) -> str:
    path = Path(folder) / f"a{suffix}"
    if suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(rows[0])
            lines.writerows([as_text(value) for value in row.values()] for row in rows)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def examples(stream: Stream, kept: Any = None) -> tuple[list[dict[str, float]], Any]:
    """Return the examples of a pass: in learning, or scored with what another pass has kept."""
    reading = stream.reading(learning=kept is None)
    if kept is not None:
        reading.set_state(*kept[0])
        reading.vocabulary.positions(kept[1], True)
    made = [(block, row) for block in reading for row in range(len(block))]
    names = reading.names(0, reading.features)
    return [example_of(block, row, names) for block, row in made], (
        reading.kept_with_model(),
        names,
    )


def frames_of(rows: list[dict[str, Any]]) -> list[Any]:
    return [pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows)]


@draws(100)
@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from([*KINDS, "written"]), min_size=1, max_size=6),
    st.sampled_from([".csv", ".jsonl", ".parquet"]),
    st.sampled_from(["indicator", "zero"]),
)
def test_raw_rows_are_those_of_files(
    seed: int, kinds: list[str], suffix: str, missing: str
) -> None:
    kinds = [kind for kind in kinds if kind != "written" or suffix == ".csv"] or ["number"]
    rows = table_of(seed, kinds)
    with TemporaryDirectory() as folder:
        stream = stream_of(written(rows, suffix, folder), Options("y", missing=missing))
        _, kept = examples(stream)
        expected, _ = examples(stream, kept)
    assert any(expected)
    (arrays, numbers), names = kept
    preparing = Preparing(arrays, numbers, names)
    raw = [{name: value for name, value in row.items() if name != "y"} for row in rows]
    for x, same in zip(raw, expected, strict=True):
        assert nonzero(preparing.row(x, False, 1)) == nonzero(same)
    for frame in frames_of(raw):
        found = preparing.rows(frame, False, 1)
        found = found.to_pylist() if isinstance(found, pa.Table) else found
        found = [preparing.row(x, False, 1) for x in found]
        assert [nonzero(x) for x in found] == [nonzero(x) for x in expected]


@draws(60)
@given(st.integers(0, 2**32), st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
def test_a_fresh_learner_takes_what_json_lines_hold(seed: int, kinds: list[str]) -> None:
    rows = table_of(seed, kinds)
    texts = tuple(f"{kind}{k}" for k, kind in enumerate(kinds) if kind == "words")
    with TemporaryDirectory() as folder:
        path = written(rows, ".jsonl", folder)
        expected, _ = examples(stream_of(path, Options("y", missing="indicator", text=texts)))
    learner = prepared(Logistic(), text=texts)
    for row, same in zip(rows, expected, strict=True):
        x = {name: value for name, value in row.items() if name != "y"}
        assert learner._entry.prepare.row(x, True, 1) == same


@pytest.mark.parametrize("gap", [None, math.nan, pd.NA, pd.NaT])
def test_a_fresh_learner_may_refuse_gaps(gap: Any) -> None:
    learner = prepared(Logistic(), missing="stop", text="t", dates="due=dmy")
    learner.learn_one({"a": 1, "t": "Not late", "due": "31/12/2024"}, True)
    assert {"t:not late", "due.weekday=Tuesday"} <= set(learner.features)
    with pytest.raises(BadExample, match="'a' is empty"):
        learner.learn_one({"a": gap}, True)
    again = copy.deepcopy(learner)
    x = {"a": 2, "t": "late", "due": "1/1/2025"}
    assert again.predict_proba_one(x) == learner.predict_proba_one(x)
    with pytest.raises(WrongUsage, match="learned already"):
        prepared(learner)
    with pytest.raises(WrongUsage, match="format is not an option"):
        prepared(Logistic(), format="csv")


def nonzero(x: Any) -> dict[str, float]:
    """Return a row without its zeros: a table may say or leave out what is 0."""
    assert not any(math.isnan(value) for value in x.values())
    return {name: value for name, value in x.items() if value}
