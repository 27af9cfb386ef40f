"""Threads that read ahead end with what failed, even while its traceback is kept."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from noregret import BadExample, WidrowHoff, play, streams
from noregret.streams import open_file

from .commands import done, refused


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read files in many blocks, and collect no cycles meanwhile: a traceback may be in one."""
    monkeypatch.setattr(open_file, "BLOCK", 500)
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write rows of which one has a number that no learner takes."""
    path = tmp_path / "d.csv"
    rows = (f"{1e300 if k == 500 else k % 7},g,1\n" for k in range(4_000))
    path.write_text("a,g,y\n" + "".join(rows))
    return path


def check_ended() -> None:
    """Check that no thread goes on reading, after a moment."""
    until = time.monotonic() + 20
    while any(one.name == "noregret-feed" for one in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_of_a_game(file: Path) -> None:
    with pytest.raises(BadExample) as raised:
        play(WidrowHoff(), streams.read(str(file), "y"))
    check_ended()
    assert "line 502" in str(raised.value)


def test_of_a_run(file: Path) -> None:
    assert "line 502" in refused("run", file, "--target", "y")
    check_ended()
    assert "line 502" in refused("run", file, "--target", "y", "--fourier", "20")
    check_ended()
    assert "line 502" in refused("run", file, "--target", "y", "--group", "g")
    check_ended()


def test_of_predictions(file: Path, tmp_path: Path) -> None:
    good, model = tmp_path / "good.csv", tmp_path / "m"
    good.write_text("a,g,y\n" + "1,g,1\n2,g,2\n3,g,1\n" * 9)
    done("run", good, "--target", "y", "--model", model, "-q")
    assert "line 502" in refused("predict", model, file)
    check_ended()
