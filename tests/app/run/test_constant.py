"""The best constant prediction of a run, against a search over many constants."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import noregret
from noregret.app.commands.run.runner import Run
from noregret.app.commands.run.watching import Watching
from noregret.streams import read


@pytest.mark.parametrize("loss", noregret.LOSSES)
def test_no_constant_that_is_tried_costs_less(loss: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    outcomes = rng.standard_normal(200) * 3 + 1
    labels = noregret.make_loss(loss).labels
    y = np.sign(outcomes) if labels else outcomes
    file = tmp_path / "d.csv"
    np.savetxt(
        file, np.column_stack([rng.uniform(size=200), y]), delimiter=",", header="x,y", comments=""
    )
    learner = noregret.make("gradient-descent", loss=loss, rate=0.01, radius=5.0, domain="ball")
    result = Run(read(file, target="y"), learner).go()
    if loss == "linear":  # it falls for ever
        assert result.constant is None
        return
    assert result.constant is not None
    value = noregret.make_loss(loss).value
    tried = [sum(value(c, outcome) for outcome in y) for c in np.linspace(-8, 10, 2_000)]
    found = sum(value(result.constant.value, outcome) for outcome in y)
    assert result.constant.loss == pytest.approx(found, rel=1e-9)
    assert found <= min(tried) * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["square", "logistic", "absolute"])
def test_figures_do_not_depend_on_the_blocks_that_rows_come_in(loss: str) -> None:
    rng = np.random.default_rng(8)
    y, scores = rng.normal(3, 1, 20_000), rng.normal(2, 2, 20_000)
    weights = rng.exponential(size=20_000)
    found = []
    for cuts in ([], [1], [4_096, 5_000], sorted(rng.integers(0, 20_000, 40).tolist())):
        watching = Watching(noregret.make_loss(loss))
        for start, stop in pairwise([0, *cuts, 20_000]):
            arrays, numbers = watching.get_state()
            watching = Watching(noregret.make_loss(loss))
            watching.set_state(arrays, json.loads(json.dumps(numbers)))
            watching.note(y[start:stop], scores[start:stop], weights[start:stop])
            assert watching.weight == pytest.approx(weights[:stop].sum())
        constant = watching.constant()
        found.append(json.dumps([repr(constant), watching.get_state()[1]]))
    assert len(set(found)) == 1
    if loss == "square":
        assert constant is not None
        assert constant.value == pytest.approx(np.average(y, weights=weights), rel=1e-12)
