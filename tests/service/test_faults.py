"""Disks that fail: nothing is acknowledged that is not on disk, and nothing on disk is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.errors import NoRegretError
from noregret.service import Conflict, Service, Stopped, UnknownId
from tests.thorough import THOROUGH, sized

HERE = Path(__file__).parent


def check_prefix(store: Path, acknowledged: int) -> None:
    """Check that a store opens, with all that was acknowledged, and the model of its labels."""
    with Service(None, store, snapshot_every=7) as service:
        plain = nr.Nlms()
        events = list(service.journal.learned())
        for event in events:
            plain.learn_one(json.loads(event.x), json.loads(event.y or ""))
        assert len(events) >= acknowledged
        assert [event.id for event in events] == [str(k) for k in range(len(events))]
        assert dumps(service.learner) == dumps(plain)


def test_a_log_that_is_cut_anywhere_is_a_prefix(tmp_path: Path) -> None:
    """The write-ahead log is cut within its last commits, as when a disk loses power.

    If more was acknowledged than the log has then, the journal is refused.
    """
    store, sizes, told = tmp_path / "s.db", list[int](), list[bytes]()
    service = Service(nr.Nlms(), store, snapshot_every=7)
    for k in range(12):
        service.learn({"a": k / 12, "b": 1.0}, k % 3, id=str(k))
        sizes.append(os.path.getsize(f"{store}-wal"))
        told.append(Path(f"{store}-acknowledged").read_bytes())
    data, log = store.read_bytes(), Path(f"{store}-wal").read_bytes()
    service.journal.close()
    first, draw = sizes[8], random.Random(2)

    def check(log: bytes, whole: int) -> None:
        """Check a log that is whole up to some byte."""
        done = sum(size <= whole for size in sizes)
        for last in (done - 1, done):
            if last == len(sizes) or (last == done and draw.random() > 0.2):
                continue
            cut = tmp_path / "cut.db"
            cut.write_bytes(data)
            Path(f"{cut}-wal").write_bytes(log)
            Path(f"{cut}-acknowledged").write_bytes(told[last])
            if last >= done:
                for _ in range(2):  # the second time, the log is gone
                    with pytest.raises(NoRegretError, match=f"entry {last + 1} was acknowledged"):
                        Service(None, cut)
                Path(f"{cut}-acknowledged").unlink()
            check_prefix(cut, done)

    cuts = range(first, len(log) + 1)
    for cut in cuts if THOROUGH else random.Random(0).sample(cuts, 25):
        check(log[:cut], cut)
    for place in random.Random(1).sample(range(first, len(log)), sized(10, full=500)):
        torn = bytearray(log)
        torn[place] ^= 0xFF  # a sector that was not written as meant
        check(bytes(torn), place)


def test_what_was_acknowledged_is_beside_the_journal_until_it_is_closed(tmp_path: Path) -> None:
    store, beside = tmp_path / "s.db", tmp_path / "s.db-acknowledged"
    with Service(nr.Nlms(), store) as service:
        service.learn({"a": 1.0}, 1, id="1")
        noted = service.journal.acknowledged
        assert noted is not None
        assert noted.kept()[0] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]
    for part in (b"", b"part", bytes(28)):  # it was not written to its end
        beside.write_bytes(part)
        Service(None, store).close()
    with Service(None, store) as service:
        service.learn({"a": 1.0}, 1, id="2")
        other = beside.read_bytes()
    beside.write_bytes(other)
    Service(None, store).close()
    with Service(None, store) as service:
        service.learn({"a": 1.0}, 1, id="3")
        newer = beside.read_bytes()
    copy = tmp_path / "copy.db"
    with Service(nr.Nlms(), copy) as service:
        for k in range(3):
            service.learn({"a": 1.0}, 2, id=str(k))
    (tmp_path / "copy.db-acknowledged").write_bytes(newer)
    with pytest.raises(NoRegretError, match=r"another than the one .*, or delete copy\.db-ack"):
        Service(None, copy)


def test_a_store_that_cannot_be_opened_is_refused_in_words(tmp_path: Path) -> None:
    """No more files may be open, as with a journal for each of a thousand models."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for odd in ("loop", "x" * 300):
        with pytest.raises(NoRegretError, match="cannot be opened"):
            Service(nr.Nlms(), tmp_path / odd)
    resource = pytest.importorskip("resource", reason="there is no limit of open files here")
    Service(nr.Nlms(), tmp_path / "other.db").close()  # imports what it needs
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(NoRegretError, match=r"cannot be opened .*ulimit"):
            Service(nr.Nlms(), tmp_path / "s.db")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_stops_the_service(small_disk: Path, tmp_path: Path) -> None:
    service, done = Service(nr.Nlms(), small_disk / "s.db", snapshot_every=7), 0

    def fill() -> None:
        nonlocal done
        for done in range(10_000):
            service.learn({"a": done % 9 / 9, "b": 1.0}, done % 3, id=str(done))

    with pytest.raises(Stopped, match="could not be written"):
        fill()
    assert done > 20
    with pytest.raises(Stopped):
        service.predict({"a": 1.0})
    service.close()
    for path in small_disk.iterdir():
        shutil.copy(path, tmp_path / path.name)
    check_prefix(tmp_path / "s.db", done)


