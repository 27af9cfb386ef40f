"""The regret over time agrees with the certificate, or is not known."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret.proof.record.moment import Curve

ROWS = 400
RNG = np.random.default_rng(7)
ONE, A, NOISE = np.ones(ROWS), RNG.normal(size=ROWS), RNG.normal(size=ROWS)
COUNT, KIND = np.arange(ROWS), np.eye(4)[RNG.integers(0, 4, ROWS)]
Y = 1 + 2 * A + 0.3 * RNG.normal(size=ROWS)
DATE = np.c_[ONE, A, 20240101 + COUNT % 28]
# Tables by name, and whether every point of the curve is known.
TABLES = {
    "plain": (np.c_[ONE, A], True),
    "date": (DATE, True),
    "milliseconds": (np.c_[ONE, A, 1.7e12 + 6e4 * COUNT, 1e6 + COUNT], True),
    "indicators": (np.c_[ONE, A, KIND], True),
    "scaled indicators": (np.c_[ONE, A, 0.1 * KIND], True),
    "twice": (np.c_[ONE, A, A, 3 * A], True),
    "zeros": (np.c_[ONE, 0 * A, A], True),
    "nearly twice": (np.c_[ONE, A, A + 1e-7 * NOISE], True),
    "very nearly twice": (np.c_[ONE, A, A + 1e-11 * NOISE], False),
    "ill-scaled": (np.c_[1e-9 * ONE, 1e9 * A, 1e4 * NOISE], True),
    "wide": (np.c_[ONE, A, RNG.normal(size=(ROWS, 70)), 1e7 + COUNT], False),
    "nothing": (np.zeros((ROWS, 1)), True),
}
for power in range(4, 16):
    TABLES[f"around 1e{power}"] = (np.c_[ONE, A, 10.0**power + NOISE], power < 9)
    TABLES[f"without intercept 1e{power}"] = (np.c_[10.0**power + A, 10.0**power + NOISE], False)
    TABLES[f"from 1e{power}"] = (np.c_[ONE, A, 10.0**power + COUNT], power < 9)


def agrees(curve: Curve, certificate: nr.Certificate) -> bool:
    """Return whether the end of a curve is in the certificate's interval, or not known."""
    end, room = float(curve.regret[-1]), 2e-6 * float(curve.loss[-1])
    interval = certificate.regret
    return np.isnan(end) or interval.lower - room <= end <= interval.upper + room


@pytest.mark.parametrize("name", TABLES)
def test_the_curve_ends_in_the_interval_of_the_certificate(name: str) -> None:
    X, known = TABLES[name]
    game = nr.play(nr.Vaw(), X, Y)
    assert np.isnan(game.curve.regret[game.curve.lost]).all()
    assert np.isfinite(game.curve.regret).all() or not known
    certificate = game.certificate()
    assert agrees(game.curve, certificate)
    assert agrees(nr.play(nr.Vaw(), X, Y, keep="sums").curve, certificate)


def test_every_point_agrees_with_the_certificate_of_a_shorter_game() -> None:
    game = nr.play(nr.Auto(), DATE, Y)
    for at in (3, 10, 50, 120):
        rounds = int(game.curve.rounds[at])
        shorter = nr.play(nr.Auto(), DATE[:rounds], Y[:rounds])
        assert shorter.curve.regret[-1] == pytest.approx(game.curve.regret[at], rel=1e-9, abs=1e-9)
        assert agrees(shorter.curve, shorter.certificate())


def test_what_sums_alone_do_not_give_is_not_known() -> None:
    curve = nr.play(nr.Auto(), DATE, Y, keep="sums").curve
    assert np.isnan(curve.regret[-1])
    assert curve.lost[-1]


def test_rows_that_grow_wider_and_a_game_that_goes_on() -> None:
    rows = [
        {"one": 1.0, "date": float(x), **({"late": a} if t > 99 else {})}
        for t, (_, a, x) in enumerate(DATE)
    ]
    whole = nr.play(nr.Vaw(), rows, Y)
    parts = nr.play(nr.Vaw(), rows[:150], Y[:150])
    assert np.isfinite(parts.curve.regret).all()
    parts.play(rows[150:], Y[150:])
    assert np.isfinite(whole.curve.regret).all()
    np.testing.assert_allclose(parts.curve.regret[-1], whole.curve.regret[-1], rtol=1e-9)
    assert agrees(whole.curve, whole.certificate())
