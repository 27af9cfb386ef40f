"""Workers: results in order, whatever becomes of the processes."""

import gc
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from noregret.errors import BadExample, NoRegretError, on_command_line
from noregret.scale import Pool, Processes, RayCluster, give_back
from noregret.scale.pool import name_of
from tests.scale import tasks


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Processes(2, patience=1.0) as found:
        yield found


def test_a_cluster_that_does_not_start_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray raises a bare exception if the machine is too slow."""

    class Slow:
        ended = False

        @staticmethod
        def is_initialized() -> bool:
            return False

        @staticmethod
        def init(*given: object, **options: object) -> None:
            raise Exception("The current node timed out during startup. Why: load.\nMore.")

        @classmethod
        def shutdown(cls) -> None:
            cls.ended = True

    monkeypatch.setitem(sys.modules, "ray", Slow)
    with pytest.raises(NoRegretError, match="Ray did not start: The current node") as told:
        RayCluster("local")
    assert Slow.ended
    said = on_command_line(told.value)
    assert "\n" not in said
    assert "try again when the machine is less busy, or " in said
    assert said.endswith("processes of this machine: --workers 2")


def placed(folder: Path) -> list[tuple[str, int]]:
    return [(str(folder), number) for number in range(6)]


def test_results_come_in_order(pool: Pool) -> None:
    assert list(pool.map(tasks.square, range(20))) == [k * k for k in range(20)]
    assert list(pool.map(tasks.square, [])) == []


def test_the_task_of_a_killed_worker_is_done_by_another(pool: Pool, tmp_path: Path) -> None:
    assert list(pool.map(tasks.killed_once, placed(tmp_path))) == list(range(6))


def test_a_worker_that_hangs_is_not_waited_for(pool: Pool, tmp_path: Path) -> None:
    began = time.monotonic()
    assert list(pool.map(tasks.stopped_once, placed(tmp_path))) == list(range(6))
    assert time.monotonic() - began < 60  # it would be for ever


def test_a_task_that_kills_its_workers_ends_with_an_error(pool: Pool) -> None:
    with pytest.raises(NoRegretError, match="6 workers ended during the same task"):
        list(pool.map(tasks.always_killed, [1]))


def test_an_error_keeps_its_fields_and_comes_at_its_place(pool: Pool) -> None:
    found = pool.map(tasks.refused, range(6))
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(BadExample) as told:
        next(found)
    assert (told.value.line, told.value.cures) == (7, ("leave it out",))


def test_a_worker_without_memory_says_so_and_names_its_task(pool: Pool) -> None:
    with pytest.raises(NoRegretError, match="ran out of memory: 1 GiB") as told:
        list(pool.map(tasks.without_memory, [1]))
    assert told.value.cures
    with pytest.raises(NoRegretError, match=r"memory \(a.csv from byte 7\): 1 GiB"):
        give_back.carried_out(tasks.without_memory, tasks.Named())
    assert name_of((1, tasks.Named(), b"", "x")) == " (a.csv from byte 7)"


def test_work_that_is_not_wanted_ends(pool: Pool) -> None:
    assert list(pool.map(tasks.square, range(5), lambda: False)) == []


class Cycle:
    """An object that refers to itself, as some that hold large arrays do."""

    def __init__(self) -> None:
        self.own = self


def test_workers_give_back_what_a_long_task_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[weakref.ref[Cycle]] = []

    def task(count: int) -> int:
        found.append(weakref.ref(Cycle()))
        return count

    gc.disable()
    try:
        assert give_back.carried_out(task, 1) == 1
        assert found[0]() is not None  # a short one is not worth it
        monkeypatch.setattr(give_back, "WORTH_SECONDS", 0.0)
        assert give_back.carried_out(task, 2) == 2
    finally:
        gc.enable()
    assert [each() for each in found] == [None, None]
