"""Games that are pickled or copied: the same figures, the same certificate, and they go on."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.base.registry import all_algorithms
from tests.thorough import in_turn
from tests.variants import VARIANTS, Shape, Variant, examples

Way = Callable[[Any], Any]


def pickled(game: Any) -> Any:
    return pickle.loads(pickle.dumps(game))


WAYS: list[Way] = [pickled, copy.deepcopy]
PLAIN = [v for v in VARIANTS if not v.averaged and v.python_loss is None]


def figures(game: Any) -> Any:
    """Return all that a game says of itself but its certificate."""
    curve = [np.asarray(part).tobytes() for part in game.curve]
    return game.rounds, game.loss, game.mistakes, game.digest, game.width, curve, repr(game)


def certificate(game: Any) -> str:
    """Return the certificate's JSON, or why there is none."""
    try:
        return str(game.certificate().to_json())
    except (nr.NoRegretError, ValueError) as error:
        return str(error)


@in_turn("variant", PLAIN)
def test_a_game_comes_back_with_its_books_and_plays_on(variant: Variant) -> None:
    X, y = examples(variant, Shape(seed=3, rows=40, columns=4, density=0.8))
    for way in WAYS:
        game = nr.play(variant.make(), X[:25], y[:25], predictions=True)
        other = way(game)
        assert figures(other) == figures(game)
        assert other.predictions.tolist() == game.predictions.tolist()
        for each in (game, other):
            each.play(X[25:], y[25:])
        assert figures(other) == figures(game)
        assert other.learner.weights.tobytes() == game.learner.weights.tobytes()


@pytest.mark.parametrize("name", ["widrow-hoff", "perceptron", "logistic", "auto", "vaw"])
@pytest.mark.parametrize("way", WAYS)
def test_it_has_the_same_certificate(name: str, way: Way) -> None:
    variant = Variant(name, {}, False)
    X, y = examples(variant, Shape(seed=4, rows=60, columns=3, density=1.0))
    game = nr.play(variant.make(), X, y)
    other = way(game)
    assert certificate(other) == certificate(game)
    for each in (game, other):
        each.play(X, y)
    assert certificate(other) == certificate(game)


@given(rows=st.integers(1, 400), memory=st.sampled_from([0, 2_000, 1 << 20]), named=st.booleans())
def test_rows_in_a_temporary_file_come_along(rows: int, memory: int, named: bool) -> None:
    rng = np.random.default_rng(rows)
    X, y = rng.normal(size=(rows, 3)), rng.choice([-1.0, 1.0], size=rows)
    table: Any = [dict(zip("abc", row, strict=True)) for row in X.tolist()] if named else X
    game = nr.play(nr.Hinge(), table, y, keep="rows", memory=memory)
    other = pickled(game)
    for (A, a), (B, b) in zip(game.ledger.pages.blocks(), other.ledger.pages.blocks(), strict=True):
        np.testing.assert_array_equal(A, B)
        np.testing.assert_array_equal(a, b)
    assert other.ledger.pages.held <= max(memory, 0)
    assert other.digest == game.digest


# What cannot be found out from a table.
SIZES: dict[str, dict[str, Any]] = {"exp4": {"arms": 2, "experts": 1}}
OTHERS = [kind for kind in all_algorithms() if kind.family != "learners"]


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.name)
def test_games_over_tables_too(kind: Any) -> None:
    rng = np.random.default_rng(5)
    for play in (losses, advice, returns, labelled, chosen, signals):
        try:
            game = play(kind(**SIZES.get(kind.name, {})), rng)
            break
        except (TypeError, ValueError, nr.NoRegretError):
            continue
    else:
        pytest.fail(f"no table found that {kind.name} plays")
    for way in WAYS:
        other = way(game)
        assert (other.rounds, other.loss, other.digest) == (game.rounds, game.loss, game.digest)
        assert certificate(other) == certificate(game)


def losses(player: Any, rng: Any) -> Any:
    return nr.play(player, rng.uniform(0, 1, size=(30, 3)))


def advice(player: Any, rng: Any) -> Any:
    return nr.play(player, rng.uniform(0, 1, size=(30, 3)), rng.uniform(0, 1, size=30))


def labelled(player: Any, rng: Any) -> Any:
    """Labels that the first column tells; the last is always 1."""
    X = rng.integers(0, 2, size=(30, 3)) * 1.0
    X[:, 2] = 1.0
    return nr.play(player, X, X[:, 0])


def chosen(player: Any, rng: Any) -> Any:
    """Rewards, and the numbers of arms."""
    return nr.play(player, rng.integers(0, 2, size=(30, 3)) * 1.0)


def signals(player: Any, rng: Any) -> Any:
    """Two signals of one channel each."""
    return nr.play(player, rng.uniform(-1, 1, size=90), rng.uniform(-1, 1, size=90))


def returns(player: Any, rng: Any) -> Any:
    return nr.play(player, rng.uniform(0.9, 1.1, size=(30, 3)))


def test_rows_of_a_table_beyond_memory_come_along() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.uniform(size=(200_000, 3)), rng.uniform(size=200_000)
    game = nr.play(nr.experts.Hedge(), X, y, memory=1_000)
    other = pickled(game)
    assert game.table.spilled
    assert other.table.spilled
    assert other.digest == game.digest
    for each in (game, other):
        each.play(X[:100], y[:100])
    assert other.digest == game.digest


def test_an_ensemble_stays_one() -> None:
    members = {"slow": nr.WidrowHoff(rate=0.01), "fast": nr.WidrowHoff(rate=0.1)}
    rng = np.random.default_rng(7)
    X = rng.uniform(-0.5, 0.5, size=(40, 3))
    y = X.sum(axis=1)
    game = nr.play(nr.Experts(members), X, y)
    for way in WAYS:
        other = way(game)
        assert other.experts.master is other.player
        assert certificate(other) == certificate(game)
        kept = way(game)
        other.play(X, y)
        kept.play(X, y)
        assert certificate(other) == certificate(kept)


def test_a_game_that_is_being_played_is_refused() -> None:
    game = nr.play(nr.WidrowHoff(), [])

    def pairs() -> Any:
        yield [1.0], 1.0
        with pytest.raises(nr.NoRegretError, match="being played"):
            pickle.dumps(game)
        yield [1.0], 1.0

    game.play(pairs())
    assert game.rounds == 2
