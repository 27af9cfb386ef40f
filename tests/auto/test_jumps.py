"""Series that jump, and outcomes that are absurd: the plain guesses see them as they are."""

from __future__ import annotations

import numpy as np
import pytest

from tests.auto.streams import NUMBERS, Floats, auto, member_losses, member_names, played
from tests.auto.test_known import loss_of


def jumping(seed: int, rounds: int = 1500) -> Floats:
    """Return a level that changes every hundred rounds or so, by far more than the noise."""
    rng = np.random.default_rng(seed)
    turn = np.cumsum(rng.random(rounds) < 0.01)
    return np.asarray(100 * rng.normal(size=turn.max() + 1)[turn] + rng.normal(size=rounds))


def alone(y: Floats) -> Floats:
    """Return rows without features."""
    return np.zeros((len(y), 0))


@pytest.mark.parametrize("loss", NUMBERS)
def test_plain_guesses_lose_what_they_lose_by_hand(loss: str) -> None:
    y = jumping(0, 400)
    y[300] = 1e6
    learner = auto(loss)
    played(learner, alone(y), y)
    found = dict(zip(member_names(learner), member_losses(learner), strict=True))
    last = np.append(0.0, y[:-1])
    mean = np.append(0.0, np.cumsum(y)[:-1] / np.arange(1, len(y)))
    assert found["last outcome"] == pytest.approx(loss_of(loss, last, y).sum(), rel=1e-9)
    assert found["running mean, unclipped"] == pytest.approx(loss_of(loss, mean, y).sum(), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_series_that_jumps_is_followed_about_as_well_as_by_its_last_value(seed: int) -> None:
    y = jumping(seed)
    said = played(auto(), alone(y), y)
    ours, last = ((said - y)[1:] ** 2).mean(), (np.diff(y) ** 2).mean()
    assert ours < 1.1 * last


@pytest.mark.parametrize("at", [6, 15, 300])
def test_one_absurd_outcome_is_forgotten_at_once(at: int) -> None:
    """Three rounds later, predictions are as good as ever, and a thousand rounds later too."""
    y = np.random.default_rng(at).gamma(4.0, size=1500)
    spoilt = np.where(np.arange(1500) == at, 1000 * y, y)
    said, clean = (played(auto(), alone(y), each) for each in (spoilt, y))
    assert np.abs(said[at + 3 :] - y.mean()).max() < 2 * np.ptp(y)
    assert ((said - y)[500:] ** 2).mean() < 1.03 * ((clean - y)[500:] ** 2).mean()


def test_predictions_stay_plausible_after_some_absurd_outcomes() -> None:
    """Five in a row are believed, but not for ever."""
    y = np.random.default_rng(0).gamma(4.0, size=1500)
    spoilt = y.copy()
    spoilt[300:305] = 4000.0
    said = played(auto(), alone(y), spoilt)
    assert ((said - y)[800:] ** 2).mean() < 2 * y.var()


@pytest.mark.parametrize("loss", NUMBERS)
def test_after_one_outcome_everybody_starts_from_it(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2, 5))
    learner = auto(loss)
    learner.learn_one(X[0], 1234.5)
    assert learner.predict_one(X[1]) == 1234.5
    before = member_losses(learner)
    learner.learn_one(X[1], 1234.5)
    assert (member_losses(learner) == before).all()


def flukes(seed: int, rounds: int = 1500) -> Floats:
    """Return noise with single outcomes far off."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=rounds) + 100 * (rng.random(rounds) < 0.004))


def test_after_outlying_outcomes_mixtures_learn_whether_levels_change_or_not() -> None:
    shares = list[float]()
    for y in (jumping(0), flukes(0)):
        learner = auto()
        played(learner, alone(y), y)
        squares, products, largest = learner.engine.get_state()[0]["followed"]
        assert 0 < largest <= squares
        assert 0 <= products <= squares
        shares.append(products / squares)
    assert shares[0] > 0.9
    assert shares[1] < 0.1


def test_levels_that_change_cost_less_than_in_the_edition_before_and_flukes_not_more() -> None:
    def error(y: Floats, edition: int) -> float:
        return float(((played(auto(edition=edition), alone(y), y) - y)[1:] ** 2).mean())

    jumps = [[error(jumping(seed), edition) for edition in (2, 3)] for seed in range(3)]
    single = [[error(flukes(seed), edition) for edition in (2, 3)] for seed in range(3)]
    assert all(new < old for old, new in jumps)
    assert sum(new for _, new in single) < 1.05 * sum(old for old, _ in single)
