"""A filter as a process of its own, between real pipes: signals, readers that go or are slow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import noregret
from tests.thorough import sized

from .commands import COMMAND, done

ROWS = [{"id": k, "a": k % 7 / 2, "town": f"t{k % 3}", "y": k % 4 / 2} for k in range(3_000)]
LINES = [json.dumps(row).encode() + b"\n" for row in ROWS]
FILTER = ["run", "-", "--format", "jsonl", "--target", "y", "--drop", "id", "--predictions", "-"]
MAX_SECONDS = 60


@pytest.fixture(params=["1", ""][: sized(1, full=2)], ids=lambda value: f"unbuffered={value}")
def process(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a filter that saves its model and certificate; Python's output is buffered or not."""
    kept = ["--model", str(tmp_path / "m"), "--certificate", str(tmp_path / "c.json")]
    found = subprocess.Popen(
        [*COMMAND, *FILTER, "--pass", "id", "-q", "--save-every", "0.05s", *kept],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": request.param},
    )
    yield found
    found.kill()
    found.wait(MAX_SECONDS)
    for pipe in (found.stdin, found.stdout, found.stderr):
        assert pipe is not None
        with suppress(BrokenPipeError):
            pipe.close()


def fed(process: subprocess.Popen[bytes], seconds: float = 0.0) -> threading.Thread:
    """Write lines from another thread, until the process reads no more."""

    def feed() -> None:
        assert process.stdin is not None
        try:
            for line in LINES:
                process.stdin.write(line)
                process.stdin.flush()
                time.sleep(seconds)
        except (BrokenPipeError, ValueError):
            return

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    return thread


def check_written(folder: Path, answers: list[bytes]) -> None:
    """Check that lines are whole, and model and certificate those of the rows answered."""
    broken = [(k, line) for k, line in enumerate(answers) if not line.endswith(b"}\n")]
    assert broken == []
    found: list[Any] = [json.loads(line) for line in answers]
    assert answers[-1].endswith(b"\n")
    assert [each["id"] for each in found] == list(range(len(found)))
    assert noregret.load(folder / "m").rounds == len(found)
    stated = json.loads((folder / "c.json").read_text())
    assert stated["data"]["rounds"] == len(found)
    data = folder / "d.jsonl"
    data.write_bytes(b"".join(LINES[: len(found)]))
    done("verify", folder / "c.json", data)


@pytest.mark.parametrize("seconds", [0.0, 0.002])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("kill", range(sized(1, full=15)))
def test_a_stopped_process_has_written_everything(
    kill: int,
    number: signal.Signals,
    seconds: float,
    process: subprocess.Popen[bytes],
    tmp_path: Path,
) -> None:
    """At any moment, with a pipe that is full or not."""
    assert process.stdout is not None
    thread = fed(process, seconds)
    answers = [process.stdout.readline() for _ in range(5 + 7 * kill)]
    if not seconds:
        time.sleep(0.1)  # the reader is slow, so that the pipe fills
    process.send_signal(number)
    answers += process.stdout.readlines()
    assert process.wait(MAX_SECONDS) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.stdin is not None
    thread.join(MAX_SECONDS)
    check_written(tmp_path, answers)


@pytest.mark.parametrize("seconds", [0.0, 0.001])
def test_a_reader_that_goes_ends_the_process_with_everything_saved(
    seconds: float, process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    fed(process, seconds)
    for _ in range(9):
        process.stdout.readline()
    process.stdout.close()
    assert process.wait(MAX_SECONDS) == 0
    assert process.stderr.read() == b""
    rounds = noregret.load(tmp_path / "m").rounds
    assert rounds >= 9
    stated = json.loads((tmp_path / "c.json").read_text())
    assert stated["data"]["rounds"] == rounds


def test_a_slow_reader_gets_every_line_once(
    process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """The pipe is full most of the time, so the process waits for its reader."""
    assert process.stdin is not None
    assert process.stdout is not None
    thread = fed(process)
    answers = []
    for k in range(len(LINES)):
        if k % 500 == 3:
            time.sleep(0.1)
        answers.append(process.stdout.readline())
    thread.join(MAX_SECONDS)
    process.stdin.close()
    assert process.stdout.read() == b""
    assert process.wait(MAX_SECONDS) == 0
    check_written(tmp_path, answers)
