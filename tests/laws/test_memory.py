"""Memory does not grow with the number of rounds."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable

import scipy.sparse as sp

import noregret as nr
from tests.thorough import in_turn, sized
from tests.variants import VARIANTS, Shape, Variant, as_dicts, examples

# Integers and caches of the interpreter may come and go; a few bytes a round may not.
ROUNDS = 200
REPEATS = sized(3, full=10)
SLACK = 2000
# Per tree of the forest of ``auto``.
MAX_NODES = 2000
MAX_ROWS = 32768  # that boosted trees keep


def kept_by(work: Callable[[], None]) -> int:
    """Return how much more memory is held after the work than before.

    Threads of other tests may allocate meanwhile, so what is too much is measured again.
    """
    for _ in range(3):
        kept = kept_once(work)
        if kept < SLACK:
            break
    return kept


def kept_once(work: Callable[[], None]) -> int:
    """Return how much more memory is held after the work than before, whoever holds it."""
    tracemalloc.start()
    try:
        work()  # whatever is allocated once, is
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(REPEATS):
            work()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return after - before


def sizes(learner: nr.Learner) -> dict[str, int]:
    arrays, numbers, features = learner.get_state()
    held = {name: array.nbytes for name, array in arrays.items()}
    if "nodes" in arrays:  # trees shrink and grow again below their budget
        assert arrays["counts"].max() <= learner.params["nodes"]
        held["nodes"] = 0
    if "trees.nodes" in arrays:  # of auto, after some rounds
        assert arrays["trees.counts"].max() <= MAX_NODES
        held = {name: size for name, size in held.items() if not name.startswith("trees.")}
    if "boosted.outcomes" in arrays:  # of auto, too: rows up to a number
        assert len(arrays["boosted.outcomes"]) <= MAX_ROWS
        held = {name: size for name, size in held.items() if not name.startswith("boosted.")}
    return held | {"numbers": len(numbers), "features": len(features)}


@in_turn("variant", VARIANTS)
def test_rounds_allocate_nothing_that_stays(variant: Variant) -> None:
    X, y = examples(variant, Shape(seed=3, rows=ROUNDS, columns=6, density=0.6))
    S, rows = sp.csr_array(X), [x | {"town": f"{x['x00'] > 0}"} for x in as_dicts(X[:20])]
    by_column, by_name = variant.make(), variant.make()
    outcomes = y.tolist()  # NumPy's own scalars count as kept under other allocators

    def work() -> None:
        by_column.learn_many(X, y)
        by_column.play_many(S, y)
        for x, outcome in zip(X[:20], outcomes, strict=False):
            by_column.predict_one(x)
            by_column.learn_one(x, outcome)
        for row, label in zip(rows, outcomes, strict=False):
            by_name.predict_one(row)
            by_name.play_one(row, label)

    work()
    held = sizes(by_column), sizes(by_name)
    assert kept_by(work) < SLACK
    assert (sizes(by_column), sizes(by_name)) == held


@in_turn("variant", VARIANTS)
def test_refused_and_unseen_names_are_not_remembered(variant: Variant) -> None:
    learner = variant.make()
    learner.learn_one({"a": 1.0}, 1.0)
    fresh = iter(range(10**9))

    def work() -> None:
        for _ in range(20):
            learner.predict_one({f"new {next(fresh)}": 1.0, "town": f"{next(fresh)}"})
            with contextlib.suppress(nr.BadExample):
                learner.learn_one({f"new {next(fresh)}": 1.0, "a": float("inf")}, 1.0)

    work()
    assert kept_by(work) < SLACK
    assert learner.features == ["a"]
    assert learner.rounds == 1
