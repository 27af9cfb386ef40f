"""Random Fourier features: nearly the kernel, and the same whatever the examples come as."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

import noregret as nr
from noregret.streams import read
from tests.app.run.commands import done, refused, small_blocks
from tests.app.run.test_interrupted import stopped
from tests.thorough import few
from tests.variants import Floats

__all__ = ["small_blocks"]
NAMES = ["a", "b", "c", "d"]


def rows(seed: int = 0, count: int = 40) -> Floats:
    rng = np.random.default_rng(seed)
    X: Floats = rng.normal(size=(count, 4)) * (rng.random((count, 4)) < 0.7)
    return X


def kernel(X: Floats, width: float) -> Floats:
    apart = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    return np.asarray(np.exp(-apart / (2 * width**2)))


def numbers_of(features: Any) -> Floats:
    if isinstance(features, list):
        return np.array([[row[name] for name in sorted(row)] for row in features])
    return np.asarray(features)


@few(seed=st.integers(0, 10**6), width=st.sampled_from([0.3, 1.0, 20.0]))
def test_products_are_nearly_the_kernel_and_norms_are_one(seed: int, width: float) -> None:
    X = rows(seed)
    Z = nr.fourier(X, count=2000, width=width, seed=seed)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, rtol=1e-14)
    # The mean of 1000 cosines: six deviations, of 1/√2000 each at most.
    np.testing.assert_allclose(Z @ Z.T, kernel(X, width), atol=6 / np.sqrt(2000))


def test_the_error_shrinks_like_one_over_the_root_of_the_count() -> None:
    X, width = rows(1), 1.0
    errors = {
        count: np.sqrt(
            np.mean(
                [
                    (
                        nr.fourier(X, count, width, seed) @ nr.fourier(X, count, width, seed).T
                        - kernel(X, width)
                    )
                    ** 2
                    for seed in range(12)
                ]
            )
        )
        for count in (20, 320)
    }
    assert errors[20] / errors[320] == pytest.approx(4.0, rel=0.25)
    mean = np.mean(
        [nr.fourier(X, 20, width, s) @ nr.fourier(X, 20, width, s).T for s in range(400)], axis=0
    )
    np.testing.assert_allclose(mean, kernel(X, width), atol=6 / np.sqrt(20 * 400))


def test_every_kind_of_example_has_the_same_features() -> None:
    X, fourier = rows(2), nr.Fourier(count=30, width=0.7, seed=5)
    expected = fourier.transform(X).tobytes()
    positions = [str(i) for i in range(4)]
    dicts = [dict(zip(positions, row, strict=True)) for row in X.tolist()]
    kinds = {
        "list": X.tolist(),
        "Fortran": np.asfortranarray(X),
        "CSR": sp.csr_array(X),
        "COO": sp.coo_matrix(X),
        "dicts": dicts,
        "dicts in another order": [dict(reversed(row.items())) for row in dicts],
        "dicts without zeros": [{k: v for k, v in row.items() if v != 0} for row in dicts],
        "pandas": pd.DataFrame(X, columns=positions),
        "polars": pl.DataFrame(X, schema=positions),
    }
    for kind, given_rows in kinds.items():
        assert numbers_of(fourier.transform(given_rows)).tobytes() == expected, kind
    one_by_one = [fourier.transform(x) for x in X]
    assert np.array(one_by_one).tobytes() == expected
    assert [fourier.transform(x) for x in dicts] == fourier.transform(dicts)
    pairs = list(fourier.transform(iter(zip(X, range(40), strict=True))))
    assert np.array([z for z, _ in pairs]).tobytes() == expected
    assert [y for _, y in pairs] == list(range(40))
    assert isinstance(fourier.transform(kinds["polars"]), pl.DataFrame)
    assert fourier.transform(kinds["pandas"]).index.equals(kinds["pandas"].index)


def test_a_feature_has_its_frequencies_whoever_is_there_with_it() -> None:
    fourier = nr.Fourier(count=30)
    alone = fourier.transform({"b": 0.5})
    assert fourier.transform({"b": 0.5, "late": 0.0, "a": 0.0}) == alone
    assert nr.Fourier(count=30).transform({"b": 0.5}) == alone
    assert nr.Fourier(count=30, seed=1).transform({"b": 0.5}) != alone
    assert fourier.transform({"a": 0.5}) != alone
    assert fourier.transform({"town": "Rome"}) == fourier.transform({"town=Rome": 1.0})
    assert list(alone) == sorted(alone) == fourier.names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3", "even"),
        ("0", "count must be"),
        ("100:width=-1", "width must be"),
        ("100:seed=-1", "seed must be"),
        ("100:height=2", "is written as"),
        ("many", "is written as"),
        ("100:width", "is written as"),
        ("200000", "at most 100,000"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        nr.Fourier.of(text)
    with pytest.raises(ValueError, match=said):
        nr.streams.Options(fourier=text)


@pytest.mark.parametrize(
    "text", ["300:width=1:seed=0", "20:width=0.1:seed=7", "2:width=1e-05:seed=1"]
)
def test_it_is_written_as_it_is_read(text: str) -> None:
    assert str(nr.Fourier.of(text)) == text


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_numbers_that_are_none_are_refused(bad: float) -> None:
    X = rows()
    X[7, 2] = bad
    for kind in (X, sp.csr_array(X), [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]):
        with pytest.raises(nr.BadExample, match="finite"):
            nr.fourier(kind)


# Streams.


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    frame = pd.DataFrame(rows(3, 300), columns=NAMES)
    frame["town"] = ["Rome", "Oslo", "Bonn"] * 100
    frame["y"] = np.sign(frame["a"] * frame["b"] + 0.1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    lines = (json.dumps(row) for row in frame.to_dict("records"))
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n")
    return frame


@pytest.mark.parametrize("scale", ["none", "max", "standard", "unit"])
@pytest.mark.parametrize("intercept", [False, True])
def test_files_of_every_format_give_the_same(
    table: pd.DataFrame, tmp_path: Path, scale: str, intercept: bool
) -> None:
    found = []
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        stream = read(tmp_path / name, "y", fourier="30:width=2", intercept=intercept, scale=scale)
        assert stream.transforms[-1] == "fourier=30:width=2:seed=0"
        learner = nr.Perceptron()
        game = nr.play(learner, stream, progress=False)
        found.append((learner.weights.tobytes(), learner.features, game.digest))
    assert found[0] == found[1] == found[2]
    assert ("intercept" in found[0][1]) == intercept


def test_a_stream_is_what_python_makes_of_the_table(table: pd.DataFrame, tmp_path: Path) -> None:
    from_file, from_table, lifted = nr.Hinge(), nr.Hinge(), nr.Hinge()
    nr.play(from_file, read(tmp_path / "t.csv", "y", fourier="30:width=2:seed=3"), progress=False)
    from_table.learn_many(nr.fourier(table.drop(columns="y"), 30, 2.0, 3), table["y"])
    nr.play(lifted, nr.fourier(read(tmp_path / "t.csv", "y"), 30, 2.0, 3), progress=False)
    assert from_table.features == from_file.features
    np.testing.assert_allclose(from_table.weights, from_file.weights, rtol=1e-9, atol=1e-12)
    assert lifted.weights.tobytes() == from_file.weights.tobytes()


def test_columns_without_names_are_known_by_their_place(tmp_path: Path) -> None:
    X, y = rows(4), np.sign(rows(4)[:, 0] + 0.1)
    np.savez(tmp_path / "t.npz", X=X, y=y)
    from_file, from_array = nr.Hinge(), nr.Hinge()
    nr.play(from_file, read(tmp_path / "t.npz", fourier=20), progress=False)
    from_array.learn_many(nr.fourier(X, 20), y)
    assert from_file.weights.tobytes() == from_array.weights.tobytes()


def test_a_run_is_verified_and_its_model_predicts(table: pd.DataFrame, tmp_path: Path) -> None:
    data, model, paper = tmp_path / "t.csv", tmp_path / "model", tmp_path / "paper.json"
    drawn = ["--fourier", 40, "--width", 0.8, "--fourier-seed", 9, "--scale", "standard"]
    asked = ["--target", "y", "--learner", "perceptron", *drawn, "-q"]
    done("run", data, *asked, "--model", model, "--certificate", paper)
    transforms = json.loads(paper.read_text())["data"]["transforms"]
    assert transforms[1:] == ["intercept", "scale=standard", "fourier=40:width=0.8:seed=9"]
    assert transforms[0] == "missing=indicator"
    assert "CONFIRMED" in done("verify", paper, data)
    table.drop(columns="y")[::-1].to_csv(tmp_path / "new.csv", index=False)
    said = done("predict", model, tmp_path / "new.csv").splitlines()
    scores = [float(line.split(",")[2]) for line in said[1:]]
    expected = nr.load(model).decision_many(table.drop(columns="y")[::-1])
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_a_certificate_names_all_that_was_detected(tmp_path: Path) -> None:
    data, paper = tmp_path / "t.csv", tmp_path / "paper.json"
    lines = (
        f"2024-01-{k:02d};{k},5;the caf\xe9 number {k} was not so good this time;{k}\n"
        for k in range(10, 30)
    )
    data.write_bytes(("day;size;review;y\n" + "".join(lines)).encode("latin-1"))
    said = []
    for drawn in ([], ["--fourier", 8]):
        done("run", data, "--target", "y", *drawn, "-q", "--certificate", paper)
        assert "CONFIRMED" in done("verify", paper, data)
        said.append(json.loads(paper.read_text())["data"]["transforms"])
    plain, lifted = said
    assert {"text=review", "time=day", "delimiter=;", "decimal-commas=size"} <= set(plain)
    assert sorted([*plain, "fourier=8:width=1:seed=0"]) == sorted(lifted)


def state_of(reading: Any) -> Any:
    arrays, numbers = reading.state()
    return arrays, numbers | {"mark": None}


def frame_of(block: Any, reading: Any) -> pd.DataFrame:
    return pd.DataFrame(block.X, columns=reading.names(0, reading.features))


@pytest.mark.usefixtures("small_blocks")
def test_a_run_goes_on_from_a_checkpoint_to_the_bit(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, half, kept = tmp_path / "whole", tmp_path / "half", tmp_path / "kept"
    asked = ["--target", "y", "--learner", "hinge", "--fourier", "20", "--scale", "max", "-q"]
    arguments = ["run", tmp_path / "t.csv", *asked]
    done(*arguments, "--model", whole)
    with_it = [*arguments, "--model", half, "--checkpoint", kept]
    assert stopped(monkeypatch, 2, signal.SIGINT, *with_it).code == 130
    done(*arguments, "--model", half, "--resume", kept)
    assert nr.load(whole).rounds == nr.load(half).rounds == 300
    assert nr.load(whole).weights.tobytes() == nr.load(half).weights.tobytes()


def test_rows_that_cannot_be_used_are_told_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,b,y\n1,2,1\n1,inf,-1\n2,1,1\n1e200,1,1\n0,1,-1\n")
    with pytest.raises(nr.BadExample, match=r"line 3.*'b' is inf"):
        nr.play(nr.Perceptron(), read(file, "y", fourier=4), progress=False)
    game = nr.play(nr.Perceptron(), read(file, "y", fourier=4, on_error="skip"), progress=False)
    assert game.rounds == 3
    assert [row.place.rpartition(" ")[2] for row in game.skipped] == ["3", "5"]


def test_options_without_a_count_are_wrong_usage() -> None:
    assert "--fourier" in refused("run", "x.csv", "--width", "2", code=2)
