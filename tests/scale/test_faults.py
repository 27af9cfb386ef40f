"""Workers and drivers that are killed at random moments: the same bits, and nothing left behind."""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noregret.scale.row_files import stored, write
from noregret.scale.work_folder import PREFIX, work_folder
from tests.scale.test_groups_on_workers import run, table, write_csv
from tests.thorough import THOROUGH, sized

COMMAND = "from noregret.app.cli import script; script()"
# Time enough for hindsight on a busy machine: what it finds may depend on the time.
PROOF = ("--look-back", "600", "--certificate")
KILLS = sized(1, full=10)
# Seconds within which a run ends, whatever becomes of its workers.
TIME_OUT = 300
pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")


def started(
    folder: Path, file: Path, name: str, *options: object, on: tuple[str, str] = ("--workers", "2")
) -> "subprocess.Popen[bytes]":
    """Start the command in a process of its own."""
    to = ["--model", folder / f"{name}.models", "--predictions", folder / f"{name}.csv", "--quiet"]
    to += [*PROOF, folder / f"{name}.json"]
    asked = ["--target", "sold", "--group", "shop", *on, *options]
    made = [sys.executable, "-c", COMMAND, "run", file, *asked, *to]
    return subprocess.Popen(list(map(str, made)), stderr=subprocess.PIPE)


def children(process: int) -> list[int]:
    """Return the processes that another has started."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = each.read_text().rsplit(")", 1)
        except OSError:  # it has ended
            continue
        if int(fields.split()[1]) == process:
            found.append(int(name.split()[0]))
    return found


def workers_of(driver: "subprocess.Popen[bytes]") -> list[int]:
    """Wait until a driver has workers, and return them."""
    while len(found := children(driver.pid)) < 2 and driver.poll() is None:
        time.sleep(0.005)
    return found


def results(folder: Path, name: str, driver: "subprocess.Popen[bytes]") -> dict[str, Any]:
    """Wait for a run, and return its models, predictions and certificate."""
    _, said = driver.communicate(timeout=TIME_OUT)
    assert driver.returncode == 0, said.decode()
    return written(folder, name)


def written(folder: Path, name: str) -> dict[str, Any]:
    """Return the models, predictions and certificate that a run has written."""
    with sqlite3.connect(folder / f"{name}.models") as rows:
        models = rows.execute("SELECT * FROM models ORDER BY key").fetchall()
    proof, predictions = folder / f"{name}.json", (folder / f"{name}.csv").read_text()
    return {"models": models, "predictions": predictions, "proof": proof.read_text()}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Return a file that takes a second, and what one process makes of it."""
    folder = tmp_path_factory.mktemp("rows")
    file = write_csv(table(sized(3_000, full=6_000)), folder / "rows.csv")
    run(folder, [file], "alone", *PROOF, str(folder / "alone.json"))
    return file, written(folder, "alone")


@pytest.mark.parametrize("attempt", range(KILLS))
def test_a_run_survives_the_death_of_workers(
    attempt: int, rows: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    chance = random.Random(attempt if not THOROUGH else None)
    driver = started(tmp_path, rows[0], "several")
    found = workers_of(driver)
    time.sleep(chance.uniform(0.0, 0.5))
    for pid in chance.sample(found, chance.randint(1, 2)) if len(found) > 1 else []:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert results(tmp_path, "several", driver) == rows[1]


@pytest.mark.parametrize("attempt", range(KILLS))
def test_a_killed_run_continues_in_its_work_folder(
    attempt: int, rows: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    chance = random.Random(attempt if not THOROUGH else None)
    work = tmp_path / "work"
    work.mkdir()
    driver = started(tmp_path, rows[0], "several", "--work-folder", work)
    found = workers_of(driver)
    time.sleep(chance.uniform(0.0, 0.8))
    driver.kill()
    driver.communicate(timeout=TIME_OUT)
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in found) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in found if Path(f"/proc/{pid}/exe").exists()], "workers outlive it"
    again = started(tmp_path, rows[0], "several", "--work-folder", work)
    assert results(tmp_path, "several", again) == rows[1]
    assert [each.name for each in work.iterdir() if each.name.startswith(PREFIX)] == []


@pytest.mark.parametrize("damaged", [None, "part-0", "bucket-0", "bucket-1.models"])
def test_only_what_was_done_and_is_whole_is_not_done_again(
    damaged: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from noregret.scale import spread_groups

    file = write_csv(table(400), tmp_path / "rows.csv")
    alone = run(tmp_path, [file], "alone")
    calls: list[str] = []

    class Here:
        """Workers in this process, which fail at the third bucket the first time."""

        def __enter__(self) -> "Here":
            return self

        def __exit__(self, *failure: object) -> None:
            pass

        def map(self, function: Any, tasks: Any, wanted: Any) -> Any:
            for task in tasks:
                calls.append(Path(task.file).name)
                if len(calls) == 4:
                    raise KeyboardInterrupt
                yield function(task)

    monkeypatch.setattr("noregret.scale.pool_of", lambda workers, cluster: Here())
    assert spread_groups
    options = ("--workers", "1", "--work-folder", str(tmp_path))
    with pytest.raises((KeyboardInterrupt, AssertionError, SystemExit)):
        run(tmp_path, [file], "several", *options)
    before = list(calls)
    again = set[str]()
    if damaged is not None:
        (path,) = tmp_path.glob(f"{PREFIX}*/{damaged}")
        data = path.read_bytes()
        at = len(data) // 2
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        again.add(damaged.removesuffix(".models"))
    assert run(tmp_path, [file], "several", *options) == alone
    assert before[:3] == ["part-0", "bucket-0", "bucket-1"]
    assert {*before[:3]} & {*calls[4:]} == again


def test_any_changed_byte_of_a_file_of_rows_is_found(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    write(str(path), {"y": np.arange(9.0), "none": np.zeros(0), "k": np.arange(3)}, faults=0)
    data = path.read_bytes()
    found = stored(str(path))
    assert found is not None
    assert found["y"].tolist() == list(range(9))
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert stored(str(path)) is None
        path.write_bytes(data[:at])
        assert stored(str(path)) is None


def test_folders_of_killed_runs_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"{PREFIX}left"
    left.mkdir()
    (left / "part-0").write_text("rows")
    with work_folder(None) as used:
        assert not left.exists()
        with work_folder(None) as other:  # that of a run that still goes on stays
            assert Path(used).is_dir()
            assert Path(other).is_dir()
    assert list(tmp_path.iterdir()) == []
