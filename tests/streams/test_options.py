"""The effect of each option, compared with rows changed by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret
from noregret import NoRegretError, play, streams
from noregret.errors import WrongUsage
from noregret.streams import Options
from noregret.streams.parsing.vocabulary import hash_name
from tests.thorough import draws

from .files import (
    Row,
    assert_same,
    blocks_of,
    game_of,
    pairs_of,
    write_csv,
    write_jsonl,
    write_parquet,
)

ROWS: list[Row] = [
    {"sun": 0.5, "zip": 10, "town": "Oslo", "wet": True, "sold": 2.0},
    {"sun": 0.25, "zip": 20, "town": "Rome", "wet": False, "sold": 1.0},
    {"sun": -1.5, "zip": 10, "town": "Bonn", "wet": True, "sold": 0.0},
    {"sun": 0.0, "zip": 30, "town": "Rome", "wet": True, "sold": 3.0},
] * 3
WRITERS: dict[str, Any] = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}
formats = pytest.mark.parametrize("suffix", WRITERS)


def read(rows: list[Row], suffix: str, folder: Path, **options: Any) -> noregret.Game:
    """Write rows, and play them in blocks of few."""
    file = WRITERS[suffix](rows, folder / f"d.{suffix}")
    with blocks_of(150):
        return game_of(file, target="sold", **options)


def changed(rows: list[Row], change: Any) -> list[tuple[Row, Any]]:
    return [(change(dict(x)), y) for x, y in pairs_of(rows)]


def only(*names: str) -> Any:
    return lambda x: {name: x[name] for name in names}


# Columns.


@formats
def test_columns_are_dropped_and_kept(suffix: str, tmp_path: Path) -> None:
    expected = game_of(changed(ROWS, only("sun", "town")))
    assert_same(read(ROWS, suffix, tmp_path, drop=["zip", "wet"]), expected)
    assert_same(read(ROWS, suffix, tmp_path, keep=("town", "sun")), expected)
    expected = game_of(changed(ROWS, only("sun")))
    assert_same(read(ROWS, suffix, tmp_path, keep="sun"), expected)


@formats
def test_categories_are_names(suffix: str, tmp_path: Path) -> None:
    expected = game_of(changed(ROWS, lambda x: x | {"zip": str(x["zip"])}))
    assert_same(read(ROWS, suffix, tmp_path, categories="zip"), expected)
    expected = game_of(changed(ROWS, lambda x: x | {"wet": str(x["wet"]).lower()}))
    assert_same(read(ROWS, suffix, tmp_path, categories=["wet"]), expected)


def test_a_number_as_a_name_is_as_it_is_written(tmp_path: Path) -> None:
    rows: list[Row] = [{"a": 1.0, "sold": 1}, {"a": 1.5, "sold": 1}] * 4
    expected = game_of(changed(rows, lambda x: {"a": repr(x["a"])}))
    assert_same(read(rows, "csv", tmp_path, categories="a"), expected)
    assert_same(read(rows, "jsonl", tmp_path, categories="a"), expected)
    mixed: list[Row] = [
        *rows,
        {"a": None, "sold": 1},
    ]  # which no longer has the same fields in all lines
    game = read(mixed, "jsonl", tmp_path, categories="a", missing="zero")
    assert game.learner.features == expected.learner.features


@formats
@pytest.mark.parametrize("option", ["drop", "keep", "categories", "target"])
def test_a_wrong_name_is_told_with_the_nearest(option: str, suffix: str, tmp_path: Path) -> None:
    file = WRITERS[suffix](ROWS, tmp_path / f"d.{suffix}")
    options: dict[str, Any] = {"target": "sold", option: "twon"}
    with pytest.raises(noregret.BadExample, match=r"no column 'twon': did you mean 'town'\?"):
        list(streams.read(file, **options))
    options[option] = "qqqqq"
    with pytest.raises(
        noregret.BadExample, match="'qqqqq'; the columns are 'sun', 'zip', 'town', 'wet'"
    ):
        list(streams.read(file, **options))


@formats
def test_a_target_must_be_given(suffix: str, tmp_path: Path) -> None:
    file = WRITERS[suffix](ROWS, tmp_path / f"d.{suffix}")
    with pytest.raises(WrongUsage, match="choose one with target="):
        list(streams.read(file))


def test_columns_without_names_are_numbered(tmp_path: Path) -> None:
    rows = [{str(k + 1): v for k, v in enumerate(row.values())} for row in ROWS]
    file = write_csv(rows, tmp_path / "d.csv", header=False)
    for size in (1, 40, 1 << 20):
        with blocks_of(size):
            game = game_of(file, target="5", header=False)
            assert_same(game, game_of(pairs_of(rows, "5")))
    file.write_text("a,,sold\n1,2,3\n", "utf-8")
    assert list(streams.read(file, "sold")) == [({"a": 1.0, "2": 2.0}, 3.0)]


# Missing values.

GAPS: list[Row] = [
    {"sun": 0.5, "town": "Oslo", "sold": 2.0},
    {"sun": None, "town": "Rome", "sold": 1.0},
    {"sun": 0.25, "town": None, "sold": 0.0},
    {"sun": None, "town": None, "sold": 3.0},
    {"sun": 1.5, "town": "Rome", "sold": 1.0},
]


@formats
def test_missing_values_are_nought(suffix: str, tmp_path: Path) -> None:
    def filled(x: Row) -> Row:
        return {k: v for k, v in (x | {"sun": x["sun"] or 0.0}).items() if v is not None}

    game = read(GAPS, suffix, tmp_path, missing="zero")
    expected = game_of(changed(GAPS, filled))
    assert game.predictions.tolist() == expected.predictions.tolist()
    assert_same(game, expected)


@formats
def test_missing_values_have_an_indicator(suffix: str, tmp_path: Path) -> None:
    def told(x: Row) -> Row:
        gone = {f"{k}=missing": 1.0 for k, v in x.items() if v is None}
        number = {"sun": x["sun"] or 0.0} if suffix != "jsonl" or x["sun"] is not None else {}
        return number | {k: v for k, v in x.items() if isinstance(v, str)} | gone

    assert_same(read(GAPS, suffix, tmp_path, missing="indicator"), game_of(changed(GAPS, told)))


@formats
def test_missing_values_stop_where_they_are(suffix: str, tmp_path: Path) -> None:
    place = {"csv": "line 3", "jsonl": "line 2", "parquet": "row 2"}[suffix]
    made = noregret.make("nlms")
    file = WRITERS[suffix](GAPS, tmp_path / f"d.{suffix}")
    with pytest.raises(noregret.BadExample, match=f"d.{suffix}, {place}: .* 'sun' is empty"):
        play(made, streams.read(file, "sold"))
    assert made.rounds == 1
    assert made.features == ["sun", "town=Oslo"]


@pytest.mark.parametrize("written", ["", "NA", "NaN", "nan", "null", "N/A", "None"])
def test_what_is_no_number_is_missing(written: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(f"a,b,sold\n1,2,3\n{written},2,3\n", "utf-8")
    pairs = list(streams.read(tmp_path / "d.csv", "sold", missing="zero"))
    assert pairs == [({"a": 1.0, "b": 2.0}, 3.0), ({"a": 0.0, "b": 2.0}, 3.0)]


@pytest.mark.parametrize("missing", ["stop", "zero", "indicator"])
@formats
def test_a_missing_outcome_is_never_filled_in(missing: str, suffix: str, tmp_path: Path) -> None:
    rows: list[Row] = [*GAPS[:1], {"sun": 1.0, "town": "x", "sold": None}, *GAPS[4:]]
    game = read(rows, suffix, tmp_path, missing=missing, on_error="skip")
    assert_same(game, game_of(pairs_of([rows[0], rows[2]])))
    numbers: list[Row] = [{"sun": 1.0, "sold": y} for y in (1.0, None, 2.0)]
    game = read(numbers, suffix, tmp_path, missing=missing, on_error="skip")
    assert_same(game, game_of(pairs_of([numbers[0], numbers[2]])))


# The intercept.


@formats
def test_the_intercept_is_one_more_feature(suffix: str, tmp_path: Path) -> None:
    for rows in (ROWS, [{k: row[k] for k in ("sun", "zip", "sold")} for row in ROWS]):
        expected = game_of(changed(rows, lambda x: x | {"intercept": 1.0}))
        assert_same(read(rows, suffix, tmp_path, intercept=True), expected)
    clash = [row | {"intercept": 2.0} for row in ROWS]
    with pytest.raises(NoRegretError, match="intercept"):
        read(clash, suffix, tmp_path, intercept=True)
    assert read(clash, suffix, tmp_path, intercept=True, drop="intercept").rounds == len(ROWS)


# The positive value.


@formats
@pytest.mark.parametrize(
    ("column", "positive"),
    [("town", "Rome"), ("zip", "10"), ("zip", 10), ("zip", "1e1"), ("wet", "true"), ("wet", True)],
)
def test_one_value_is_told_from_the_rest(
    column: str, positive: Any, suffix: str, tmp_path: Path
) -> None:
    wanted = {"town": "Rome", "zip": 10, "wet": True}[column]
    file = WRITERS[suffix](ROWS, tmp_path / f"d.{suffix}")
    game = play(noregret.make("perceptron"), streams.read(file, column, positive=positive))
    pairs = [(x, 1 if y == wanted else -1) for x, y in pairs_of(ROWS, column)]
    assert game.digest == play(noregret.make("perceptron"), pairs).digest


@formats
def test_text_is_no_outcome_unless_one_value_counts(suffix: str, tmp_path: Path) -> None:
    file = WRITERS[suffix](ROWS, tmp_path / f"d.{suffix}")
    with pytest.raises(NoRegretError, match="positive"):
        list(streams.read(file, "town"))
    with pytest.raises(NoRegretError, match="'yes' is text, but outcomes are numbers"):
        list(streams.read(file, "zip", positive="yes"))


# Hashing.


@formats
@pytest.mark.parametrize("bits", [1, 3, 20])
def test_hashed_features_share_slots(suffix: str, bits: int, tmp_path: Path) -> None:
    owners: dict[int, set[str]] = {}

    def hashed(x: Row) -> Row:
        slots: Row = {}
        for name, value in x.items():
            key = f"{name}={value}" if isinstance(value, str) else name
            slot = hash_name(key) % 2**bits
            owners.setdefault(slot, set()).add(key)
            slots[f"#{slot}"] = slots.get(f"#{slot}", 0.0) + (
                1.0 if isinstance(value, str) else float(value)
            )
        return slots

    pairs = changed(ROWS, hashed)
    game, expected = read(ROWS, suffix, tmp_path, hash=bits), game_of(pairs)
    np.testing.assert_allclose(game.predictions, expected.predictions, rtol=1e-9, atol=1e-12)
    assert set(game.learner.features) == set(expected.learner.features)
    assert game.reading is not None
    assert game.reading.vocabulary.shared == sum(len(names) > 1 for names in owners.values())


# Options as such.


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("d.svm", {"target": "y"}),
        ("d.svm", {"drop": "y"}),
        ("d.vw", {"keep": "y"}),
        ("d.vw", {"categories": "y"}),
        ("d.vw", {"missing": "zero"}),
        ("d.svm", {"header": False}),
        ("d.npz", {"hash": 3}),
        ("d.npz", {"target": "y"}),
        ("d.jsonl", {"header": False}),
        ("d.parquet", {"header": False}),
    ],
)
def test_what_means_nothing_for_a_format_is_refused(
    file: str, options: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / file).write_bytes(b"1 |\n")
    (name,) = options
    said = f"{name} does not apply to {streams.formats()['.' + file[2:]].name} files"
    with pytest.raises(NoRegretError, match=said):
        streams.read(tmp_path / file, **options)


@pytest.mark.parametrize("file", ["d.svm", "d.vw"])
def test_sparse_text_is_not_standardised(file: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text("1 |\n", "utf-8")
    with pytest.raises(NoRegretError, match="sparse, and standardising"):
        list(streams.read(tmp_path / file, scale="standard"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"missing": "guess"},
        {"scale": "large"},
        {"on_error": "ignore"},
        {"hash": 0},
        {"hash": 31},
        {"drop": "a", "keep": "b"},
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)


def test_a_format_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("a;b\n1;2\n", "utf-8")
    with pytest.raises(NoRegretError, match=r"end in \.txt are not known: use one of \.arff"):
        streams.read(tmp_path / "data.txt")
    with pytest.raises(NoRegretError, match="the format 'excel' is not known: use one of arff"):
        streams.read(tmp_path / "data.txt", format="excel")
    (tmp_path / "data.txt").write_text("a\tb\n1\t2\n", "utf-8")
    assert list(streams.read(tmp_path / "data.txt", "b", format="tsv")) == [({"a": 1.0}, 2.0)]
    (tmp_path / "d.csv").write_text("a\n", "utf-8")
    (tmp_path / "d.tsv").write_text("a\n", "utf-8")
    with pytest.raises(NoRegretError, match="files of several kinds"):
        streams.read([tmp_path / "d.csv", tmp_path / "d.tsv"])


columns = st.lists(st.text(max_size=4), max_size=3)
all_options = st.fixed_dictionaries(
    {},
    optional={
        "target": st.none() | st.text(),
        "drop": columns,
        "categories": columns,
        "missing": st.sampled_from(["stop", "zero", "indicator"]),
        "header": st.booleans(),
        "hash": st.none() | st.integers(1, 30),
        "intercept": st.booleans(),
        "scale": st.sampled_from(["none", "max", "standard", "unit"]),
        "positive": st.none() | st.text(),
        "on_error": st.sampled_from(["stop", "skip"]),
        "format": st.none() | st.sampled_from(["csv", "vw"]),
    },
)


@draws(300)
@given(all_options)
def test_transforms_say_all_that_options_do(given_options: dict[str, Any]) -> None:
    options = Options(**given_options)
    # What the files are is no transform: the same data may come in another format.
    assert Options.of(options.transforms(), options.target) == replace(options, format=None)
    keeping = Options(keep=options.drop)
    assert Options.of(keeping.transforms()) == keeping


@pytest.mark.parametrize("text", ["", "scale", "speed=3", "header", "no-intercept", "hash=x"])
def test_what_is_no_transform_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"transform|invalid literal"):
        Options.of([text])
