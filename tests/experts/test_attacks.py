"""Players who see the weights, and choose the losses that hurt the bound most.

In each round some tables of losses are tried on copies of the master; the one that brings the
regret nearest to its bound, or furthest beyond it, is played.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.experts.master import Master
from tests.experts.masters import ALLOCATING, SCALE_FREE, Floats, Variant
from tests.thorough import in_turn, picked, sized

# Without advice a loss or its gradient makes no difference.
PRICED = [
    variant
    for variant in ALLOCATING
    if variant.make().theorems and not {"loss", "gradient", "low"} & variant.params.keys()
]
AVERAGES = ("weighted-average", "aggregating")  # which promise nothing without advice
PRICED = [v for v in PRICED if v.name not in ("follow-the-leader", "fixed-share", *AVERAGES)]


def tables(rng: np.random.Generator, n: int, asleep: bool) -> Iterator[Floats]:
    """Yield losses of a round in [0, 1], not all equal."""
    some = list(itertools.product([0.0, 1.0], repeat=n)) if n <= 3 else rng.integers(0, 2, (8, n))
    for row in (*some, rng.random(n), rng.random(n)):
        losses = np.array(row, dtype=float)
        if np.ptp(losses):
            if asleep and rng.random() < 0.5:
                losses[rng.choice(n, rng.integers(1, n), replace=False)] = np.nan
            yield losses


def excess(master: Master, aim: str) -> float:
    """Return how near the regret is to its bound, at the expert where that is worst."""
    price, regrets = np.asarray(master.price), master.regrets
    return float((regrets - price).max() if aim == "gap" else regrets.max())


def attacked(
    master: Master, rng: np.random.Generator, n: int, aim: str, grow: float, asleep: bool
) -> float:
    """Play against a master; return the largest part of a bound that was reached."""
    size, reached = 1.0, 0.0
    for _ in range(sized(12, full=30)):
        if grow and rng.random() < 0.2:
            size *= grow
        tried: list[tuple[float, int, Master]] = []
        for losses in tables(rng, n, asleep):
            other = master.copy()
            other.learn_losses(size * losses)
            tried.append((excess(other, aim), len(tried), other))
        master = max(tried)[2]
        price = np.asarray(master.price)
        parts = np.divide(master.regrets, price, out=np.zeros(n), where=price > 0)
        reached = max(reached, float(parts.max()))
        slack = 1e-12 * abs(master.total_loss)
        assert (master.regrets <= price * (1 + 1e-9) + slack).all(), (master, price)
    return reached


@in_turn("variant", PRICED)
def test_no_bound_is_broken(variant: Variant) -> None:
    ways = list(itertools.product([2, 3, 6], ["gap", "regret"], [False, True]))
    for n, aim, asleep in picked(ways, str(variant), 4):
        rng = np.random.default_rng([n, asleep, len(aim)])
        prior = rng.uniform(0.1, 1, n).tolist() if aim == "gap" else None
        assert attacked(variant.make(prior=prior), rng, n, aim, 0.0, asleep) <= 1 + 1e-9


@in_turn("variant", [v for v in PRICED if v in SCALE_FREE])
def test_no_bound_is_broken_by_losses_that_keep_growing(variant: Variant) -> None:
    ways = list(itertools.product(["gap", "regret"], [3.0, 1e3, 1e30]))
    for aim, grow in picked(ways, str(variant), 2):
        rng = np.random.default_rng(int(grow))
        assert attacked(variant.make(), rng, 3, aim, grow, aim == "gap") <= 1 + 1e-9


@in_turn("variant", [v for v in PRICED if v in SCALE_FREE])
def test_one_awake_at_a_time(variant: Variant) -> None:
    """Nothing can be regretted of who is alone, so no weight moves."""
    rng = np.random.default_rng(6)
    losses = np.full((200, 4), np.nan)
    losses[np.arange(200), rng.integers(4, size=200)] = rng.random(200)
    master = variant.make()
    master.learn_many(losses)
    np.testing.assert_allclose(master.weights(), 0.25, rtol=1e-12)
    assert (master.regrets == 0).all()


@pytest.mark.parametrize("first", [5e-324, 1e-310, 1e-300])
@in_turn("variant", [v for v in PRICED if v in SCALE_FREE])
def test_a_difference_that_is_next_to_nothing_does_no_harm(variant: Variant, first: float) -> None:
    """A master that followed the leader because of it would lose every round."""
    losses = np.array([[first, 0.0]] + [[0.0, 1.0], [1.0, 0.0]] * 500)
    master = variant.make()
    master.learn_many(losses)
    assert (master.regrets <= np.asarray(master.price)).all()
    assert master.regrets.max() < 40


@in_turn("variant", [v for v in PRICED if v in SCALE_FREE])
def test_bounds_hold_when_experts_come_later(variant: Variant) -> None:
    rng = np.random.default_rng(9)
    master = variant.make()
    for _ in range(4):
        for _ in range(20):
            tried: list[tuple[float, int, Master]] = []
            for losses in tables(rng, max(2, master.width), False):
                other = master.copy()
                other.learn_losses(losses)
                tried.append((excess(other, "gap"), len(tried), other))
            master = max(tried)[2]
            assert (master.regrets <= np.asarray(master.price) * (1 + 1e-9)).all()
        master.add_expert(share=float(rng.uniform(0.05, 0.9)))


@pytest.mark.parametrize(
    ("asleep", "n"),
    [(False, 3), (True, 2), *sized([], full=[(False, 2), (False, 6), (True, 3), (True, 6)])],
)
@pytest.mark.parametrize("loss", ["square", "log"])
@pytest.mark.parametrize("name", AVERAGES)
def test_no_bound_of_averages_is_broken(name: str, loss: str, asleep: bool, n: int) -> None:
    rng = np.random.default_rng([n, asleep])
    for prior in (None, rng.uniform(0.1, 1, n).tolist()):
        master: Master = nr.experts.make(name, loss=loss, prior=prior)
        for _ in range(sized(10, full=25)):
            tried: list[tuple[float, int, Master]] = []
            for advice, outcome in itertools.product(tables(rng, n, asleep), (0.0, 1.0, 0.4)):
                other = master.copy()
                other.learn_one(0.01 + 0.98 * advice, outcome)
                tried.append((excess(other, "gap"), len(tried), other))
            master = max(tried)[2]
            assert (master.regrets <= np.asarray(master.price) + 1e-9).all()
            assert master.bound_so_far() is not None


# Shares: every sequence of experts is a rival.


def mixed_loss(losses: Floats, rate: float, share: float, variable: bool) -> float:
    """Return what sharing would pay if mixing cost nothing: the worst that a theorem allows."""
    held, total = np.full(losses.shape[1], 1 / losses.shape[1]), 0.0
    for row in losses:
        kept = held * np.exp(-rate * row)
        total -= math.log(kept.sum()) / rate
        kept /= kept.sum()
        given = kept * (1 - (1 - share) ** row if variable else share)
        held = kept - given + (given.sum() - given) / (len(row) - 1)
    return total


class Stub:
    """Evidence of a game of losses alone."""

    def __init__(self, losses: Floats, rate: float, share: float) -> None:
        from noregret.hindsight.switches import best_sequences

        self.rounds, self.width = losses.shape
        self.params = {"share": share}
        self.found = best_sequences(losses, self.rounds - 1)
        self.player = Player(rate, np.full(self.width, math.log(self.width)))

    def sequences(self) -> Any:
        return self.found


class Player:
    def __init__(self, rate: float, log_prior: Floats) -> None:
        self._rate_in_use, self._log_prior = rate, log_prior


@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("rate", [0.1, 1.0, 5.0])
def test_no_sequence_of_losses_breaks_the_bound_of_sharing(
    rate: float, share: float, variable: bool
) -> None:
    """Climbing from sequences that favour a switch, by changing one loss at a time."""
    from noregret.experts.masters.fixed_share import promise, variable_promise

    bound: Any = variable_promise if variable else promise
    rng = np.random.default_rng([int(10 * rate), int(100 * share)])

    def part(losses: Floats) -> float:
        most: float = bound(Stub(losses, rate, share))
        return mixed_loss(losses, rate, share, variable) / most

    for _ in range(6):
        T, n = int(rng.integers(1, 10)), int(rng.integers(2, 4))
        losses = rng.choice([0.0, 0.5, 1.0], (T, n))
        losses[: T // 2, 0] = losses[T // 2 :, 1] = 0
        reached = part(losses)
        for _ in range(12):
            other = losses.copy()
            other[rng.integers(T), rng.integers(n)] = rng.choice([0.0, 1.0, rng.random()])
            if (found := part(other)) >= reached:
                losses, reached = other, found
        assert reached <= 1 + 1e-12, losses.tolist()


@pytest.mark.parametrize("variable", [False, True])
def test_all_short_games_of_zeros_and_ones(variable: bool) -> None:
    from noregret.experts.masters.fixed_share import promise, variable_promise

    bound: Any = variable_promise if variable else promise
    for T in (1, 2, 3, 4):
        for bits in itertools.product([0.0, 1.0], repeat=2 * T):
            losses = np.array(bits).reshape(T, 2)
            for share in (0.1, 0.8):
                stub = Stub(losses, 2.0, share)
                assert mixed_loss(losses, 2.0, share, variable) <= bound(stub) * (1 + 1e-12)


def test_a_share_that_is_too_large_is_no_bargain() -> None:
    """Staying is dear then, and a sequence may stay though it might switch."""
    y = np.zeros(21)
    X = np.column_stack([y, y + 1])
    game = nr.play(nr.experts.FixedShare(share=0.9), X, y)
    promise = game.certificate(switches=20).theorem
    assert promise is not None
    assert promise.holds is True
    assert promise.bound == pytest.approx(2 * (math.log(2) - 20 * math.log(0.1)), rel=1e-12)
