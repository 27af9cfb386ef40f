"""Arguments made to do harm end in an error that says what is wrong, never in a crash.

The long form is ``tools/fuzz_core.py``; here are the laws, and what once broke them.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import noregret as nr
from noregret.base.families import FAMILIES, homes
from noregret.filters.engine.filter_steps import Steepest
from noregret.hindsight.sums import add_outer_products
from noregret.linear.engine.block_rows import play_dense, play_groups, play_pairs
from noregret.linear.engine.entry import SparseRow
from noregret.linear.engine.fourier_features import lift_sparse
from noregret.linear.engine.recorder import unpacked
from noregret.proof.record.digest import Digest
from noregret.streams.parsing.scaling import Scaler
from noregret.streams.parsing.vocabulary import assembled
from tests.compiled import compiled_modules

Change = Callable[[Any], None]


def matrix(change: Change) -> Any:
    """Return a sparse matrix of 4 rows and 3 columns, changed behind SciPy's back."""
    X = sparse.csr_matrix(np.tile([1.0, 0.0, 2.0], (4, 1)))
    change(X)
    return X


def put(part: str, at: int, value: int) -> Change:
    def change(X: Any) -> None:
        values = getattr(X, part).astype(np.int64)
        values[at] = value
        setattr(X, part, values)

    return change


def cut(part: str, length: int) -> Change:
    return lambda X: setattr(X, part, getattr(X, part)[:length])


WRONG: dict[str, tuple[Change, str]] = {
    "far outside": (put("indices", 3, 2_000_000_000), "row 1 .* column index 2000000000"),
    "far below": (put("indices", 3, -100_000_000), "row 1 .* column index -100000000"),
    "just below": (put("indices", 0, -3), "row 0 .* column index -3"),
    "one too many": (put("indices", 7, 3), "row 3 .* column index 3: .* from 0 to 2"),
    "cut to 1 by a cast": (put("indices", 1, 2**32 + 1), "row 0 .* column index 4294967297"),
    "data too short": (cut("data", 5), "row 2 .* from 4 to 6, but there are 5"),
    "indices too short": (cut("indices", 3), "row 1 .* from 2 to 4, but there are 3"),
    "rows that overlap": (put("indptr", 2, 1), "row 1 .* from 2 to 1"),
    "rows beyond the data": (put("indptr", 4, 2**40), "row 3 .* to 1099511627776"),
    "too few rows": (cut("indptr", 3), "4 rows"),
}
WAYS: dict[str, Callable[[Any], Any]] = {
    "fourier": lambda X: nr.fourier(X, count=4),
    "learn_many": lambda X: nr.WidrowHoff().learn_many(X, np.ones(4)),
    "refused outcome": lambda X: nr.WidrowHoff().learn_many(X, [1.0, None, 1.0, 1.0]),
    "predict_many": lambda X: taught().predict_many(X),
    "master": lambda X: nr.experts.Hedge().learn_many(X, np.ones(4)),
    "batch": lambda X: nr.batch.Ridge().fit(X, np.ones(4)),
    "play": lambda X: nr.play(nr.WidrowHoff(), X, np.ones(4)),
    "one row": lambda X: nr.WidrowHoff().learn_one(first_row(X), 1.0),
}


def taught() -> nr.WidrowHoff:
    learner = nr.WidrowHoff()
    learner.learn_many(np.eye(3), np.ones(3))
    return learner


def first_row(X: Any) -> Any:
    """Return the matrix as one row: its parts are what they were."""
    X._shape = (1, X.shape[1])
    return X


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_sparse_matrix_whose_parts_do_not_fit_is_refused(wrong: str, way: str) -> None:
    """Each of these read foreign memory, learned another column, or ended the process."""
    change, message = WRONG[wrong]
    expected = ".*" if way == "one row" else message
    with pytest.raises(nr.BadExample, match=expected):
        WAYS[way](matrix(change))


