"""Hindsight of kernel learners is true at any scale of the features, and confirmed."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr

POINTS = 20


def least_of_separate_points(y: np.ndarray, radius: float) -> float:
    """Return the least square loss of functions of norm at most the radius, for points far apart.

    There k(x, z) is 1 for the same point and 0 for others: a function is a number for each point.
    """
    counts = np.bincount(np.arange(len(y)) % POINTS)
    means = np.array([y[k::POINTS].mean() for k in range(POINTS)])

    def function(multiplier: float) -> np.ndarray:
        return np.asarray(counts * means / (counts + multiplier))

    low, high = 0.0, 1e9
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.sum(function(middle) ** 2) <= radius**2 else (middle, high)
    scores = function(0.0 if np.sum(means**2) <= radius**2 else high)
    return float(sum(((y[k::POINTS] - scores[k]) ** 2).sum() for k in range(POINTS)))


@pytest.mark.parametrize("limit", [2000, 100], ids=["all functions", "support vectors"])
@pytest.mark.parametrize("scale", [1e4, 1e6, 1e8, 1e140])
@pytest.mark.parametrize("radius", [None, 2.0])
def test_hindsight_of_points_far_apart_is_known(
    monkeypatch: pytest.MonkeyPatch, limit: int, scale: float, radius: float | None
) -> None:
    monkeypatch.setattr("noregret.hindsight.kernel_rows.MAX_WHOLE_SPACE_ROUNDS", limit)
    rng = np.random.default_rng(0)
    X = np.tile(rng.normal(size=(POINTS, 3)) * scale, (15, 1))
    y = np.tile(rng.normal(size=POINTS), 15) + 0.1 * rng.normal(size=len(X))
    certificate = nr.play(nr.KernelGradientDescent(radius=radius), X, y).certificate()
    found = certificate.hindsight
    stated = float(found.comparator.removeprefix("RKHS ball of radius ").partition(",")[0])
    exact = least_of_separate_points(y, stated)
    assert found.loss - found.gap <= exact * (1 + 1e-12)
    assert found.loss >= exact * (1 - 1e-12)
    assert found.gap <= 1e-6 * found.loss
    assert bool(nr.verify(certificate, X, y))


@pytest.mark.parametrize("limit", [2000, 100], ids=["all functions", "support vectors"])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_offsets_move_nothing_in_hindsight(
    monkeypatch: pytest.MonkeyPatch, limit: int, scale: float
) -> None:
    """Distances are those of the numbers as they are, however far from zero."""
    monkeypatch.setattr("noregret.hindsight.kernel_rows.MAX_WHOLE_SPACE_ROUNDS", limit)
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(150, 2)) * 64) / 64
    y = np.sign(X[:, 0] - X[:, 1] + 0.1)
    X = X + np.round(rng.normal(size=2) * scale)
    learner = nr.KernelGradientDescent(loss="hinge", radius=3.0, budget=40)
    certificate = nr.play(learner, X, y).certificate()
    assert certificate.hindsight.gap <= 1e-5 * certificate.hindsight.loss
    assert bool(nr.verify(certificate, X, y))


def test_vectors_that_are_nearly_the_same_are_not_claimed_to_be_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("noregret.hindsight.kernel_rows.MAX_WHOLE_SPACE_ROUNDS", 50)
    rng = np.random.default_rng(2)
    X = np.repeat(rng.normal(size=(40, 2)), 2, axis=0)
    X[::2] *= 1 + 1e-14
    y = rng.normal(size=80)
    certificate = nr.play(nr.KernelGradientDescent(radius=2.0), X, y).certificate()
    assert certificate.hindsight.comparator.endswith("clearly independent support vectors kept")
    assert certificate.hindsight.gap <= 1e-5 * certificate.hindsight.loss
    assert bool(nr.verify(certificate, X, y))


def test_labels_are_inseparable_only_where_an_example_contradicts_another() -> None:
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1e8, 1e8], [0.0, 1.0]])
    y = np.array([1, -1, 1, -1])
    found = nr.play(nr.KernelPerceptron(), X, y).certificate("kernel-perceptron").theorem
    assert found is not None
    margin = found.assumptions[-1]
    assert (margin.holds, margin.first_violation) == (False, 4)
    found = nr.play(nr.KernelPerceptron(), X[:3], y[:3]).certificate("kernel-perceptron").theorem
    assert found is not None
    assert found.assumptions[-1].holds is True
