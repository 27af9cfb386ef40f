"""A model of the command takes raw rows in Python: they become what the rows of a file become."""

from __future__ import annotations

import copy
import csv
import json
import pickle
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import noregret as nr
from noregret.errors import BadLabel
from tests.app.run.commands import done
from tests.thorough import sized

ROWS = 60
WORDS = ["fine", "bad", "warm", "cold", "late", "early", "cheap", "dear"]
random = np.random.default_rng(3)


def remark(k: int) -> str:
    return " ".join(WORDS[(k * step + step) % 8] for step in (1, 3, 5, 7)) + f" {k}"


def table() -> list[dict[str, Any]]:
    """Return rows with numbers, gaps, names, dates, times, booleans and free text."""
    start = datetime(2024, 2, 27, 22, 30)
    return [
        {
            "size": None if k % 7 == 3 else round(float(random.normal(5, 2)), 3),
            "age": k % 11,
            "town": None if k % 13 == 5 else ["Oslo", "Rome", "Bonn"][k % 3],
            "open": k % 2 == 0,
            "day": (start + timedelta(days=9 * k)).date(),
            "at": start + timedelta(hours=7 * k),
            "remark": remark(k),
            "y": round(float(random.normal(3, 1)) + k % 3, 3),
        }
        for k in range(ROWS)
    ]


TABLE = table()


