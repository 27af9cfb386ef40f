"""Rows that cannot be used: told by file and line, and skipped as if they were not there."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import noregret
from noregret import play, streams
from tests.thorough import draws, paired, sized

from .files import assert_same, blocks_of, game_of, learner

# For each format: the first lines, good rows, and bad ones with what is said of them.
HEAD = {"csv": "a,town,wet,sold\n", "tsv": "a\ttown\twet\tsold\n", "jsonl": "", "svm": "", "vw": ""}
GOOD = {
    "csv": ["1,x,true,3", "2.5,y,false,1", '-1,"x, y",true,0', "4,x,true,2"],
    "tsv": ["1\tx\ttrue\t3", "2.5\ty\tfalse\t1", "-1\tz\ttrue\t0", "4\tx\ttrue\t2"],
    "jsonl": ['{"a": 1, "town": "x", "sold": 3}', '{"a": 2.5, "town": "y", "sold": 1}'],
    "svm": ["1 0:1 3:2", "-1 2:0.5", "2 1:1"],
    "vw": ["1 | a b:2", "-1 |n c", "0.5 | a |n c:3"],
}
BAD = {
    "csv": {
        "1,x,true": "3 values, but there are 4 columns",
        "1,x,true,3,4": "5 values, but there are 4 columns",
        "oops,new,true,3": "column 'a': 'oops' is not a number",
        "1,new,maybe,3": "column 'wet': 'maybe' is not true or false",
        "1,new,true,many": "column 'sold': 'many' is not a number",
        ",new,true,3": "column 'a' is empty",
        "1,,true,3": "column 'town' is empty",
        "1,new,,3": "column 'wet' is empty",
        "1,new,true,": "the outcome is missing",
        "inf,new,true,3": "column 'a' is inf",
        "-1e200,new,true,3": "column 'a' is -1e+200",
        "1,new,true,1e400": "the outcome is inf",
        '"1\n2",new,true,3': "is not a number",
        "1,n\udce9w,true,3": "column 'town': not UTF-8 text",
    },
    "tsv": {"1\tx": "2 values, but there are 4 columns", "x\tx\ttrue\t3": "'x' is not a number"},
    "jsonl": {
        '{"a": 1, "town": "new"': "not valid JSON (Expecting",
        "[1]": "an example is an object",
        '{"a": 1} {"a": 2}': "Extra data",
        '{"a": 1, "town": "new"}': "there is no outcome in the field 'sold'",
        '{"a": 1, "town": "new", "sold": null}': "there is no outcome in the field 'sold'",
        '{"a": 1, "town": "new", "sold": "x"}': "the outcome is 'x'",
        '{"a": null, "town": "new", "sold": 1}': "field 'a' is empty",
        '{"a": 1, "town": "", "sold": 1}': "'town' is empty",
        '{"a": "text", "town": "new", "sold": 1}': "field 'a' holds text, not numbers",
        '{"a": 1, "town": 3, "sold": 1}': "field 'town' holds numbers, not text",
        '{"a": [1], "town": "new", "sold": 1}': "field 'a' is a list",
        '{"a": NaN, "town": "new", "sold": 1}': "'a' is empty",
        '{"a": 1e999, "town": "new", "sold": 1}': "'a' is inf",
        '{"a": 1, "town": "new", "sold": -Infinity}': "the outcome is -inf",
        '{"a": 1' + "0" * 400 + ', "town": "new", "sold": 1}': "'a' is ",
        '{"a": 1' + "0" * 5000 + ', "town": "new", "sold": 1}': "",
        '{"a": 1, "town": "\\ud800", "sold": 1}': "half of a character",
        '{"a": 1, "\\ud800": 1, "sold": 1}': "half of a character",
        '{"a": 1, "town=new": 1, "town": "new", "sold": 1}': "'town=new' is given twice",
        '{"a": 1, "town": "n\udce9w", "sold": 1}': "is not UTF-8 text",
    },
    "svm": {"x 0:1": "is not a label", "1 0:x": "is not a number", "1 -2:1": "is not a feature"},
    "vw": {
        "x | a": "is not a label",
        "1 a": "",
        "1 -2 | a": "is not an importance",
    },
}
CASES = [(kind, bad) for kind, bads in BAD.items() for bad in bads]


def text_of(kind: str, lines: list[str]) -> bytes:
    return (HEAD[kind] + "\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def options_for(kind: str) -> dict[str, Any]:
    encoding = {"encoding": "utf-8"} if kind in ("csv", "tsv") else {}
    return {"target": "sold"} | encoding if HEAD[kind] or kind == "jsonl" else {}


@pytest.mark.parametrize(("case", "size"), paired(CASES, [30, 1 << 22]))
def test_a_bad_row_stops_by_file_and_line_or_is_skipped(
    case: tuple[str, str], size: int, tmp_path: Path
) -> None:
    kind, bad = case
    good = GOOD[kind] * 4
    (tmp_path / f"good.{kind}").write_bytes(text_of(kind, good * 2))
    file = tmp_path / f"bad.{kind}"
    file.write_bytes(text_of(kind, [*good, bad, *good, bad]))
    before = HEAD[kind].count("\n") + len(good)
    lines = [before + 1, before + 1 + bad.count("\n") + len(good) + 1]
    with blocks_of(size):
        expected = game_of(tmp_path / f"good.{kind}", **options_for(kind))
        game = game_of(file, **options_for(kind), on_error="skip")
        found = [row.place.partition(", column")[0] for row in game.skipped]
        assert found == [f"{file}, line {line}" for line in lines]
        assert all(BAD[kind][bad] in row.reason for row in game.skipped)
        assert_same(game, expected)
        made = learner()
        with pytest.raises(noregret.BadExample) as caught:
            play(made, streams.read(file, **options_for(kind)))
        assert str(caught.value).startswith(f"{file}, line {lines[0]}")
        assert BAD[kind][bad] in str(caught.value)
        assert made.rounds == len(good)
        first = learner()
        (tmp_path / f"first.{kind}").write_bytes(text_of(kind, good))
        play(first, streams.read(tmp_path / f"first.{kind}", **options_for(kind)))
        assert made.weights.tolist() == first.weights.tolist()
        assert made.features == first.features


@draws(25)
@given(
    st.lists(st.integers(0, 20), min_size=2, max_size=10),
    st.integers(30, 4000),
    st.sampled_from(["csv", "jsonl"]),
)
def test_many_bad_rows_are_counted_and_the_first_is_told(
    picks: list[int], size: int, kind: str
) -> None:
    with TemporaryDirectory() as folder:
        check_many(picks, size, kind, Path(folder))


def check_many(picks: list[int], size: int, kind: str, folder: Path) -> None:
    kinds = GOOD[kind] + [bad for bad in BAD[kind] if "\n" not in bad]
    # So many good ones that they tell what the columns hold.
    lines = GOOD[kind] * 25 + [kinds[pick % len(kinds)] for pick in picks]
    good = [line for line in lines if line in GOOD[kind]]
    (folder / f"good.{kind}").write_bytes(text_of(kind, good))
    file = folder / f"bad.{kind}"
    file.write_bytes(text_of(kind, lines))
    bad = [HEAD[kind].count("\n") + 1 + k for k, line in enumerate(lines) if line not in good]
    with blocks_of(size):
        game = game_of(file, **options_for(kind), on_error="skip")
        assert_same(game, game_of(folder / f"good.{kind}", **options_for(kind)))
        assert [row.line for row in game.skipped] == bad
        if bad:
            with pytest.raises(noregret.BadExample, match=f"line {bad[0]}[:,] "):
                play(learner(), streams.read(file, **options_for(kind)))


def test_rows_of_parquet_and_of_arrays_are_told_by_number(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, None, 3.0, float("inf")], "sold": [1.0, 2.0, None, 4.0]})
    parquet.write_table(table, tmp_path / "d.parquet")
    with blocks_of(1):
        game = game_of(tmp_path / "d.parquet", target="sold", on_error="skip")
    assert [row.place for row in game.skipped] == [
        f"{tmp_path / 'd.parquet'}, row {row}" for row in (2, 3, 4)
    ]
    assert game.rounds == 1
    np.savez(tmp_path / "d.npz", X=[[1.0], [np.nan], [2.0]], y=[1.0, 1.0, np.inf])
    game = game_of(tmp_path / "d.npz", on_error="skip")
    assert [row.place for row in game.skipped] == [
        f"{tmp_path / 'd.npz'}, row {row}" for row in (2, 3)
    ]
    assert game.rounds == 1


def test_rows_that_the_learner_refuses_are_told_too(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n1,1\n\n2,5\n3,-1\n4,0\n5,1\n", "utf-8")
    stream = streams.read(tmp_path / "d.csv", "y", on_error="skip")
    game = play(noregret.make("perceptron"), stream, predictions=True)
    places = [row.place for row in game.skipped]
    assert places == [f"{tmp_path / 'd.csv'}, line {line}" for line in (4, 6)]
    assert [row.reason[:14] for row in game.skipped] == ["the label is 5", "the label is 0"]
    assert game.rounds == len(game.predictions) == 3


def test_a_stream_of_other_features_is_refused_even_where_rows_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n" + "1,1\n" * 5_000, "utf-8")
    made = noregret.make("nlms")
    made.learn_one(np.array([1.0, 2.0]), 1.0)
    with pytest.raises(
        noregret.BadExample, match=r"line 2: this learner knows its features by pos"
    ):
        play(made, streams.read(tmp_path / "d.csv", "y", on_error="skip"))
    assert made.rounds == 1


def test_thousands_of_bad_rows_take_no_time(tmp_path: Path) -> None:
    rows = ["1,1"] * 15 + [",1", "2,7"] * 10 + ["x,1", "1,1"]
    times = sized(50, full=300)
    rows *= times
    (tmp_path / "d.csv").write_text("a,y\n" + "\n".join(rows), "utf-8")
    stream = streams.read(tmp_path / "d.csv", "y", on_error="skip")
    game = play(noregret.make("perceptron"), stream)
    assert (game.rounds, len(game.skipped)) == (16 * times, 21 * times)
    lines = [json.dumps({"a": None if k % 2 else 1, "y": 1}) for k in range(20 * times)]
    (tmp_path / "d.jsonl").write_text("\n".join(lines), "utf-8")
    game = play(learner(), streams.read(tmp_path / "d.jsonl", "y", on_error="skip"))
    assert (game.rounds, len(game.skipped)) == (10 * times, 10 * times)


def test_a_bad_row_among_the_first_changes_no_kind(tmp_path: Path) -> None:
    rows = "true,1,x,1\nfalse,2,y,0\n"
    (tmp_path / "good.csv").write_text("wet,a,town,y\n" + rows * 20, "utf-8")
    for bad in ("true,1\n", "maybe,1,x,1\n", "true,?,x,1\n", "true,1,x,?\n", '"\n",1,x,1\n'):
        (tmp_path / "bad.csv").write_text("wet,a,town,y\n" + bad + rows * 20, "utf-8")
        game = game_of(tmp_path / "bad.csv", target="y", on_error="skip")
        assert [row.place for row in game.skipped] == [f"{tmp_path / 'bad.csv'}, line 2"]
        assert_same(game, game_of(tmp_path / "good.csv", target="y"))
