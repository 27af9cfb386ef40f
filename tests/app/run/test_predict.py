"""``noregret predict``: new data are read as the model's own were, and nothing is learned."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret import streams
from tests.app.run import data
from tests.app.run.commands import COMMAND, command, done, process, refused, small_blocks
from tests.thorough import paired, sized

__all__ = ["small_blocks"]
pytestmark = pytest.mark.usefixtures("small_blocks")
SOLD = ["--target", "sold", "--drop", "late", "--learner", "widrow-hoff", "-p", "rate=0.1"]
LATE = ["--target", "late", "--positive", "yes", "--drop", "sold", "--learner", "logistic"]


def predicted(model: Path, *files: str | Path) -> pd.DataFrame:
    """Return what the command prints."""
    return pd.read_csv(io.StringIO(done("predict", model, *files)))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = data.csv(tmp_path / "old.csv", data.frame())
    done("run", file, *SOLD, "--scale", "standard", "--model", tmp_path / "m", "--quiet")
    return tmp_path / "m"


def test_predictions_are_those_of_python_and_nothing_is_learned(tmp_path: Path) -> None:
    table, old = data.frame(seed=1), data.csv(tmp_path / "old.csv", data.frame())
    new, place = data.csv(tmp_path / "new.csv", table), tmp_path / "m"
    done("run", old, *SOLD, "--model", place, "--quiet")
    before = place.read_bytes()
    learner = noregret.load(place)
    rows = table[["sun", "city", "wind"]].assign(intercept=1.0).to_dict("records")
    expected = [learner.predict_one(row) for row in rows]
    found = predicted(place, new)
    assert list(found.columns) == ["row", "prediction"]
    assert found["row"].tolist() == list(range(1, len(table) + 1))
    np.testing.assert_allclose(found["prediction"], expected, rtol=1e-13, atol=1e-13)
    assert place.read_bytes() == before


@pytest.mark.parametrize(("kind", "scale"), paired(data.TABLES, ["max", "standard", "unit"]))
def test_scaling_is_frozen(scale: str, kind: str, tmp_path: Path) -> None:
    old = data.TABLES[kind](tmp_path / f"old.{kind}", data.frame())
    done("run", old, *SOLD, "--scale", scale, "--model", tmp_path / "m", "--quiet")
    table = data.frame(seed=1) * {"sun": 9, "wind": 9, "city": 1, "sold": 1, "late": 1}
    new = data.TABLES[kind](tmp_path / f"new.{kind}", table)
    whole = predicted(tmp_path / "m", new)["prediction"]
    alone = data.TABLES[kind](tmp_path / f"alone.{kind}", table[400:401])
    assert predicted(tmp_path / "m", alone)["prediction"][0] == whole[400]


def test_columns_in_any_order_more_of_them_and_no_target(model: Path, tmp_path: Path) -> None:
    table = data.frame(seed=1)
    expected = predicted(model, data.csv(tmp_path / "a.csv", table))
    others = {
        "b.csv": table[["wind", "sold", "sun", "late", "city"]],
        "c.csv": table[["wind", "sun", "city"]],
        "d.csv": table.assign(extra="x", more=1.5)[["more", "city", "extra", "wind", "sun"]],
    }
    for name, other in others.items():
        pd.testing.assert_frame_equal(predicted(model, data.csv(tmp_path / name, other)), expected)
    for kind, write in data.TABLES.items():
        file = write(tmp_path / f"e.{kind}", others["b.csv"])
        pd.testing.assert_frame_equal(predicted(model, file), expected)


def test_missing_columns_are_named(model: Path, tmp_path: Path) -> None:
    file = data.csv(tmp_path / "a.csv", data.frame().drop(columns="wind"))
    assert "'wind': its values count as missing" in command("predict", model, file).err
    assert "'wind'" in refused("predict", model, file, "--missing", "stop")


def test_unseen_categories_and_features_say_nothing(model: Path, tmp_path: Path) -> None:
    table = data.frame(8).assign(city="Atlantis")
    found = predicted(model, data.csv(tmp_path / "a.csv", table))["prediction"]
    learner = noregret.load(model)
    assert np.isfinite(found).all()
    assert "city=Atlantis" not in learner.features
    old, new = data.vw(tmp_path / "old.vw"), tmp_path / "new.vw"
    done("run", old, "--learner", "logistic", "--model", tmp_path / "v", "--quiet")
    new.write_text("|words w1:1 w2:2\n|words w1:1 never:5 w2:2 |other seen:9\n", encoding="utf-8")
    first, second = predicted(tmp_path / "v", new)["probability"]
    assert first == second


def test_missing_cells_go_as_when_it_learned(tmp_path: Path) -> None:
    table = data.frame()
    table.loc[::5, "wind"] = None
    old = data.csv(tmp_path / "old.csv", table)
    done("run", old, *SOLD, "--missing", "indicator", "--model", tmp_path / "m", "--quiet")
    file = data.csv(tmp_path / "new.csv", table[:10])
    learner = noregret.load(tmp_path / "m")
    row = {"sun": table["sun"][0], "city": table["city"][0]}
    expected = learner.predict_one(row)
    assert predicted(tmp_path / "m", file)["prediction"][0] == pytest.approx(expected, rel=1e-13)
    told = predicted(tmp_path / "m", file, "--missing", "zero")
    assert told["prediction"][0] == pytest.approx(
        learner.predict_one(row | {"wind": 0.0}), rel=1e-13
    )
    ended = command("predict", tmp_path / "m", file, "--missing", "stop", "--on-error", "skip")
    assert ended.code == 0
    assert ended.err.count("skipped: ") == 2
    assert "line 2" in ended.err
    assert pd.read_csv(io.StringIO(ended.out))["row"].tolist() == [2, 3, 4, 5, 7, 8, 9, 10]
    assert "line 2" in refused("predict", tmp_path / "m", file, "--missing", "stop")


def test_labels_scores_probabilities_and_hashing(tmp_path: Path) -> None:
    old = data.csv(tmp_path / "old.csv", data.frame())
    new = data.csv(tmp_path / "new.csv", data.frame(50, seed=1))
    for learner, extra in (("logistic", "probability"), ("perceptron", "score")):
        options = [*LATE[:-1], learner, "--hash", "4"]
        done("run", old, *options, "--model", tmp_path / "m", "--quiet")
        found = predicted(tmp_path / "m", new)
        assert list(found.columns) == ["row", "prediction", extra]
        sign = found[extra] - (0.5 if extra == "probability" else 0)
        assert (np.where(sign > 0, "yes", "not yes") == found["prediction"]).all()


def test_every_format_scores_what_python_scores(tmp_path: Path) -> None:
    table = data.numbers()
    made: dict[str, tuple[Path, list[Any]]] = {
        "svm": (data.svmlight(tmp_path / "d.svm"), ["--learner", "widrow-hoff"]),
        "vw": (data.vw(tmp_path / "d.vw"), ["--learner", "logistic"]),
        "npz": (data.npz(tmp_path / "d.npz", table), ["--learner", "widrow-hoff"]),
        "tsv": (tmp_path / "d.tsv", ["--target", "y", "--drop", "label", "--learner", "nlms"]),
    }
    table.to_csv(made["tsv"][0], sep="\t", index=False)
    for file, options in made.values():
        done("run", file, *options, "-p", "rate=0.01", "--model", tmp_path / "m", "--quiet")
        learner = noregret.load(tmp_path / "m")
        target = {"target": "y", "drop": "label"} if file.suffix == ".tsv" else {}
        stream = streams.read(file, intercept=True, **target)
        pairs = [x for x, _ in stream]
        if learner._entry.known.names:
            expected = [learner.decision_one(x) for x in pairs]
        else:
            width = len(learner.features)
            rows = [[x.get(str(k), 0.0) for k in range(width - 1)] for x in pairs]
            expected = [learner.decision_one(np.array(row)) for row in rows]
        found = predicted(tmp_path / "m", file)
        scores = found["prediction"]
        if "probability" in found:
            scores = np.log(found["probability"] / (1 - found["probability"]))
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


def test_tags_come_through_whether_or_not_the_first_rows_have_any(tmp_path: Path) -> None:
    file = data.vw(tmp_path / "d.vw")
    options = ["--learner", "logistic", "--predictions", tmp_path / "p.csv"]
    done("run", file, *options, "--model", tmp_path / "m", "--quiet")
    learned = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    for name in ("q.csv", "q.parquet"):
        done("predict", tmp_path / "m", file, "--predictions", tmp_path / name)
    found = pd.read_csv(tmp_path / "q.csv", keep_default_na=False)
    assert found["tag"].tolist() == learned["tag"].tolist()
    assert found["tag"].iloc[[0, -1]].tolist() == ["", f"row{data.ROWS - 1}"]
    assert pd.read_parquet(tmp_path / "q.parquet")["tag"].tolist() == found["tag"].tolist()


def test_a_model_from_python_without_a_stream(tmp_path: Path) -> None:
    table = data.frame()
    learner = noregret.WidrowHoff(rate=0.1)
    learner.learn_many(table[["sun", "city", "wind"]], table["sold"])
    learner.save(tmp_path / "m")
    found = predicted(tmp_path / "m", data.csv(tmp_path / "d.csv", table))["prediction"]
    expected = learner.predict_many(table[["sun", "city", "wind"]])
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    by_number = noregret.WidrowHoff(rate=0.1)
    by_number.learn_many(data.numbers()[["x0", "x1"]].to_numpy(), data.numbers()["y"])
    by_number.save(tmp_path / "n")
    said = refused("predict", tmp_path / "n", tmp_path / "d.csv")
    assert "knows its features by number" in said


def test_files_that_are_no_models_and_no_data(model: Path, tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.frame())
    assert "not a noregret model" in refused("predict", file, file)
    assert "nowhere" in refused("predict", tmp_path / "nowhere", file)
    assert "nowhere" in refused("predict", model, tmp_path / "nowhere.csv")
    (tmp_path / "e.csv").write_text("sun,city,wind\n", encoding="utf-8")
    assert "no examples" in refused("predict", model, tmp_path / "e.csv")


def test_wrong_usage(model: Path, tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.frame())
    assert "--on-error" in refused("predict", model, file, "--on-error", "cry", code=2)
    assert "missing" in refused("predict", model, file, "--missing", "cry", code=2)
    refused("predict", model, code=2)


def test_what_is_read_is_not_overwritten(model: Path, tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.frame())
    before = file.read_bytes()
    assert "already taken" in refused("predict", model, file, "--predictions", file, code=2)
    assert file.read_bytes() == before
    moved = model.rename(tmp_path / "m.csv")
    assert "already taken" in refused("predict", moved, file, "--predictions", moved, code=2)
    odd = ["--predictions", tmp_path / "x"]
    assert ".csv or a .parquet" in refused("predict", moved, file, *odd, code=2)


def test_a_bad_row_stops_it_and_nothing_is_written(model: Path, tmp_path: Path) -> None:
    file, place = data.csv(tmp_path / "d.csv", data.frame()), tmp_path / "p.csv"
    with file.open("a", encoding="utf-8") as more:
        more.write("0.5,Rome\n")
    place.write_text("what was there", encoding="utf-8")
    assert "d.csv, line 602" in refused("predict", model, file, "--predictions", place)
    assert place.read_text(encoding="utf-8") == "what was there"
    done("predict", model, file, "--predictions", place, "--on-error", "skip")
    assert len(place.read_text(encoding="utf-8").splitlines()) == data.ROWS + 1


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers(sized(5_000, full=40_000)))
    options = [
        "--target",
        "y",
        "--drop",
        "label",
        "--learner",
        "nlms",
        "--model",
        tmp_path / "m",
        "--quiet",
    ]
    done("run", file, *options)
    arguments = [*COMMAND, "predict", str(tmp_path / "m"), str(file)]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stdout.readline() == b"row,prediction\n"
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    assert child.wait(60) == 0
    assert said == b""
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 1
    assert ended.stderr.count(b"\n") == 1
    assert b"No space left" in ended.stderr


def test_standard_input_is_read_as_the_model_s_own_data(model: Path, tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.frame(seed=1))
    ended = process("predict", model, "-", stdin=file.read_bytes())
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.decode() == done("predict", model, file)


def test_no_option_is_advised_that_the_command_lacks(tmp_path: Path) -> None:
    learned, new = tmp_path / "d.csv", tmp_path / "new.csv"
    learned.write_text("a,y\n" + "1,2\n3,4\n" * 20, encoding="utf-8")
    new.write_text("a\n1\nmuch\n", encoding="utf-8")
    done("run", learned, "--target", "y", "--model", tmp_path / "m")
    for more in ([], ["--on-error", "skip"]):
        said = command("predict", tmp_path / "m", new, *more).err
        assert "'much' is not a number" in said
        assert "--categories" not in said
    learned.write_text("a,y\n" + "1,2\n3,4\n" * 20 + "much,3\n", encoding="utf-8")
    assert "(--categories a)" in refused("run", learned, "--target", "y")


@pytest.mark.parametrize(
    ("trained", "options"), [("book.xlsx", ["--sheet", "B"]), ("semi.csv", ["--delimiter", ";"])]
)
def test_how_the_models_file_was_written_does_not_apply_to_other_formats(
    tmp_path: Path, trained: str, options: list[str]
) -> None:
    frame = pd.DataFrame({"x": np.arange(30.0) % 7, "y": np.arange(30.0) % 7 * 2 + 1})
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        frame.head(2).to_excel(book, sheet_name="A", index=False)
        frame.to_excel(book, sheet_name="B", index=False)
    frame.to_csv(tmp_path / "semi.csv", sep=";", index=False)
    frame.to_parquet(tmp_path / "data.parquet")
    frame.to_json(tmp_path / "data.jsonl", orient="records", lines=True)
    model = tmp_path / "m.model"
    done("run", tmp_path / trained, *options, "--target", "y", "--model", model, "-q")
    expected = done("predict", model, tmp_path / trained)
    assert len(expected.splitlines()) == 31
    for other in ("data.parquet", "data.jsonl"):
        assert done("predict", model, tmp_path / other) == expected
