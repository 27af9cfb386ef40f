"""Chances are never 0 or 1, no surer than the rounds allow, and come true as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.auto.streams import Floats, auto, labels, played, stream
from tests.thorough import draws


def chances(scores: Floats) -> Floats:
    return 1 / (1 + np.exp(-scores))


@draws(40)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 80),
    columns=st.integers(0, 5),
    kind=st.sampled_from(["separable", "one label", "persistent", "any"]),
)
def test_no_chance_is_surer_than_the_rounds_allow(
    seed: int, rows: int, columns: int, kind: str
) -> None:
    """After t rounds, log-odds of ln 2(t + 1) at most."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-5, 6, size=columns)
    y = {
        "separable": labels(X.sum(axis=1)),
        "one label": np.ones(rows),
        "persistent": labels(np.sin(np.arange(rows) / 9)),
        "any": labels(rng.normal(size=rows)),
    }[kind]
    scores = played(auto("logistic"), X, y)
    most = np.log(2 * (np.arange(rows) + 1.0))
    assert (np.abs(scores) <= most * (1 + 1e-12)).all()
    assert (chances(scores) > 0).all()
    assert (chances(scores) < 1).all()


def test_a_label_that_never_comes_costs_little() -> None:
    """The least that one who knows nothing can pay is about ln T; even odds would pay T ln 2."""
    rounds = 5000
    learner = auto("logistic")
    played(learner, np.zeros((rounds, 0)), np.ones(rounds))
    assert learner.total_loss < 3 * math.log(rounds)


@pytest.mark.parametrize("columns", [1, 10, 60])
def test_chances_come_true_as_often_as_they_say(columns: int) -> None:
    """In ten bins of chances, labels are off by no more than four standard errors and 0.01."""
    rng = np.random.default_rng(columns)
    rows = 20_000
    X = rng.normal(size=(rows, columns))
    odds = X @ rng.normal(size=columns) * 1.5 / math.sqrt(columns) - 0.5
    y = labels(chances(odds) - rng.random(rows))
    said = chances(played(auto("logistic"), X, y))[500:]
    came = y[500:] > 0
    for low in np.linspace(0, 0.9, 10):
        inside = (said >= low) & (said < low + 0.1)
        if inside.sum() > 50:
            error = math.sqrt((said * (1 - said))[inside].sum()) / inside.sum()
            assert abs(said[inside].mean() - came[inside].mean()) < 4 * error + 0.01


def test_labels_may_be_zero_and_one() -> None:
    X, y = stream(0, 200, 3, "logistic")
    assert (
        played(auto("logistic"), X, (y + 1) / 2).tobytes()
        == played(auto("logistic"), X, y).tobytes()
    )
