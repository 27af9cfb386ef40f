"""What workers find depends on data and options, not on how long they take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret import hindsight, scale
from noregret.app.commands.run import runner
from noregret.batch import Ridge
from noregret.hindsight.proofs.answer import USUAL, Limits
from tests.app.run.commands import done
from tests.scale.inline import Inline
from tests.scale.test_fitting import read
from tests.scale.test_groups_on_workers import table, write_csv

WORKERS = ("--workers", "1")


class Slow:
    """A clock of a machine on which everything takes hours."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 3_600.0
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(table(600, gaps=False), tmp_path / "rows.csv")


@pytest.fixture
def slow() -> Iterator[None]:
    """Have the default limits count by a slow clock."""
    before = USUAL.clock
    object.__setattr__(USUAL, "clock", Slow())
    yield
    object.__setattr__(USUAL, "clock", before)


def certified(file: Path, name: str, *options: str) -> dict[str, Any]:
    """Run the command, and return the certificate."""
    to = file.parent / f"{name}.json"
    asked = ("--target", "sold", "--group", "shop", "--quiet", *options)
    done("run", file, *asked, "--certificate", to)
    found: dict[str, Any] = json.loads(to.read_text())
    return found


@pytest.mark.parametrize("learner", ["auto", "vaw"])
def test_the_certificate_of_a_slow_run_is_that_of_a_fast_one(
    learner: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("--learner", learner, "--drop", "city")
    fast = certified(file, "fast", *asked, *WORKERS)
    monkeypatch.setattr(runner, "Limits", partial(Limits, clock=Slow()))
    assert certified(file, "slow", *asked, *WORKERS) == fast
    assert "seconds" not in fast["groups"]["hindsight"]
    # A time limit that was asked for, and that of one process, are stated where they matter.
    for name, given in {"limited": ("--look-back", "60s", *WORKERS), "alone": ()}.items():
        found = certified(file, name, *asked, *given)["groups"]
        assert found["hindsight"]["seconds"] <= 60
        assert found["theorem"] is None or found["theorem"]["bound"] is None


@pytest.mark.usefixtures("slow")
def test_searches_over_rows_that_workers_hold_end_by_their_precision(file: Path) -> None:
    with scale.rows(file, "sold", pool=Inline(2), drop=["shop", "city"]) as rows:
        best = hindsight.best_in_ball(rows, "absolute", 3.0)
        late = hindsight.best_in_ball(rows, "absolute", 3.0, limits=Limits(clock=Slow()))
        short = Limits(seconds=60.0, clock=Slow())
        assert hindsight.best_in_ball(rows, "absolute", 3.0, limits=short).gap > late.gap
    assert best.relative_gap < 1e-6


@pytest.mark.usefixtures("slow")
def test_certificates_of_merged_parts_are_not_cut_short(file: Path) -> None:
    stream = read([file])
    fitted = scale.fit(Ridge(), stream, pool=Inline(2)).certificate()
    shards = scale.play(nr.Vaw(), stream, shards=3, pool=Inline(2)).certificate()
    assert fitted.hindsight.seconds is None
    assert shards.hindsight.seconds is None
    assert shards.theorem is not None
    assert shards.theorem.holds
