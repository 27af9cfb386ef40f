"""Files that version 0.1.0 wrote, before its modules moved: they load and verify as they did."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.app.run.commands import done, refused

FILES = Path(__file__).parents[1] / "fixtures" / "version_0_1_0"
# What the models of that version said of the example below, written by that version.
PREDICTIONS: dict[str, Any] = json.loads((FILES / "predictions.json").read_text("utf-8"))
EXAMPLE = {"a": 0.3, "b": -0.2, "c": 0.7}
CERTIFIED = sorted(p.stem for p in FILES.glob("*.json") if p.stem != "predictions")


def said(name: str) -> Any:
    model: Any = nr.load(FILES / f"{name}.model")
    if name == "eg-portfolio":
        return model.weights()
    if name == "nlms":
        return model.predict_one(EXAMPLE["a"])
    if not hasattr(model, "features") or name == "ridge":
        return model.predict_one(list(EXAMPLE.values()))
    return (model.decision_one if name in ("perceptron", "arow") else model.predict_one)(EXAMPLE)


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_model_of_that_version_predicts_as_it_did(name: str) -> None:
    # Processors differ in the last digits of what `auto` and masters compute.
    np.testing.assert_allclose(np.ravel(said(name)), np.ravel(PREDICTIONS[name]), rtol=1e-9)


@pytest.mark.parametrize("name", CERTIFIED)
def test_a_certificate_of_that_version_is_confirmed(name: str) -> None:
    labels = name in ("perceptron", "arow")
    file, target = ("labels.csv", "label") if labels else ("rows.csv", "y")
    found = nr.verify(FILES / f"{name}.json", FILES / file, target=target)
    assert found.confirmed, str(found)


# Files read by the rules of that version: commas only, UTF-8, "$5" is text, an empty cell stops.

CSV = FILES / "csv"


@pytest.mark.parametrize("name", ["written", "skipped", "latin", "gaps"])
def test_a_certificate_is_confirmed_by_the_rules_of_that_version(name: str) -> None:
    found = nr.verify(CSV / f"{name}.json", CSV / f"{name}.csv")
    assert found.failed == (), str(found)


def test_a_model_of_that_version_reads_columns_as_it_did() -> None:
    assert done("predict", CSV / "written.model", CSV / "written.csv") == (
        CSV / "predicted.csv"
    ).read_text("utf-8")


def test_a_run_of_that_version_goes_on_by_its_rules(tmp_path: Path) -> None:
    for name in ("half.checkpoint", "half.checkpoint.rows", "first.csv", "second.csv"):
        shutil.copy(CSV / name, tmp_path / name)
    data, cert = (tmp_path / "first.csv", tmp_path / "second.csv"), tmp_path / "c.json"
    run = ("run", *data, "--target", "y", "--learner", "vaw", "--quiet")
    done(*run, "--resume", tmp_path / "half.checkpoint", "--certificate", cert)
    made, whole = (nr.load_certificate(path) for path in (cert, CSV / "whole.json"))
    assert made.data == whole.data
    assert made.loss.total == pytest.approx(whole.loss.total, rel=1e-9)
    assert nr.verify(cert, list(data)).failed == ()


def test_such_a_run_stops_at_an_empty_cell(tmp_path: Path) -> None:
    for name in ("half.checkpoint", "half.checkpoint.rows", "first.csv", "second.csv"):
        shutil.copy(CSV / name, tmp_path / name)
    with (tmp_path / "second.csv").open("a", encoding="utf-8") as more:
        more.write(",$1,2\n")
    data = (tmp_path / "first.csv", tmp_path / "second.csv")
    run = ("run", *data, "--target", "y", "--learner", "vaw", "--quiet")
    assert "line 32" in refused(*run, "--resume", tmp_path / "half.checkpoint")
