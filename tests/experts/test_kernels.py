"""The compiled loops: exponentials to two units in the last place, in every lane and width."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr

# So small that the sum of weights is 1 to the bit, whatever the others hold.
TINY = 2.0**-80


def decayed(exponents: list[float]) -> list[float]:
    """Return exp(−x) for x ≥ 0 as the weights have it."""
    master = nr.experts.Hedge(schedule="constant", rate=1.0, prior=[1.0, *[TINY] * len(exponents)])
    master.learn_losses([0.0, *exponents])
    weights = master.weights()
    assert weights[0] == 1.0
    return [float(weight) / TINY for weight in weights[1:]]


def ulps(found: float, expected: float) -> float:
    return abs(found - expected) / math.ulp(expected)


def test_exponentials_are_right_to_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    exponents = np.concatenate(
        [
            rng.uniform(0, 1, 2000),
            rng.uniform(0, 600, 4000),
            10.0 ** rng.uniform(-20, 2.7, 2000),
            np.arange(0, 600) * math.log(2) / 2,
            [0.0, 5e-324, 1e-300, 1e-17, 600.0],
        ]
    ).tolist()
    found = decayed(exponents)
    worst = max(ulps(a, math.exp(-x)) for a, x in zip(found, exponents, strict=True))
    assert worst <= 2, worst


def test_what_exp_cannot_hold_is_nothing() -> None:
    assert decayed([700.0, 800.0, 1e4, 1e300])[1:] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("n", range(1, 41))
def test_every_remainder_of_lanes(n: int) -> None:
    rng = np.random.default_rng(n)
    exponents = rng.uniform(0, 40, n).tolist()
    for a, x in zip(decayed(exponents), exponents, strict=True):
        assert ulps(a, math.exp(-x)) <= 2


@pytest.mark.parametrize("n", range(1, 41))
def test_sums_and_ends_at_every_width(n: int) -> None:
    rng = np.random.default_rng(n)
    losses = rng.random((30, n))
    master = nr.experts.Hedge()
    used, paid = np.empty(losses.shape), np.empty(30)
    master.play_block(losses, None, paid, used)
    for t in range(30):
        own = math.fsum(used[t] * losses[t])
        assert math.isclose(paid[t], own, rel_tol=1e-14)
    assert master._round.widest == np.ptp(losses, axis=1).max()
    totals = [math.fsum(column) for column in losses.T]
    np.testing.assert_allclose(master.expert_losses, totals, rtol=1e-13)


@pytest.mark.parametrize("where", [0, 1, 6, 7, 8, 15, 16, 17, 22])
def test_a_bad_number_is_seen_in_every_lane(where: int) -> None:
    for bad in (np.inf, -np.inf, 2e300):
        losses = np.zeros(23)
        losses[where] = bad
        master = nr.experts.Hedge()
        with pytest.raises(nr.BadExample, match=f"expert '{where}': the loss is"):
            master.learn_losses(losses)
    losses = np.zeros(23)
    losses[where] = np.nan
    master = nr.experts.Hedge()
    master.learn_losses(losses)
    assert master._round.naps == 1
    assert master.rounds_awake[where] == 0


def test_nothing_beyond_the_rows_is_touched() -> None:
    """Blocks that do not fit what is to be filled are refused before anything is written."""
    master = nr.experts.Hedge()
    X, y = np.random.default_rng(0).random((2, 9, 5))
    y = y[:, 0].copy()
    master.play_block(X, y, None)
    for said, used in (
        (np.empty(8), None),
        (np.empty(10), None),
        (np.empty((9, 1)), None),
        (np.empty(9, np.float32), None),
        (np.empty(18)[::2], None),
        (None, np.empty((9, 4))),
        (None, np.empty((5, 9)).T),
        (None, np.empty((8, 5))),
        (None, np.empty((9, 5), np.float32)),
    ):
        with pytest.raises(ValueError, match="must be an array of float64 of shape"):
            master.play_block(X, y, said, used)
    for outcomes in (y[:8], np.append(y, 1.0), y[:, None]):
        with pytest.raises(ValueError, match="outcomes must be an array"):
            master.play_block(X, outcomes, None)
    frozen = np.empty(9)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="predictions must be"):
        master.play_block(X, y, frozen)
    assert master.rounds == 9
