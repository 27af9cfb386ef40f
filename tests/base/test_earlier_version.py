"""Files that version 0.1.0 wrote, before its modules moved: they load and verify as they did."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr

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
