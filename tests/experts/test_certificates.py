"""Certificates of games over experts: broken assumptions are named, true ones are confirmed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.hindsight.proofs.answer import USUAL
from noregret.proof.certificates.certificate import seal
from tests.experts.masters import PLAIN, VARIANTS, Floats, Shape, Variant, advice_of, losses_of
from tests.thorough import in_turn

RNG = np.random.default_rng(11)
X, Y = RNG.random((40, 3)), RNG.random(40)
BITS = np.round(X)


def outside(at: int, column: int, value: float) -> Floats:
    changed = X.copy()
    changed[at - 1, column] = value
    return changed


def named(promise: Any) -> tuple[str, int | None]:
    """Return the assumption that failed and the round it failed in first."""
    failed = [found for found in promise.assumptions if found.holds is False]
    assert len(failed) == 1
    return failed[0].name, failed[0].first_violation


BROKEN: dict[str, tuple[Callable[[], Any], Any, Any, str | None, str, int | None]] = {
    "a forecast above": (
        nr.experts.WeightedAverage, outside(17, 1, 1.5), Y, None, "within [0, 1]", 17,
    ),
    "a forecast below": (
        nr.experts.Aggregating, outside(9, 2, -0.1), Y, None, "within [0, 1]", 9,
    ),
    "an outcome outside": (
        nr.experts.Aggregating, X, np.where(np.arange(40) == 20, 3.0, Y), None, "within", 21,
    ),
    "a rate too bold": (
        lambda: nr.experts.WeightedAverage(rate=2.0), X, Y, None, "rate <= 0.5", None,
    ),
    "losses too wide": (
        lambda: nr.experts.Hedge(high=0.5), X, None, "hedge-anytime", "spread", None,
    ),
    "one round too wide": (nr.experts.Hedge, outside(30, 0, 9.0), None, None, "spread", 30),
    "beyond the horizon": (
        lambda: nr.experts.Hedge(schedule="horizon", horizon=25), X, None, "hedge", "25", 26,
    ),
    "nobody is right": (nr.experts.Halving, BITS, np.round(Y), None, "mistakes of the best", None),
    "losses for an average": (nr.experts.WeightedAverage, X, None, None, "advice", 1),
    "shares outside": (
        nr.experts.FixedShare, outside(5, 1, 2.0), Y, "fixed-share", "within [0, 1]", 5,
    ),
    "variable shares of large losses": (
        lambda: nr.experts.FixedShare(variable=True, low=0.0, high=9.0),
        outside(8, 0, 8.0), Y, None, "losses within [0, 1]", 8,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(BROKEN))
def test_a_broken_assumption_is_named_and_no_bound_is_claimed(case: str) -> None:
    make, rows, outcomes, theorem, words, first = BROKEN[case]
    game = nr.play(make(), rows, outcomes)
    certificate = game.certificate(theorem)
    promise = certificate.theorem
    assert promise is not None
    assert promise.bound is None
    assert promise.holds is None
    name, round_ = named(promise)
    assert words in name
    if first is not None:
        assert round_ == first
    assert nr.verify(certificate, rows, outcomes).confirmed


def test_the_round_in_which_the_last_expert_failed() -> None:
    y = np.zeros(30)
    votes = np.zeros((30, 3))
    votes[4, 0] = votes[11, 1] = votes[20, 2] = 1
    promise = nr.play(nr.experts.Halving(), votes, y).certificate().theorem
    assert promise is not None
    assert named(promise)[1] == 21


def test_the_first_round_that_is_too_wide() -> None:
    losses = np.clip(X, 0, 0.4)
    losses[13, 1] = losses[25, 0] = 1.0
    losses[13, 0] = 0.0
    promise = nr.play(nr.experts.Hedge(high=0.5), losses).certificate().theorem
    assert promise is not None
    assert named(promise)[1] == 14


def test_learning_before_a_game_takes_its_bound_away() -> None:
    for variant in PLAIN:
        rows, outcomes = advice_of(variant, Shape(3, 30, 4, "uniform"))
        player = variant.make()
        player.learn_many(rows, outcomes)
        promise = nr.play(player, rows, outcomes).certificate().theorem
        assert promise is not None
        assert promise.bound is None


# Verifying.


def games() -> dict[str, tuple[Callable[[], Any], Any, Any, dict[str, Any]]]:
    """Return games of every kind: who plays, what, and what the certificate is told."""
    asleep = losses_of(Shape(6, 40, 4, "uniform", 0.4))
    frame = pd.DataFrame(X, columns=["ann", "bob", "cyd"])
    gaps = frame.mask(np.isnan(asleep[:, :3]) & (np.arange(3) > 0))
    switching = np.where(np.arange(40)[:, None] < 20, [[0.0, 1.0, 0.5]], [[1.0, 0.0, 0.5]])
    return {
        "hedge": (nr.experts.Hedge, X, None, {}),
        "hedge, sampled": (lambda: nr.experts.Hedge(play="sampled", seed=4), X, None, {}),
        "hedge, sampled, asleep": (lambda: nr.experts.Hedge(play="sampled"), asleep, None, {}),
        "hedge, sampled advice, asleep": (
            lambda: nr.experts.Hedge(play="sampled", loss="absolute"), gaps, Y, {},
        ),
        "ada-hedge, asleep": (nr.experts.AdaHedge, asleep, None, {}),
        "ml-poly, names, asleep": (nr.experts.MlPoly, gaps, Y, {}),
        "squint, names": (lambda: nr.experts.Squint(loss="absolute"), frame, Y, {}),
        "boa, prior": (lambda: nr.experts.Boa(prior=[1.0, 2.0, 3.0]), X, Y, {}),
        "blend, asleep": (nr.experts.Blend, gaps, Y, {}),
        "fixed share": (nr.experts.FixedShare, switching, np.zeros(40), {"switches": 3}),
        "fixed share, losses, asleep": (nr.experts.FixedShare, asleep, None, {}),
        "variable share": (
            lambda: nr.experts.FixedShare(variable=True), switching, np.zeros(40), {},
        ),
        "average, log": (lambda: nr.experts.WeightedAverage(loss="log"), X, np.round(Y), {}),
        "aggregating": (nr.experts.Aggregating, frame, Y, {}),
        "majority": (nr.experts.WeightedMajority, BITS, np.round(Y), {}),
        "randomised": (nr.experts.RandomisedWeightedMajority, BITS, np.round(Y), {}),
        "leader": (nr.experts.FollowTheLeader, X, None, {}),
    }  # fmt: skip


GAMES = games()


@pytest.mark.parametrize("case", sorted(GAMES))
def test_true_certificates_are_confirmed(case: str) -> None:
    make, rows, outcomes, told = GAMES[case]
    certificate = nr.play(make(), rows, outcomes).certificate(**told)
    found = nr.verify(certificate, rows, outcomes)
    assert found.confirmed, str(found)
    assert certificate.theorem is None or certificate.theorem.holds is not False


@pytest.mark.parametrize("case", sorted(GAMES))
def test_other_rows_are_not_confirmed(case: str) -> None:
    make, rows, outcomes, told = GAMES[case]
    certificate = nr.play(make(), rows, outcomes).certificate(**told)
    changed = rows.copy()
    if isinstance(changed, pd.DataFrame):
        changed.iloc[5, 0] = 1 - changed.iloc[5, 0]
    else:
        changed[5, np.flatnonzero(~np.isnan(changed[5]))[0]] += 1 if outcomes is None else -0.25
        if "majority" in case or "randomised" in case:
            changed = rows.copy()
            changed[5, 0] = 1 - changed[5, 0]
    assert not nr.verify(certificate, changed, outcomes).confirmed
    assert not nr.verify(
        certificate, rows[:-1], None if outcomes is None else outcomes[:-1]
    ).confirmed


# What is paid, and by whom.


@in_turn("variant", VARIANTS)
def test_hindsight_is_about_the_completed_table(variant: Variant) -> None:
    """A sleeping expert counts as repeating the mixture, recomputed from forecasts and weights."""
    if not variant.sleeps or variant.name == "blend":
        pytest.skip("nobody sleeps, or mixtures are among the experts")
    rows, outcomes = advice_of(variant, Shape(12, 30, 4, "uniform", 0.4))
    game = nr.play(variant.make(), rows, outcomes)
    master = variant.make()
    said, used = np.empty(30), np.empty(rows.shape)
    master.play_block(rows, outcomes, said, used)
    loss = np.vectorize(master._round.cost.value)
    each = loss(np.where(np.isnan(rows), 0.5, rows), outcomes[:, None])
    own = (used * each).sum(axis=1) if master._round.pays_expected else loss(said, outcomes)
    paid = np.where(np.isnan(rows), own[:, None], each).sum(axis=0)
    assert game.loss == pytest.approx(own.sum(), rel=1e-12)
    np.testing.assert_allclose(game.player.expert_losses, paid, rtol=1e-11)
    evidence = game.evidence({}, USUAL)
    np.testing.assert_allclose(evidence.totals().values, paid, rtol=1e-11)
    best = evidence.best()
    assert best.loss == pytest.approx(paid.min(), rel=1e-11)


def test_sampled_losses_where_experts_sleep_are_completed_by_the_mean() -> None:
    losses = losses_of(Shape(12, 30, 4, "uniform", 0.4))
    game = nr.play(nr.experts.Hedge(play="sampled"), losses)
    master, used = nr.experts.Hedge(), np.empty(losses.shape)
    master.play_block(losses, None, None, used)
    own = np.where(used > 0, used * losses, 0).sum(axis=1)
    paid = np.where(np.isnan(losses), own[:, None], losses).sum(axis=0)
    found = game.evidence({}, USUAL).totals().values
    np.testing.assert_allclose(found, paid, rtol=1e-12)


def test_draws_are_as_likely_as_the_weights_say() -> None:
    prior = [0.5, 0.3, 0.15, 0.05]
    drawn = np.zeros(4)
    for seed in range(40):
        master = nr.experts.Hedge(play="sampled", seed=seed, prior=prior)
        for _ in range(100):
            master.learn_losses([1.0, 1.0, 1.0, 1.0])
            drawn[master._round.drawn_expert()] += 1
    expected = 4000 * np.array(prior)
    assert ((drawn - expected) ** 2 / expected).sum() < 16.3  # once in a thousand with chance alone
    first = [nr.experts.Hedge(play="sampled", seed=seed, prior=prior) for seed in range(2000)]
    for master in first:
        master.predict_one([0.0, 0.0, 0.0, 0.0])
    seen = np.bincount([master._round.drawn_expert() for master in first], minlength=4)
    expected = 2000 * np.array(prior)
    assert ((seen - expected) ** 2 / expected).sum() < 16.3


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    rows = np.random.default_rng(0).random((50, 4))
    said = [
        nr.play(
            nr.experts.Hedge(play="sampled", seed=seed), rows, Y[:1].repeat(50), predictions=True
        )
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(said[0].predictions, said[1].predictions)
    assert (said[0].predictions != said[2].predictions).any()
    assert math.isclose(said[0].loss, said[2].loss, rel_tol=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e8, 1e12, 1e14])
@pytest.mark.parametrize("name", ["ml-poly", "boa", "squint"])
def test_huge_errors_that_cancel_hide_no_better_mixture(name: str, size: float) -> None:
    """The remainder is known to few digits: no lower end beyond these is confirmed."""
    y = np.array([1.0, 2.0, 3.0])
    errors = np.outer([size, -size, size / 3], [1.0, -0.7])
    X = errors + y[:, None]
    honest = nr.play(nr.experts.make(name, gradient=True), X, y).certificate()
    assert nr.verify(honest, X, y).confirmed
    if size < 1e12:
        return
    for share in (0.0, 0.5):
        contents = honest.to_dict()
        best = contents["hindsight"]
        best["gap"] *= share
        contents["regret"]["upper"] = contents["loss"]["total"] - best["loss"] + best["gap"]
        contents.pop("seal")
        forged = contents | {"seal": seal(contents)}
        assert "hindsight.gap" in [line.name for line in nr.verify(forged, X, y).failed]
