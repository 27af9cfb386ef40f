"""Tables that are meant to break a run: they are learned, or refused with a clear message."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from noregret.errors import DataWarning
from tests.thorough import sized

from .commands import command, done, refused

pytestmark = pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")


@pytest.mark.parametrize("text", [True, False])
def test_a_million_classes_stop_early_with_the_bound(text: bool, tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    with file.open("w") as out:
        out.write("a,y\n")
        for k in range(sized(6_000, full=1_000_000)):
            out.write(f"{k % 7},{'c' if text else ''}{k}\n")
    task = [] if text else ["--task", "classes"]
    said = refused("run", file, "--target", "y", *task, "--no-hindsight")
    assert "hardly classes: choose another --target" in said
    said = refused("run", file, "--target", "y", "--learner", "softmax", "--no-hindsight")
    assert "4,096" in said


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("words", [True, False])
def test_a_huge_text_in_a_cell(kind: str, words: bool, tmp_path: Path) -> None:
    size = sized(300_000, full=100_000_000)
    huge = "many words " * (size // 11) if words else "x" * size
    rows = [{"a": k % 5, "t": huge if k == 30 else f"t{k % 3}", "y": k % 5 * 2} for k in range(60)]
    file = tmp_path / f"d.{kind}"
    if kind == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), file)
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [",".join(map(str, row.values())) for row in rows]
        file.write_text("\n".join(["a,t,y", *lines]) + "\n")
    ended = command("run", file, "--target", "y", "--no-hindsight", "--json")
    if ended.code == 0:
        assert json.loads(ended.out)["data"]["rows"] == 60
    else:  # a line beyond the bound on lines
        assert "Traceback" not in ended.err
        assert "d." in ended.err
        assert "MiB" in ended.err


@pytest.mark.parametrize("odd", ["-0044-03-15", "0000-01-01", "44-03-15 BC"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_dates_before_1_ad_are_bad_rows(odd: str, kind: str, tmp_path: Path) -> None:
    if (odd, kind) == ("0000-01-01", "csv"):
        pytest.skip("Arrow's parser of CSV knows the year 0")
    days = [odd if k == 20 else f"2024-01-{k % 28 + 1:02}" for k in range(40)]
    rows = [{"day": day, "y": k % 7} for k, day in enumerate(days)]
    file = tmp_path / f"d.{kind}"
    if kind == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), file)
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        file.write_text("day,y\n" + "".join(f"{row['day']},{row['y']}\n" for row in rows))
    said = refused("run", file, "--target", "y")
    assert repr(odd) in said
    assert "row 21" in said if kind == "parquet" else "line 2" in said
    skipped = done("run", file, "--target", "y", "--on-error", "skip", "--json")
    assert json.loads(skipped)["data"]["rows"] == 39


@pytest.mark.parametrize("unit", ["s", "us"])
def test_times_before_1_ad_in_arrow_are_dates_of_the_calendar(unit: str, tmp_path: Path) -> None:
    ticks = [-62_300_000_000 - 86_400 * k for k in range(40)]  # the end of the year 5 BC
    scale = {"s": 1, "us": 1_000_000}[unit]
    times = pa.array([tick * scale for tick in ticks], pa.int64()).cast(pa.timestamp(unit))
    table = pa.table({"at": times, "y": [float(k % 7) for k in range(40)]})
    parquet.write_table(table, tmp_path / "d.parquet")
    told = json.loads(done("run", tmp_path / "d.parquet", "--target", "y", "--json"))
    assert told["data"]["rows"] == 40
