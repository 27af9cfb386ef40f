"""A learner that is called one example at a time certifies as if it had been played."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import noregret
from noregret import Certificate, NoRegretError, certified, play, verify
from noregret.filters import Nlms
from noregret.linear.learner import all_learners
from noregret.portfolios import EgPortfolio
from tests.proof.certificates.games import BITS, KINDS, LABELS, NUMBERS, ROWS
from tests.thorough import sized

rng = np.random.default_rng(7)
VOTES = rng.random((50, 3))
OUTCOMES = rng.random(50)
RELATIVES = rng.uniform(0.9, 1.1, (50, 3))


def figures(certificate: Certificate) -> tuple[Any, ...]:
    """Return what must not depend on how examples came."""
    theorem = certificate.theorem
    return (
        certificate.data.digest,
        certificate.data.rounds,
        certificate.loss.total,
        certificate.loss.mistakes,
        certificate.hindsight.comparator,
        None if theorem is None else (theorem.name, theorem.holds),
    )


@pytest.mark.parametrize("name", all_learners())
def test_every_learner_certifies_at_any_moment_as_if_it_had_been_played(name: str) -> None:
    rounds = sized(60, full=len(ROWS))
    X: Any = ROWS[:rounds]
    y: Any = LABELS[:rounds]
    learner = noregret.make(name)
    if not learner.engine.loss.labels:
        y = NUMBERS[:rounds] / 10
    if hasattr(learner, "classes"):
        y = KINDS[:rounds]
    if name in ("winnow", "conjunction"):
        X, y = BITS[:rounds], BITS[:rounds, 0] > 0
    model = certified(noregret.make(name))
    for at, (x, outcome) in enumerate(zip(X, y.tolist(), strict=True), 1):
        model.predict_one(x)
        model.learn_one(x, outcome)
        if at in (1, 37):
            part = play(noregret.make(name), X[:at], y[:at]).certificate()
            assert figures(model.certificate()) == figures(part)
    found = model.certificate()
    assert figures(found) == figures(play(noregret.make(name), X, y).certificate())
    assert verify(found, X, y).confirmed


PLAYERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a master": (noregret.experts.Hedge, (VOTES, OUTCOMES)),
    "a strategy": (lambda: EgPortfolio(rate=0.1), (RELATIVES,)),
    "a filter": (lambda: Nlms(taps=3), (VOTES[:, 0], OUTCOMES)),
    "an ensemble": (
        lambda: noregret.Experts([noregret.WidrowHoff(rate=0.1), noregret.WidrowHoff(rate=0.5)]),
        (VOTES, OUTCOMES),
    ),
}


@pytest.mark.parametrize("kind", PLAYERS)
def test_other_families_certify_as_if_they_had_been_played(kind: str) -> None:
    make, table = PLAYERS[kind]
    model = certified(make())
    for at, row in enumerate(zip(*table, strict=True), 1):
        model.learn_one(*row)
        if at == 20:
            assert model.certificate().data.rounds == 20
    assert figures(model.certificate()) == figures(play(make(), *table).certificate())


def test_many_examples_and_one_by_one_go_into_the_same_books() -> None:
    model = certified(noregret.WidrowHoff(rate=0.2))
    model.learn_many(ROWS[:20], NUMBERS[:20])
    for x, y in zip(ROWS[20:40], NUMBERS[20:40], strict=True):
        guess = model.learner.predict_one(x)
        assert model.play_one(x, y) == guess
    model.learn_many(ROWS[40:], NUMBERS[40:])
    whole = play(noregret.WidrowHoff(rate=0.2), ROWS, NUMBERS)
    assert figures(model.certificate()) == figures(whole.certificate())
    assert model.loss == whole.loss
    assert np.array_equal(model.weights, whole.learner.weights)


def test_the_square_loss_takes_constant_memory_and_others_spill_to_a_file() -> None:
    draw = np.random.default_rng(1)
    square = certified(noregret.WidrowHoff(rate=0.01), memory=1 << 16)
    hinge = certified(noregret.Hinge(rate=0.01), memory=1 << 16)
    for _ in range(20):
        X = draw.uniform(-0.4, 0.4, (500, 4))
        square.learn_many(X, X[:, 0] + 0.1 * X[:, 1] ** 2)
        hinge.learn_many(X, X[:, 0] > 0)
    assert square.certificate().theorem is not None
    assert square.game.ledger.pages is None
    assert hinge.certificate().data.rounds == 10_000
    assert hinge.game.ledger.pages.spilled


def test_asking_often_does_not_make_the_curve_longer() -> None:
    asked, silent = certified(noregret.WidrowHoff(rate=0.2)), certified(noregret.WidrowHoff())
    times = sized(3, full=10)
    for x, y in zip(np.tile(ROWS, (times, 1)), np.tile(NUMBERS, times), strict=True):
        asked.learn_one(x, y)
        silent.learn_one(x, y)
        asked.certificate()
    silent.certificate()
    assert asked.game.curve.rounds.tolist() == silent.game.curve.rounds.tolist()


def test_a_refused_example_is_not_in_the_books() -> None:
    model = certified(noregret.WidrowHoff(rate=0.2))
    model.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(noregret.BadExample):
        model.learn_one({"a": float("inf")}, 1.0)
    model.learn_one({"a": 0.5}, 1.0)
    found = model.certificate()
    assert found.data.rounds == 2
    assert verify(found, [({"a": 1.0}, 1.0), ({"a": 0.5}, 1.0)]).confirmed


def test_what_was_learned_before_is_said() -> None:
    learner = noregret.WidrowHoff(rate=0.2)
    learner.learn_one({"a": 1.0}, 1.0)
    model = certified(learner)
    model.learn_one({"a": 0.5}, 1.0)
    found = model.certificate()
    assert found.data.rounds == 1
    assert found.theorem is not None
    assert found.theorem.bound is None


def test_a_learner_that_learned_beside_its_books_is_not_certified() -> None:
    model = certified(noregret.experts.Hedge())
    model.learn_one(VOTES[0], OUTCOMES[0])
    model.learner.learn_one(VOTES[1], OUTCOMES[1])
    with pytest.raises(NoRegretError, match="incomplete"):
        model.certificate()


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda m: m.copy(), lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_and_pickles_go_on_with_their_own_books(again: Any) -> None:
    model = certified(noregret.WidrowHoff(rate=0.2))
    model.learn_many(ROWS[:30], NUMBERS[:30])
    other = again(model)
    other.learn_many(ROWS[30:], NUMBERS[30:])
    model.learn_one(ROWS[30], NUMBERS[30])
    assert model.certificate().data.rounds == 31
    whole = play(noregret.WidrowHoff(rate=0.2), ROWS, NUMBERS).certificate()
    assert figures(other.certificate()) == figures(whole)


def test_threads_that_learn_and_ask_lose_no_round() -> None:
    model = certified(noregret.WidrowHoff(rate=0.01))
    faults: list[BaseException] = []

    def learn() -> None:
        try:
            for x, y in zip(ROWS, NUMBERS, strict=True):
                model.learn_one(x, y)
                model.predict_one(x)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=learn) for _ in range(4)]
    for thread in threads:
        thread.start()
    asked = [model.certificate().data.rounds for _ in range(5) if model.rounds]
    for thread in threads:
        thread.join()
    assert not faults
    assert asked == sorted(asked)
    assert model.certificate().data.rounds == 4 * len(ROWS)


@pytest.mark.parametrize(
    "wrong",
    [noregret.WidrowHoff, 5, noregret.batch.Ridge(), certified(noregret.WidrowHoff())],
)
def test_what_does_not_learn_one_by_one_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="one example at a time"):
        certified(wrong)


def test_the_function_is_found_whatever_was_imported_before() -> None:
    import noregret.proof.game.certified_learner
    import noregret.river  # uses it

    assert callable(noregret.certified)


def test_other_ways_to_learn_are_in_the_books_or_refused() -> None:
    strategy = certified(EgPortfolio(rate=0.1))
    strategy.learn(RELATIVES[0])
    assert strategy.certificate().data.rounds == 1
    master = certified(noregret.experts.Hedge())
    with pytest.raises(AttributeError, match="learn_one"):
        master.learn_losses([0.1, 0.2])
