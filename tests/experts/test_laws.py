"""Laws that every master obeys, whatever its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.experts.masters import (
    ALLOCATING,
    PLAIN,
    SCALE_FREE,
    SLEEPING,
    VARIANTS,
    Shape,
    Variant,
    advice_of,
    losses_of,
    played,
    shapes,
)
from tests.thorough import few, in_turn


def check_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


# Why adding a number to all losses of a round matters to some.
SHIFT_MATTERS = {
    "blend": "it may lose 1 % more than the average of the experts",
    "fixed-share variable=True share=0.1": "an expert gives away in proportion to its loss itself",
}
# Why an expert that comes twice, with half the prior each, matters to some.
HEADS_MATTER = {
    "ada-hedge": "its rate is ln n over what mixing has cost",
    "blend": "its rate is ln n over what mixing has cost",
    "boa": "every expert has a rate that follows from its prior",
    "fixed-share": "what is given away goes to the others in equal parts, head by head",
}


def counts_heads(variant: Variant) -> bool:
    scheduled = variant.name == "hedge" and variant.params.get("schedule") != "constant"
    return scheduled or variant.name in HEADS_MATTER


@few(shape=shapes(asleep=False))
@in_turn("variant", VARIANTS)
def test_permuting_experts_permutes_weights(variant: Variant, shape: Shape) -> None:
    X, y = advice_of(variant, shape)
    order = shape.rng.permutation(shape.experts)
    _, used = played(variant.make(), X, y)
    _, permuted = played(variant.make(), np.ascontiguousarray(X[:, order]), y)
    check_close(permuted, used[:, order])


@few(shape=shapes(asleep=True))
@in_turn("variant", ALLOCATING)
def test_permuting_experts_that_sleep_permutes_weights(variant: Variant, shape: Shape) -> None:
    losses = losses_of(shape)
    order = shape.rng.permutation(shape.experts)
    _, used = played(variant.make(), losses)
    _, permuted = played(variant.make(), np.ascontiguousarray(losses[:, order]))
    check_close(permuted, used[:, order])


@few(shape=shapes())
@in_turn("variant", ALLOCATING)
def test_what_all_lose_changes_nothing(variant: Variant, shape: Shape) -> None:
    """In multiples of 2⁻²⁰, which add up without rounding."""
    if str(variant) in SHIFT_MATTERS:
        pytest.skip(SHIFT_MATTERS[str(variant)])
    losses = np.round(losses_of(shape) * 2**20) / 2**20
    more = np.round(shape.rng.normal(size=(shape.rounds, 1)) * 2**10) / 2**10
    _, used = played(variant.make(), losses)
    _, shifted = played(variant.make(), losses + more)
    np.testing.assert_allclose(shifted, used, rtol=1e-6, atol=1e-8)


@few(shape=shapes(asleep=True))
@in_turn("variant", SCALE_FREE)
@pytest.mark.parametrize("exponent", [-900, -30, 1, 900])
def test_the_size_of_losses_changes_nothing(variant: Variant, exponent: int, shape: Shape) -> None:
    """By powers of two, by which numbers are multiplied without rounding."""
    losses = losses_of(shape)
    _, used = played(variant.make(), losses)
    _, scaled = played(variant.make(), np.ldexp(losses, exponent))
    np.testing.assert_array_equal(scaled, used)


@few(shape=shapes())
@in_turn("variant", VARIANTS)
def test_an_expert_that_comes_twice_with_half_the_prior_changes_no_prediction(
    variant: Variant, shape: Shape
) -> None:
    if counts_heads(variant):
        pytest.skip(HEADS_MATTER.get(variant.name, "its rate is chosen for n experts"))
    X, y = advice_of(variant, shape)
    n = shape.experts
    twice = int(shape.rng.integers(n))
    prior = shape.rng.uniform(0.5, 1.5, n)
    split = np.append(prior, prior[twice] / 2)
    split[twice] /= 2
    said, used = played(variant.make(prior=prior.tolist()), X, y)
    both = np.column_stack([X, X[:, twice]])
    said_again, used_again = played(variant.make(prior=split.tolist()), both, y)
    used_again[:, twice] += used_again[:, n]
    if not variant.make()._round.pays_expected:  # else others are drawn, the order being another
        check_close(said_again, said)
    check_close(used_again[:, :n], used)


@few(shape=shapes(experts=40))
@in_turn("variant", VARIANTS)
def test_weights_are_shares(variant: Variant, shape: Shape) -> None:
    X, y = advice_of(variant, shape)
    prior = shape.rng.uniform(0.01, 1, shape.experts)
    for more in ({}, {"prior": prior.tolist()}):
        master = variant.make(**more)
        _, used = played(master, X, y)
        check_shares(used)
        check_shares(master.weights()[None])


@few(shape=shapes(asleep=True))
@in_turn("variant", SLEEPING)
def test_who_sleeps_has_no_weight(variant: Variant, shape: Shape) -> None:
    X, y = advice_of(variant, shape)
    losses = losses_of(shape)
    games: list[tuple[Any, Any]] = [(X, y)] + [(losses, None)] * variant.takes_losses
    for rows, outcomes in games:
        master = variant.make()
        _, used = played(master, rows, outcomes)
        check_shares(used)
        assert (used[np.isnan(rows)] == 0).all()
        assert master._round.naps == np.isnan(rows).sum()
        np.testing.assert_array_equal(master.rounds_awake, (~np.isnan(rows)).sum(axis=0))
        awake = ~np.isnan(rows[-1])
        check_shares(master.weights(awake)[None])
        assert (master.weights(awake)[~awake] == 0).all()


def check_shares(weights: Any) -> None:
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)


@few(shape=shapes(asleep=True))
@in_turn("variant", SLEEPING)
def test_who_sleeps_pays_what_the_mixture_pays(variant: Variant, shape: Shape) -> None:
    """So it is regretted exactly as much as in the rounds in which it was awake."""
    losses = losses_of(shape)
    master = variant.make()
    _, used = played(master, losses)
    own = np.where(used > 0, used * losses, 0).sum(axis=1)
    paid = np.where(np.isnan(losses), own[:, None], losses)
    np.testing.assert_allclose(master.total_loss, own.sum(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(master.expert_losses, paid.sum(axis=0), rtol=1e-11, atol=1e-14)


@few(shape=shapes(experts=1))
@in_turn("variant", VARIANTS)
def test_one_expert_is_followed(variant: Variant, shape: Shape) -> None:
    X, y = advice_of(variant, shape)
    master = variant.make()
    said, used = played(master, X, y)
    np.testing.assert_allclose(used, 1.0, rtol=1e-15)
    if variant.name != "aggregating":
        np.testing.assert_array_equal(said, X[:, 0])
        assert abs(master.regrets[0]) <= 1e-12
    np.testing.assert_allclose(said, X[:, 0], atol=1e-12)


@few(shape=shapes(experts=9))
@in_turn("variant", VARIANTS)
def test_an_equal_prior_is_none(variant: Variant, shape: Shape) -> None:
    X, y = advice_of(variant, shape)
    said, used = played(variant.make(), X, y)
    again, with_prior = played(variant.make(prior=[2.0] * shape.experts), X, y)
    np.testing.assert_allclose(with_prior, used, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(again, said, rtol=1e-12, atol=1e-15)


@in_turn("variant", PLAIN)
def test_the_prior_comes_first(variant: Variant) -> None:
    master = variant.make(prior=[1.0, 2.0, 5.0])
    master.predict_one([0.0, 1.0, 1.0])
    np.testing.assert_allclose(master.weights(), [0.125, 0.25, 0.625], rtol=1e-15)
    with pytest.raises(ValueError, match="the prior is for 3 experts, and there are 2"):
        variant.make(prior=[1.0, 2.0, 5.0]).predict_one([0.0, 1.0])


@few(shape=shapes())
@in_turn("variant", ALLOCATING)
def test_equal_losses_teach_nothing(variant: Variant, shape: Shape) -> None:
    losses = losses_of(shape._replace(kind="the same"))
    prior = shape.rng.uniform(0.1, 1, shape.experts)
    if variant.name == "fixed-share":
        prior[:] = 1  # else shares flow to those who hold less
    _, used = played(variant.make(prior=prior.tolist()), losses)
    expected = np.broadcast_to(prior / prior.sum(), used.shape)
    np.testing.assert_allclose(used, expected, rtol=1e-9)


@in_turn("variant", VARIANTS)
def test_a_better_expert_is_trusted_in_the_end(variant: Variant) -> None:
    rng = np.random.default_rng(4)
    y = np.round(rng.random(400)) * 0.8 + 0.1
    X = np.column_stack([y, 1 - y, np.full(400, 0.5)])
    if variant.votes or variant.params.get("loss") == "zero-one":
        X, y = np.round(X), np.round(y)
    master = variant.make()
    master.learn_many(X, y)
    assert master.weights().argmax() == 0
    assert master.weights()[0] > 0.9 or variant.params.get("share") == 0.3
