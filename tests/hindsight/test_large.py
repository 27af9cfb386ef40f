"""More features and rounds than a dense factor can have, or than it is told it can."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

import noregret.hindsight.best
import noregret.hindsight.solvers.curvature
from noregret.hindsight import (
    Answer,
    Limits,
    Rows,
    best_in_ball,
    best_in_simplex,
    best_linear,
    best_ridge,
    largest_margin,
)
from noregret.hindsight.solvers.curvature import FewRows, ManyRows, Search, curvature_of
from tests.hindsight.problems import Floats, into_ball
from tests.thorough import sized


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dense factor may have 40 unknowns, so that small problems count as large."""
    monkeypatch.setattr(noregret.hindsight.solvers.curvature, "MAX_DENSE", 40)
    monkeypatch.setattr(noregret.hindsight.solvers.curvature, "MAX_ALWAYS_DENSE", 0)
    monkeypatch.setattr(noregret.hindsight.best, "MAX_DENSE", 40)


def sparse_rows(rounds: int, features: int, seed: int = 0) -> tuple[sp.csr_array, Floats]:
    draw = np.random.default_rng(seed)
    columns = (features * draw.random((rounds, 12)) ** 2).astype(int)
    X = sp.csr_array(
        (draw.normal(size=rounds * 12), columns.ravel(), np.arange(0, rounds * 12 + 1, 12)),
        shape=(rounds, features),
    )
    y = np.where(X @ draw.normal(size=features) + draw.normal(size=rounds) > 0, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize(("rounds", "kind"), [(500, FewRows), (4000, ManyRows)])
def test_newtons_equations_are_solved_either_way(rounds: int, kind: type) -> None:
    X, _ = sparse_rows(rounds, 2500)
    draw = np.random.default_rng(1)
    weights, added, r = draw.random(rounds), 0.1 + draw.random(2500), draw.normal(size=2500)
    curvature = curvature_of(Rows(X, np.zeros(rounds)), weights)
    assert isinstance(curvature, kind)
    v = curvature.solve(added, r, Search(None, 1e-9))
    assert curvature.times(v) + added * v == pytest.approx(r, abs=1e-6)
    product = X.T @ (weights * (X @ v))
    assert curvature.times(v) == pytest.approx(product, abs=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "absolute"])
def test_a_ball_of_many_features_is_closed(loss: str) -> None:
    X, y = sparse_rows(6000, 3000)
    found = best_in_ball(Rows(X, y), loss, 5.0)
    assert found.relative_gap <= 1e-6
    for size in (0.0, 1e-4, 1e-2):
        near = found.witness + size * np.random.default_rng(2).normal(size=3000)
        scores = X @ into_ball(near, 5.0)
        values = {
            "logistic": np.logaddexp(0, -y * scores),
            "hinge": np.maximum(0, 1 - y * scores),
            "absolute": np.abs(scores - y),
        }
        assert values[loss].sum() >= found.lower


def same(one: Answer, two: Answer) -> bool:
    narrow = max(one.gap, two.gap) <= 1e-6 * one.loss + 1e-9
    return one.lower <= two.loss and two.lower <= one.loss and narrow


@pytest.mark.parametrize("loss", ["logistic", "hinge", "absolute", "huber", "squared-hinge"])
@pytest.mark.parametrize("radius", [0.3, 3.0, 300.0])
@pytest.mark.parametrize("rounds", [60, *sized([], full=[400])])
def test_with_little_room_the_ball_is_the_same(
    request: pytest.FixtureRequest, loss: str, radius: float, rounds: int
) -> None:
    X, y = sparse_rows(rounds, 100)
    unhurried = Limits(seconds=math.inf)  # a busy machine takes longer than the usual limit
    plain = best_in_ball(Rows(X, y), loss, radius, limits=unhurried)
    request.getfixturevalue("little_room")
    found = best_in_ball(Rows(X, y), loss, radius, limits=unhurried)
    assert found.lower <= plain.loss
    assert plain.lower <= found.loss
    assert found.gap <= 1e-6 * plain.loss + 1e-9 * rounds


@pytest.mark.parametrize("rounds", [60, 400])
def test_with_little_room_the_square_loss_is_the_same(
    request: pytest.FixtureRequest, rounds: int
) -> None:
    rows = Rows(*sparse_rows(rounds, 100))

    def all_of_them() -> list[Answer]:
        return [
            best_linear(rows),
            best_ridge(rows, 0.5, 2.0),
            best_in_ball(rows, "square", 2.0),
            best_in_simplex(rows, "square", weight=3.0),
            best_in_simplex(rows, "square", weight=3.0, entropy=1.0),
            best_in_simplex(rows, "logistic", entropy=1.0),
        ]

    plain = all_of_them()
    request.getfixturevalue("little_room")
    assert all(map(same, plain, all_of_them()))


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_with_little_room_the_margin_is_the_same(
    request: pytest.FixtureRequest, noise: float
) -> None:
    draw = np.random.default_rng(4)
    X = draw.normal(size=(200, 50))
    y = np.where(X @ draw.normal(size=50) + 50 * noise * draw.normal(size=200) > 0, 1.0, -1.0)
    plain = largest_margin(Rows(X, y))
    request.getfixturevalue("little_room")
    found = largest_margin(Rows(X, y))
    assert found.lower <= plain.upper
    assert plain.lower <= found.upper
    assert found.gap <= 1e-6 * max(found.upper, 1e-6)


def test_time_is_kept_and_the_interval_honest() -> None:
    X, y = sparse_rows(4000, 2500)
    rough = best_in_ball(Rows(X, y), "absolute", 300.0, limits=Limits(seconds=0.2))
    assert 0.0 <= rough.lower <= rough.loss
