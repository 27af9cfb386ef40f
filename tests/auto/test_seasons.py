"""Outcomes that repeat after a day or a week: the period is found, and used."""

from __future__ import annotations

import numpy as np
import pytest

from noregret.base.model_file import dumps, loads
from tests.auto.streams import Floats, auto, labels, member_losses, member_names, played, same_state
from tests.thorough import sized

BEFORE = "last outcome a period before"


def repeating(period: int, rounds: int, noise: float = 0.2, seed: int = 0) -> Floats:
    """Return a pattern drawn at random, repeated with noise."""
    rng = np.random.default_rng(seed)
    pattern = np.tile(rng.normal(size=period), rounds // period + 1)[:rounds]
    return np.asarray(pattern + noise * rng.normal(size=rounds))


def alone(y: Floats) -> Floats:
    """Return rows without features."""
    return np.zeros((len(y), 0))


@pytest.mark.parametrize("period", [7, 12, 24, 48, 96, 168, 288, 336])
def test_a_period_is_found_by_itself(period: int) -> None:
    y = repeating(period, 4 * period + 100)
    learner = auto()
    said = played(learner, alone(y), y)
    assert learner.engine.season == period
    assert f"those of {period} rounds before" in learner.describe()
    late = slice(3 * period + 50, None)
    blind = played(auto(recent=False), alone(y), y)
    assert ((said - y)[late] ** 2).mean() < 0.5 * ((blind - y)[late] ** 2).mean()


def test_the_longer_period_is_preferred_if_it_is_the_true_one() -> None:
    """Days that differ by the day of the week."""
    rng = np.random.default_rng(0)
    day = np.sin(np.arange(24) / 24 * 2 * np.pi)
    week = np.concatenate([day * scale for scale in (1, 1.1, 0.9, 1, 1.2, 0.1, -0.5)])
    y = np.tile(week, 8) + 0.05 * rng.normal(size=8 * 168)
    learner = auto()
    played(learner, alone(y), y)
    assert learner.engine.season == 168


@pytest.mark.parametrize("chance", [0.5, 0.2])
def test_flips_of_a_coin_have_no_period(chance: float) -> None:
    for seed in range(sized(8, full=100)):
        y = np.where(np.random.default_rng(seed).random(1500) < chance, 1.0, -1.0)
        learner = auto("logistic")
        played(learner, alone(y), y)
        assert learner.engine.season == 0, seed


def test_labels_have_periods_too() -> None:
    y = labels(repeating(24, 1500, 0.3))
    learner = auto("logistic")
    played(learner, alone(y), y)
    assert learner.engine.season > 0
    assert learner.engine.season % 24 == 0  # where few outcomes differ, a multiple may be as good
    assert learner.total_loss < 0.75 * 1500 * np.log(2)


@pytest.mark.parametrize("kind", ["noise", "walk", "constant"])
def test_no_period_is_found_where_there_is_none(kind: str) -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=2000)
    y = {"noise": noise, "walk": np.cumsum(noise), "constant": np.ones(2000)}[kind]
    learner = auto()
    played(learner, alone(y), y)
    assert learner.engine.season == 0
    assert "period" not in learner.describe()


def test_the_member_repeats_the_outcome_of_a_period_before() -> None:
    """From the round in which it is found; until then, it repeats the last outcome."""
    y = repeating(7, 300)
    learner, said = auto(), [0.0]
    for t, outcome in enumerate(y):
        learner.learn_one({}, float(outcome))
        said.append(y[t - 6] if learner.engine.season else outcome)
    lost = dict(zip(member_names(learner), member_losses(learner), strict=True))[BEFORE]
    assert lost == pytest.approx(((np.array(said[:-1]) - y) ** 2).sum(), rel=1e-5)


def test_without_recent_outcomes_no_period_is_looked_for() -> None:
    y = repeating(7, 500)
    learner = auto(recent=False)
    played(learner, alone(y), y)
    assert learner.engine.season == 0
    assert BEFORE not in member_names(learner)


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("delay", [0, 5])
def test_a_period_is_kept_in_the_file(loss: str, delay: int) -> None:
    y = repeating(12, 400)
    y = labels(y) if loss == "logistic" else y
    whole, half = auto(loss, delay=delay), auto(loss, delay=delay)
    said = played(whole, alone(y), y)
    played(half, alone(y[:200]), y[:200])
    kept = loads(dumps(half), "a copy")
    assert kept.engine.season == half.engine.season > 0
    assert np.array_equal(played(kept, alone(y[200:]), y[200:]), said[200:])
    assert same_state(kept, whole)
