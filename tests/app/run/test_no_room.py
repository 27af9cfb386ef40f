"""Where there is no room, the message names the file, and half of one is never left."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from noregret.app.commands.run import predictions
from tests.app.run import data
from tests.app.run.commands import COMMAND, done, refused, small_blocks

__all__ = ["small_blocks"]
PLAIN = ["--target", "y", "--drop", "label", "--learner", "widrow-hoff", "--quiet"]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Make writes fail beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("predictions", "p.csv"),
        ("model", "m"),
        ("certificate", "c.json"),
        ("report", "r.html"),
        ("checkpoint", "kept"),
    ],
)
@pytest.mark.usefixtures("small_blocks")
def test_the_file_without_room_is_named(kind: str, name: str, tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers())
    every = ["--every", "100"] if kind == "checkpoint" else []
    # Predictions are gathered first, in 24 bytes for each row.
    with files_of_at_most(24 * data.ROWS if kind == "predictions" else 400):
        said = refused("run", file, *PLAIN, f"--{kind}", tmp_path / name, *every)
    assert f"{tmp_path / name}: File too large" in said or f"{tmp_path / name}.rows: " in said
    assert "Errno" not in said
    assert os.listdir(tmp_path) == ["d.csv"]
    done("run", file, *PLAIN, f"--{kind}", tmp_path / name, *every)


def test_parquet_without_room_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "p.parquet")
    with files_of_at_most(400), pytest.raises(OSError, match="File too large") as raised:
        predictions.write(path, iter([pa.table({"row": np.arange(10_000)})]))
    assert raised.value.filename == path
    assert not os.listdir(tmp_path)


def test_a_spool_without_room_names_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with files_of_at_most(400):
        said = refused("run", file, *PLAIN, "--predictions", tmp_path / "p.csv")
    assert f"{tmp_path}: the predictions so far do not fit: File too large" in said
    assert os.listdir(tmp_path) == ["d.csv"]


def test_a_full_standard_output_is_named() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [*COMMAND, "theorems"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=120
        )
    assert ended.returncode == 1
    assert ended.stderr == b"noregret: standard output: No space left on device\n"
