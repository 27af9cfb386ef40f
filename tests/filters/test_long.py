"""Filters that run for long: a million samples, through silence, tones and bursts."""

from __future__ import annotations

import numpy as np

from noregret.filters import AffineProjection, Nlms, Rls

from .reference import played, signals, windows

SAMPLES = 1_000_000


def test_a_million_samples_with_silence_and_bursts_leave_it_able_to_learn() -> None:
    """Forgetting 0.99 without input winds plain recursions up: 0.99⁻¹⁰⁰⁰⁰ is beyond 10⁴³."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=SAMPLES)
    x[100_000:300_000] = 0.0
    x[400_000:500_000] = 1.0
    x[600_000:700_000] = np.sin(0.1 * np.arange(100_000))
    x[800_000:800_100] *= 1e6
    path = np.array([0.5, -0.3, 0.2])
    d = np.convolve(x, path)[:SAMPLES] + 0.01 * rng.normal(size=SAMPLES)
    for player in (
        Rls(taps=4, forgetting=0.99),
        AffineProjection(taps=4, order=3, rate=0.2),
        Nlms(taps=4),
    ):
        left = player.cancel(x, d)
        assert np.isfinite(left).all()
        assert np.abs(player.weights - [*path, 0.0]).max() < 0.02
        # After every silence, tone and burst it is as good as ever, within as many samples.
        for start in (301_000, 501_000, 701_000, 802_000, SAMPLES - 10_000):
            assert np.sqrt(np.mean(left[start : start + 5_000] ** 2)) < 0.02, (player, start)


def test_silence_does_not_wind_least_squares_up() -> None:
    x, d = signals(3, 400)
    player = Rls(taps=6, forgetting=0.99, penalty=0.1)
    player.play_many([*x, *np.zeros(6)], [*d, *np.zeros(6)])
    before = player.weights
    player.play_many(np.zeros(100_000), np.zeros(100_000))
    assert np.abs(player.weights - before).max() < 1e-9
    arrays, _, _ = player.get_state()
    # P = U D Uᵀ, packed by columns: back at its first variances, and no further.
    U = np.eye(6)
    for j in range(6):
        U[:j, j] = arrays["factors"][j * (j - 1) // 2 : j * (j + 1) // 2]
    P = U @ np.diag(arrays["spreads"]) @ U.T
    np.testing.assert_allclose(P.diagonal(), 1 / 0.1, rtol=1e-6)
    assert np.linalg.eigvalsh(P).min() > 0


def test_without_forgetting_it_is_ridge_regression_however_long() -> None:
    x, d = signals(4, 60_000)
    x *= np.repeat([1.0, 100.0, 0.01], 20_000)
    player = Rls(taps=5, penalty=0.5)
    player.play_many(x, d)
    X = windows(x, 5)
    ridge = np.linalg.solve(X.T @ X + 0.5 * np.eye(5), X.T @ d)
    np.testing.assert_allclose(player.weights, ridge, rtol=1e-7, atol=1e-10)


def test_what_has_left_the_window_leaves_nothing_behind() -> None:
    """Sums that add and subtract would be off by 10⁸ · 2⁻⁵² of what a burst was, squared."""
    x, d = signals(5, 400)
    x[30:50] *= 1e10
    for player in (
        Nlms(taps=7, epsilon=1e-9, rate=1.0),
        AffineProjection(taps=7, order=3, epsilon=1e-3, rate=1.0),
    ):
        told = player.copy().play_many(x, d)
        weights = played(player.name, player.params, x, d)[0]
        late = slice(150, None)
        np.testing.assert_allclose(told[late], weights[late], rtol=1e-4, atol=1e-6)
