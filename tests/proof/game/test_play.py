"""A game is the same rounds as learning, whatever the stream is made of, with the books kept."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret import play
from noregret.base.compiled.losses import PythonLoss
from noregret.proof.game.game import Game
from noregret.proof.record.pages import Pages
from tests.thorough import draws

rng = np.random.default_rng(7)
X = rng.normal(size=(3_000, 5)) / 4
y = X @ [1.0, -2.0, 0.5, 0.0, 1.5] + 0.1 * rng.normal(size=3_000)


def weights_alone() -> Any:
    learner = nr.WidrowHoff(rate=0.2)
    learner.learn_many(X, y)
    return learner.weights


STREAMS: dict[str, Callable[[], Any]] = {
    "a table and its outcomes": lambda: ((X, y), {}),
    "a pair": lambda: (((X, y),), {}),
    "pairs": lambda: ((zip(X, y, strict=True),), {}),
    "a list of pairs": lambda: ((list(zip(X, y, strict=True)),), {}),
    "blocks": lambda: (((X[i : i + 700], y[i : i + 700]) for i in range(0, 3_000, 700)),),
    "sparse blocks": lambda: ([(sp.csr_array(X[:10]), y[:10]), (sp.csr_array(X[10:]), y[10:])],),
    "a sparse matrix": lambda: ((sp.csr_array(X), y), {}),
    "float32 columns first": lambda: ((np.asfortranarray(X), y), {}),
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("keep", ["auto", "rows", "sums"])
def test_a_game_learns_what_the_learner_learns(name: str, keep: Any) -> None:
    given_stream = STREAMS[name]()
    arguments = given_stream[0] if len(given_stream) == 2 else given_stream
    game = play(nr.WidrowHoff(rate=0.2), *arguments, keep=keep, predictions=True)
    assert game.rounds == 3_000
    assert (game.learner.weights == weights_alone()).all()
    alone = nr.WidrowHoff(rate=0.2)
    assert (game.predictions == alone.play_many(X, y)).all()
    assert game.loss == alone.total_loss
    assert game.measured["norm"].largest == pytest.approx(np.linalg.norm(X, axis=1).max())


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_names_its_target(frame: Any) -> None:
    columns = {f"c{k}": X[:, k] for k in range(5)}
    whole = frame(columns | {"price": y})
    game = play(nr.WidrowHoff(rate=0.2), whole, target="price")
    assert game.learner.features == [f"c{k}" for k in range(5)]
    assert (game.learner.weights == weights_alone()).all()
    with pytest.raises(nr.BadExample, match="there is no column 'prize': the nearest are price"):
        play(nr.WidrowHoff(rate=0.2), whole, target="prize")
    with pytest.raises(TypeError, match="needs its outcomes"):
        play(nr.WidrowHoff(rate=0.2), whole)


def test_the_best_in_hindsight_does_not_depend_on_what_was_kept() -> None:
    expected = float(np.sum((X @ np.linalg.lstsq(X, y, rcond=None)[0] - y) ** 2))
    for keep in ("auto", "rows", "sums"):
        for memory in (0, 10_000, 1 << 30):
            game = play(nr.WidrowHoff(rate=0.2, norm=2.0), X, y, keep=keep, memory=memory)
            certificate = game.certificate()
            assert certificate.hindsight.loss == pytest.approx(expected, rel=1e-9)
            assert certificate.hindsight.gap <= 1e-9 * expected
            assert certificate.theorem is not None
            assert certificate.theorem.holds


@pytest.mark.parametrize("memory", [0, 5_000, 1 << 30])
def test_rows_that_do_not_fit_in_memory_go_to_a_file(memory: int) -> None:
    labels = np.where(y > 0, 1, -1)
    learner = nr.Logistic.tuned(radius=3.0, norm=2.0)
    game = play(learner, X, labels, memory=memory)
    pages = game.ledger.pages
    assert isinstance(pages, Pages)
    assert (pages.file is None) == (memory == 1 << 30)
    again = [
        (block.toarray() if hasattr(block, "toarray") else block, t) for block, t in pages.blocks()
    ]
    assert (np.vstack([block for block, _ in again]) == X).all()
    assert (np.concatenate([t for _, t in again]) == labels).all()
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    assert certificate.hindsight.gap <= 1e-6 * certificate.hindsight.loss


def test_a_game_goes_on() -> None:
    whole = play(nr.WidrowHoff(rate=0.2, norm=2.0), X, y, predictions=True)
    parts = play(nr.WidrowHoff(rate=0.2, norm=2.0), X[:1_000], y[:1_000], predictions=True)
    early = parts.certificate()
    parts.play(zip(X[1_000:1_100], y[1_000:1_100], strict=True)).play(X[1_100:], y[1_100:])
    assert parts.digest == whole.digest
    assert (parts.predictions == whole.predictions).all()
    late, expected = parts.certificate(), whole.certificate()
    assert late.loss == expected.loss
    assert late.hindsight.loss == pytest.approx(expected.hindsight.loss, rel=1e-12)
    assert early.data.rounds == 1_000
    assert early.loss.total < late.loss.total


def test_blocks_of_dicts_are_blocks() -> None:
    dicts = [dict(zip("abcde", x, strict=True)) for x in X.tolist()]
    game = play(nr.WidrowHoff(rate=0.2), [(dicts[:9], y[:9]), (dicts[9:], y[9:])])
    assert (game.learner.weights == weights_alone()).all()


def test_an_outcome_is_asked_for_only_when_the_one_before_is_learned() -> None:
    learner = nr.WidrowHoff(rate=0.5)
    seen = []

    def stream() -> Iterator[tuple[list[float], float]]:
        for _ in range(2_500):
            seen.append(learner.rounds)
            yield [1.0], 1.0

    play(learner, stream())
    assert seen == list(range(2_500))


def test_a_learner_that_was_trained_before_gets_no_bound() -> None:
    learner = nr.WidrowHoff(rate=0.2, norm=2.0)
    learner.learn_many(X[:100], y[:100])
    game = play(learner, X[100:], y[100:])
    assert game.rounds == 2_900
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None
    assert certificate.theorem.failed is not None
    assert certificate.theorem.failed.measured == 100


def test_the_rounds_before_a_refused_one_are_in_the_books() -> None:
    bad = X.copy()
    bad[1_234, 2] = np.nan
    game = Game(nr.WidrowHoff(rate=0.2), predictions=True)
    with pytest.raises(nr.BadExample, match="round 1235"):
        game.play(bad, y)
    assert game.rounds == 1_234
    assert game.digest == play(nr.WidrowHoff(rate=0.2), X[:1_234], y[:1_234]).digest
    assert len(game.predictions) == 1_234
    game.play(X[1_234:], y[1_234:])
    assert game.digest == play(nr.WidrowHoff(rate=0.2), X, y).digest
    with pytest.raises(nr.BadExample, match="round 3001"):
        game.play(iter([(X[0], "x")]))
    assert game.rounds == 3_000


def test_a_stream_that_breaks_loses_nothing() -> None:
    def stream() -> Iterator[Any]:
        yield from zip(X[:500], y[:500], strict=True)
        raise ConnectionError("the line is dead")

    game = Game(nr.WidrowHoff(rate=0.2))
    with pytest.raises(ConnectionError):
        game.play(stream())
    assert game.rounds == 500
    assert game.certificate().data.rounds == 500


def test_a_learner_plays_one_game_at_a_time() -> None:
    learner = nr.WidrowHoff(rate=0.5)

    def stream() -> Iterator[Any]:
        yield [1.0], 1.0
        play(learner, [([1.0], 1.0)])

    with pytest.raises(nr.NoRegretError, match="another game"):
        play(learner, stream())
    play(learner, [([1.0], 1.0)])  # and then the next


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (X, "needs its outcomes"),
        (5, "play a stream of"),
        ([1, 2], "pairs"),
        ([([1.0], 1.0, 3)], "pairs"),
    ],
)
def test_what_cannot_be_played_is_refused(stream: Any, message: str) -> None:
    with pytest.raises((TypeError, nr.BadExample), match=message):
        play(nr.WidrowHoff(rate=0.2), stream)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(TypeError, match="play a learner"):
        play("widrow-hoff", [])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="keep must be"):
        play(nr.WidrowHoff(), [], keep="everything")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="square loss only"):
        play(nr.Hinge(), [], keep="sums")
    with pytest.raises(nr.NoRegretError, match="nothing was played"):
        play(nr.WidrowHoff(), []).certificate()
    with pytest.raises(nr.NoRegretError, match="predictions=True"):
        _ = play(nr.WidrowHoff(), []).predictions


def test_a_loss_that_fails_leaves_the_books_right() -> None:
    def value(s: float, t: float) -> float:
        if t > 1.0:
            raise ZeroDivisionError("no")
        return (s - t) ** 2

    loss = PythonLoss(value, lambda s, t: 2 * (s - t))
    game = Game(nr.GradientDescent(loss=loss, rate=0.05))
    outcomes = np.minimum(y, 0.9)
    outcomes[50] = 2.0
    with pytest.raises(ZeroDivisionError):
        game.play(X, outcomes)
    assert game.rounds == 50


def test_too_many_features_for_sums_do_not_stop_a_game() -> None:
    def stream() -> Iterator[Any]:
        for t in range(4_200):
            yield {f"f{t}": 0.5, "always": 0.5}, 1.0

    with_rows = play(nr.WidrowHoff(rate=0.5), stream())
    assert with_rows.certificate().theorem.holds
    game = play(nr.WidrowHoff(rate=0.5), stream(), keep="sums")
    assert game.rounds == 4_200
    assert game.digest == with_rows.digest
    with pytest.raises(nr.NoRegretError, match="more than 2000 features"):
        game.certificate()


def test_a_failure_in_the_other_thread_is_raised_in_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(self: Any, *page: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Pages, "add", full)
    game = Game(nr.Hinge())
    big = np.tile(X, (20, 1))
    with pytest.raises(OSError, match="No space left"):
        game.play(big, np.sign(np.tile(y, 20)))
    assert not [thread for thread in threading.enumerate() if thread.name == "noregret"]


# The curve.


def test_the_curve_is_what_it_says() -> None:
    curve = play(nr.WidrowHoff(rate=0.2, norm=2.0), X, y).curve
    assert 100 < len(curve.rounds) < 1_000
    assert curve.rounds[0] == 1
    assert curve.rounds[-1] == 3_000
    assert (np.diff(curve.rounds) > 0).all()
    for at in (0, 10, 50, len(curve.rounds) // 2, len(curve.rounds) - 1):
        t = int(curve.rounds[at])
        alone = nr.WidrowHoff(rate=0.2, norm=2.0)
        alone.learn_many(X[:t], y[:t])
        assert curve.loss[at] == alone.total_loss
        best = np.linalg.lstsq(X[:t], y[:t], rcond=None)[0]
        least = float(np.sum((X[:t] @ best - y[:t]) ** 2))
        assert curve.regret[at] == pytest.approx(alone.total_loss - least, rel=1e-6, abs=1e-7)
        ridge = np.linalg.solve(X[:t].T @ X[:t] + 16 * np.eye(5), X[:t].T @ y[:t])
        bound = float(np.sum((X[:t] @ ridge - y[:t]) ** 2)) / 0.8 + 20 * float(ridge @ ridge)
        assert curve.bound[at] == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("stops", [(100, 500, 2_000), (1, 2, 41), (999, 1_000, 1_001)])
def test_the_last_point_of_the_curve_is_complete(stops: tuple[int, ...]) -> None:
    wide = np.hstack([X, rng.normal(size=(3_000, 60)) / 8])
    game = Game(nr.WidrowHoff(rate=0.2, norm=3.0))
    for stop in stops:
        game.play(wide[game.rounds : stop], y[game.rounds : stop])
        assert game.curve.rounds[-1] == stop
        assert np.isfinite(game.curve.regret[-1])
        assert np.isfinite(game.curve.bound[-1])


def test_the_curve_counts_mistakes_and_knows_what_it_does_not_know() -> None:
    labels = np.where(y > 0, 1, -1)
    game = play(nr.Perceptron(), X, labels)
    curve = game.curve
    assert curve.mistakes[-1] == game.mistakes
    assert np.isnan(curve.regret).all()
    assert (np.diff(curve.mistakes) >= 0).all()


@draws(20)
@given(t=st.integers(1, 40))
def test_short_games_have_every_round_on_the_curve(t: int) -> None:
    curve = play(nr.WidrowHoff(rate=0.2), X[:t], y[:t]).curve
    assert curve.rounds.tolist() == list(range(1, t + 1))


# The progress bar.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_only_on_a_terminal_and_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("noregret.proof.game.progress.PATIENCE", 1e6)  # however slow the machine is
    for stream, wanted, shown in [
        (Terminal(), None, False),  # over before that
        (Terminal(), True, True),
        (io.StringIO(), None, False),
        (Terminal(), False, False),
    ]:
        monkeypatch.setattr(sys, "stderr", stream)
        play(nr.WidrowHoff(rate=0.2), X, y, progress=wanted)
        assert bool(stream.getvalue()) == shown
        if shown:
            assert "rows/s" in stream.getvalue()
            assert "mean loss" in stream.getvalue()
