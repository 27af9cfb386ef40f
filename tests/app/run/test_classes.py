"""Targets that are classes: found out, predicted by name, verified, resumed, and bounded."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret.app.commands.run.measuring import (
    MAX_CONFUSED,
    SIDE,
    ClassMeasures,
    LabelMeasures,
    bins_of,
)
from noregret.app.commands.run.runner import Run
from noregret.limits import MAX_CLASSES
from noregret.streams import stream_of
from noregret.streams.options import Options
from tests.app.run.commands import command, done, refused, small_blocks
from tests.app.run.test_interrupted import stopped

__all__ = ["small_blocks"]
pytestmark = pytest.mark.usefixtures("small_blocks")
COLOURS = np.array(["red", "green", "blue"])


def frame(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Return two numbers, and a colour that depends on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2)) * [1.0, 300.0]
    cut = np.searchsorted([-0.5, 0.5], X[:, 0] + X[:, 1] / 600)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "colour": COLOURS[cut]})


def told(*arguments: object) -> dict[str, Any]:
    """Return the JSON of a run."""
    found: dict[str, Any] = json.loads(done("run", *arguments, "--json"))
    return found


def written(path: Path, table: pd.DataFrame) -> Path:
    """Write a table in the format of a file name."""
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("name", ["d.csv", "d.parquet", "d.jsonl"])
def test_several_classes_are_found_predicted_by_name_and_verified(
    name: str, tmp_path: Path
) -> None:
    file, table = written(tmp_path / name, frame()), frame()
    outputs = ["--predictions", tmp_path / "p.csv", "--model", tmp_path / "m"]
    outputs += ["--certificate", tmp_path / "c.json"]
    found = told(file, "--target", "colour", *outputs)
    assert found["learner"]["name"] == "auto-classes"
    assert found["loss"]["chosen"]["outcomes"] == "several classes"
    assert not any("scale" in each for each in found["data"]["transforms"])
    assert found["certificate"]["theorem"]["name"] == "auto-classes"
    rows = pd.read_csv(tmp_path / "p.csv")
    assert list(rows.columns) == ["row", "prediction", "outcome", "probability"]
    assert rows["outcome"].tolist() == table["colour"].tolist()
    assert rows["prediction"].isna().tolist() == [True] + [False] * 399
    right = rows["prediction"] == rows["outcome"]
    measures = found["measures"]
    assert measures["accuracy"] == right.mean() > 0.75
    assert found["loss"]["mistakes"] == (~right).sum()
    for k, each in enumerate(measures["recall"]):
        own = table["colour"] == each["class"]
        assert (each["rows"], each["right"]) == (own.sum(), (own & right).sum())
        predicted = [r["class"] for r in measures["recall"]]
        counts = [(own & (rows["prediction"] == other)).sum() for other in predicted]
        assert measures["confusion"][k] == counts
    assert found["baselines"]["constant"]["accuracy"] == table["colour"].value_counts().max() / 400
    repeated = (table["colour"].shift() == table["colour"])[1:].mean()
    assert found["baselines"]["previous"]["accuracy"] == pytest.approx(repeated)
    shares = table["colour"].value_counts(normalize=True)
    entropy = -(shares * np.log(shares)).sum()
    assert found["baselines"]["constant"]["log_loss"] == pytest.approx(entropy)
    assert measures["log_loss"] == pytest.approx(found["loss"]["total"] / 400)
    assert "CONFIRMED" in done("verify", tmp_path / "c.json", file)
    table["colour"] = table["colour"].replace("red", "violet")
    other = written(tmp_path / f"other.{name[2:]}", table)
    assert command("verify", tmp_path / "c.json", other).code == 1
    new = written(tmp_path / f"new.{name[2:]}", frame(50, seed=1).drop(columns="colour"))
    done("predict", tmp_path / "m", new, "--predictions", tmp_path / "q.csv")
    new_rows = pd.read_csv(tmp_path / "q.csv")
    assert (new_rows["prediction"] == frame(50, seed=1)["colour"]).mean() > 0.75
    assert new_rows["probability"].between(1 / 3, 1).all()


def test_probabilities_are_those_of_the_class_that_was_predicted(tmp_path: Path) -> None:
    table = frame(120)
    file = written(tmp_path / "d.csv", table)
    options = [
        "--target",
        "colour",
        "--learner",
        "softmax",
        "-p",
        "step=implicit",
        "--no-intercept",
    ]
    done("run", file, *options, "--predictions", tmp_path / "p.csv", "--quiet")
    rows = pd.read_csv(tmp_path / "p.csv")
    learner = noregret.make("softmax", step="implicit")
    for k, (a, b, colour) in enumerate(table.itertuples(index=False)):
        x = {"a": a, "b": b}
        if k:
            chances = learner.predict_proba_one(x)
            assert rows["prediction"][k] == learner.predict_one(x)
            assert rows["probability"][k] == pytest.approx(max(chances.values()), rel=1e-12)
        learner.learn_one(x, colour)


def test_progress_has_the_accuracy_of_the_summary(tmp_path: Path) -> None:
    """A class is not known before its first row, which counts as a mistake there and here."""
    file, said = written(tmp_path / "d.csv", frame()), list[str]()
    stream = stream_of([str(file)], Options(target="colour"))
    work = Run(stream, noregret.AutoClasses(), told=lambda run: said.append(run.standing))
    result = work.go()
    assert result.measures.accuracy is not None
    loss = f"log loss {result.total / 400:.3g}"
    assert said[-1] == f"accuracy {result.measures.accuracy:.1%}, {loss}"


def test_booleans_are_written_as_they_are_predicted(tmp_path: Path) -> None:
    table = frame()
    table["red"] = table.pop("colour") == "red"
    file = written(tmp_path / "d.csv", table)
    summary = done("run", file, "--target", "red", "--predictions", tmp_path / "p.csv")
    assert "true" in (tmp_path / "p.csv").read_text()
    assert re.search("recall .* of (true|false)", summary)
    counts = re.findall(r"^  (false|true) +(\d+) +(\d+)", summary, re.MULTILINE)
    assert [name for name, *_ in counts] == ["false", "true"]  # the confusion matrix
    assert sum(int(n) for _, *row in counts for n in row) == len(table)
    assert "True" not in summary


def test_two_classes_keep_their_names(tmp_path: Path) -> None:
    table = frame()
    table["colour"] = table["colour"].replace("blue", "green")
    file = written(tmp_path / "d.csv", table)
    outputs = ["--predictions", tmp_path / "p.csv", "--model", tmp_path / "m"]
    found = told(file, "--target", "colour", *outputs, "--certificate", tmp_path / "c.json")
    assert found["learner"]["name"] == "auto"
    assert "probabilities are those of 'red'" in found["loss"]["chosen"]["words"]  # the rarer one
    rows = pd.read_csv(tmp_path / "p.csv")
    assert rows["outcome"].tolist() == table["colour"].tolist()
    assert ((rows["probability"] > 0.5) == (rows["prediction"] == "red")).all()
    assert found["measures"]["recall"][1]["class"] == "red"
    y = rows["outcome"] == "red"
    above = rows["probability"][y].to_numpy()[:, None] - rows["probability"][~y].to_numpy()
    auc = np.mean((above > 0) + 0.5 * (above == 0))
    doubt = found["measures"]["auc_doubt"]
    assert abs(found["measures"]["auc"] - auc) <= doubt + 1e-12
    assert doubt < 0.01
    assert "CONFIRMED" in done("verify", tmp_path / "c.json", file)
    assert '"green"' in done("predict", tmp_path / "m", file)


@pytest.mark.parametrize("pair", [(1, 2), (0, 1), (-1, 1), (0.5, 7), (True, False)])
def test_two_numbers_are_two_classes_as_they_are_written(pair: Any, tmp_path: Path) -> None:
    table = frame(60)
    table["colour"] = np.where(table["a"] > 0, *pair)
    file = written(tmp_path / "d.csv", table)
    found = told(file, "--target", "colour", "--predictions", tmp_path / "p.csv")
    assert found["loss"]["chosen"]["outcomes"] == "two classes"
    rows = pd.read_csv(tmp_path / "p.csv")
    assert set(rows["prediction"]) == set(pair)
    assert rows["outcome"].astype(float).tolist() == table["colour"].astype(float).tolist()


def test_a_third_class_after_two_is_refused_with_the_cures(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": np.arange(3000) % 7, "y": ["no", "yes"] * 1500})
    table.loc[2500, "y"] = "maybe"
    file = written(tmp_path / "d.csv", table)
    said = refused("run", file, "--target", "y")
    assert "line 2502: the outcome is 'maybe': there are two classes, 'no' and 'yes'" in said
    assert "--learner auto-classes" in said
    assert "--positive yes takes all others as one class" in said
    assert told(file, "--target", "y", "--on-error", "skip")["data"]["skipped"]["count"] == 1
    assert told(file, "--target", "y", "--learner", "softmax")["data"]["rows"] == 3000
    assert told(file, "--target", "y", "--positive", "yes")["data"]["rows"] == 3000
    numbers = written(tmp_path / "n.csv", table.replace({"no": 3, "yes": 5, "maybe": 4}))
    assert "begin with --task numbers" in refused("run", numbers, "--target", "y")


def test_classes_may_come_late_and_vanish(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": np.ones(3000), "y": ["x"] * 1000 + ["y"] * 1000 + ["z"] * 1000})
    file = written(tmp_path / "d.csv", table)
    found = told(file, "--target", "y")
    assert [each["rows"] for each in found["measures"]["recall"]] == [1000, 1000, 1000]
    assert found["measures"]["accuracy"] > 0.9  # the intercept follows


def test_one_class_is_told_as_one(tmp_path: Path) -> None:
    file = written(tmp_path / "d.csv", pd.DataFrame({"a": range(9), "y": ["no"] * 9}))
    assert "1 class " in done("run", file, "--target", "y", "--no-hindsight")


def test_whole_numbers_become_classes_if_so_told(tmp_path: Path) -> None:
    table = frame()
    table["colour"] = table["colour"].map({"red": 3, "green": 1, "blue": 7})
    file = written(tmp_path / "d.csv", table)
    assert told(file, "--target", "colour")["loss"]["name"] == "square"
    found = told(
        file, "--target", "colour", "--task", "classes", "--predictions", tmp_path / "p.csv"
    )
    assert {each["class"] for each in found["measures"]["recall"]} == {"1", "3", "7"}
    assert pd.read_csv(tmp_path / "p.csv")["outcome"].tolist() == table["colour"].tolist()
    lines = [f"{y} 1:{a} 2:{b}" for a, b, y in table.itertuples(index=False)]
    (tmp_path / "d.svm").write_text("\n".join(lines) + "\n", "utf-8")
    sparse = told(tmp_path / "d.svm", "--task", "classes", "--certificate", tmp_path / "c.json")
    assert {each["class"] for each in sparse["measures"]["recall"]} == {"1", "3", "7"}
    assert "CONFIRMED" in done("verify", tmp_path / "c.json", tmp_path / "d.svm")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--task", "colours"], "--task"),
        (["--task", "numbers", "--positive", "red"], "--positive names a class"),
        (["--task", "numbers", "--learner", "logistic"], "logistic predicts classes"),
        (["--task", "classes", "--learner", "nlms"], "nlms predicts numbers"),
        (["--positive", "red", "--learner", "softmax"], "leave --positive out"),
    ],
)
def test_a_task_that_does_not_fit_is_wrong_usage(
    options: list[str], said: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "d.csv", frame(20))
    assert said in refused("run", file, "--target", "colour", *options, code=2)


@pytest.mark.parametrize("learner", ["logistic", "perceptron", "arow"])
def test_learners_of_two_classes_find_them_too(learner: str, tmp_path: Path) -> None:
    file = written(tmp_path / "d.csv", frame(100))
    said = refused("run", file, "--target", "colour", "--learner", learner)
    assert "this learner is for two classes, and there are 3" in said
    table = frame(100)
    two = written(tmp_path / "two.csv", table[table["colour"] != "blue"])
    options = ["--target", "colour", "--learner", learner, "--scale", "standard"]
    found = told(two, *options, "--predictions", tmp_path / "p.csv")
    assert found["measures"]["accuracy"] > 0.5
    assert set(pd.read_csv(tmp_path / "p.csv")["prediction"]) <= {"red", "green"}


def test_a_class_per_row_stops_early(tmp_path: Path) -> None:
    rows = "".join(f"1,name{k}\n" for k in range(MAX_CLASSES + 200))
    (tmp_path / "d.csv").write_text(f"a,y\n{rows}", "utf-8")
    said = refused("run", tmp_path / "d.csv", "--target", "y")
    assert "the target 'y' has" in said
    assert "so these are hardly classes: choose another --target" in said
    learner = ["--learner", "multiclass-perceptron", "--no-hindsight"]
    said = refused("run", tmp_path / "d.csv", "--target", "y", *learner)
    assert f"line {MAX_CLASSES + 2}: there are more than {MAX_CLASSES:,} classes" in said
    assert "a column that differs in every row" in said


def test_labels_of_mixed_types_are_refused(tmp_path: Path) -> None:
    lines = ['{"a": 1, "y": "red"}', '{"a": 2, "y": "blue", "b": 1}', '{"a": 1, "y": 3}']
    (tmp_path / "d.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    said = refused("run", tmp_path / "d.jsonl", "--target", "y")
    assert "line 3: the outcome is '3', but those before it are text" in said
    assert "write all outcomes as numbers, or all as text" in said


def test_a_run_over_classes_goes_on_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, kept = written(tmp_path / "d.csv", frame(1500)), tmp_path / "kept"
    args = ["--target", "colour", "--predictions", tmp_path / "p.csv", "--model", tmp_path / "m"]
    whole = told(file, *args)
    rows, model = (tmp_path / "p.csv").read_text(), (tmp_path / "m").read_bytes()
    ended = stopped(monkeypatch, 3, signal.SIGINT, "run", file, *args, "--checkpoint", kept)
    assert ended.code == 130
    found = told(file, *args, "--resume", kept)
    assert found["measures"] == whole["measures"]
    assert found["loss"] == whole["loss"]
    assert (tmp_path / "p.csv").read_text() == rows
    assert (tmp_path / "m").read_bytes() == model


def test_scaling_that_finds_no_usable_row_first_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n" + "x,\n" * 5, "utf-8")
    options = ["--target", "y", "--scale", "standard", "--on-error", "skip"]
    assert "none of its 5 rows has 'y'" in refused("run", tmp_path / "d.csv", *options)


@pytest.mark.parametrize("make", [LabelMeasures, ClassMeasures])
def test_measures_do_not_depend_on_chunks(make: Callable[[], Any]) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, MAX_CONFUSED + 20, 500).astype(float)
    scores = rng.integers(-1, MAX_CONFUSED + 20, 500).astype(float)
    if make is LabelMeasures:
        y, scores = np.sign(y - 30.5), rng.normal(size=500)
    names = list(range(MAX_CONFUSED + 20))
    whole, parts = make(), make()
    whole.take(y, scores, np.ones(500))
    for start in (0, 3, 100):
        stop = {0: 3, 3: 100, 100: 500}[start]
        parts.take(y[start:stop], scores[start:stop], np.ones(stop - start))
    one, other = whole.found(names, None), parts.found(names, None)
    assert (one.confusion == other.confusion).all()
    assert one._replace(confusion=None) == other._replace(confusion=None)
    assert one.confusion.sum() == (500 if make is LabelMeasures else (scores >= 0).sum())


def test_bins_keep_the_order_of_scores() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=500) * 10 ** rng.uniform(-5, 5, 500)
    scores = np.sort(np.append(drawn, [0.0, -0.0, 1e-320, -(2.0**-10), 2.0**10, np.inf, -np.inf]))
    found = bins_of(scores)
    assert (np.diff(found) >= 0).all()
    assert found.min() == 0
    assert found.max() == 2 * SIDE
    assert bins_of(np.array([1.0]))[0] < bins_of(np.array([1.004]))[0]


def test_classes_is_short_for_task_classes(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,y\n" + "".join(f"{k % 7},{k % 3}\n" for k in range(30)))
    short, long = (
        json.loads(done("run", file, "--target", "y", *said, "--json"))["measures"]
        for said in (("--classes",), ("--task", "classes"))
    )
    assert short == long
    assert [str(each["class"]) for each in short["recall"]] == ["0", "1", "2"]
