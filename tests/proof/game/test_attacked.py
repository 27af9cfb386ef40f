"""Games that were attacked: nothing false is stated, and nothing crashes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret import play
from noregret.linear.engine.recorder import unpacked
from noregret.proof.game.game import Game
from noregret.proof.record.ledger import Ledger
from noregret.proof.record.pages import Pages

rng = np.random.default_rng(3)
D = rng.normal(size=(30_000, 20)) / 6
y = D @ rng.normal(size=20) + 0.3 * rng.normal(size=30_000)


def least(X: Any, outcomes: Any) -> float:
    best = np.linalg.lstsq(X, outcomes, rcond=None)[0]
    return float(np.sum((X @ best - outcomes) ** 2))


@pytest.mark.parametrize("keep", ["auto", "sums"])
def test_rows_of_all_kinds_in_turn_with_sums_only(keep: Any) -> None:
    S = sp.csr_array(np.where(rng.random((20_000, 20)) < 0.6, D[:20_000], 0))
    parts: list[Any] = [(D, y), (S, y[:20_000]), (D, y)]
    game = play(nr.WidrowHoff(norm=3.0), iter(parts), memory=0, keep=keep)
    game.play(zip(D[:9_000], y[:9_000], strict=True)).play(D, y)
    X = np.vstack([D, S.toarray(), D, D[:9_000], D])
    outcomes = np.concatenate([y, y[:20_000], y, y[:9_000], y])
    assert game.digest == play(nr.WidrowHoff(norm=3.0), X, outcomes).digest
    assert game.certificate().hindsight.loss == pytest.approx(least(X, outcomes), rel=1e-9)


@pytest.mark.parametrize("at", [1, 5, 30])
@pytest.mark.parametrize("method", ["take", "work", "enter", "complete"])
def test_an_interruption_loses_nothing_in_silence(
    method: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    original = getattr(Ledger, method)

    def interrupted(self: Ledger, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt
        return original(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, method, interrupted)
        game = Game(nr.WidrowHoff(norm=3.0))
        with pytest.raises(KeyboardInterrupt):
            game.play(zip(D[:500], y[:500], strict=True))
    try:
        certificate = game.certificate()
    except nr.NoRegretError as error:
        assert "incomplete" in str(error)  # noqa: PT017
        with pytest.raises(nr.NoRegretError, match="incomplete"):
            _ = game.digest
    else:
        t = certificate.data.rounds
        assert certificate.data.digest == play(nr.WidrowHoff(norm=3.0), D[:t], y[:t]).digest
        assert certificate.hindsight.loss == pytest.approx(least(D[:t], y[:t]), rel=1e-6)


def test_a_page_that_could_not_be_kept_ends_in_no_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(self: Any, *page: Any) -> None:
        raise OSError(28, "No space left on device")

    game = Game(nr.Hinge())
    with monkeypatch.context() as patched:
        patched.setattr(Pages, "add", full)
        with pytest.raises(OSError, match="No space"):
            game.play(D, np.sign(y))
    game.play(D[:5], np.sign(y[:5]))
    with pytest.raises(nr.NoRegretError, match="incomplete"):
        game.certificate()


def test_what_is_learned_outside_a_game_is_not_in_its_books() -> None:
    learner = nr.WidrowHoff(rate=0.2, norm=3.0)
    game = play(learner, D[:100], y[:100])
    before, weights = game.certificate(), learner.weights
    learner.learn_many(D[100:300], y[100:300])
    assert game.rounds == 100
    assert game.digest == before.data.digest
    assert game.certificate() == before
    with pytest.raises(nr.NoRegretError, match="outside this game"):
        game.play(D, y)
    other = play(learner, D[300:400], y[300:400])
    assert other.rounds == 100
    assert game.loss == before.loss.total
    assert not (learner.weights == weights).all()


def test_a_game_is_certified_when_it_is_over() -> None:
    game = Game(nr.WidrowHoff(norm=3.0))
    asked = []

    def stream() -> Iterator[Any]:
        for k in range(300):
            if k == 200:
                asked.append(game.rounds)
                for ask in (game.certificate, lambda: game.digest):
                    with pytest.raises(nr.NoRegretError, match="being played"):
                        ask()
            yield D[k], y[k]

    game.play(stream())
    assert asked == [200]
    assert game.certificate().hindsight.loss == pytest.approx(least(D[:300], y[:300]))


def test_threads_and_processes_read_the_temporary_file() -> None:
    game = play(nr.Hinge.tuned(radius=1.0, norm=3.0, horizon=30_000), D, np.sign(y), memory=0)
    found: list[float] = []

    def read() -> None:
        assert game.ledger.pages is not None
        found.append(sum(float(np.sum(t)) for _, t in game.ledger.pages.blocks()))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [float(np.sum(np.sign(y)))] * 4
    child = os.fork()
    if child == 0:
        read()
        os._exit(0 if found[-1] == found[0] else 1)
    read()
    assert os.waitpid(child, 0)[1] == 0
    assert found[-1] == found[0]


def test_threads_that_learn_during_a_game_are_in_its_books() -> None:
    learner = nr.WidrowHoff(norm=3.0)
    game = Game(learner)

    def learn() -> None:
        for x, outcome in zip(D[:2_000], y[:2_000], strict=True):
            learner.learn_one(x, outcome)

    def stream() -> Iterator[Any]:
        threads = [threading.Thread(target=learn) for _ in range(2)]
        for thread in threads:
            thread.start()
        yield from zip(D[:2_000], y[:2_000], strict=True)
        for thread in threads:
            thread.join()

    game.play(stream())
    assert game.rounds == 6_000
    assert game.ledger.pages is not None
    assert sum(len(t) for _, t in game.ledger.pages.blocks()) == 6_000
    assert game.certificate().data.rounds == 6_000


def test_games_without_features() -> None:
    assert play(nr.WidrowHoff(), np.zeros((3, 0)), np.ones(3)).loss == 3.0
    game = play(nr.WidrowHoff(), [({}, 1.0)] + [({"a": 0.5}, 1.0)] * 9)
    assert game.certificate().data.features == 1


def test_words_that_are_no_rows_are_refused() -> None:
    words = np.frombuffer(rng.bytes(800))
    with pytest.raises(ValueError, match="not rows"):
        unpacked(words, 5)
    with pytest.raises(ValueError, match="not rows"):
        unpacked(np.zeros(3), 9)


def test_a_loss_is_what_it_computes_not_what_it_is_called() -> None:
    def value(s: float, t: float) -> float:
        return abs(s - t)

    def slope(s: float, t: float) -> float:
        return float(np.sign(s - t))

    own = nr.PythonLoss(value, slope, name="square")
    found = play(nr.GradientDescent(loss=own, radius=1.0), D[:200, :3], y[:200]).certificate()
    known = play(nr.GradientDescent(loss="absolute", radius=1.0), D[:200, :3], y[:200])
    assert found.hindsight.loss == pytest.approx(known.certificate().hindsight.loss, rel=1e-4)


def test_a_loss_that_is_not_convex_gets_no_promise() -> None:
    bent = nr.PythonLoss(lambda s, t: -abs(s - t), lambda s, t: -float(np.sign(s - t)))
    learner = nr.GradientDescent(loss=bent, rate=0.01, radius=1.0)
    certificate = play(learner, D[:100, :3], y[:100]).certificate()
    assert certificate.regret.lower <= certificate.regret.upper
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None


def test_the_curve_claims_no_bound_where_the_certificate_claims_none() -> None:
    small = play(nr.WidrowHoff(norm=0.5), D[:300], y[:300])
    first: Any = small.certificate().theorem.failed.first_violation
    curve = small.curve
    assert np.isnan(curve.bound[curve.rounds >= first]).all()
    learner = nr.GradientDescent.tuned(loss="absolute", radius=9.0, lipschitz=3.0, horizon=100)
    curve = play(learner, D[:300], y[:300]).curve
    assert np.isnan(curve.bound[curve.rounds > 100]).all()
    assert np.isfinite(curve.bound[curve.rounds <= 100]).all()
    assert np.isnan(play(nr.GradientDescent(radius=1.0), D[:300], y[:300]).curve.regret).all()


def test_predictions_are_those_of_the_stream() -> None:
    learner = nr.WidrowHoff(norm=3.0)

    def stream() -> Iterator[Any]:
        for k in range(20):
            if k == 9:
                learner.learn_one(D[100], y[100])
            yield D[k], y[k]

    game = play(learner, stream(), predictions=True)
    assert len(game.predictions) == 20
    assert game.rounds == 21


def test_sparse_rows_one_by_one() -> None:
    rows = sp.csr_array(D[:50])
    pairs = [(rows[[k]], float(y[k])) for k in range(50)]
    assert play(nr.WidrowHoff(norm=3.0), pairs).digest == (
        play(nr.WidrowHoff(norm=3.0), D[:50], y[:50]).digest
    )
    with pytest.raises(nr.BadExample, match="pairs"):
        play(nr.WidrowHoff(), [None])
