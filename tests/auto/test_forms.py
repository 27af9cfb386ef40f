"""However rows come and whenever it is saved, it predicts the same to the bit."""

from __future__ import annotations

import threading
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.learners.auto import Auto
from tests.auto.streams import LOSSES, Floats, auto, played, same_state, stream
from tests.thorough import paired

WIDTHS = [1, 4, 50, 64, 65, 255, 256, 257]


def sparse(columns: int, loss: str, rows: int = 60) -> tuple[Floats, Floats]:
    """Return a stream with many zeros; all columns are there from the first row on."""
    X, y = stream(columns, rows, columns, loss)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0
    X[0] = 1
    return X, y


def as_dicts(X: Floats) -> list[dict[str, float]]:
    return [{f"c{j:03d}": float(v) for j, v in enumerate(row) if v != 0} for row in X]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("columns", WIDTHS)
def test_rows_count_alike_however_they_are_written(loss: str, columns: int) -> None:
    X, y = sparse(columns, loss)
    dense, rows, named, one = (auto(loss) for _ in range(4))
    expected = played(dense, X, y)
    assert played(rows, csr_array(X), y).tobytes() == expected.tobytes()
    for x, x_row, outcome in zip(as_dicts(X), X, y, strict=True):
        named.learn_one(x, outcome)
        one.learn_one(x_row, outcome)
    assert same_state(rows, dense)
    assert same_state(named, dense)
    assert same_state(one, dense)
    assert named.predict_one(as_dicts(X)[-1]) == dense.predict_one(X[-1])


@pytest.mark.parametrize("loss", LOSSES)
def test_many_rows_are_one_after_the_other(loss: str) -> None:
    X, y = sparse(5, loss)
    whole, parts = auto(loss), auto(loss)
    whole.learn_many(X, y)
    for start in range(0, len(y), 7):
        parts.learn_many(X[start : start + 7], y[start : start + 7])
    assert same_state(whole, parts)


@pytest.mark.parametrize(
    ("of", "after"), paired(list(product(LOSSES, WIDTHS)), [0, 1, 21]), ids=str
)
def test_a_saved_one_goes_on_to_the_bit(of: tuple[str, int], after: int, tmp_path: Path) -> None:
    loss, columns = of
    X, y = sparse(columns, loss, rows=45)
    learner = auto(loss, delay=2)
    learner.learn_many(X[:after], y[:after])
    learner.save(tmp_path / "model")
    loaded = nr.load(tmp_path / "model")
    assert isinstance(loaded, Auto)
    assert same_state(loaded, learner)
    assert (
        played(loaded, X[after:], y[after:]).tobytes()
        == played(learner, X[after:], y[after:]).tobytes()
    )
    assert same_state(loaded, learner)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("after", [400, 401, 402, 403])
def test_one_that_is_saved_while_rows_wait_goes_on_to_the_bit(
    loss: str, after: int, tmp_path: Path
) -> None:
    """Rows of many columns are learned from four at a time, after a while."""
    X, y = sparse(20, loss, rows=440)
    learner = auto(loss)
    learner.learn_many(X[:after], y[:after])
    assert learner.engine.members.plain.waiting == after % 4
    learner.save(tmp_path / "model")
    loaded = nr.load(tmp_path / "model")
    assert isinstance(loaded, Auto)
    rest = played(loaded, X[after:], y[after:])
    assert rest.tobytes() == played(learner, X[after:], y[after:]).tobytes()
    assert same_state(loaded, learner)


def test_filters_that_rest_while_rows_wait_can_be_saved(tmp_path: Path) -> None:
    X, y = stream(0, 1000, 40)
    rows = [{f"c{j:03d}": float(v) for j, v in enumerate(x)} for x in X]
    learner = auto()
    for x, outcome in zip(rows[:999], y[:999], strict=True):
        learner.learn_one(x, outcome)
    assert learner.engine.members.plain.waiting > 0
    learner.learn_one({**rows[999], **{f"new{j}": 1.0 for j in range(300)}}, y[999])
    assert not learner.engine.members.full
    learner.save(tmp_path / "model")
    loaded = nr.load(tmp_path / "model")
    assert isinstance(loaded, Auto)
    assert same_state(loaded, learner)
    assert loaded.predict_one(rows[0]) == learner.predict_one(rows[0])


def test_filters_rest_when_there_are_too_many_features_and_the_rest_goes_on(tmp_path: Path) -> None:
    """One column more than filters take, in the middle of a stream, saved on either side of it."""
    X, y = stream(0, 80, 260)
    learner = auto()
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        columns = 250 + t // 8
        learner.learn_one(
            {f"c{j:03d}": float(v) for j, v in enumerate(x[:columns])}, float(outcome)
        )
        assert learner.engine.members.full == (columns <= 256)
        if t % 8 in (0, 7):
            learner.save(tmp_path / "model")
            loaded = nr.load(tmp_path / "model")
            assert isinstance(loaded, Auto)
            assert same_state(loaded, learner)
            learner = loaded


@pytest.mark.parametrize("columns", [2, 52, 64, 256])
@pytest.mark.parametrize("more", [1, 10, 300])
@pytest.mark.parametrize("bad", [float("inf"), 1e200])
def test_what_is_refused_leaves_it_as_it_was(columns: int, more: int, bad: float) -> None:
    """Features that only a refused row brought are forgotten, in the filters too."""
    X, y = stream(1, 30, columns)
    learner, other = auto(), auto()
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        row = {f"c{j:03d}": float(v) for j, v in enumerate(x)}
        learner.learn_one(row, float(outcome))
        other.learn_one(row, float(outcome))
        new = {f"new{j}": 1.0 for j in range(more)}
        with pytest.raises(nr.BadExample, match="extra"):
            learner.learn_one({**row, **new, "extra": bad}, 1.0)
        with pytest.raises(nr.BadExample):
            learner.learn_one({**row, **new}, bad)
        assert same_state(learner, other), t


@pytest.mark.parametrize("loss", LOSSES)
def test_predictions_change_nothing_whoever_asks(loss: str) -> None:
    X, y = sparse(60, loss, rows=90)
    learner, other = auto(loss), auto(loss)
    learner.learn_many(X, y)
    other.learn_many(X, y)
    expected = learner.decision_many(X)
    found: list[bool] = []

    def ask() -> None:
        for _ in range(20):
            found.append(learner.decision_many(X).tobytes() == expected.tobytes())
            found.append(learner.decision_one(X[3]) == expected[3])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert all(found)
    assert same_state(learner, other)


def test_a_feature_never_seen_moves_nothing() -> None:
    X, y = sparse(4, "square")
    learner = auto()
    for x, outcome in zip(as_dicts(X), y, strict=True):
        learner.learn_one(x, float(outcome))
    row = as_dicts(X)[3]
    assert learner.predict_one({**row, "unheard of": 5.0}) == learner.predict_one(row)