def written(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as CSV, Parquet or JSON lines."""
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        plain = [{name: value for name, value in row.items() if name not in DATES} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in plain))
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(rows[0])
            writer.writerows([written(value) for value in row.values()] for row in rows)
    return path


DATES = ("day", "at")


def model_of(folder: Path, suffix: str, *options: str, rows: list[dict[str, Any]] = TABLE) -> Path:
    data, model = write(folder / f"train.{suffix}", rows), folder / f"{suffix}.model"
    done("run", data, "--target", "y", "--model", model, "--quiet", "--no-hindsight", *options)
    return model


def predicted(model: Path, data: Path, folder: Path) -> list[str]:
    """Return the predictions of the command for a file."""
    out = folder / "predicted.csv"
    done("predict", model, data, "--predictions", out)
    with out.open() as file:
        return [row["prediction"] for row in csv.DictReader(file)]


def raw(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "y"}


FORMS = [
    ("--scale", "none"),
    ("--scale", "max"),
    ("--scale", "standard"),
    ("--scale", "unit", "--no-intercept"),
    ("--hash", "10"),
    ("--fourier", "20"),
    ("--drop", "remark", "--categories", "age"),
    ("--keep", "size", "--keep", "age", "--scale", "standard"),
]


CASES = [("csv", form) for form in FORMS]
CASES += [(suffix, form) for suffix in ("parquet", "jsonl") for form in FORMS[: sized(3, full=8)]]


@pytest.mark.parametrize(("suffix", "options"), CASES, ids=str)
def test_raw_dicts_are_predicted_as_the_rows_of_a_file(
    tmp_path: Path, suffix: str, options: tuple[str, ...]
) -> None:
    model = model_of(tmp_path, suffix, "--learner", "nlms", *options)
    learner, new = nr.load(model), TABLE[::3]
    rows = [row for row in TABLE if row["age"] != 4] if "--categories" in options else new
    told = predicted(model, write(tmp_path / f"new.{suffix}", rows), tmp_path)
    if suffix == "jsonl":
        rows = [{name: v for name, v in row.items() if name not in DATES} for row in rows]
    before = learner.get_state()
    found = [learner.predict_one(raw(row)) for row in rows]
    np.testing.assert_allclose(found, np.array(told, dtype=float), rtol=1e-9, atol=1e-12)
    assert learner.predict_many([raw(row) for row in rows]).tolist() == found
    if suffix != "jsonl":
        frame = pd.DataFrame([raw(row) for row in rows])
        np.testing.assert_allclose(learner.predict_many(frame), found, rtol=1e-9, atol=1e-12)
        arrow = pa.Table.from_pylist([raw(row) for row in rows])
        polars = pl.from_arrow(arrow)
        for other in (arrow, polars):
            np.testing.assert_allclose(learner.predict_many(other), found, rtol=1e-9, atol=1e-12)
    assert before[1] == learner.get_state()[1]
    assert [learner.predict_one(raw(row)) for row in rows] == found


def test_texts_of_a_csv_reader_are_read_as_the_file(tmp_path: Path) -> None:
    model = model_of(tmp_path, "csv", "--learner", "nlms")
    learner, data = nr.load(model), tmp_path / "train.csv"
    with data.open() as file:
        rows = [raw(row) for row in csv.DictReader(file)]
    told = np.array(predicted(model, data, tmp_path), dtype=float)
    np.testing.assert_allclose([learner.predict_one(row) for row in rows], told, rtol=1e-9)
    np.testing.assert_allclose(learner.predict_many(pd.DataFrame(rows)), told, rtol=1e-9)


def test_written_numbers_are_read_as_in_the_file(tmp_path: Path) -> None:
    data, model = tmp_path / "prices.csv", tmp_path / "model"
    lines = [f'"{k},{k + 100}.50",{k % 10}%,${k}' for k in range(1, 60)]
    data.write_text("price,share,y\n" + "\n".join(lines) + "\n")
    done("run", data, "--target", "y", "--model", model, "--quiet")
    told = np.array(predicted(model, data, tmp_path), dtype=float)
    learner = nr.load(model)
    rows = [{"price": f"{k},{k + 100}.50", "share": f"{k % 10}%"} for k in range(1, 60)]
    np.testing.assert_allclose([learner.predict_one(row) for row in rows], told, rtol=1e-9)
    numbers = [{"price": 1000 * k + k + 100.5, "share": k % 10 / 100} for k in range(1, 60)]
    np.testing.assert_allclose([learner.predict_one(row) for row in numbers], told, rtol=1e-9)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(["no", "yes"], str), ([1, 2], int), (["a", "b", "c"], str), (["x y", "z", "ü"], str)],
)
def test_predictions_have_the_names_of_the_file(
    tmp_path: Path, labels: list[Any], kind: type
) -> None:
    rows = [{**row, "y": labels[k % len(labels)]} for k, row in enumerate(TABLE)]
    model = model_of(tmp_path, "csv", rows=rows)
    told = predicted(model, tmp_path / "train.csv", tmp_path)
    learner = nr.load(model)
    found = [learner.predict_one(raw(row)) for row in rows]
    assert {type(each) for each in found} == {kind}
    assert list(map(str, found)) == told
    chances = learner.predict_proba_one(raw(rows[0]))
    assert set(chances) == set(labels)
    assert sum(chances.values()) == pytest.approx(1)
    learner.learn_one(raw(rows[0]), labels[-1])
    learner.learn_many([raw(row) for row in rows[:5]], [row["y"] for row in rows[:5]])
    if len(labels) == 2:
        with pytest.raises(BadLabel, match="labels are"):
            learner.learn_one(raw(rows[0]), "other")


@pytest.mark.parametrize("scale", ["none", "max", "standard"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_learning_goes_on_in_python_as_in_one_run(tmp_path: Path, suffix: str, scale: str) -> None:
    first, rest = TABLE[:40], TABLE[40:]
    told = ("--text", "remark", "--scale", scale, "--learner", "nlms")
    learner = nr.load(model_of(tmp_path, suffix, *told, rows=first))
    found = [learner.play_one(raw(row), row["y"]) for row in rest]
    whole = nr.load(model_of(tmp_path, suffix, *told))
    np.testing.assert_allclose(learner.weights, whole.weights, rtol=1e-9, atol=1e-12)
    assert learner.features == whole.features
    out = tmp_path / "all.csv"
    data = tmp_path / f"train.{suffix}"
    done("run", data, "--target", "y", "--predictions", out, "--quiet", *told)
    with out.open() as file:
        run = [float(row["prediction"]) for row in csv.DictReader(file)]
    np.testing.assert_allclose(found, run[40:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("options", [(), ("--scale", "standard"), ("--hash", "8")], ids=str)
def test_copies_and_files_prepare_the_same_rows(tmp_path: Path, options: tuple[str, ...]) -> None:
    learner = nr.load(model_of(tmp_path, "csv", *options))
    new = {**raw(TABLE[7]), "town": "Kiel", "remark": "never seen before this, all of it"}
    learner.learn_one(new, 2.0)
    learner.save(tmp_path / "again")
    others = [
        copy.deepcopy(learner),
        pickle.loads(pickle.dumps(learner)),
        nr.load(tmp_path / "again"),
    ]
    for row in [new, *map(raw, TABLE)]:
        expected = learner.predict_one(row)
        assert [other.predict_one(row) for other in others] == [expected] * 3
    for row in TABLE[:9]:
        for each in (learner, *others):
            each.learn_one(raw(row), row["y"])
    assert len({each.predict_one(new) for each in (learner, *others)}) == 1


def test_numbered_columns_have_the_intercept_and_the_scale_of_the_file(tmp_path: Path) -> None:
    X, y = random.normal(size=(50, 3)) * [1, 10, 100], random.normal(size=50)
    data, model = tmp_path / "data.npz", tmp_path / "model"
    np.savez(data, X=X, y=y)
    done("run", data, "--scale", "max", "--model", model, "--quiet", "--learner", "nlms")
    told = np.array(predicted(model, data, tmp_path), dtype=float)
    learner = nr.load(model)
    np.testing.assert_allclose([learner.predict_one(x) for x in X], told, rtol=1e-9)
    np.testing.assert_allclose(learner.predict_many(X), told, rtol=1e-9)


def test_bad_values_are_refused_by_name_and_change_nothing(tmp_path: Path) -> None:
    learner = nr.load(model_of(tmp_path, "csv"))
    before = learner.predict_one(raw(TABLE[0]))
    for bad, words in (
        ({"size": "many"}, "'size' is 'many'"),
        ({"size": float("inf")}, "'size'"),
        ({"day": "yesterday"}, "'day' is 'yesterday'"),
        ({"at": b"x"}, "'at'"),
    ):
        with pytest.raises(nr.BadExample, match=words):
            learner.predict_one({**raw(TABLE[0]), **bad})
        with pytest.raises(nr.BadExample, match=words):
            learner.learn_one({**raw(TABLE[0]), **bad}, 1.0)
    assert learner.predict_one(raw(TABLE[0])) == before


def test_predicting_keeps_no_names(tmp_path: Path) -> None:
    model = model_of(tmp_path, "csv", "--scale", "max")
    learner = nr.load(model)
    size = len(learner._entry.prepare.inner.vocabulary)
    for k in range(50):
        learner.predict_one({**raw(TABLE[0]), "town": f"town {k}"})
        learner.predict_many(pd.DataFrame([{**raw(TABLE[0]), "town": f"town {k}"}]))
    assert len(learner._entry.prepare.inner.vocabulary) == size


@pytest.mark.parametrize(
    "value", [{"size": 10**400}, {"size": [1]}, {"size": "x"}, {"at": b"x"}, {"day": [1]}]
)
def test_values_of_several_types_are_refused_in_words(value: Any, tmp_path: Path) -> None:
    data, model = tmp_path / "d.csv", tmp_path / "m"
    pd.DataFrame(TABLE).to_csv(data, index=False)
    done("run", data, "--target", "y", "--learner", "nlms", "--model", model, "--quiet")
    learner, good = nr.load(model), {k: v for k, v in TABLE[0].items() if k != "y"}
    with pytest.raises(nr.NoRegretError):
        learner.predict_one(good | value)
    with pytest.raises(nr.NoRegretError):
        learner.predict_many(pd.DataFrame([good, good | value]))
