"""Values, matrices and losses that misbehave while they are being read: refused, never a crash."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr


def state(learner: Any) -> Any:
    arrays, numbers, names = learner.get_state()
    return {name: array.tobytes() for name, array in arrays.items()}, numbers, names


def survives(code: str) -> str:
    """Run code in a process of its own, where a crash would show, and return what it prints."""
    lines = "import noregret as nr, numpy as np, scipy.sparse as sp\n" + code
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    return done.stdout


CHANGES = [
    "d.clear()",
    "d.update({str(i): 1.0 for i in range(1000)})",
    "d.pop('b')",
    "L.predict_one({'q': 1.0})",
]


def test_a_value_that_changes_the_example_or_uses_the_learner() -> None:
    told = survives(f"""
class Evil:
    def __init__(self, change):
        self.change = change
    def __float__(self):
        exec(self.change)
        return 0.5
for change in {CHANGES!r}:
    L = nr.WidrowHoff()
    L.learn_one({{"b": 1.0}}, 1.0)
    d = {{"a": 0.5, "evil": Evil(change), "b": 1.0}}
    try:
        L.learn_one(d, 1.0)
    except nr.NoRegretError as error:
        print(error, end=" | ")
    print(L.rounds, L.features)
""")
    lines = told.splitlines()
    assert len(lines) == len(CHANGES)
    for change, line in zip(CHANGES, lines, strict=True):
        words = "changed while it was being read", "must not use the learner"
        assert any(each in line for each in words), change
        assert line.endswith(" | 1 ['b']"), change


@pytest.mark.parametrize("use", ["predict_one", "learn_one"])
def test_a_loss_must_not_use_its_learner(use: str) -> None:
    arguments = ({"z": 1.0},) if use == "predict_one" else ({"z": 1.0}, 1.0)

    def value(score: float, outcome: float) -> float:
        getattr(learner, use)(*arguments)
        return (score - outcome) ** 2

    loss = nr.PythonLoss(value, lambda score, outcome: 2 * (score - outcome))
    learner = nr.GradientDescent(loss=loss)
    before = state(learner)
    with pytest.raises(nr.NoRegretError, match="must not use"):
        learner.learn_one({"a": 0.5}, 1.0)
    assert state(learner) == before


def test_a_sparse_matrix_changed_behind_its_own_back() -> None:
    told = survives("""
for spoil in [
    "X.indices[1] = 200000000",
    "X.indices[1] = -5",
    "X.indices[:3] = [2, 1, 0]",
    "X.indptr[:] = [-4, 4, 8, 12]",
    "X.indptr[:] = [0, 8, 4, 9]",
    "X.indptr[:] = [0, 3, 6, 4000000]",
    "X.data = X.data[:4]",
    "X.indices = X.indices[:4]",
]:
    X = sp.csr_array(np.ones((3, 3)))
    X.has_canonical_format
    exec(spoil)
    L = nr.WidrowHoff(norm=10.0)
    many, one = (lambda: L.learn_many(X, np.ones(3))), (lambda: L.learn_one(X[:1], 1.0))
    refused = 0
    for use in (many, one, lambda: L.predict_many(X)):
        try:
            use()
        except (nr.BadExample, IndexError, ValueError):
            refused += 1
    print(refused > 0, np.isfinite(L.weights).all())
""")
    assert told == "True True\n" * 8


def test_a_sparse_matrix_of_another_format_changed_behind_its_own_back() -> None:
    told = survives("""
for kind, spoil in [
    ("csc", "X.indices[:] = 2**24"),
    ("csc", "X.indices[:] = -(2**24)"),
    ("csc", "X.data = X.data[:4]"),
    ("bsr", "X.indptr[:] = np.arange(len(X.indptr)) * 10**6"),
    ("bsr", "X.indices[:] = 2**24"),
    ("coo", "X.row[:] = 2**24"),
    ("coo", "X.col[:] = -(2**24)"),
    ("coo", "X.data = X.data[:4]"),
    ("lil", "X.data[0] = X.data[0] * 10**5"),
    ("lil", "X.rows[0] = [2**40] * 4"),
    ("dia", "X.offsets = np.full(100_000, 1)"),
]:
    X = sp.csr_matrix(np.arange(1.0, 33.0).reshape(8, 4)).asformat(kind)
    exec(spoil)
    L = nr.WidrowHoff(norm=99.0)
    for use in (lambda: L.learn_many(X, np.ones(8)), lambda: L.predict_many(X)):
        try:
            use()
            print(kind, spoil, "is taken")
        except nr.BadExample:
            assert not L.rounds
