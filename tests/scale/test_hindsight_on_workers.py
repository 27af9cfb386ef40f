"""The best predictor over rows that workers hold: the same bits, and proven as on one machine."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from noregret import hindsight, scale, streams
from noregret.errors import NoRegretError
from noregret.hindsight.rows import Rows
from noregret.scale.spread_rows import SpreadRows
from noregret.scale.survey import surveyed
from noregret.scale.tree import grown, reduced
from tests.scale.inline import Inline
from tests.scale.test_groups_on_workers import made, small_parts, table, write_csv
from tests.thorough import THOROUGH, sized

assert small_parts  # a fixture
BLOCK = 64
RADIUS = 3.0
LOSSES = ["logistic", "hinge", "absolute", "square"]


def read(paths: list[Path], signs: bool) -> Any:
    """Return a stream, with signs as outcomes if losses need them."""
    target = "warm" if signs else "sold"
    drop = ["shop", "sold" if signs else "warm", "city"]
    return streams.read([str(path) for path in paths], target, drop=drop, missing="indicator")


def written(folder: Path, form: str = "csv", rows: int = sized(400, full=3_000)) -> list[Path]:
    """Write rows with an outcome that is a sign."""
    found = table(rows)
    warm = np.where(np.asarray(found["sold"]) > 9.0, 1, 0)
    found = found.append_column("warm", [warm])
    if form == "files":
        parts = found.slice(0, 90), found.slice(90, 1), found.slice(91)
        return [write_csv(each, folder / f"{k}.csv") for k, each in enumerate(parts)]
    return [write_csv(found, folder / "rows.csv")]


def spread(stream: Any, workers: int, rows: int = BLOCK) -> SpreadRows:
    pool = Inline(workers)
    return SpreadRows(surveyed(stream, pool), pool, rows)


def alone(stream: Any) -> Rows:
    """Return the same rows in this process, from another way of reading them."""
    examples = list(stream)
    names = sorted({name for x, _ in examples for name in x})
    X = np.array([[x.get(name, 0.0) for name in names] for x, _ in examples])
    return Rows(X, [y for _, y in examples])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", ["files", "csv"] if THOROUGH else ["files"])
@pytest.mark.usefixtures("small_parts")
def test_bits_do_not_depend_on_workers_and_intervals_overlap(
    loss: str, form: str, tmp_path: Path
) -> None:
    stream = read(written(tmp_path, form), loss in ("logistic", "hinge"))
    found = []
    for workers in (1, 2, 3, 7):
        with spread(stream, workers) as rows:
            answer = hindsight.best_in_ball(rows, loss, RADIUS)
            assert len(rows.shares) == min(workers, rows.count)
        found.append((answer.loss.hex(), answer.lower.hex(), answer.witness.tobytes()))
    assert found[1:] == found[:-1]
    one = hindsight.best_in_ball(alone(stream), loss, RADIUS)
    assert answer.relative_gap <= 1e-6
    assert one.relative_gap <= 1e-6
    assert max(one.lower, answer.lower) <= min(one.loss, answer.loss)
    assert np.linalg.norm(answer.witness) <= RADIUS


@pytest.mark.usefixtures("small_parts")
def test_the_witness_pays_what_is_proven_in_exact_arithmetic(tmp_path: Path) -> None:
    stream = read(written(tmp_path), signs=False)
    with spread(stream, 3) as rows:
        answer = hindsight.best_in_ball(rows, "absolute", RADIUS)
        names = list(rows.names)
    w = [Fraction(float(value)) for value in answer.witness]
    paid = Fraction(0)
    for x, y in stream:
        score = sum((w[names.index(k)] * Fraction(float(v)) for k, v in x.items()), Fraction(0))
        paid += abs(score - Fraction(float(y)))
    assert Fraction(answer.lower) <= paid <= Fraction(answer.loss)


@pytest.mark.usefixtures("small_parts")
def test_combined_sums_are_as_near_as_their_bounds_say(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    with spread(read(written(tmp_path), signs=False), 3, rows=7) as rows:
        shares = random.normal(size=rows.shape[0]) * 10.0 ** random.integers(-9, 9, rows.shape[0])
        sums, off = rows.combined(shares)
        X = dense(rows.pick(np.ones(len(shares))))
    for j, column in enumerate(X.T):
        exact = sum(
            Fraction(float(a)) * Fraction(float(x)) for a, x in zip(shares, column, strict=True)
        )
        assert abs(exact - Fraction(float(sums[j]))) <= Fraction(float(off[j]))


def dense(block: Any) -> Any:
    """Return rows as an array."""
    return block.toarray() if sparse.issparse(block) else block


@pytest.mark.parametrize("drop", [["shop"], ["shop", "city"]], ids=["sparse", "dense"])
@pytest.mark.usefixtures("small_parts")
def test_passes_are_those_of_the_same_rows_in_one_process(drop: list[str], tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    stream = streams.read(made("csv", tmp_path)[0], "sold", drop=drop, missing="indicator")
    with spread(stream, 3) as rows:
        here = Rows(features=rows.shape[1])
        for X, y in rows.blocks():
            here.add(X, y)
        w, v = random.normal(size=(2, rows.shape[1]))
        a, d = random.normal(size=rows.shape[0]), random.random(rows.shape[0])
        d[::3] = 0.0
        asked: list[Callable[[Rows], Any]] = [
            lambda r: r.scores(w),
            lambda r: r.scores(np.abs(w), absolute=True),
            lambda r: r.combine(a),
            lambda r: r.combine(np.abs(a), absolute=True),
            lambda r: r.combined(a)[0],
            lambda r: r.bend(d, v),
            lambda r: r.gram(d),
            lambda r: r.column_squares(d),
            lambda r: dense(r.pick(d)),
            lambda r: r.outcomes,
            lambda r: r.only(np.array([0, 2])).scores(v[:2]),
        ]
        for ask in asked:
            assert np.allclose(ask(rows), ask(here), rtol=1e-12, atol=1e-9)
        facts, same = rows.survey, here.survey
        assert (facts.features, facts.filled) == (same.features, same.filled)
        assert facts.longest == pytest.approx(same.longest, rel=1e-9)


@pytest.mark.usefixtures("small_parts")
def test_other_classes_of_predictors_take_the_rows_too(tmp_path: Path) -> None:
    stream = read(written(tmp_path), signs=False)
    here = alone(stream)
    limits = hindsight.Limits(tolerance=1e-5)
    asked: list[Callable[[Rows], Any]] = [
        hindsight.best_linear,
        lambda r: hindsight.best_ridge(r, 2.0),
        lambda r: hindsight.best_in_simplex(r, "absolute", weight=2.0, limits=limits),
        lambda r: hindsight.best_in_box(r, "absolute", 1.0),
    ]
    with spread(stream, 2) as rows:
        for ask in asked:
            one, other = ask(here), ask(rows)
            assert max(one.lower, other.lower) <= min(one.loss, other.loss)
            assert other.relative_gap <= max(1e-5, 2 * one.relative_gap)


def test_the_tree_depends_on_the_number_of_leaves_only() -> None:
    def join(left: str, right: str) -> str:
        return f"({left} {right})"

    for count in range(1, 40):
        found = set()
        for workers in (1, 2, 3, 7, count):
            nodes: dict[tuple[int, int], str] = {}
            ends = [k * count // workers for k in range(workers + 1)]
            for first, stop in itertools.pairwise(ends):
                nodes |= grown([(k, str(k)) for k in range(first, stop)], join)
            found.add(reduced(nodes.get, count, join))
        assert len(found) == 1


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_is_lost_or_hangs_is_replaced(by: signal.Signals, tmp_path: Path) -> None:
    stream = read(written(tmp_path, rows=300), signs=True)
    with spread(stream, 1, rows=50) as rows:
        expected = hindsight.best_in_ball(rows, "logistic", RADIUS)
    # A worker that takes its place has to start, which takes seconds on a busy machine.
    with scale.Processes(2, patience=4.0) as pool:
        rows = SpreadRows(surveyed(stream, pool), pool, 50)
        with rows:
            assert rows.shape[0] == 300
            victim = rows.keepers.workers[1].process
            os.kill(victim.pid, by)
            began = time.monotonic()
            answer = hindsight.best_in_ball(rows, "logistic", RADIUS)
            assert time.monotonic() - began < 120
            assert rows.keepers.workers[1].process.pid != victim.pid
            victim.join(5)
            assert not victim.is_alive()
        assert not [each for each in pool.found if each.hired]
    assert answer.witness.tobytes() == expected.witness.tobytes()
    assert (answer.loss, answer.lower) == (expected.loss, expected.lower)


@pytest.mark.parametrize("attempt", range(sized(1, full=10)))
def test_workers_killed_at_random_moments_change_no_bits(attempt: int, tmp_path: Path) -> None:
    stream = read(written(tmp_path, rows=300), signs=False)
    with spread(stream, 1, rows=50) as rows:
        expected = hindsight.best_in_ball(rows, "absolute", RADIUS)
    random = np.random.default_rng(attempt)
    with scale.Processes(3) as pool, SpreadRows(surveyed(stream, pool), pool, 50) as rows:
        ended = threading.Event()

        def kill() -> None:
            for _ in range(3):
                if ended.wait(random.uniform(0.0, 0.3)):
                    return
                worker = rows.keepers.workers[int(random.integers(3))]
                if worker is not None and worker.process.is_alive():
                    os.kill(worker.process.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            answer = hindsight.best_in_ball(rows, "absolute", RADIUS)
        finally:
            ended.set()
            killer.join()
    assert answer.witness.tobytes() == expected.witness.tobytes()


def test_bad_rows_and_empty_files_are_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("sun,sold\n1,2\nhot,3\n1,much\n")
    with pytest.raises(NoRegretError) as error, scale.rows(file, "sold", pool=Inline(1)):
        pass
    assert (error.value.file, error.value.line) == (str(file), 4)
    file.write_text("sun,sold\n")
    with pytest.raises(NoRegretError, match="no examples"):
        scale.rows(file, "sold", pool=Inline(1))


class Silent(Inline):
    """Workers that never answer once they are hired."""

    def submit_to(self, worker: object, function: Callable[[Any], Any], task: Any) -> int:
        self.started += 1
        return self.started

    def wait(self, handles: Any, seconds: float) -> list[int]:
        return super().wait(handles, seconds) if self.waiting else []


def test_workers_that_never_answer_end_the_search_in_time(tmp_path: Path) -> None:
    pool = Silent(2)
    pool.patience = 0.01
    with SpreadRows(surveyed(read(written(tmp_path), signs=False), pool), pool, BLOCK) as rows:
        began = time.monotonic()
        with pytest.raises(NoRegretError, match="no worker has answered"):
            hindsight.best_in_ball(rows, "absolute", RADIUS)
        assert time.monotonic() - began < 30
    assert pool.started


def test_arrays_are_read_as_whole_files(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100_000, 3))
    file = tmp_path / "rows.npz"
    np.savez(file, X=X, y=X.sum(axis=1))
    with scale.rows(file, pool=Inline(2)) as rows:
        assert np.array_equal(rows.outcomes, X.sum(axis=1))
        assert np.allclose(rows.scores(np.ones(3)), X.sum(axis=1))
