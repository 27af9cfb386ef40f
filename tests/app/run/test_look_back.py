"""The time for hindsight: --look-back, --gap, and the summary when time was short."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from noregret.app.cli.options import duration
from noregret.base.numbers import brief
from noregret.hindsight import Limits
from tests.app.run.commands import done, refused


@pytest.fixture
def file(tmp_path: Path) -> Path:
    random = np.random.default_rng(3)
    X = random.standard_normal((80, 3))
    y = np.where(X[:, 0] + random.standard_normal(80) > 0, 1, -1)
    path = tmp_path / "data.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    return path


def test_time_that_is_too_short_gives_an_interval_and_says_how_to_narrow_it(
    file: Path, tmp_path: Path
) -> None:
    certificate = tmp_path / "c.json"
    said = done(
        "run", file, "--target", "y", "--look-back", "0.001ms", "--certificate", certificate
    )
    assert " to " in said
    assert "--look-back 60s" in " ".join(said.split())
    assert json.loads(certificate.read_text())["hindsight"]["seconds"] == 1e-6
    assert "CONFIRMED" in done("verify", certificate, file)


def test_what_is_not_proven_is_an_interval_to_the_best_found(tmp_path: Path) -> None:
    random, count = np.random.default_rng(3), np.arange(300)
    a = random.standard_normal(300)
    times = 1700000000000 + 60000 * count  # dependent on the ids, which no rounded sum can prove
    table = np.column_stack([500000 + count, times, a, a + random.standard_normal(300)])
    path, page = tmp_path / "ids.csv", tmp_path / "r.html"
    np.savetxt(path, table, fmt="%.17g", delimiter=",", header="id,ms,a,y", comments="")
    said = " ".join(done("run", path, "--target", "y", "--report", page).split())
    found = json.loads(done("run", path, "--target", "y", "--json"))
    interval = found["certificate"]["regret"]
    assert interval["upper"] > 2 * interval["lower"]
    assert not found["hindsight"]["proven"]
    assert f"regret {brief(interval['lower'])} to {brief(interval['upper'])} total loss" in said
    assert "proven only that no fixed predictor has a total loss below 0" in said
    assert "the best fixed linear model found in hindsight" in said
    tile = f'>{brief(interval["lower"])}<span class="unit"> to {brief(interval["upper"])}<'
    assert tile in page.read_text(encoding="utf-8")
    assert interval["lower"] - 1e-6 <= found["curve"]["regret"][-1] <= interval["upper"]


def test_json_says_whether_time_was_short(file: Path) -> None:
    short = json.loads(done("run", file, "--target", "y", "--look-back", "0.001ms", "--json"))
    whole = json.loads(done("run", file, "--target", "y", "--json"))
    assert (short["hindsight"]["stopped"], whole["hindsight"]["stopped"]) == (True, False)
    assert short["hindsight"]["gap"] > whole["hindsight"]["gap"]


def test_a_gap_that_is_asked_for_is_reached(file: Path) -> None:
    found = json.loads(done("run", file, "--target", "y", "--gap", "1e-10", "--json"))
    best = found["certificate"]["hindsight"]
    assert best["tolerance"] == 1e-10
    assert best["gap"] <= 1e-10 * best["loss"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--look-back", "soon"), "'soon' is not a time"),
        (("--look-back", "-1s"), "not a time"),
        (("--look-back", "60s", "--no-hindsight"), "leave out --no-hindsight"),
        (("--gap", "0.5"), "--gap is from 1e-12 to 0.01"),
        (("--gap", "1e-6", "--no-hindsight"), "leave out --no-hindsight"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    file: Path, options: tuple[str, ...], said: str
) -> None:
    assert said in refused("run", file, "--target", "y", *options, code=2)


@pytest.mark.parametrize(
    ("text", "seconds"), [("60s", 60), ("1.5min", 90), ("700ms", 0.7), ("2h", 7200), ("5", 5)]
)
def test_times_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert duration(text) == seconds


def test_by_default_it_looks_back_for_as_long_as_it_learned(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from noregret.app.commands.run import runner

    monkeypatch.setattr(runner, "MIN_LOOK_BACK", 2.0)
    monkeypatch.setattr(runner, "PATIENCE", 0.5)
    monkeypatch.setattr(runner, "MIN_PATIENCE", 0.25)
    seen: list[Limits] = []
    own = runner.Run.limits

    def limits(run: runner.Run) -> Limits:
        for spent in (0.1, 60.0):
            run.spent = spent
            seen.append(own(run))
        return own(run)

    monkeypatch.setattr(runner.Run, "limits", limits)
    done("run", file, "--target", "y")
    assert [(found.seconds, found.patience) for found in seen] == [(2.0, 0.25), (60.0, 30.0)]
