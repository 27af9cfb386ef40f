"""Labels, predictions and baselines with a learner per group, as they are without groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.app.run.commands import done

rng = np.random.default_rng(3)
KEYS = rng.choice(["a", "b", "c"], 60)
X = rng.normal(size=60).round(2)
POSITIVE = X + rng.normal(size=60) > 0
PAIRS: list[tuple[Any, Any]] = [(0, 1), (-1, 1), ("no", "yes"), ("false", "true"), (False, True)]
GROUP, WORKERS = ["--group", "k"], ["--workers", "2"]


def measured(path: Path, *more: str) -> dict[str, Any]:
    """Return the result of a run as JSON."""
    found = done("run", path, "--target", "y", *more, "--json")
    return dict(json.loads(found))


@pytest.mark.parametrize(
    ("pair", "options"),
    [
        *((pair, options) for pair in PAIRS for options in ([], GROUP)),
        *((pair, GROUP + WORKERS) for pair in (PAIRS[0], PAIRS[-1])),  # these take a second
    ],
    ids=str,
)
def test_labels_are_written_as_the_data_have_them(
    tmp_path: Path, pair: tuple[Any, Any], options: list[str]
) -> None:
    y = [pair[int(each)] for each in POSITIVE]
    frame = pd.DataFrame({"k": KEYS, "x": X, "y": y})
    data, out = tmp_path / "data.jsonl", tmp_path / "p.parquet"
    frame.to_json(data, orient="records", lines=True)
    if not isinstance(pair[0], bool):
        data = tmp_path / "data.csv"
        frame.to_csv(data, index=False)
    result = measured(data, *options, "--predictions", str(out))
    written = pd.read_parquet(out)
    kind = str if isinstance(pair[0], str) and pair[0] == "no" else int
    expected = [kind(each == "true" if each in ("false", "true") else each) for each in y]
    assert [kind(each) for each in written["outcome"]] == expected
    assert {kind(each) for each in written["prediction"]} == set(expected)
    names = [str(each).lower() for each in pair]
    assert [each["class"] for each in result["measures"]["recall"]] == names
