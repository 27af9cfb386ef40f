"""One table is one game, however it is written and wherever its file is cut into blocks."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import noregret
from noregret import play, streams
from tests.thorough import draws, sized

from .files import (
    TARGET,
    Row,
    assert_same,
    blocks_of,
    csv_text,
    frame_of,
    game_of,
    learner,
    names,
    numbers,
    pairs_of,
    tables,
    write_all,
    write_csv,
    write_jsonl,
    write_parquet,
)

MIXED: list[Row] = [
    {"city": "tOslo", 'a"b': 1.5, "c": True, "sold": 1},
    {"city": 't"Rome"\nand, so on', 'a"b': -2, "c": False, "sold": 2.5},
    {"city": "tOslo", 'a"b': 0, "c": True, "sold": 0},
    {"city": 't"\r\n""', 'a"b': 1 / 3, "c": True, "sold": -1},
]


@draws(25)
@given(tables(), st.integers(1, 60))
@example(MIXED, 1)
@example([{"c,": False, "sold": 0}], 1)
@example(MIXED, 7)
def test_a_table_is_the_same_game_in_every_format(rows: list[Row], size: int) -> None:
    expected = game_of(pairs_of(rows))
    with TemporaryDirectory() as folder, blocks_of(size):
        for kind, path in write_all(rows, Path(folder)).items():
            try:
                assert_same(game_of(path, target=TARGET), expected)
            except BaseException as error:
                error.add_note(kind)
                raise


@pytest.mark.parametrize("size", range(1, 120, sized(10, full=3)))
def test_a_quoted_value_may_be_cut_anywhere(size: int, tmp_path: Path) -> None:
    expected = game_of(pairs_of(MIXED))
    file = write_csv(MIXED, tmp_path / "d.csv", newline="\r\n", quoting=csv.QUOTE_ALL)
    tabs = write_csv(MIXED, tmp_path / "d.tsv", delimiter="\t", quoting=csv.QUOTE_ALL)
    with blocks_of(size):
        assert_same(game_of(file, target=TARGET), expected)
        assert_same(game_of(tabs, target=TARGET, quotes="multiline"), expected)


@draws(40)
@given(
    st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=30),
    st.lists(names, min_size=3, max_size=3, unique=True),
    st.integers(1, 200),
    st.booleans(),
)
def test_tables_of_numbers_are_those_of_pandas_and_of_arrays(
    cells: list[list[float]], columns: list[str], size: int, crlf: bool
) -> None:
    rows = [dict(zip([*columns[:2], TARGET], row, strict=True)) for row in cells]
    expected = play(learner(), frame_of(rows), target=TARGET, predictions=True)
    newline = "\r\n" if crlf else "\n"
    with TemporaryDirectory() as folder, blocks_of(size):
        assert_same(
            game_of(write_csv(rows, Path(folder) / "d.csv", newline=newline), target=TARGET),
            expected,
        )
        assert_same(game_of(write_parquet(rows, Path(folder) / "d.pq"), target=TARGET), expected)


@given(tables(), st.integers(1, 200))
@draws(10)
def test_looping_gives_the_rows_and_blocks_hold_as_many(rows: list[Row], size: int) -> None:
    expected = []
    for x, y in pairs_of(rows):
        features = {f"{k}={v}" if isinstance(v, str) else k: v for k, v in x.items()}
        expected.append(({k: 1.0 if isinstance(v, str) else v for k, v in features.items()}, y))
    with TemporaryDirectory() as folder, blocks_of(size):
        for path in write_all(rows, Path(folder)).values():
            stream = streams.read(path, TARGET)
            found = list(stream)
            assert [y for _, y in found] == [y for _, y in expected]
            assert [x for x, _ in found] == [x for x, _ in expected]
            assert sum(map(len, stream.blocks())) == len(rows)


def test_fields_may_come_and_go_as_in_dicts(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"a": 1, "sold": 1},
        {"b": "x", "a": 2, "sold": 2},
        {"c": True, "sold": 0},
        {"a": 0.5, "b": "y", "c": False, "sold": 1},
    ] * 5
    file = write_jsonl(rows, tmp_path / "d.jsonl")
    for size in (1, 30, 100, 1 << 20):
        with blocks_of(size):
            assert_same(game_of(file, target="sold"), game_of(pairs_of(rows)))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_boolean_outcomes_are_answered_with_booleans(suffix: str, tmp_path: Path) -> None:
    rows: list[Row] = [{"wet": True, "bought": True}, {"wet": False, "bought": False}] * 3
    writers: dict[str, Any] = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}
    file = writers[suffix](rows, tmp_path / f"d.{suffix}")
    game = play(noregret.make("perceptron"), file, target="bought")
    assert game.learner.predict_one({"wet": 1.0}) is True
    frame = play(noregret.make("perceptron"), frame_of(rows), target="bought")
    assert frame.digest == game.digest


def test_parquet_columns_of_every_type_are_those_of_a_frame(tmp_path: Path) -> None:
    from pyarrow import parquet

    table = pa.table(
        {
            "int8": pa.array([1, -2, 3], pa.int8()),
            "large": pa.array([2**60 + 1, 1, 2], pa.int64()),
            "half": pa.array([0.5, 1.5, -1], pa.float32()),
            "numbered": pa.array([5, 6, 5]).dictionary_encode(),
            "word": pa.array(["x", "y", "x"]).dictionary_encode(),
            "kept": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.uint32()), ["p", "q"]),
            "a.b": pa.array([1.0, 2.0, 3.0]),
            "large text": pa.array(["u", "v", "u"], pa.large_string()),
            "sold": [1.0, 2.0, 3.0],
        }
    )
    parquet.write_table(table, tmp_path / "d.parquet")
    rows = pairs_of(table.to_pylist())
    assert_same(game_of(tmp_path / "d.parquet", target="sold"), game_of(rows))


def test_several_files_without_rows_are_passed_over(tmp_path: Path) -> None:
    rows = MIXED
    for name, text in (
        ("1.csv", ""),
        ("2.csv", csv_text(rows).splitlines()[0] + "\n"),
        ("3.csv", "\n\n"),
        ("4.csv", csv_text(rows)),
        ("5.csv", ""),
    ):
        (tmp_path / name).write_text(text, "utf-8", newline="")
    assert_same(game_of(str(tmp_path / "*.csv"), target="sold"), game_of(pairs_of(rows)))


def test_a_game_goes_on_with_another_file_feature_by_feature(tmp_path: Path) -> None:
    first: list[Row] = [{"b": 1.0, "town": "x", "sold": 1}, {"b": 2.0, "town": "y", "sold": 2}]
    second: list[Row] = [{"a": 3.0, "town": "y", "b": 1.0, "sold": 1}]
    game = game_of(write_csv(first, tmp_path / "1.csv"), target="sold")
    game.play(streams.read(write_csv(second, tmp_path / "2.csv"), "sold"))
    expected = game_of(pairs_of(first)).play(pairs_of(second))
    assert_same(game, expected)
