"""Every game is a Certifiable; one that keeps nothing plays the same and certifies nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.batch import Ridge
from noregret.echo.certifying import CancellerGame
from noregret.errors import NoRegretError
from noregret.experts import Hedge
from noregret.proof.certificates.certifiable import Certifiable
from noregret.proof.game.game import Game

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.uniform(-1, 1, (200, 3)), RANDOM.uniform(-1, 1, 200)


def kinds(base: Any) -> list[type[Certifiable]]:
    """Return all classes of games."""
    return [base, *(kind for child in base.__subclasses__() for kind in kinds(child))]


def test_certificate_is_written_once() -> None:
    games = [type(nr.play(player, X, Y)) for player in (nr.WidrowHoff(), Hedge(), Ridge())]
    assert {Game, CancellerGame, *games} <= set(kinds(Certifiable))
    assert [kind for kind in kinds(Certifiable) if "certificate" in vars(kind)] == [Certifiable]


@pytest.mark.parametrize("name", ["transforms", "target"])
def test_nobody_sets_how_data_were_read_from_outside(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(Game(nr.WidrowHoff()), name, None)


@pytest.mark.parametrize("kind", [nr.WidrowHoff, Hedge])
def test_a_game_that_keeps_nothing_plays_the_same(kind: type) -> None:
    kept, bare = (nr.play(kind(), X, Y, keep=keep) for keep in ("auto", "nothing"))
    assert (bare.rounds, bare.loss) == (kept.rounds, kept.loss)
    np.testing.assert_array_equal(bare.curve.loss, kept.curve.loss[-1:])
    with pytest.raises(NoRegretError, match="no record of this game was kept"):
        bare.certificate()
