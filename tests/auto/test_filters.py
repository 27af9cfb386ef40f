"""The filters of the bank beside explicit matrices."""

from __future__ import annotations

import numpy as np
import pytest

from noregret.auto.settings import GRANT, KEEP
from noregret.learners.auto import Auto
from tests.auto.filter_reference import Filter, Floats
from tests.auto.streams import auto, covariance, stream, weighted

FREE = 1e4


class Beside:
    """The four filters of a bank that see the features alone, each with its reference."""

    def __init__(self, columns: int) -> None:
        self.learner: Auto = auto()
        self.references = [
            Filter(columns + 1, keep, most, FREE) for keep, most in zip(KEEP, GRANT, strict=True)
        ]
        self.waiting: list[tuple[Floats, float, float]] = []
        self.origin: float | None = None

    def learn(self, x: Floats, y: float, worth: float = 1.0) -> None:
        weighted(self.learner, x[None], np.array([y]), np.array([worth]))
        self.origin = y if self.origin is None else self.origin
        row = np.append(1.0, x)
        for reference in self.references:
            reference.observe(row)
        self.waiting.append((row, y - self.origin, worth))
        if self.learner.engine.members.plain.waiting == 0:
            for reference in self.references:
                for one in self.waiting:
                    reference.learn(*one)
            self.waiting = []

    def check(self, tolerance: float = 1e-7) -> None:
        plain = self.learner.engine.members.plain
        for lane, reference in enumerate(self.references):
            held = covariance(plain, lane)
            size = np.sqrt(np.diag(reference.P))
            unit = np.outer(size, size) + 1e-300
            assert (np.abs(held - reference.P) / unit).max() < tolerance
            off = (plain.weights(0, lane) - reference.w) / (size + 1e-300)
            assert np.abs(off).max() < tolerance


@pytest.mark.parametrize("columns", [1, 2, 7, 20, 60])
def test_a_filter_is_ridge_regression_that_forgets(columns: int) -> None:
    """One row at a time where there are few inputs or rounds, and else four at a time."""
    X, y = stream(columns, 404 if columns == 20 else 150, columns)
    X *= 10.0 ** np.linspace(-3, 3, columns)
    both = Beside(columns)
    for row, outcome in zip(X, y, strict=True):
        both.learn(row, outcome)
        assert not both.waiting or columns == 20
    while both.waiting:
        both.learn(X[0], y[0])
    both.check()


def test_rows_count_as_their_importance() -> None:
    X, y = stream(0, 120, 3)
    both, rng = Beside(3), np.random.default_rng(1)
    for row, outcome in zip(X, y, strict=True):
        both.learn(row, outcome, float(rng.choice([0.25, 1.0, 2.0, 7.0])))
    both.check()


def test_inputs_with_a_mean_are_granted_more_as_it_shows() -> None:
    """The first value shows its square; later ones how little it varies, and the grant grows."""
    rng = np.random.default_rng(3)
    both = Beside(2)
    granted = []
    for _ in range(100):
        x = np.array([50 + rng.normal(), rng.normal()])
        both.learn(x, float(x.sum()))
        granted.append(both.learner.engine.members.plain.get_state()[0]["prior"][1])
        both.check(1e-6)
    assert granted[0] < 1e-3
    assert 0.3 < granted[-1] < 3
    assert np.all(np.diff(granted) >= 0)


def test_columns_that_appear_late_start_from_nothing() -> None:
    X, y = stream(5, 90, 6)
    both = Beside(2)
    for t, (row, outcome) in enumerate(zip(X, y, strict=True)):
        columns = 2 + 2 * (t // 30)
        for reference in both.references:
            reference.grow(columns + 1)
        both.learn(row[:columns], outcome)
    both.check()


def test_columns_that_appear_while_rows_wait() -> None:
    X, y = stream(5, 430, 24)
    both, waited = Beside(18), False
    for t, (row, outcome) in enumerate(zip(X, y, strict=True)):
        columns = 18 + max(0, t - 409)
        columns = min(columns, 20)
        for reference in both.references:
            reference.grow(columns + 1)
        both.waiting = [
            (np.pad(x, (0, columns + 1 - len(x))), told, worth) for x, told, worth in both.waiting
        ]
        waited = waited or (bool(both.waiting) and columns > 18)
        both.learn(row[:columns], outcome)
    assert waited
    while both.waiting:
        both.learn(X[0, :20], y[0])
    both.check()


@pytest.mark.parametrize("columns", [3, 60])
def test_covariances_stay_positive_on_inputs_that_are_nearly_the_same(columns: int) -> None:
    """Columns differ in the ninth digit and in units by 1e12, for a hundred thousand rounds."""
    rng = np.random.default_rng(0)
    rows = 100_000 if columns == 3 else 10_000
    common = rng.normal(size=(rows, 1))
    X = (common + 1e-9 * rng.normal(size=(rows, columns))) * 10.0 ** np.linspace(-6, 6, columns)
    y = common[:, 0] + 0.1 * rng.normal(size=rows)
    learner = auto()
    learner.learn_many(X, y)
    for filters in (learner.engine.members.plain, learner.engine.members.lagged):
        assert filters.get_state()[0]["D"].min() > 0
        for lane in range(4):
            assert np.isfinite(covariance(filters, lane)).all()
            assert np.diag(covariance(filters, lane)).min() > 0
    predicted = np.array([learner.predict_one(x) for x in X[:500]])
    assert np.mean((predicted - common[:500, 0]) ** 2) < 0.01
