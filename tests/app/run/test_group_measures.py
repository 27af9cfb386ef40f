"""Labels, predictions and baselines with a learner per group, as they are without groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from noregret.app.commands.run import watching
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


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *((kind, options) for kind in ("numbers", "two", "several") for options in ([], GROUP)),
        ("several", GROUP + WORKERS),
    ],
    ids=str,
)
def test_the_previous_outcome_is_that_of_the_group_and_compared_over_the_same_rows(
    tmp_path: Path, kind: str, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    y: Any = {
        "numbers": (100 + X.cumsum()).round(2),
        "two": POSITIVE.astype(int),
        "several": rng.choice(["u", "v", "w"], len(X)),
    }[kind]
    frame = pd.DataFrame({"k": KEYS, "x": X, "y": y})
    frame["y"] = frame["y"].astype(object)
    frame.loc[frame.index % 9 == 5, "y"] = None  # rows that are only predicted
    data, out = tmp_path / "data.csv", tmp_path / "p.parquet"
    frame.to_csv(data, index=False)
    monkeypatch.setattr(watching, "CHUNK", 7)
    found = measured(data, *options, "--predictions", str(out))
    written = pd.read_parquet(out).dropna(subset="outcome").reset_index(drop=True)
    places = written["row"].to_numpy() - 1
    keys = frame["k"].to_numpy()[places] if options else np.zeros(len(places))
    before = written.groupby(keys)["outcome"].shift()
    rows = before.notna().to_numpy()
    assert (~rows).sum() == len(set(keys))
    previous, now = found["baselines"]["previous"], written[rows]
    if kind != "numbers":
        assert previous["accuracy"] == pytest.approx((before[rows] == now["outcome"]).mean())
        hits = now["prediction"] == now["outcome"]
        assert previous["mine_accuracy"] == pytest.approx(hits.mean())
        return
    assert previous["mae"] == pytest.approx((before[rows] - now["outcome"]).abs().mean())
    assert previous["mine_mae"] == pytest.approx((now["prediction"] - now["outcome"]).abs().mean())
    squares = ((now["prediction"] - now["outcome"]) ** 2).mean()
    assert previous["mine_rmse"] == found["error"]["compared"] == pytest.approx(squares**0.5)


def test_the_first_row_does_not_spoil_the_comparison_with_the_previous_value(
    tmp_path: Path,
) -> None:
    data = tmp_path / "walk.csv"
    pd.DataFrame({"x": X, "y": (1e6 + X.cumsum()).round(2)}).to_csv(data, index=False)
    told = " ".join(done("run", data, "--target", "y").split())
    assert "from row 2 on" in told
    assert "R² below 0 no better than a constant" in told
    assert "over 100 times the error of the best constant" in told
