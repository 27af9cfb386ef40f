"""Running the command: in this process, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from typing import NamedTuple

import pytest

from noregret.app.cli.app import run
from noregret.streams import open_file as opened
from noregret.streams.file_formats import parquet

# With the time for hindsight that conftest.py gives it here.
TIME = "from noregret.app.commands.run import runner as r; r.MIN_LOOK_BACK = r.PATIENCE = 1e9"
MAIN = f"{TIME}; from noregret.app.cli import main; main()"
COMMAND = [sys.executable, "-W", "error", "-c", MAIN]


class Ended(NamedTuple):
    """The end of a command: its exit code, and its output."""

    code: int
    out: str
    err: str


def command(*arguments: object) -> Ended:
    """Run the command in this process."""
    raw, err = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(raw, encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(map(str, arguments)))
        out.flush()
    return Ended(code, raw.getvalue().decode(), err.getvalue())


def done(*arguments: object) -> str:
    """Run a command that must succeed, and return what it printed."""
    ended = command(*arguments)
    assert ended.code == 0, ended.err
    return ended.out


def refused(*arguments: object, code: int = 1) -> str:
    """Run a command that must fail, and return its message."""
    ended = command(*arguments)
    assert ended.code == code, (ended.code, ended.err)
    assert "Traceback" not in ended.err
    assert ended.err
    return ended.err


def without_progress(err: bytes) -> bytes:
    """Return what was written to stderr without the lines of progress of a slow machine."""
    lines = err.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.rstrip().endswith(b" s so far"))


def process(
    *arguments: object, stdin: bytes | None = None, timeout: float = 120
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=timeout,
    )


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files a few rows at a time."""
    monkeypatch.setattr(opened, "BLOCK", 4_000)
    monkeypatch.setattr(parquet, "ROWS_PER_BATCH", 64)