def test_a_wide_sparse_matrix_costs_what_it_holds() -> None:
    """Frequencies are drawn for the columns that occur, not for all that there could be."""
    wide = sparse.csr_array(([1.0], ([0], [2**31 - 3])), shape=(1, 2**31 - 2))
    np.testing.assert_array_equal(
        nr.fourier(wide, count=4),
        [list(nr.fourier({str(2**31 - 3): 1.0}, count=4).values())],
    )


def test_the_core_refuses_rows_outside_of_what_it_holds() -> None:
    one, two = np.ones(1), np.ones((1, 2))
    starts, place = np.array([0, 1]), np.array([-3], np.int32)
    zero = np.zeros(1, dtype=np.int64)
    calls: list[Callable[[], object]] = [
        lambda: lift_sparse(starts, place, one, np.ones((2, 1)), two),
        lambda: lift_sparse(np.array([0, 9]), place, one, np.ones((2, 1)), two),
        lambda: lift_sparse(np.empty(0, np.int64), place, one, np.ones((2, 1)), two),
        lambda: Scaler("max").scale_sparse(starts, place, one),
        lambda: Scaler("max").scale_sparse(np.array([0, 2**40]), place, one),
        lambda: assembled(two, np.arange(5, dtype=np.int32), np.empty((1, 0), np.int32)),
        lambda: assembled(two, np.arange(2, dtype=np.int32), np.zeros((9, 1), np.int32)),
        lambda: add_outer_products(np.broadcast_to(two, (9, 2)), np.zeros((2, 2))),
        lambda: add_outer_products(np.ones((9, 2))[::-1], np.zeros((2, 2))),
        lambda: unpacked(np.zeros(4), 2**40),
        lambda: unpacked(np.full(8, np.frombuffer(b"\1\0\0\0\1\0\0\0")[0]), 1),
        lambda: Steepest(4, 0.1).play_block(np.ones(9), np.ones(2), np.ones(9)),
        lambda: Steepest(4, 0.1).predict_block(np.ones(9), np.ones(2)),
        lambda: SparseRow(place, one, 3),
        lambda: play_pairs(nr.WidrowHoff()._entry, iter([([1.0], 1.0)] * 9), 9, np.empty(2)),
        lambda: play_dense(nr.WidrowHoff()._entry, two, None),  # type: ignore[arg-type]
        lambda: taught()._entry.undo(10**6, 1),
        lambda: play_groups([None], zero, zero + 1, two, one, one, 0),  # type: ignore[list-item]
        lambda: play_groups([taught()._entry], zero, zero + 5, two, one, one, 0),
        lambda: play_groups([taught()._entry], zero - 1, zero, two, one, one, 0),
        lambda: play_groups([taught()._entry], zero, zero, two, one, one, -1),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError)):
            call()


@pytest.mark.parametrize("family", FAMILIES)
def test_what_was_never_built_says_so(family: str) -> None:
    """An object made by ``__new__`` alone has nothing to compute with."""
    for name, home in homes(family).items():
        kind = getattr(importlib.import_module(home), name)
        thing = kind.__new__(kind)
        for method in ("learn_one", "predict_one", "learn_many", "play_one", "learn", "fit"):
            if hasattr(kind, method):
                with pytest.raises(Exception):  # noqa: B017, PT011  (any error, no crash)
                    getattr(thing, method)([1.0, 2.0], 1.0)
        if hasattr(kind, "play_one"):
            with pytest.raises(nr.NoRegretError, match="never built"):
                thing.play_one(1.0 if family == "filters" else [1.0], 1.0)


UNBUILT = """
import importlib, sys
for found in map(importlib.import_module, sys.argv[1:]):
    for name, kind in sorted(vars(found).items()):
        if not isinstance(kind, type) or kind.__module__ != found.__name__:
            continue
        for method in dir(kind):
            if method[:2] == "__":
                continue
            for arguments in (), (0,), (3, 0), ({}, {}), ([], [], []):
                try:
                    thing = kind.__new__(kind)
                except Exception:
                    try:
                        thing = kind.__new__(kind, 3)
                    except Exception:
                        break
                print(name, method, len(arguments), flush=True)
                try:
                    attribute = getattr(thing, method)
                    callable(attribute) and attribute(*arguments)
                except Exception:
                    pass
print("all")
"""


