"""``noregret run --group COLUMN --certificate FILE``, and its verification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from tests.app.run.commands import command, done

rng = np.random.default_rng(3)
FRAME = pd.DataFrame(
    {
        "shop": rng.choice(["007", "Oslo", "a,b"], 120),
        "item": rng.choice(["tea", "salt"], 120),
        "sun": rng.normal(size=120).round(3),
        "town": rng.choice(["x", "y", "z"], 120),
        "sold": rng.normal(size=120).round(3),
    }
)
FRAME["sold"] += FRAME["sun"] * FRAME["shop"].map({"007": 0, "Oslo": 5, "a,b": -5})


def written(frame: pd.DataFrame, path: Path) -> Path:
    {".csv": frame.to_csv, ".parquet": frame.to_parquet}[path.suffix](path, index=False)
    return path


def best_of(frame: pd.DataFrame) -> float:
    towns = [(frame["town"] == town).astype(float) for town in "xyz"]
    X, y = np.column_stack([frame["sun"], *towns]), frame["sold"].to_numpy()
    return float(np.square(y - X @ np.linalg.lstsq(X, y, rcond=None)[0]).sum())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("group", ["shop", "shop,item"])
def test_a_certificate_compares_with_the_best_per_group_and_for_all(
    kind: str, group: str, tmp_path: Path
) -> None:
    file, proof = written(FRAME, tmp_path / f"sales.{kind}"), tmp_path / "proof.json"
    frame = FRAME if group == "shop" else FRAME.drop(columns="shop").assign(shop=FRAME["shop"])
    dropped = () if "item" in group else ("--drop", "item")
    said = done(
        *("run", file, "--target", "sold", "--group", group, *dropped),
        *("--learner", "vaw", "--certificate", proof),
    )
    found = noregret.load_certificate(proof)
    assert found.groups is not None
    columns = group.split(",")
    each = sum(best_of(part) for _, part in frame.groupby(columns))
    assert found.groups.columns == tuple(columns)
    assert found.groups.keys == len(frame.groupby(columns))
    assert found.groups.hindsight.loss == pytest.approx(each, rel=1e-8)
    assert found.hindsight.loss == pytest.approx(best_of(frame), rel=1e-8)
    assert found.data.rounds == len(frame)
    assert found.groups.theorem is not None
    assert found.groups.theorem.holds
    for words in ("best fixed model of each", "best fixed model for all", "sums over"):
        assert words in " ".join(said.split())
    assert "every figure follows from these data" in done("verify", proof, file)


CHANGES: dict[str, Any] = {
    "a cell": lambda frame: frame.assign(sun=frame["sun"].where(frame.index != 7, 9.5)),
    "an outcome": lambda frame: frame.assign(sold=frame["sold"].where(frame.index != 7, 9.5)),
    "a group": lambda frame: frame.assign(shop=frame["shop"].where(frame.index != 7, "Rome")),
    "a row less": lambda frame: frame.drop(index=7),
    "the order": lambda frame: frame[::-1],
    "names of groups": lambda frame: frame.assign(shop=frame["shop"].replace("Oslo", "Rome")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_changed_data_are_not_confirmed(what: str, tmp_path: Path) -> None:
    file, proof = written(FRAME, tmp_path / "sales.csv"), tmp_path / "proof.json"
    done("run", file, "--target", "sold", "--group", "shop", "--certificate", proof, "--quiet")
    other = written(CHANGES[what](FRAME), tmp_path / "other.csv")
    failed = command("verify", proof, other)
    assert failed.code == 1
    assert "groups.digest" in failed.out or "data.digest" in failed.out


def test_json_lines_as_a_filter_and_skipped_rows_are_certified(tmp_path: Path) -> None:
    rows = [
        {"shop": "a", "x": 1.0, "y": 2.0},
        {"shop": "b", "x": 2.0, "y": "?"},
        {"x": 1.0, "y": 2.0},
        {"shop": "b", "x": 2.0, "y": 1.0},
        {"shop": "a", "x": 3.0, "y": None},
        {"shop": "a", "x": 3.0, "y": 4.0},
    ]
    file, proof = tmp_path / "rows.jsonl", tmp_path / "proof.json"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    how = ("--target", "y", "--group", "shop", "--on-error", "skip", "--learner", "nlms")
    done("run", file, *how, "--certificate", proof, "--quiet")
    found = noregret.load_certificate(proof)
    assert found.data.rounds == 3
    assert found.groups is not None
    assert found.groups.keys == 2
    assert noregret.verify(found, file)


def test_classes_and_labels_are_certified(tmp_path: Path) -> None:
    frame = FRAME.drop(columns="item")
    for classes in (["low", "high"], ["low", "high", "none"]):
        some = np.array(classes)[(frame.index % len(classes)).to_numpy()]
        file = written(frame.assign(sold=some), tmp_path / "sales.csv")
        proof = tmp_path / "proof.json"
        how = ("--target", "sold", "--group", "shop", "--certificate", proof)
        done("run", file, *how, "--quiet")
        assert noregret.verify(proof, file).failed == ()


def test_time_that_runs_out_leaves_groups_open(tmp_path: Path) -> None:
    frame = FRAME.assign(shop=[f"s{k % 60}" for k in range(len(FRAME))])
    file, proof = written(frame, tmp_path / "sales.csv"), tmp_path / "proof.json"
    how = ("--target", "sold", "--group", "shop", "--look-back", "1ms", "--certificate", proof)
    said = " ".join(done("run", file, *how, "--learner", "auto", "-p", "loss=absolute").split())
    found = noregret.load_certificate(proof).groups
    assert found is not None
    assert 1 <= found.hindsight.reached < found.keys
    assert "groups were searched in time" in said
    assert noregret.verify(proof, file)
    # For the square loss, only the theorem is open.
    said = " ".join(done("run", file, *how).split())
    found = noregret.load_certificate(proof).groups
    assert found is not None
    assert found.theorem is not None
    assert found.hindsight.reached == found.keys == 60
    assert found.hindsight.exact
    assert found.theorem.bound is None
    assert "There was no time to check the theorem's assumptions" in said
    assert noregret.verify(proof, file)


def test_what_is_not_certified_says_so(tmp_path: Path) -> None:
    file = written(FRAME, tmp_path / "sales.csv")
    run = ("run", file, "--target", "sold", "--group", "shop")
    assert "--certificate FILE" in done(*run)


def test_features_that_come_late_cost_no_bound(tmp_path: Path) -> None:
    """Dates have features that most rows lack: each key meets them as in a run of its own."""
    days = pd.date_range("2024-01-01", periods=len(FRAME)).strftime("%Y-%m-%d")
    file = written(FRAME.assign(day=days), tmp_path / "sales.csv")
    proof, alone = tmp_path / "proof.json", tmp_path / "alone.json"
    told = ("run", file, "--target", "sold", "--group", "shop", "--quiet", "--certificate")
    done(*told, proof)
    bounds = []
    for shop in sorted(set(FRAME["shop"])):
        done(*told, alone, "--only", shop)
        theorem = noregret.load_certificate(alone).theorem
        assert theorem is not None
        assert theorem.bound is not None
        bounds.append(theorem.bound)
    found = noregret.load_certificate(proof).groups
    assert found is not None
    assert found.theorem is not None
    assert found.theorem.bound == pytest.approx(sum(bounds), rel=1e-6)
    assert found.theorem.holds
    assert done("verify", proof, file)
