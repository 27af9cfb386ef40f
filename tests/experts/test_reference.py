"""Every master against the same in plain Python, as its page says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import noregret as nr
from tests.experts import reference
from tests.experts.masters import Floats, Shape, Variant, advice_of, losses_of, played, shapes
from tests.thorough import draws

MANY = draws(13)


def hedge(rate: Callable[[int, int], float]) -> Callable[..., reference.Reference]:
    return lambda n, prior: reference.Hedge(n, prior, rate=lambda t: rate(n, t))


def log_of(n: int) -> float:
    return math.log(max(2, n))


Pair = tuple[dict[str, Any], Callable[..., reference.Reference]]
PAIRS: list[tuple[str, dict[str, Any], Callable[..., reference.Reference]]] = [
    ("hedge", {}, hedge(lambda n, t: math.sqrt(8 * log_of(n) / t))),
    ("hedge", {"high": 3.0}, hedge(lambda n, t: math.sqrt(8 * log_of(n) / t) / 3)),
    (
        "hedge",
        {"schedule": "horizon", "horizon": 50},
        hedge(lambda n, t: math.sqrt(2 * log_of(n) / 50)),
    ),
    (
        "hedge",
        {"schedule": "hoeffding", "horizon": 50},
        hedge(lambda n, t: math.sqrt(8 * log_of(n) / 50)),
    ),
    ("hedge", {"schedule": "constant", "rate": 0.7}, hedge(lambda n, t: 0.7)),
    ("hedge", {"schedule": "constant", "rate": 40.0, "play": "sampled"}, hedge(lambda n, t: 40.0)),
    ("weighted-average", {}, hedge(lambda n, t: 0.5)),
    ("weighted-average", {"low": -1.0, "high": 1.0}, hedge(lambda n, t: 0.125)),
    ("weighted-average", {"loss": "log"}, hedge(lambda n, t: 1.0)),
    ("aggregating", {}, hedge(lambda n, t: 2.0)),
    ("aggregating", {"low": -1.0, "high": 1.0}, hedge(lambda n, t: 0.5)),
    ("ada-hedge", {}, reference.AdaHedge),
    (
        "fixed-share",
        {"share": 0.05, "rate": 1.3},
        lambda n, prior: reference.FixedShare(n, prior, rate=1.3, share=0.05),
    ),
    (
        "fixed-share",
        {"share": 0.2, "variable": True},
        lambda n, prior: reference.FixedShare(n, prior, rate=0.5, share=0.2, variable=True),
    ),
    ("ml-poly", {}, reference.MlPoly),
    ("boa", {}, reference.Boa),
    ("squint", {}, reference.Squint),
    ("blend", {}, reference.Blend),
    ("follow-the-leader", {}, reference.Leaders),
]
IDS = [" ".join([name, *(f"{k}={v}" for k, v in params.items())]) for name, params, _ in PAIRS]


def replayed(master: reference.Reference, losses: Floats) -> Floats:
    """Play a table of losses with the reference; return its weights."""
    used = np.zeros(losses.shape)
    for t, row in enumerate(losses.tolist()):
        master.awake = [not math.isnan(x) for x in row]
        weights = [0.0 if math.isnan(x) else w for w, x in zip(master.weights(), row, strict=True)]
        if not sum(weights):
            weights = [0.0 if math.isnan(x) else p for p, x in zip(master.prior, row, strict=True)]
        used[t] = reference.normal(weights)
        awake = [x for x in row if not math.isnan(x)]
        own = math.fsum(w * x for w, x in zip(used[t], row, strict=True) if w)
        own = min(max(own, min(awake)), max(awake))
        master.learn([own if math.isnan(x) else x for x in row], own)
    return used


@MANY
@given(shape=shapes(rounds=40))
@pytest.mark.parametrize(("name", "params", "make"), PAIRS, ids=IDS)
def test_weights(
    name: str, params: dict[str, Any], make: Callable[..., reference.Reference], shape: Shape
) -> None:
    losses = losses_of(shape)
    prior = shape.rng.uniform(0.2, 1, shape.experts).tolist() if shape.seed % 2 else None
    _, used = played(nr.experts.make(name, prior=prior, **params), losses)
    expected = replayed(make(shape.experts, prior), losses)
    np.testing.assert_allclose(used, expected, rtol=1e-9, atol=1e-12)


@MANY
@given(shape=shapes(rounds=40, asleep=True))
@pytest.mark.parametrize(("name", "params", "make"), PAIRS, ids=IDS)
def test_weights_where_experts_sleep(
    name: str, params: dict[str, Any], make: Callable[..., reference.Reference], shape: Shape
) -> None:
    if name == "blend":
        pytest.skip("its mixtures complete the rounds each in its own way")
    if shape.kind in ("by turns", "corners", "the same"):
        shape = shape._replace(kind="uniform")  # what is equal is so only up to rounding here
    losses = losses_of(shape)
    _, used = played(nr.experts.make(name, **params), losses)
    expected = replayed(make(shape.experts, None), losses)
    np.testing.assert_allclose(used, expected, rtol=1e-9, atol=1e-12)


@MANY
@given(shape=shapes(rounds=40))
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("ada-hedge", reference.AdaHedge),
        ("ml-poly", reference.MlPoly),
        ("boa", reference.Boa),
        ("squint", reference.Squint),
    ],
)
def test_advice_with_the_square_loss_and_its_gradient(
    name: str, make: Callable[..., reference.Reference], gradient: bool, shape: Shape
) -> None:
    if shape.kind in ("by turns", "corners", "the same"):
        shape = shape._replace(kind="uniform")
    X, y = advice_of(Variant(name, {}), shape)
    said, used = played(nr.experts.make(name, gradient=gradient), X, y)
    master = make(shape.experts, None)
    for t in range(len(X)):
        weights = master.weights()
        np.testing.assert_allclose(used[t], weights, rtol=1e-8, atol=1e-11)
        guess = math.fsum(w * x for w, x in zip(weights, X[t], strict=True))
        assert math.isclose(said[t], guess, rel_tol=1e-9, abs_tol=1e-11)
        slope = 2 * (guess - y[t])
        if gradient:
            master.learn([slope * x for x in X[t]], slope * guess)
        else:
            master.learn([(x - y[t]) ** 2 for x in X[t]], (guess - y[t]) ** 2)


# Votes.


@MANY
@given(shape=shapes(rounds=40))
@pytest.mark.parametrize("beta", [0.1, 0.5, 1 / math.e, 0.95])
def test_weighted_majority(beta: float, shape: Shape) -> None:
    X, y = (np.round(part) for part in advice_of(Variant("halving", {}), shape))
    wrong = np.cumsum(y[:, None] != X, axis=0)
    before = np.vstack([np.zeros(shape.experts), wrong[:-1]])
    for name in ("weighted-majority", "randomised-weighted-majority"):
        master = nr.experts.make(name, beta=beta)
        said, used = played(master, X, y)
        expected = beta ** (before - before.min(axis=1, keepdims=True))
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(used, expected, rtol=1e-12)
        if name == "weighted-majority":
            heavy = (expected * X).sum(axis=1)
            clear = np.abs(heavy - 0.5) > 1e-9
            np.testing.assert_array_equal(said[clear], (heavy > 0.5)[clear])
            assert master.mistakes == (said != y).sum()
        else:
            mean = (expected * (y[:, None] != X)).sum()
            assert math.isclose(master.mistakes, mean, rel_tol=1e-12, abs_tol=1e-12)
            assert master.drawn_mistakes == (said != y).sum()


@MANY
@given(shape=shapes(rounds=40))
def test_halving(shape: Shape) -> None:
    X, y = (np.round(part) for part in advice_of(Variant("halving", {}), shape))
    said, used = played(nr.experts.Halving(), X, y)
    wrong = np.zeros(shape.experts)
    for t in range(len(X)):
        trusted = wrong == wrong.min()
        np.testing.assert_allclose(used[t], trusted / trusted.sum(), rtol=1e-15)
        votes = X[t, trusted].sum()
        assert said[t] == (2 * votes >= trusted.sum())
        wrong += X[t] != y[t]


@pytest.mark.parametrize("name", ["halving", "weighted-majority"])
def test_a_tie_is_a_one_however_sums_are_rounded(name: str) -> None:
    for n in range(2, 40):
        prior = [*np.arange(1.0, n), n * (n - 1) / 2]
        for votes in ([1.0] * (n - 1) + [0.0], [0.0] * (n - 1) + [1.0]):
            for order in (
                np.arange(n),
                np.arange(n)[::-1],
                np.random.default_rng(n).permutation(n),
            ):
                master = nr.experts.make(name, prior=[prior[i] / 7 for i in order])
                assert master.predict_one([votes[i] for i in order]) == 1.0


# Forecasts of the aggregating algorithm.


@MANY
@given(shape=shapes(rounds=20))
def test_the_substitution_pays_at_most_the_mixed_loss_whatever_happens(shape: Shape) -> None:
    low, high = (0.0, 1.0) if shape.seed % 2 else (-3.0, 7.0)
    X, y = advice_of(Variant("aggregating", {}), shape)
    X, y = low + (high - low) * X, low + (high - low) * y
    rate = 2 / (high - low) ** 2
    master = nr.experts.Aggregating(low=low, high=high)
    said, used = played(master, X, y)
    total = 0.0
    for t in range(len(X)):
        for outcome in np.linspace(low, high, 21):
            mixed = -math.log(
                math.fsum(
                    w * math.exp(-rate * (x - outcome) ** 2)
                    for w, x in zip(used[t], X[t], strict=True)
                )
            )
            assert (said[t] - outcome) ** 2 <= mixed / rate + 1e-12 * (high - low) ** 2
        at = [
            -math.log(
                math.fsum(
                    w * math.exp(-rate * (x - end) ** 2) for w, x in zip(used[t], X[t], strict=True)
                )
            )
            / rate
            for end in (low, high)
        ]
        guess = (low + high) / 2 + (at[0] - at[1]) / (2 * (high - low))
        assert math.isclose(said[t], guess, rel_tol=1e-9, abs_tol=1e-9)
        total += (said[t] - y[t]) ** 2
    assert math.isclose(master.total_loss, total, rel_tol=1e-12, abs_tol=1e-12)


# The entropic weighted average.


@MANY
@given(shape=shapes(rounds=60))
@pytest.mark.parametrize("name", ["weighted-average", "aggregating"])
def test_the_log_loss_is_an_identity(name: str, shape: Shape) -> None:
    """Total loss = −ln Σ prior exp(−L_i), where outcomes are 0 or 1."""
    X, _ = advice_of(Variant(name, {"loss": "log"}), shape)
    y = np.round(shape.rng.random(shape.rounds))
    prior = shape.rng.uniform(0.1, 1, shape.experts)
    master = nr.experts.make(name, loss="log", prior=prior.tolist())
    master.learn_many(X, y)
    paid = [
        math.fsum(-math.log(x if b else 1 - x) for x, b in zip(X[:, i], y, strict=True))
        for i in range(shape.experts)
    ]
    least = min(paid)
    weighed = math.fsum(p * math.exp(least - loss) for p, loss in zip(prior, paid, strict=True))
    expected = least - math.log(weighed / math.fsum(prior))
    assert math.isclose(master.total_loss, expected, rel_tol=1e-12)
    np.testing.assert_allclose(master.expert_losses, paid, rtol=1e-11)