def test_no_class_of_the_core_crashes_before_it_is_built() -> None:
    """Every method of every class, on an object whose ``__init__`` never ran."""
    names = [module.__name__ for module in compiled_modules()]
    ended = subprocess.run(
        [sys.executable, "-c", UNBUILT, *names], capture_output=True, text=True, check=False
    )
    assert ended.stdout.endswith("all\n"), (ended.returncode, ended.stdout[-60:])


def test_a_loss_without_functions_is_refused() -> None:
    for loss in (nr.Loss(), nr.PythonLoss.__new__(nr.PythonLoss)):
        for use in (loss.value, loss.slope):
            with pytest.raises(ValueError, match="never built"):
                use(1.0, 1.0)
        with pytest.raises(ValueError, match="never built"):
            nr.GradientDescent(loss=loss)


def test_names_handed_out_are_not_those_that_a_learner_reads() -> None:
    learner = nr.WidrowHoff()
    learner.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    learner.features.clear()
    assert learner.features == ["a", "b"]
    learner._entry.known.names.clear()  # not for anyone, but no reason to crash
    with pytest.raises(nr.BadExample, match="finite"):
        learner.learn_one({"a": 1.0, "b": float("inf")}, 1.0)


def test_a_master_whose_weigher_was_changed_from_outside_is_refused() -> None:
    master = nr.experts.Hedge()
    master.learn_one([1.0, 2.0], 1.0)
    master._round.weigher.begin(10_000)
    with pytest.raises(nr.NoRegretError, match="changed from outside"):
        master.learn_one([1.0] * 10_000, 1.0)


def test_a_loss_in_python_cannot_use_the_master_that_asks_for_it() -> None:
    """It would have moved the numbers that the round at hand is reading."""
    refused: list[Exception] = []

    def value(score: float, outcome: float) -> float:
        try:
            master.learn_one([1.0] * 3, 1.0)
        except nr.NoRegretError as error:
            refused.append(error)
        return (score - outcome) ** 2

    loss = nr.PythonLoss(value, lambda score, outcome: 2 * (score - outcome))
    master = nr.experts.Hedge(loss=loss)
    master.learn_one([1.0, 2.0], 1.5)
    assert refused
    assert master.rounds == 1


def test_threads_that_share_a_master_with_a_loss_in_python_take_turns() -> None:
    loss = nr.PythonLoss(lambda p, y: (p - y) ** 2, lambda p, y: 2 * (p - y))
    master = nr.experts.Hedge(loss=loss)
    threads = [
        threading.Thread(target=lambda: [master.learn_one([0.1, 0.9, 0.4], 0.5) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert master.rounds == 200


def test_a_matrix_may_change_while_it_is_learned_from() -> None:
    """The core finds its place by copies that no other thread can write to."""
    X = sparse.random(400, 50, 0.3, "csr", rng=np.random.default_rng(0))
    stop = threading.Event()

    def change() -> None:
        rng = np.random.default_rng(1)
        while not stop.is_set():
            X.indices[rng.integers(len(X.indices))] = rng.integers(-(2**31), 2**31)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            try:
                nr.WidrowHoff(rate=0.01).learn_many(X, np.ones(400))
            except nr.NoRegretError:
                X.indices[:] = 0
    finally:
        stop.set()
        thread.join()


def test_a_digest_takes_words_from_one_thread_at_a_time() -> None:
    digest, words = Digest(), np.ones(2**16)
    refused: list[int] = []

    def update() -> None:
        for _ in range(20):
            try:
                digest.update(words[:-3])
            except RuntimeError:
                refused.append(1)

    threads = [threading.Thread(target=update) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = Digest()
    for _ in range(60 - len(refused)):
        whole.update(words[:-3])
    assert digest.text(1, 1, []) == whole.text(1, 1, [])
