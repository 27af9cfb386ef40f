"""Files that two runs could share belong to one of them, as long as that lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from noregret import NoRegretError
from noregret.base.atomic_files import beside, write_whole
from noregret.base.locks import SUFFIX, Lock, _searched
from tests.app.run import data
from tests.app.run.commands import COMMAND, done, refused

PLAIN = ["--target", "y", "--drop", "label", "--learner", "widrow-hoff", "--quiet"]
HOLD = """
import sys, time
from noregret.base.locks import Lock
held = Lock(sys.argv[1])
print("held", flush=True)
time.sleep(600)
"""
WRITE = """
import sys, time
from noregret.base.atomic_files import beside
with beside(sys.argv[1]) as place:
    open(place, "w").write("half")
    print(place, flush=True)
    time.sleep(600)
"""


def started(code: str, path: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a process that does something with a file; return it with its first line."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    return child, child.stdout.readline().strip()


def killed(child: subprocess.Popen[str]) -> None:
    """End a process without a last word."""
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert child.stdout is not None
    child.stdout.close()


def left_over(folder: Path) -> list[str]:
    """Return what processes may leave behind."""
    _searched.clear()
    return [path.name for path in folder.iterdir() if path.name.endswith(SUFFIX)]


@pytest.mark.parametrize("kind", ["checkpoint", "model", "certificate", "predictions", "report"])
def test_a_file_in_use_is_refused_by_name_and_process(kind: str, tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers())
    shared = tmp_path / f"shared.{'csv' if kind == 'predictions' else 'out'}"
    child, _ = started(HOLD, shared)
    try:
        said = refused("run", file, *PLAIN, f"--{kind}", shared)
        assert f"{shared}: in use by another run (process {child.pid})" in said
        assert not shared.exists()
    finally:
        killed(child)
    done("run", file, *PLAIN, f"--{kind}", shared)
    assert not left_over(tmp_path)


def test_two_runs_with_one_checkpoint_do_not_mix(tmp_path: Path) -> None:
    kept, fed = tmp_path / "kept", tmp_path / "fed.csv"
    os.mkfifo(fed)
    options = [*PLAIN, "--checkpoint", str(kept), "--every", "1"]
    mine = [str(fed), *options, "--predictions", str(tmp_path / "mine.csv")]
    other = data.csv(tmp_path / "other.csv", data.numbers())
    with subprocess.Popen([*COMMAND, "run", *mine]) as child:
        with open(fed, "w", encoding="utf-8") as pipe:  # opens when it is read, when all is locked
            pipe.write("x,y,label\n1,2,1\n")
            pipe.flush()
            told = tmp_path / "theirs.csv"
            said = refused("run", other, *options, "--predictions", told)
            assert f"{kept}: in use by another run (process {child.pid})" in said
            pipe.write("3,4,1\n")
        assert child.wait(60) == 0
    assert len((tmp_path / "mine.csv").read_text().splitlines()) == 3
    done("run", other, *options, "--predictions", tmp_path / "theirs.csv")


def test_a_mix_locks_its_files_too(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("a,b,y\n" + "1,2,1.5\n" * 20, "utf-8")
    with_lock = Lock(str(tmp_path / "w.csv"))
    said = refused("mix", file, "--target", "y", "--weights", tmp_path / "w.csv")
    assert f"in use by another run (process {os.getpid()})" in said
    with_lock.release()
    done("mix", file, "--target", "y", "--weights", tmp_path / "w.csv")
    assert not left_over(tmp_path)


def test_a_lock_is_held_once_and_leaves_nothing(tmp_path: Path) -> None:
    first = Lock(str(tmp_path / "f"))
    with pytest.raises(NoRegretError, match="in use by another run"):
        Lock(str(tmp_path / "f"))
    (tmp_path / "link").symlink_to(tmp_path / "f")
    with pytest.raises(NoRegretError, match="in use by another run"):
        Lock(str(tmp_path / "link"))
    first.release()
    Lock(str(tmp_path / "f")).release()
    assert not left_over(tmp_path)


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / f".mine{SUFFIX[:-1]}").write_text("a user's", "utf-8")
    dead, place = started(WRITE, tmp_path / "model")
    killed(dead)
    held, _ = started(HOLD, tmp_path / "checkpoint")
    killed(held)
    living, kept = started(WRITE, tmp_path / "model")
    try:
        assert Path(place).exists() is False  # the second writer has looked
        assert left_over(tmp_path) == [Path(kept).name]
        write_whole(tmp_path / "other", b"all")
        assert Path(kept).exists()
    finally:
        killed(living)
    left_over(tmp_path)
    write_whole(tmp_path / "other", b"all")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".mine.noregre", "other"]


def test_a_file_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), beside(tmp_path / "f"):
        raise KeyError
    assert not list(tmp_path.iterdir())
