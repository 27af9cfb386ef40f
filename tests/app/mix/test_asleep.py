"""Tables of forecasts as streams: who has none in a row is asleep there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret import NoRegretError, streams
from noregret.streams.options import Options
from noregret.streams.table_reading import TableReading
from tests.streams.files import blocks_of, write_parquet

TEXT = "day,b,a,y\nMon,1,2,1.5\nTue,,4,3\nWed,NA,nan,2\nThu,5, ,\nFri,7,9,8\n"
NAN = float("nan")


def table_of(file: Path, **options: Any) -> tuple[list[str], Any, Any]:
    """Read all of a file: the names, the rows, the outcomes."""
    reading = streams.read(file, "y", missing="asleep", **options).reading()
    blocks = list(reading)
    X = np.concatenate([block.X for block in blocks if not isinstance(block.X, tuple)])
    return (
        list(reading.feature_names(reading.features)),
        X,
        np.concatenate([block.y for block in blocks]),
    )


def written(place: Path, text: str = TEXT, name: str = "forecasts.csv") -> Path:
    file = place / name
    file.write_text(text)
    return file


def test_empty_cells_and_words_for_nothing_are_nan(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT.replace("Wed,NA,nan", "Wed,NA,6"))
    names, X, y = table_of(file)
    assert names == ["a", "b"]
    np.testing.assert_array_equal(X, [[2, 1], [4, NAN], [6, NAN], [9, 7]])
    assert y.tolist() == [1.5, 3, 2, 8]


def test_a_row_in_which_all_sleep_is_refused_or_skipped(tmp_path: Path) -> None:
    file = written(tmp_path)
    with pytest.raises(NoRegretError, match=r"forecasts\.csv, line 4: every expert is asleep"):
        list(streams.read(file, "y", missing="asleep"))
    _, X, _ = table_of(file, on_error="skip")
    np.testing.assert_array_equal(X, [[2, 1], [4, NAN], [9, 7]])


def test_rows_without_an_outcome_come_only_when_wanted(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT.replace("Wed,NA,nan", "Wed,NA,6"))
    reading = streams.read(file, "y", missing="asleep").reading()
    assert isinstance(reading, TableReading)
    reading.without_outcomes = True
    (block,) = list(reading)
    np.testing.assert_array_equal(block.y, [1.5, 3, 2, NAN, 8])
    assert block.place_of(4).line == 6


@given(
    rows=st.lists(
        st.tuples(*[st.sampled_from([None, 0.5, -3, 1e-9, 7]) for _ in range(3)]), min_size=1
    ),
    size=st.integers(5, 60),
)
def test_csv_and_parquet_in_any_blocks_give_the_same_rows(
    rows: list[tuple[Any, ...]], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("tables")
    rows = [row for row in rows if any(x is not None for x in row)] or [(1.0, 2.0, 3.0)]
    found = [dict(zip("abc", row, strict=True), y=float(k)) for k, row in enumerate(rows)]
    lines = ["c,a,y,b"] + [
        ",".join("" if row[name] is None else str(row[name]) for name in "cayb") for row in found
    ]
    file = written(place, "\n".join(lines))
    columns = [{name: row[name] and float(row[name]) for name in row} for row in found]
    added = ("average", "median", "corrected")
    whole = table_of(file, add=added)
    assert whole[0] == ["a", "average", "b", "c", "corrected", "median"]
    expected = [[NAN if x is None else x for x in row] for row in rows]
    np.testing.assert_array_equal(whole[1][:, [0, 2, 3]], expected)
    with blocks_of(size):
        for other in (file, write_parquet(columns, place / "forecasts.parquet")):
            names, X, y = table_of(other, add=added)
            assert names == whole[0]
            np.testing.assert_array_equal(X, whole[1])
            np.testing.assert_array_equal(y, whole[2])


def test_average_and_median_are_those_of_whoever_is_awake(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for experts in (1, 2, 7, 60, 81):
        X = rng.normal(size=(50, experts)).round(3)
        X[rng.random(X.shape) < 0.3] = NAN
        X[:, 0] = 1.0
        names = [f"e{k:02d}" for k in range(experts)]
        lines = [",".join([*names, "y"])]
        lines += [",".join("" if np.isnan(x) else repr(float(x)) for x in row) + ",0" for row in X]
        found, table, _ = table_of(
            written(tmp_path, "\n".join(lines), f"{experts}.csv"), add=("average", "median")
        )
        np.testing.assert_allclose(table[:, found.index("average")], np.nanmean(X, axis=1))
        np.testing.assert_array_equal(table[:, found.index("median")], np.nanmedian(X, axis=1))


def test_text_is_left_out_unless_it_was_asked_for(tmp_path: Path) -> None:
    file = written(tmp_path)
    reading = streams.read(file, "y", missing="asleep", on_error="skip").reading()
    list(reading)
    assert isinstance(reading, TableReading)
    assert reading.settled is not None
    assert reading.settled.left_out == ["day"]
    with pytest.raises(NoRegretError, match="'day' holds text: an expert's forecasts are numbers"):
        table_of(file, keep=("day", "a"))


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("day,y\nMon,1\n", {}, r"no column of numbers besides the target; 'day' hold none"),
        ("a,average,y\n1,2,3\n", {"add": "average"}, "a column called 'average' already"),
        ("a,b,z\n1,2,3\n", {}, "there is no column 'y'"),
        ("a,a,y\n1,2,3\n", {}, "line 1: two columns are called 'a'"),
        ("a,b,y\n" + "1,2,3\n" * 20 + "1,high,3\n", {}, r"line 22: column 'b': 'high' is not a"),
        ("a,b,y\n1,2,up\n", {}, "the target 'y' holds text"),
        ("s,a,y\nu,2,3\n,2,3\n", {"group": "s"}, "line 3: column 's' is empty: every row needs"),
        ("a,y\n2,3\n", {"group": "s"}, "there is no column 's'"),
        ("a,y\n2,3\n", {"group": "y"}, "'y' is the target: groups need another column"),
    ],
)
def test_what_cannot_be_read_is_named(
    text: str, options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(NoRegretError, match=said):
        list(streams.read(written(tmp_path, text), "y", missing="asleep", **options))


@pytest.mark.parametrize(
    ("given_options", "said"),
    [
        ({"add": "average"}, "needs missing='asleep'"),
        ({"add": "mode", "missing": "asleep"}, "unknown add 'mode'"),
        ({"missing": "asleep", "intercept": True}, "leave intercept out"),
        ({"only": "7"}, "only names a group"),
    ],
)
def test_options_that_make_no_sense_are_refused(given_options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Options("y", **given_options)


def test_options_are_written_down_and_read_back() -> None:
    options = Options(
        "y", missing="asleep", add=("average", "corrected"), group="s", only="a=b", drop=("t",)
    )
    assert Options.of(options.transforms(), "y") == options


# Groups.


def test_groups_are_numbered_as_they_appear(tmp_path: Path) -> None:
    text = "s,a,y\nu,1,1\nv,2,2\nu,3,3\nt,4,4\n"
    reading = streams.read(written(tmp_path, text), "y", missing="asleep", group="s").reading()
    assert isinstance(reading, TableReading)
    with blocks_of(8):
        groups = [block.groups for block in reading]
    assert np.concatenate([g for g in groups if g is not None]).tolist() == [0, 1, 0, 2]
    assert list(reading.groups) == ["u", "v", "t"]
    assert reading.feature_names(reading.features) == ["a"]


def test_one_group_alone_is_as_if_the_others_were_not_there(tmp_path: Path) -> None:
    rows = [(k % 3, k / 7, k / 5, k / 6) for k in range(40)]
    lines = [f"{s},{a},{b},{y}" for s, a, b, y in rows]
    both = written(tmp_path, "s,a,b,y\n" + "\n".join(lines))
    alone = written(tmp_path, "s,a,b,y\n" + "\n".join(x for x in lines if x[0] == "1"), "alone.csv")
    added = ("average", "corrected")
    with blocks_of(50):
        found = table_of(both, group="s", only="1", add=added)
    for here, there in zip(found, table_of(alone, drop="s", add=added), strict=True):
        np.testing.assert_array_equal(here, there)
    # All groups together: each is corrected by its own past.
    reading = streams.read(both, "y", missing="asleep", group="s", add=added).reading()
    (block,) = list(reading)
    assert isinstance(block.X, np.ndarray)
    assert block.groups is not None
    np.testing.assert_array_equal(block.X[block.groups == 1], found[1])
