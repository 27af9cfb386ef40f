"""A process that forks while other threads learn: its copy hangs nowhere and holds whole rounds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.echo import Canceller
from noregret.experts import Experts
from tests.thorough import sized

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
FORKS, PATIENCE, WIDE = sized(4, full=12), 60.0, 4096
ROWS = np.ones((64, WIDE))


def same(values: Any) -> bool:
    """Return whether all numbers are the same, as after whole rounds all columns are."""
    return bool(np.ptp(np.asarray(values)) == 0)


def learner() -> tuple[Any, Callable[[], object], Callable[[], bool]]:
    made = nr.WidrowHoff(rate=1e-4)
    made.learn_one(ROWS[0], 1.0)

    def whole() -> bool:
        score = made.predict_one(ROWS[0])
        made.learn_one(ROWS[0], 1.0)
        return same(made.weights) and np.isfinite(score)

    return made, lambda: made.learn_many(ROWS, np.arange(64.0)), whole


def python_loss() -> tuple[Any, Callable[[], object], Callable[[], bool]]:
    loss = nr.PythonLoss(lambda p, y: (p - y) ** 2, lambda p, y: 2 * (p - y))
    made = nr.GradientDescent(loss=loss, rate=1e-5)
    made.learn_one(ROWS[0], 1.0)

    def whole() -> bool:
        made.learn_one(ROWS[0], 1.0)
        return same(made.weights)

    return made, lambda: made.learn_many(ROWS[:8], np.arange(8.0)), whole


def master() -> tuple[Any, Callable[[], object], Callable[[], bool]]:
    made = nr.experts.Hedge()
    made.learn_one(ROWS[0], 0.5)

    def whole() -> bool:
        made.learn_one(ROWS[0], 0.5)
        return same(made.weights()) and same(made.expert_losses)

    return made, lambda: made.learn_many(ROWS, np.full(64, 0.5)), whole


def filtering() -> tuple[Any, Callable[[], object], Callable[[], bool]]:
    made = nr.filters.Nlms(taps=256)
    signal_ = np.ones(4_000)

    def whole() -> bool:
        made.play_one(1.0, 0.5)
        return bool(np.isfinite(made.weights).all())

    return made, lambda: made.play_many(signal_, 0.5 * signal_), whole


def canceller() -> tuple[Any, Callable[[], object], Callable[[], bool]]:
    made = Canceller(8000)
    noise = np.random.default_rng(0).normal(0, 0.1, 8_000)

    def whole() -> bool:
        return bool(np.isfinite(made.process_many(noise[:800], noise[:800])).all())

    return made, lambda: made.process_many(noise, noise), whole


def ensemble() -> tuple[Any, Callable[[], object], Callable[[], bool]]:
    made = Experts({"a": nr.WidrowHoff(rate=1e-3), "b": nr.WidrowHoff(rate=1e-4)})
    made.learn_one({"u": 1.0}, 1.0)

    def whole() -> bool:
        rounds = {member.who.rounds for member in made.members.values()}
        return rounds == {made.master.rounds}

    return made, lambda: made.learn_one({"u": 1.0}, 1.0), whole


@pytest.mark.parametrize(
    "make", [learner, python_loss, master, filtering, canceller, ensemble], ids=lambda f: f.__name__
)
def test_a_copy_of_the_process_neither_hangs_nor_sees_half_a_round(
    make: Callable[[], tuple[Any, Callable[[], object], Callable[[], bool]]],
) -> None:
    _, learn, whole = make()
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            learn()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        found = [ending(whole) for _ in range(FORKS)]
    finally:
        stop.set()
        thread.join()
    assert found == ["whole"] * FORKS


def ending(whole: Callable[[], bool]) -> str:
    """Fork, have the copy look at what it has, and return how that ended."""
    time.sleep(0.003)
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = 0 if whole() else 1
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            code = 2
        finally:
            os._exit(code)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return ["whole", "half a round", "an error", "?"][os.waitstatus_to_exitcode(status)]
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"


def test_a_loss_may_fork_in_the_middle_of_its_own_round() -> None:
    """The copy has that thread too, and goes on where it was."""
    copies: list[int] = []

    def value(score: float, outcome: float) -> float:
        if not copies:
            copies.append(os.fork())
        return (score - outcome) ** 2

    made = nr.GradientDescent(loss=nr.PythonLoss(value, lambda p, y: 2 * (p - y)), rate=0.1)
    try:
        made.learn_one([1.0], 1.0)
    finally:
        if copies == [0]:
            made.learn_one([1.0], 1.0)
            os._exit(0 if made.rounds == 2 else 1)
    made.learn_one([1.0], 1.0)
    assert os.waitstatus_to_exitcode(os.waitpid(copies[0], 0)[1]) == 0
    assert made.rounds == 2


def test_a_game_or_a_stream_that_was_going_on_says_so_in_the_copy() -> None:
    """Its other threads are not there: to wait for them would be for ever."""
    from noregret.proof.record.worker_thread import Backstage
    from noregret.streams.prefetch import in_order

    backstage = Backstage()
    backstage.add(lambda: time.sleep(0.01))
    results = in_order(iter([partial(int, k) for k in range(50)]))
    assert next(results) == 0

    def whole() -> bool:
        for wait in (backstage.catch_up, lambda: list(results)):
            with pytest.raises(nr.NoRegretError, match="forked"):
                wait()
        backstage.close()
        return True

    assert ending(whole) == "whole"
    backstage.catch_up()
    backstage.close()
    assert list(results) == list(range(1, 50))


LEARNS_AFTER_IMPORTS = """
import copy, sys
import numpy as np
import noregret
from noregret.linear.learner import all_learners

made = [kind() for kind in all_learners().values()]
X, y = np.ones((3, 2)), np.ones(3)
before = set(sys.modules)
for each in made:
    each.learn_many(X, y)
    each.learn_one(X[0], 1.0)
    for call in ("predict_many", "decision_many"):
        if hasattr(each, call):
            getattr(each, call)(X)
    each.predict_one(X[0])
    copy.deepcopy(each)
print(*sorted(set(sys.modules) - before))
"""


def test_learning_from_arrays_imports_nothing() -> None:
    """A fork in the middle of another thread's import leaves the copy waiting for its end."""
    done = subprocess.run(
        [sys.executable, "-c", LEARNS_AFTER_IMPORTS], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
