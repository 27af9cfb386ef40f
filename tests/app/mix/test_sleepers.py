"""Experts that hardly ever speak: counted as the mixture, and not praised for it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.app.mix.forecasts import csv, frame
from tests.app.report.test_page import read, visible
from tests.app.run.commands import done

COUNTED = (
    "with a forecast in 10.0% of the rounds; where it has no forecast, the mixture's loss is"
    " counted"
)


@pytest.fixture
def sleepy(tmp_path: Path) -> Path:
    """Four experts of which one speaks in one row of ten, and one in all but one of ten."""
    table = frame(200)
    table["rare"] = np.where(np.arange(200) % 10 == 0, table["y"], np.nan)
    table["often"] = np.where(np.arange(200) % 10 == 0, np.nan, table["y"] + 2)
    return csv(tmp_path, table)


def test_the_best_expert_is_said_to_have_slept(sleepy: Path) -> None:
    text = " ".join(done("mix", sleepy, "--target", "y").split())
    assert "best expert: rare" in text
    assert f"rare: {COUNTED}" in text
    assert "best with few gaps: north" in text


def test_an_expert_who_is_mostly_awake_needs_no_words(tmp_path: Path) -> None:
    text = done("mix", csv(tmp_path, frame(200, asleep=0.2)), "--target", "y")
    assert "best expert: north" in text
    assert "loss is counted" not in text
    assert "few gaps" not in text


def test_the_certificate_keeps_to_what_is_counted(sleepy: Path) -> None:
    made = json.loads(done("mix", sleepy, "--target", "y", "--json"))
    paid = {expert["name"]: expert["total"] for expert in made["experts"]}
    assert min(paid, key=lambda name: paid[name]) == made["best"]["name"] == "rare"
    assert made["best"]["awake"] == 20
    assert made["certificate"]["hindsight"]["loss"] == pytest.approx(paid["rare"])


def test_who_slept_most_of_the_time_stands_below_in_the_report(sleepy: Path) -> None:
    report = sleepy.parent / "report.html"
    done("mix", sleepy, "--target", "y", "--report", report, "-q")
    root = read(report.read_text(encoding="utf-8"))
    (table,) = [one for one in root.iter() if one.get("class") == "roster"]
    rows = ["".join(one.itertext()) for one in table.iter() if one.tag == "tr"][1:]
    names = [re.sub(r"[\d.%].*", "", row) for row in rows]
    assert names[-1] == "rare"
    assert "10.0%" in rows[-1]
    assert names.index("often") < len(names) - 1
    text = visible(root)
    assert "are listed last" in text
    assert COUNTED in text


def test_the_best_expert_of_a_series_is_one_that_spoke_in_it(tmp_path: Path) -> None:
    parts = [frame(60, seed=k).assign(series=f"s{k}") for k in range(2)]
    parts[0]["west"] = np.nan
    parts[0]["north"] += 10
    parts[0]["east"] += 12
    file = csv(tmp_path, pd.concat(parts))
    made = json.loads(done("mix", file, "--target", "y", "--group", "series", "--json"))
    assert [group["best"] for group in made["groups"]] == ["north", "north"]
