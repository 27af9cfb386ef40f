"""Columns that hold something else than before, and values out of range."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import noregret
from noregret import play, streams

from .files import assert_same, blocks_of, game_of, learner, refused


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        ("1", "wet", "column 'a': 'wet' is not a number, but most values of the column are"),
        (
            "true",
            "2.5",
            "column 'a': '2.5' is not true or false, but most values of the column are",
        ),
        ("true", "maybe", "column 'a': 'maybe' is not true or false"),
        ("1", "2020-01-01", "column 'a': '2020-01-01' is not a number"),
        ("1", "0x10", "column 'a': '0x10' is not a number"),
        ("1", "1_000", "column 'a': '1_000' is not a number"),
        ("1", "١", "column 'a': '١' is not a number"),
        ("1", "1,5", "3 values, but there are 2 columns"),
    ],
)
def test_a_kind_that_changes_after_the_first_block_is_told(
    first: str, later: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "d.csv").write_text("a,y\n" + f"{first},1\n" * 50 + f"{later},1\n", "utf-8")
    with blocks_of(100):
        assert f"line 52: {said}" in refused(tmp_path / "d.csv", target="y")
        game = game_of(tmp_path / "d.csv", target="y", on_error="skip")
    assert (game.rounds, len(game.skipped)) == (50, 1)


@pytest.mark.parametrize("later", ["+2", " 2", "2 ", "2.", "2e0", "2E+0", "+2.0 ", "0002"])
def test_numbers_in_other_spellings_are_numbers(later: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(f"a,y\n1,1\n{later},1\n-.5,1\n", "utf-8")
    assert [x["a"] for x, _ in streams.read(tmp_path / "d.csv", "y")] == [1.0, 2.0, -0.5]
    (tmp_path / "d.csv").write_text(f"a,t,y\n1,x,1\n{later},x,1\n-.5,x,1\n", "utf-8")
    assert [x["a"] for x, _ in streams.read(tmp_path / "d.csv", "y")] == [1.0, 2.0, -0.5]


@pytest.mark.parametrize("truth", ["TRUE", "True", "1", " true", "tRuE"])
def test_truth_in_other_spellings(truth: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(f"a,y\ntrue,1\nfalse,1\n{truth},1\n", "utf-8")
    assert [x["a"] for x, _ in streams.read(tmp_path / "d.csv", "y")] == [1.0, 0.0, 1.0]


def test_dates_are_dropped_or_names_if_told_so(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("day,a,y\n2020-01-01,1,2\n2020-01-02,1,2\n", "utf-8")
    assert game_of(tmp_path / "d.csv", target="y", drop="day").learner.features == ["a"]
    game = game_of(tmp_path / "d.csv", target="y", categories="day")
    assert game.learner.features == ["a", "day=2020-01-01", "day=2020-01-02"]


def test_large_integers_are_rounded_as_floats_are(tmp_path: Path) -> None:
    large = [2**53 + 1, -(2**63), 2**62 + 12345]
    expected = game_of([({"a": value}, 1) for value in large])
    (tmp_path / "d.csv").write_text("a,y\n" + "".join(f"{v},1\n" for v in large), "utf-8")
    (tmp_path / "d.jsonl").write_text(
        "".join(f'{{"a": {v}, "y": 1}}\n' for v in large), encoding="utf-8"
    )
    parquet.write_table(pa.table({"a": large, "y": [1, 1, 1]}), tmp_path / "d.parquet")
    for kind in ("csv", "jsonl", "parquet"):
        assert_same(game_of(tmp_path / f"d.{kind}", target="y"), expected)


@pytest.mark.parametrize("cell", ["inf", "-inf", "1e400", "1e151", "Infinity"])
def test_infinities_are_refused_where_they_are(cell: str, tmp_path: Path) -> None:
    for text in (f"a,y\n1,1\n{cell},1\n", f"a,t,y\n1,x,1\n{cell},z,1\n"):
        (tmp_path / "d.csv").write_text(text, "utf-8")
        made = learner()
        with pytest.raises(noregret.BadExample, match=r"d\.csv, line 3: .*'a' is "):
            play(made, streams.read(tmp_path / "d.csv", "y"))
        assert made.rounds == 1
        assert "t=z" not in made.features


@pytest.mark.parametrize(
    ("mark", "said"),
    [(";", "separated by ';'"), ("\t", "separated by tabs"), ("|", "separated by '|'")],
)
def test_another_delimiter_than_the_given_one_is_named(
    mark: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "d.csv").write_text(mark.join("aby") + "\n" + mark.join("123") + "\n", "utf-8")
    told = refused(tmp_path / "d.csv", target="y", delimiter=",")
    assert said in told
    assert f"delimiter={'tab' if mark == chr(9) else mark!r}" in told


def test_the_cure_for_a_field_of_names_and_numbers_helps(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    values = ["1", '"x"', "true", "null", "2.5"]
    file.write_text("".join(f'{{"a": {values[k % 5]}, "y": {k}}}\n' for k in range(20)))
    with pytest.raises(noregret.BadExample, match=r"line 2: .*categories=\['a'\]"):
        list(streams.read(file, "y", missing="indicator"))
    found = [set(x) for x, _ in streams.read(file, "y", missing="indicator", categories="a")]
    assert found[:5] == [{"a=1"}, {"a=x"}, {"a=true"}, {"a=missing"}, {"a=2.5"}]
