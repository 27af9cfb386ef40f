"""A certificate of a rule that a later version has changed is told from a false one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import noregret
from noregret.experts import AdaHedge, Blend
from noregret.proof.certificates.certificate import seal


@pytest.mark.parametrize(("learner", "told"), [(Blend, True), (AdaHedge, False)])
def test_verify_says_that_the_rule_of_blend_has_changed(
    learner: type, told: bool, tmp_path: Path
) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X.sum(axis=1)
    contents = noregret.play(learner(), X, y).certificate().to_dict()
    for key in ("total", "mean"):  # as another rule would have played
        contents["loss"][key] *= 1.05
    contents["seal"] = seal({key: contents[key] for key in contents if key != "seal"})
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(contents))
    found = noregret.verify(path, X, y)
    assert not found.confirmed
    assert ("has another rule since 0.2.0" in " ".join(str(found).split())) == told
    other = noregret.verify(path, X, 2 * y)  # other data explain a difference by themselves
    assert "another rule" not in str(other)
