"""Thorough: a Ray cluster whose workers and machines are killed or stopped at random moments."""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noregret.batch import Ridge
from noregret.hindsight import best_in_ball
from noregret.scale import RayCluster, fit
from noregret.scale.spread_rows import SpreadRows
from noregret.scale.survey import surveyed
from noregret.scale.work_folder import PREFIX
from tests.app.run.commands import done
from tests.scale.inline import Inline
from tests.scale.test_cluster import cluster
from tests.scale.test_faults import children, results, started
from tests.scale.test_fitting import read
from tests.scale.test_groups_on_workers import table, write_csv
from tests.thorough import THOROUGH

ray: Any = pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.skipif(not THOROUGH, reason="takes minutes: only in thorough runs")
assert cluster  # a fixture
ATTEMPTS = 10
# Seconds within which a job ends, whatever becomes of its workers.
TIME_OUT = 180
PATIENCE = 5.0


def raylets() -> list[int]:
    """Return the processes of Ray's nodes that this process has started."""
    found = []
    for child in children(os.getpid()):
        try:
            words = Path(f"/proc/{child}/cmdline").read_text().split("\0")
        except OSError:  # it has ended
            continue
        if words[0].endswith("/raylet"):
            found.append(child)
    return found


def workers() -> list[int]:
    """Return the processes that run a task, or hold rows."""
    found = []
    for raylet in raylets():
        for child in children(raylet):
            try:
                words = Path(f"/proc/{child}/cmdline").read_text()
            except OSError:
                continue
            if words.startswith(("ray::call", "ray::Actor")):  # others end their node with them
                found.append(child)
    return found


def later(act: Callable[[], None], seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def strike(by: signal.Signals) -> None:
    """Send one of the busy workers a signal."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if found := workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(random.choice(found), by)
            return
        time.sleep(0.01)


@pytest.fixture
def job(tmp_path: Path) -> Callable[[], None]:
    """Return a job on the cluster that compares its bits with those of one process."""
    stream = read([write_csv(table(), tmp_path / "rows.csv")])
    here = fit(Ridge(), stream, pool=Inline(1)).certificate().to_json()
    with SpreadRows(surveyed(stream, Inline(1)), Inline(1), 200) as near:
        expected = best_in_ball(near, "absolute", 3.0)

    def work() -> None:
        began = time.monotonic()
        pool = RayCluster("auto", 3, patience=PATIENCE)
        assert fit(Ridge(), stream, pool=pool).certificate().to_json() == here
        with SpreadRows(surveyed(stream, pool), pool, 200) as far:
            answer = best_in_ball(far, "absolute", 3.0)
        assert answer.witness.tobytes() == expected.witness.tobytes()
        assert (answer.loss, answer.lower) == (expected.loss, expected.lower)
        spent = time.monotonic() - began
        print(f"{spent:.1f} s")
        assert spent < TIME_OUT

    return work


def test_workers_that_are_killed_or_stopped_change_no_bits(
    cluster: Any, job: Callable[[], None]
) -> None:
    assert cluster
    job()
    for attempt in range(ATTEMPTS):
        by = signal.SIGSTOP if attempt % 3 == 2 else signal.SIGKILL
        timer = later(lambda by=by: strike(by), random.uniform(0.0, 4.0))  # type: ignore[misc]
        job()
        timer.join()


def test_nodes_that_are_killed_and_replaced_change_no_bits(
    cluster: Any, job: Callable[[], None]
) -> None:
    for _ in range(ATTEMPTS // 2):
        node = random.choice(list(cluster.worker_nodes))
        timer = later(
            lambda node=node: cluster.remove_node(node, allow_graceful=False),  # type: ignore[misc]
            random.uniform(0.0, 4.0),
        )
        job()
        timer.join()
        cluster.add_node(num_cpus=1)


def test_a_killed_driver_continues_in_its_work_folder(cluster: Any, tmp_path: Path) -> None:
    file = write_csv(table(), tmp_path / "rows.csv")
    done_by_one = started(tmp_path, file, "alone", on=("--workers", "1"))
    alone = results(tmp_path, "alone", done_by_one)
    on, work = ("--cluster", str(cluster.address)), tmp_path / "work"
    work.mkdir()
    for _ in range(ATTEMPTS // 2):
        driver = started(tmp_path, file, "several", "--work-folder", work, on=on)
        time.sleep(random.uniform(1.0, 8.0))  # it takes seconds to join the cluster
        driver.kill()
        driver.communicate(timeout=TIME_OUT)
        began = time.monotonic()
        again = started(tmp_path, file, "several", "--work-folder", work, on=on)
        found = results(tmp_path, "several", again)
        for name, text in alone.items():
            assert found[name] == text, name
        print(f"{time.monotonic() - began:.1f} s")
        assert [each.name for each in work.iterdir() if each.name.startswith(PREFIX)] == []


def test_scoring_on_a_cluster_writes_the_same_bytes(cluster: Any, tmp_path: Path) -> None:
    assert cluster
    file, model = write_csv(table(), tmp_path / "rows.csv"), tmp_path / "m.model"
    done("run", file, "--target", "sold", "--model", model, "--quiet")
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    done("predict", model, file, "--predictions", one)
    done("predict", model, file, "--predictions", two, "--cluster", "auto")
    assert one.read_bytes() == two.read_bytes()
