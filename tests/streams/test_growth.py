"""Text that differs in every row is told, once, by its column; fields given twice are refused."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from noregret import streams
from noregret.errors import BadExample, DataWarning
from noregret.streams.growth import MIN_ROWS
from tests.app.run.commands import command

from .files import blocks_of

VALUES: dict[str, tuple[Callable[[int], str], str]] = {
    "a time": (lambda k: f"2024-01-01T{k // 60:02}:{k % 60:02}", "drop='col'"),
    "thousands": (lambda k: f"{k + 1000:,}", "if these are numbers, write them as plain"),
    "percent": (lambda k: f"{k / 10}%", "if these are numbers, write them as plain"),
    "money": (lambda k: f"${k}.50", "if these are numbers, write them as plain"),
    "few repeat": (lambda k: f"user {k * 2 // 3}", "hash=20"),
}


def write(folder: Path, kind: str, values: list[str], column: str = "col") -> Path:
    """Write a table with a column of text, in blocks that are no tables where lines differ."""
    file = folder / f"d.{kind.removeprefix('ragged ')}"
    table = pd.DataFrame({column: values, "x": range(len(values)), "y": 1.0})
    if kind == "csv":
        table.to_csv(file, index=False)
    elif kind == "parquet":
        table.to_parquet(file)
    else:
        rows = table.to_dict("records")
        if kind == "ragged jsonl":
            rows = [row | {f"z{k % 3}": 1} for k, row in enumerate(rows)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (kind, what)
        for kind in ("csv", "jsonl", "ragged jsonl", "parquet")
        for what in VALUES
        # Others are read as what they are there.
        if kind == "parquet" or what == "few repeat" or (kind != "csv" and what != "a time")
    ],
)
def test_a_column_that_differs_in_every_row_is_told_once(
    kind: str, what: str, tmp_path: Path
) -> None:
    value, cure = VALUES[what]
    file = write(tmp_path, kind, [value(k) for k in range(2 * MIN_ROWS)])
    with blocks_of(10_000), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in streams.read(file, "y").blocks():
            pass
    assert [each.category for each in told] == [DataWarning]
    said = str(told[0].message)
    assert said.startswith(f"{file}: column 'col' holds text that differs in almost every row")
    assert cure in said
    assert "drop='col'" in said


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([f"v{k}" for k in range(MIN_ROWS - 1)], {}),  # too few to tell
        ([f"v{k % 900}" for k in range(2 * MIN_ROWS)], {}),  # less than half are new
        ([f"v{k}" for k in range(2 * MIN_ROWS)], {"hash": 10}),
        ([f"v{k}" for k in range(2 * MIN_ROWS)], {"drop": "col"}),
    ],
)
def test_nothing_is_said_without_a_reason(
    values: list[str], options: dict[str, object], tmp_path: Path
) -> None:
    for kind in ("csv", "jsonl", "ragged jsonl", "parquet"):
        for _ in streams.read(write(tmp_path, kind, values), "y", **options).blocks():
            pass


def test_a_column_is_known_by_its_whole_name(tmp_path: Path) -> None:
    file = write(tmp_path, "csv", [f"v{k}" for k in range(MIN_ROWS)], "a=b")
    with pytest.warns(DataWarning, match=r"column 'a=b' holds text .* such as 'v"):
        list(streams.read(file, "y").blocks())


def test_the_command_says_it_on_stderr(tmp_path: Path) -> None:
    file = write(tmp_path, "csv", [f"user {k}" for k in range(1000, 3000)])
    ended = command("run", file, "--target", "y", "--learner", "nlms", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["data"]["rows"] == 2000
    assert ended.err.count("\n") == 1
    assert ended.err.startswith(f"note: {file}: column 'col' holds text that differs")
    assert ended.err.endswith("leave the column out (--drop col), or bound memory with --hash 20\n")


@pytest.mark.parametrize(
    "line",
    ['{"a": 1, "a": 2, "y": 3}', '{"a": 1, "y": 3, "y": 4}', '{"y": 1, "a": {"b": 1, "b": 2}}'],
)
@pytest.mark.parametrize("around", [0, 5])
def test_a_field_that_is_given_twice_makes_a_bad_row(
    line: str, around: int, tmp_path: Path
) -> None:
    file = tmp_path / "d.jsonl"
    usual = ['{"a": 5, "y": 6}'] * around
    file.write_text("\n".join([*usual, line, *usual]) + "\n", "utf-8")
    twice = "b" if "b" in line else "a" if line.count('"a"') > 1 else "y"
    with pytest.raises(BadExample, match=f"line {around + 1}: field '{twice}' is given twice"):
        list(streams.read(file, "y"))
    if around:
        assert len(list(streams.read(file, "y", on_error="skip"))) == 2 * around


@pytest.mark.parametrize("unit", [1e3, 1e6, 1e9])
def test_epochs_are_told(unit: float, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    lines = [f"{k},{int((1_700_000_000 + 60 * k) * unit)},{k % 3}\n" for k in range(20)]
    file.write_text("a,at,y\n" + "".join(lines))
    for intercept in (False, True):
        with pytest.warns(DataWarning, match="column 'at' looks like times since 1970"):
            list(streams.read(file, "y", intercept=intercept))
    found = [set(x) for x, _ in streams.read(file, "y", time="at")]  # no warning
    assert "at.hour=22" in found[0]


@pytest.mark.parametrize("name", ["timestamp", "created_at", "pickup_time", "Date", "event.ts"])
def test_seconds_are_told_by_the_name_of_their_column(name: str, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    lines = [f"{1_700_000_000 + 60 * k},{1_700_000_000 + k},{k % 3}\n" for k in range(20)]
    file.write_text(f"{name},parts,y\n" + "".join(lines))
    with pytest.warns(DataWarning) as told:
        list(streams.read(file, "y"))
    [only] = told
    assert f"column {name!r} looks like times since 1970" in str(only.message)
    assert "parts" not in str(only.message)
    found = [set(x) for x, _ in streams.read(file, "y", time=name)]  # no warning
    assert f"{name}.hour=22" in found[0]


@pytest.mark.parametrize("gap", ["at", "y", "note"])
def test_epochs_are_told_in_json_lines_with_gaps(gap: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    rows: list[dict[str, Any]] = [
        {"at": 1_700_000_000_000 + 60_000 * k, "note": "x", "y": k % 3} for k in range(20)
    ]
    rows[3][gap] = None
    del rows[7]["note"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.warns(DataWarning, match="column 'at' looks like times since 1970"):
        list(streams.read(file, "y", missing="indicator"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(streams.read(file, "y", time="at", missing="indicator"))
