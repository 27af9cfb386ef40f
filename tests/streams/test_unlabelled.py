"""Rows without an outcome: predicted in their place, and they leave no trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret import streams
from noregret.proof.game.play_blocks import acquaint, play_block
from tests.app.run.commands import command, done

from .files import blocks_of

Rows = list[dict[str, Any]]
rng = np.random.default_rng(5)
# The first rows have no outcome; rows without one have features, gaps and towns of their own.
OPEN = {0, 1, 5, 6, 7, 20, 39}
ROWS: Rows = [
    {
        "a": k % 7 / 2,
        "b": None if k in (6, 12) else k % 5 - 1.5,
        "town": f"t{k}" if k in OPEN else f"t{k // 9}",
        "y": None if k in OPEN else k % 3 + rng.integers(3) / 4,
    }
    for k in range(40)
]
PLAIN = [{name: row[name] or 0.0 for name in "ab"} | {"y": row["y"]} for row in ROWS]
TEXTS = [{"say": f"word{k} and word{k % 4} or so", "y": row["y"]} for k, row in enumerate(ROWS)]


def as_csv(path: Path, rows: Rows) -> None:
    pd.DataFrame(rows).to_csv(path, index=False)


def as_jsonl(path: Path, rows: Rows) -> None:
    lines = [json.dumps({k: v for k, v in row.items() if v is not None}) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def as_parquet(path: Path, rows: Rows) -> None:
    pd.DataFrame(rows).to_parquet(path)


def as_xlsx(path: Path, rows: Rows) -> None:
    pytest.importorskip("openpyxl")
    pd.DataFrame(rows).to_excel(path, index=False)


def as_vw(path: Path, rows: Rows) -> None:
    def line(row: dict[str, Any]) -> str:
        label = "" if row["y"] is None else row["y"]
        there = [name for name in row if name != "y" and row[name] is not None]
        parts = [f"{name}:{row[name]}" for name in there if name != "town"]
        return f"{label} | {' '.join(parts)} {row.get('town', '')}\n"

    path.write_text("".join(map(line, rows)))


WRITERS: dict[str, Callable[[Path, Rows], None]] = {
    "csv": as_csv,
    "jsonl": as_jsonl,
    "parquet": as_parquet,
    "xlsx": as_xlsx,
    "vw": as_vw,
}
TABLES: dict[str, tuple[Rows, dict[str, Any]]] = {
    "plain": (PLAIN, {}),
    "gaps and towns": (ROWS, {}),
    "zero": (ROWS, {"missing": "zero", "intercept": True}),
    "by the largest": (ROWS, {"scale": "max"}),
    "standard": (ROWS, {"scale": "standard", "intercept": True}),
    "plain, standard": (PLAIN, {"scale": "standard"}),
    "hashed": (ROWS, {"hash": 3}),
    "text": (TEXTS, {"text": ("say",)}),
    "fourier": (ROWS, {"fourier": 8}),
}
CASES = [
    (kind, table)
    for kind in WRITERS
    for table in TABLES
    if kind != "vw" or table in ("plain", "hashed", "by the largest")
]


def stream_of(path: Path, rows: Rows, options: dict[str, Any]) -> streams.Stream:
    WRITERS[path.suffix[1:]](path, rows)
    if path.suffix == ".vw":
        return streams.read(path, **options)
    return streams.read(path, "y", **{"missing": "indicator"} | options)


def played(
    stream: streams.Stream, learner: noregret.Learner
) -> tuple[noregret.Learner, list[float], Any]:
    """Return the learner after a pass, its predictions in order, and the state of reading."""
    reading, scores = stream.reading(), []
    acquaint(learner, reading)
    for block in reading:
        found = np.full(len(block), np.nan)
        play_block(learner, reading, block, found)
        scores += found.tolist()
    return learner, scores, reading.state()[0]


@pytest.mark.parametrize("size", [60, 1 << 22])
@pytest.mark.parametrize(("kind", "table"), CASES)
def test_the_model_is_that_of_the_rows_with_an_outcome(
    kind: str, table: str, size: int, tmp_path: Path
) -> None:
    rows, options = TABLES[table]
    labelled = [row for row in rows if row["y"] is not None]
    with blocks_of(size):
        mixed = stream_of(tmp_path / f"mixed.{kind}", rows, options)
        model, scores, kept = played(mixed, noregret.Auto())
        alone = stream_of(tmp_path / f"alone.{kind}", labelled, options)
        expected, known, held = played(alone, noregret.Auto())
    arrays, numbers, names = model.get_state()
    arrays_alone, numbers_alone, names_alone = expected.get_state()
    assert names == names_alone
    assert numbers == numbers_alone
    assert {k: v.tolist() for k, v in arrays.items()} == {
        k: v.tolist() for k, v in arrays_alone.items()
    }
    assert {k: v.tolist() for k, v in kept.items()} == {k: v.tolist() for k, v in held.items()}
    assert len(scores) == len(rows)
    assert [s for s, row in zip(scores, rows, strict=True) if row["y"] is not None] == known


@pytest.mark.parametrize("kind", WRITERS)
def test_a_row_is_predicted_by_what_is_learned_until_then(kind: str, tmp_path: Path) -> None:
    rows = PLAIN if kind == "vw" else ROWS
    mixed = stream_of(tmp_path / f"mixed.{kind}", rows, {})
    _, scores, _ = played(mixed, noregret.Nlms(rate=0.5))
    for k in (5, 20, 39):
        before = [row for row in rows[:k] if row["y"] is not None]
        part = stream_of(tmp_path / f"part{k}.{kind}", before, {})
        learner, _, _ = played(part, noregret.Nlms(rate=0.5))
        row = {name: value for name, value in rows[k].items() if name not in ("y", "town")}
        row = {name: value for name, value in row.items() if value is not None}
        assert scores[k] == pytest.approx(learner.predict_one(row), rel=1e-12)


@pytest.mark.parametrize("classes", [["no", "yes"], ["r", "g", "b"]])
def test_classes_are_predicted_without_an_outcome(classes: list[str], tmp_path: Path) -> None:
    named = [
        row | {"y": None if k in OPEN else classes[k % len(classes)]} for k, row in enumerate(ROWS)
    ]
    for name, rows in (("d", named), ("o", [row for row in named if row["y"] is not None])):
        as_csv(tmp_path / f"{name}.csv", rows)
        outputs = [f"--{kind}={tmp_path / f'{name}.{kind}'}" for kind in ("model", "certificate")]
        told = f"--predictions={tmp_path / f'{name}.parquet'}"
        done("run", tmp_path / f"{name}.csv", "--target", "y", *outputs, told)
    made = pd.read_parquet(tmp_path / "d.parquet")
    alone = pd.read_parquet(tmp_path / "o.parquet")
    assert len(made) == len(ROWS)
    assert set(np.flatnonzero(made["outcome"].isna())) == OPEN
    there = made[made["outcome"].notna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(there.drop(columns="row"), alone.drop(columns="row"))
    assert set(made["prediction"].iloc[8:]) <= set(classes)
    assert (made["probability"].iloc[8:] > 0).all()
    for one, other in (("d", "d"), ("d", "o"), ("o", "d")):
        done("verify", tmp_path / f"{one}.certificate", tmp_path / f"{other}.csv")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "vw"])
def test_the_command_counts_rows_that_are_only_predicted(kind: str, tmp_path: Path) -> None:
    file, rows = tmp_path / f"d.{kind}", PLAIN if kind == "vw" else ROWS
    WRITERS[kind](file, rows)
    target = () if kind == "vw" else ("--target", "y")
    made = done("run", file, *target, "--json", "--predictions", tmp_path / "p.csv")
    found = json.loads(made)
    assert found["data"]["rows"] == len(rows) - len(OPEN)
    assert found["data"]["predicted_only"] == len(OPEN)
    frame = pd.read_csv(tmp_path / "p.csv")
    assert frame["row"].tolist() == [k + 1 for k in range(len(rows))]
    outcomes = [np.nan if row["y"] is None else row["y"] for row in rows]
    np.testing.assert_array_equal(frame["outcome"], outcomes)
    error = (frame["outcome"] - frame["prediction"]).dropna()
    assert found["measures"]["rmse"] == pytest.approx(np.sqrt((error**2).mean()))


def test_a_resumed_run_counts_on(tmp_path: Path) -> None:
    file, plain = tmp_path / "d.csv", ("--target", "y", "--json", "--quiet")
    as_csv(file, ROWS)
    whole = json.loads(done("run", file, *plain, "--predictions", tmp_path / "w.csv"))
    with blocks_of(100):
        kept = ("--checkpoint", tmp_path / "kept", "--every", "7")
        half = file.read_text().splitlines(True)
        file.write_text("".join(half[:25]) + "1,2,x,bad\n")
        assert command("run", file, *plain, "--predictions", tmp_path / "p.csv", *kept).code == 1
        file.write_text("".join(half))
        resumed = ("--resume", tmp_path / "kept", "--predictions", tmp_path / "p.csv")
        found = json.loads(done("run", file, *plain, *resumed))
    assert found["data"]["predicted_only"] == whole["data"]["predicted_only"] == len(OPEN)
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "w.csv").read_bytes()


def test_nothing_but_open_rows_is_refused_with_the_command_for_them(tmp_path: Path) -> None:
    as_csv(tmp_path / "d.csv", [row | {"y": None} for row in ROWS])
    ended = command("run", tmp_path / "d.csv", "--target", "y")
    assert ended.code == 1
    assert "none of its 40 rows has 'y'" in ended.err
    assert "noregret predict" in ended.err


def test_a_mistyped_target_of_json_lines_is_found_at_the_end(tmp_path: Path) -> None:
    as_jsonl(tmp_path / "d.jsonl", ROWS)
    ended = command("run", tmp_path / "d.jsonl", "--target", "towns")
    assert ended.code == 1
    assert "there is no column 'towns': did you mean 'town'?" in ended.err


def test_an_open_row_that_cannot_be_used_is_refused_or_skipped(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n1,2\n1e200,\n3,\n2,4\n")
    run = ("run", tmp_path / "d.csv", "--target", "y")
    ended = command(*run)
    assert ended.code == 1
    assert "line 3" in ended.err
    found = json.loads(done(*run, "--on-error", "skip", "--json"))
    assert found["data"]["skipped"]["count"] == 1
    assert (found["data"]["rows"], found["data"]["predicted_only"]) == (2, 1)


def test_lines_of_vw_without_a_label_keep_their_tags(tmp_path: Path) -> None:
    # The mix of labelled and unlabelled lines among the tests of Vowpal Wabbit.
    text = "1 labeled/1| a b c\n unlabeled/2| a b c\n-1 labeled/3| d e\n unlabeled/4| d e\n"
    (tmp_path / "d.vw").write_text(text)
    done("run", tmp_path / "d.vw", "--predictions", tmp_path / "p.csv")
    frame = pd.read_csv(tmp_path / "p.csv")
    assert frame["tag"].tolist() == ["labeled/1", "unlabeled/2", "labeled/3", "unlabeled/4"]
    assert frame["outcome"].isna().tolist() == [False, True, False, True]
