"""A mix that ends early: asked to, or since a row is refused."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from noregret import BadExample, experts
from noregret.app.commands.mix.mixing import Mix
from noregret.streams import open_file as opened
from noregret.streams import stream_of
from noregret.streams.options import Options
from tests.app.mix.forecasts import csv, frame

OPTIONS = Options("y", missing="asleep", add=("average", "corrected"))


@pytest.fixture(autouse=True)
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in many blocks."""
    monkeypatch.setattr(opened, "BLOCK", 500)


def still_reading() -> bool:
    """Return whether a thread goes on reading, after a moment."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if not any(one.name == "noregret-feed" for one in threading.enumerate()):
            return False
        time.sleep(0.02)
    return True


def test_asked_to_stop_it_tells_how_far_it_came(tmp_path: Path) -> None:
    mix = Mix(stream_of([str(csv(tmp_path, frame(300)))], OPTIONS), experts.make("blend"))

    def stop(running: Mix) -> None:
        running.stopping = True

    mix.told = stop
    result = mix.go()
    assert result.interrupted
    assert 0 < result.rows < 100
    assert not still_reading()


def test_a_refused_row_ends_the_reading(tmp_path: Path) -> None:
    table = frame(300)
    table.loc[40, "west"] = float("inf")
    mix = Mix(stream_of([str(csv(tmp_path, table))], OPTIONS), experts.make("blend"))
    with pytest.raises(BadExample, match="line 42: column 'west' is inf"):
        mix.go()
    assert mix.rounds == 40
    assert not still_reading()