""")
    assert not told


def test_a_sparse_row_that_is_a_view_is_taken() -> None:
    longer = np.array([999, 0, 1, 3], dtype=np.int32)
    row = sp.csr_array((np.ones(3), longer[1:], np.array([0, 3], dtype=np.int32)), shape=(1, 4))
    learner = nr.WidrowHoff(norm=2.0)
    learner.learn_one(row, 1.0)
    assert np.count_nonzero(learner.weights) == 3


def test_rows_that_lie_about_their_number_are_refused() -> None:
    class Liar:
        shape = (3, 2)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones((50, 2))

    with pytest.raises(nr.BadExample, match="50 rows, but 3 outcomes"):
        nr.WidrowHoff(norm=2.0).play_many(Liar(), np.ones(3))


def test_complex_numbers_are_refused() -> None:
    for number in (np.complex128(1 + 2j), np.complex64(1), 1j):
        with pytest.raises(nr.BadExample):
            nr.WidrowHoff().learn_one({"a": number}, 1.0)
        with pytest.raises(nr.BadExample):
            nr.WidrowHoff().learn_one({"a": 1.0}, number)


def test_names_that_no_file_can_hold_are_refused() -> None:
    learner = nr.WidrowHoff()
    with pytest.raises(nr.BadExample, match="not valid text"):
        learner.learn_one({"\ud83d\ude00": 1.0}, 1.0)
    assert learner.features == []


def test_a_name_given_as_two_kinds_of_string_is_given_twice() -> None:
    class Name(str):
        def __hash__(self) -> int:
            return 5

    with pytest.raises(nr.BadExample, match="given twice"):
        nr.WidrowHoff().learn_one({Name("a"): 0.1, "a": 0.2}, 1.0)


def test_labels_of_mixed_kinds_are_many_as_they_are_one_by_one() -> None:
    for y in ([True, 0, 1], [1, True], [1.0, True, 0.0]):
        X = np.ones((len(y), 2))
        one, many = nr.Perceptron(), nr.Perceptron()
        for x, label in zip(X, y, strict=True):
            one.learn_one(x, label)
        many.learn_many(X, y)
        assert state(one) == state(many)


def test_a_forgotten_category_is_forgotten() -> None:
    learner = nr.Conjunction()
    with pytest.raises(nr.BadExample):
        learner.learn_one({"c": "Oslo", "bad": 0.5}, True)
    learner.learn_one({"d": "x"}, True)
    assert learner.features == ["d=x"]
    assert learner.decision_one({"c": "Oslo"}) == -1.5  # "d=x" is false, "c=Oslo" is true


def test_a_refused_state_changes_nothing() -> None:
    learner, other = nr.WidrowHoff(), nr.averaged(nr.WidrowHoff())
    other.learn_one([1.0], 1.0)
    arrays, numbers, names = other.get_state()
    before = state(learner)
    with pytest.raises(ValueError, match="stored"):
        learner.set_state(arrays | {"stored": np.zeros(7)}, numbers, names)
    assert state(learner) == before


@pytest.mark.parametrize("name", sorted(nr.all_learners()))
def test_extreme_numbers_leave_finite_weights(name: str) -> None:
    learner = nr.make(name)
    learner = nr.averaged(learner) if learner.engine.linear else learner
    for size in (1e-300, 1e149, 1e-9, 1e75, 1.0):
        for outcome in (1.0, -1.0, 1e149):
            for x in ([size, 0.0], [-size, size]):
                try:
                    learner.learn_one(x, outcome)
                    assert np.isfinite(learner.predict_one(x))
                except nr.NoRegretError:
                    pass
                assert np.isfinite(learner.weights).all()
                assert np.isfinite(learner.total_loss)
    learner.copy()


# Threads.


def in_threads(*tasks: Any) -> None:
    failures: list[BaseException] = []

    def run(task: Any) -> None:
        try:
            task()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_refusal_in_one_thread_undoes_nothing_of_another() -> None:
    learner = nr.WidrowHoff(rate=0.01)
    X = np.ones((200, 3))

    def learn() -> None:
        for i in range(300):
            learner.learn_one({f"f{i}": Fraction(1, 2)}, 1.0)

    def refuse() -> None:
        for _ in range(300):
            with pytest.raises(nr.BadExample):
                learner.learn_one({"new": Fraction(1, 2), "bad": float("inf")}, 1.0)

    def frames() -> None:
        for i in range(20):
            learner.learn_many([{f"g{i}": 1.0}] * len(X), np.ones(len(X)))

    in_threads(learn, refuse, frames)
    assert learner.rounds == 300 + 20 * len(X)
    assert len(learner.features) == 320


def test_states_taken_while_another_thread_learns_are_between_two_rounds() -> None:
    """Every weight is the same in every round, so a torn state would show."""
    learner = nr.WidrowHoff(rate=0.5, norm=20.0)
    X, y = np.ones((20_000, 300)), np.ones(20_000)
    seen: list[bool] = []

    def learn() -> None:
        for _ in range(5):
            learner.learn_many(X, y)

    def look() -> None:
        for _ in range(300):
            weights = learner.copy().weights
            seen.append(len(weights) == 0 or bool((weights == weights[0]).all()))
            learner.predict_many(X[:50])

    in_threads(learn, look)
    assert all(seen)
    assert learner.rounds == 100_000


TYPES = ("f8", ">f8", "f2")
TAKING: list[Callable[[Any], Any]] = [
    lambda X: nr.WidrowHoff(norm=2.0).learn_many(X, np.ones(3)),
    lambda X: nr.play(nr.WidrowHoff(norm=2.0), X, np.ones(3)),
    lambda X: nr.Ridge().fit(X, np.ones(3)),
    lambda X: nr.play(nr.Hedge(), X, np.ones(3)),
    lambda X: nr.EgPortfolio().learn_many(X),
    lambda X: nr.play(nr.Exp3(), X),
    lambda X: nr.fourier(X, count=2),
]


@pytest.mark.parametrize("take", TAKING)
def test_tables_in_memory_views_are_taken_and_single_numbers_refused(
    take: Callable[[Any], Any],
) -> None:
    for kind in TYPES:
        table: Any = np.ones((3, 2), dtype=kind)
        take(memoryview(table))
    number: Any
    for number in (np.array(1.0), np.array(1.0).data, np.array(None)):
        with pytest.raises(nr.NoRegretError):
            take(number)