FAILING = """
import pathlib, sys
import noregret as nr
from noregret.service import Service, Stopped
store, flag = sys.argv[1:]
service = Service(nr.Nlms(), store, snapshot_every=7)
for k in range(40):
    if k == 30:
        pathlib.Path(flag).touch()
    try:
        service.learn({"a": k / 40, "b": 1.0}, k % 3, id=str(k))
    except Stopped as error:
        print(f"{k} {error}")
        break
service.close()
"""


def test_a_failing_sync_is_not_acknowledged(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no C compiler for a library whose fsync fails")
    library = tmp_path / "fail_sync.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, HERE / "fail_sync.c", "-ldl"], check=True
    )
    flag = tmp_path / "flag"
    preload = os.pathsep.join(filter(None, [os.environ.get("LD_PRELOAD", ""), str(library)]))
    done = subprocess.run(
        [sys.executable, "-c", FAILING, tmp_path / "s.db", flag],
        env=os.environ | {"LD_PRELOAD": preload, "FAIL_SYNC": str(flag)},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.startswith("30 "), done
    assert "could not be written" in done.stdout
    check_prefix(tmp_path / "s.db", 30)


def test_duplicates_reordering_and_labels_that_come_early_or_never(tmp_path: Path) -> None:
    """Requests are repeated and shuffled at random; each label is learned once, after its row."""
    draw, plain = random.Random(3), nr.Nlms()
    requests = [(k, what) for k in range(80) for what in ("predict", "label") for _ in range(2)]
    requests = [each for each in requests if each[1] == "predict" or each[0] % 9]
    draw.shuffle(requests)
    predicted, labelled, early = set[int](), set[int](), 0
    with Service(nr.Nlms(), tmp_path / "s.db", snapshot_every=5) as service:
        for k, what in requests:
            x = {"a": k / 80, "b": 1.0}
            if what == "predict":
                service.predict(x, id=str(k))
                predicted.add(k)
            elif k not in predicted:
                early += 1
                with pytest.raises(UnknownId):
                    service.label(str(k), k % 4)
            else:
                service.label(str(k), k % 4)
                if k not in labelled:
                    labelled.add(k)
                    plain.learn_one(x, k % 4)
        found = service.metrics()
        assert found["labels"] == len(labelled) == plain.rounds
        assert found["pending"] == len(predicted) - len(labelled) >= 9
        assert found["refused"]["unknown"] == early > 0
        assert dumps(service.learner) == dumps(plain)
        some = str(min(labelled))
        with pytest.raises(Conflict):
            service.label(some, 17.0)
        with pytest.raises(NoRegretError):
            service.label("nobody", 1.0)
