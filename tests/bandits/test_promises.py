"""The theorems: their constants against simulations, and their certificates.

A mean over M plays is compared with its bound with a margin of five standard errors, so that a
correct theorem fails one test in millions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret
from noregret import load_certificate, play, verify
from noregret.bandits import Exp3, Exp3Ix, Exp4, Thompson, Ucb1, ucb1_bound
from noregret.bandits.policy import Policy
from tests.bandits import reference
from tests.bandits.tables import TABLES, Floats, alternating, hard, silent, stochastic, turning

tables = pytest.mark.parametrize("table", TABLES)
BEYOND = 1 + math.pi**2 / 3


def surely_below(values: Floats, bound: float) -> bool:
    """Return whether the mean of values is not clearly above a bound."""
    error = float(values.std()) / math.sqrt(len(values))
    return float(values.mean()) <= bound + 5 * error


# The constants, by many plays of the pseudocode at once.


@tables
@pytest.mark.parametrize(("arms", "rounds"), [(2, 200), (5, 500)])
def test_exp3_regrets_no_more_than_promised_on_average(table: str, arms: int, rounds: int) -> None:
    losses = 1 - TABLES[table](rounds, arms)
    by_chance, by_arm = reference.exp3(losses, 200, rounds, seed=1)
    bound = math.sqrt(2 * rounds * arms * math.log(arms))
    assert surely_below(by_chance, bound)
    assert surely_below(by_arm, bound)
    anytime, _ = reference.exp3(losses, 200, None, seed=2)
    assert surely_below(anytime, 2 * math.sqrt(rounds * arms * math.log(arms)))


@tables
def test_exp3_ix_rarely_regrets_more_than_promised(table: str) -> None:
    """Of 400 plays, at most as many exceed the bound as a chance of δ allows."""
    losses, n, rounds, chance = 1 - TABLES[table](400, 4), 4, 400, 0.05
    _, fixed = reference.exp3(losses, 400, rounds, seed=3, bias=0.5)
    _, falling = reference.exp3(losses, 400, None, seed=4, bias=0.5)
    most = 400 * chance + 5 * math.sqrt(400 * chance * (1 - chance))
    fixed_bound = Exp3Ix(arms=n, horizon=rounds)._bound_with(chance, rounds)
    falling_bound = Exp3Ix(arms=n)._bound_with(chance, rounds)
    assert (fixed > fixed_bound).sum() <= most
    assert (falling > falling_bound).sum() <= most


@pytest.mark.parametrize("gap", [0.05, 0.2, 0.5])
def test_ucb1_regrets_no_more_than_promised_on_average(gap: float) -> None:
    means = np.full(4, 0.5 - gap / 2)
    means[1] += gap
    behind, regret = reference.ucb1(means, 600, 200, seed=5)
    free = math.sqrt(3 * 600 * (8 * math.log(600) + BEYOND))
    assert surely_below(behind, ucb1_bound([gap, 0, gap, gap], 600))
    assert surely_below(behind, free)
    assert surely_below(regret, Ucb1(arms=4).bound_after(600))
    assert Ucb1(arms=4).bound_after(600) == pytest.approx(free + math.sqrt(300 * math.log(4)))


@pytest.mark.parametrize("arms", [2, 6])
def test_thompson_regrets_no_more_than_promised_on_average_over_the_prior(arms: int) -> None:
    behind, regret = reference.thompson(arms, 400, 300, seed=6)
    assert surely_below(behind, math.sqrt(arms * 400 * math.log(arms) / 2))
    assert surely_below(regret, Thompson(arms=arms).bound_after(400))


def test_exp4_regrets_no_more_than_promised_on_average() -> None:
    rng = np.random.default_rng(7)
    losses = 1 - alternating(500, 4)
    advice = rng.integers(0, 4, (500, 12))
    advice[:, 5] = np.where(np.arange(500) % 3 == 0, losses.argmin(axis=1), 2)
    regret = reference.exp4(losses, advice, 200, 500, seed=8)
    assert surely_below(regret, math.sqrt(2 * 500 * 4 * math.log(12)))


# The policies are what was simulated.


@pytest.mark.parametrize(
    ("make", "plays"),
    [
        (lambda seed: Exp3(horizon=150, seed=seed), lambda x: reference.exp3(x, 400, 150, 1)[0]),
        (lambda seed: Exp3(seed=seed), lambda x: reference.exp3(x, 400, None, 1)[0]),
        (
            lambda seed: Exp3Ix(horizon=150, seed=seed),
            lambda x: reference.exp3(x, 400, 150, 1, 0.5)[1],
        ),
        (lambda seed: Exp3Ix(seed=seed), lambda x: reference.exp3(x, 400, None, 1, 0.5)[1]),
    ],
)
def test_the_policies_regret_what_their_pseudocode_does(
    make: Callable[[int], Policy], plays: Callable[[Floats], Floats]
) -> None:
    rewards = alternating(150, 3)
    found = np.empty(60)
    for seed in range(60):
        policy = make(seed)
        policy.play_block(rewards, None, None)
        found[seed] = policy.regret_so_far()
    expected = plays(1 - rewards)
    error = math.sqrt(found.var() / len(found) + expected.var() / len(expected))
    assert abs(found.mean() - expected.mean()) <= 5 * error


def test_ucb1_pulls_as_its_pseudocode_does() -> None:
    rewards = stochastic(400, 3, 0.2, seed=4)
    pulls, gains, arms = np.zeros(3), np.zeros(3), np.empty(400)
    policy = Ucb1(seed=2)
    policy.play_block(rewards, None, arms)
    for t, arm in enumerate(arms.astype(int)):
        if t >= 3:
            bounds = gains / pulls + np.sqrt(2 * math.log(t) / pulls)
            assert bounds[arm] == pytest.approx(bounds.max(), abs=1e-12)
        else:
            assert pulls[arm] == 0
        pulls[arm] += 1
        gains[arm] += rewards[t, arm]


# Certificates.

ADVICE: NDArray[np.float64] = np.random.default_rng(0).integers(0, 4, (300, 5)).astype(float)
GAMES: dict[str, tuple[Policy, Floats]] = {
    "exp3": (Exp3(horizon=300), hard(300, 4)),
    "exp3-anytime": (Exp3(), turning(300, 4)),
    "exp3-ix": (Exp3Ix(horizon=300, chance=0.1), alternating(300, 4)),
    "exp3-ix-anytime": (Exp3Ix(low=-1.0, high=3.0), hard(300, 4) * 4 - 1),
    "ucb1": (Ucb1(), hard(300, 4)),
    "thompson": (Thompson(), hard(300, 4)),
    "exp4": (Exp4(arms=4, horizon=300), np.hstack([hard(300, 4), ADVICE])),
    "exp4-anytime": (Exp4(arms=4), np.hstack([turning(300, 4), ADVICE])),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_over_a_table_has_a_certificate_that_is_verified(name: str) -> None:
    policy, rewards = GAMES[name]
    game = play(policy.clone(), rewards)
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.name == name
    assert certificate.theorem.holds
    assert certificate.family == "bandits"
    assert verify(certificate, rewards).confirmed
    changed = rewards.copy()
    changed[10, 0] = policy.high - (changed[10, 0] - policy.low)
    assert not verify(certificate, changed).confirmed
    assert game.curve.regret[-1] == pytest.approx(certificate.regret.upper, abs=1e-6)
    assert game.curve.bound[-1] == pytest.approx(certificate.theorem.bound)


@pytest.mark.parametrize("name", GAMES)
def test_the_best_in_hindsight_is_that_of_the_table(name: str) -> None:
    policy, rewards = GAMES[name]
    game = play(policy.clone(), rewards)
    high = policy.high
    if name.startswith("exp4"):
        rows = np.arange(len(rewards))
        sums = [math.fsum(high - rewards[rows, rewards[:, 4 + j].astype(int)]) for j in range(5)]
    else:
        sums = [math.fsum(high - rewards[:, i]) for i in range(4)]
    best = game.certificate().hindsight
    assert best.loss == pytest.approx(min(sums), rel=1e-12)
    assert best.loss - best.gap <= min(sums) <= best.loss
    assert [k for k, weight in enumerate(best.witness.values()) if weight] == [
        int(np.argmin(sums)) + (4 if name.startswith("exp4") else 0)
    ]


def test_expected_regret_counts_by_chances_not_by_draws() -> None:
    rewards = hard(200, 3)
    policy = Exp3(arms=3, seed=4)
    paid = 0.0
    for row in rewards:
        paid += float(policy.propensities() @ (1 - row))
        arm = policy.choose()
        assert isinstance(arm, int)
        policy.learn(arm, float(row[arm]))
    assert play(Exp3(seed=4), rewards).loss == pytest.approx(paid, rel=1e-12)


def test_one_play_with_bad_luck_is_not_taken_for_a_broken_promise() -> None:
    """Some plays regret more than is promised of the mean; then the mean of others counts."""
    rewards = silent(300, 5)
    for seed in range(100):
        certificate = play(Exp3(horizon=300, seed=seed), rewards).certificate()
        assert certificate.theorem is not None
        assert certificate.theorem.bound is not None
        if certificate.regret.upper > certificate.theorem.bound:
            break
    else:
        pytest.fail("no play had bad luck")
    measured = certificate.theorem.measured
    assert measured is not None
    assert measured < certificate.theorem.bound
    assert certificate.theorem.holds
    assert verify(certificate, rewards).confirmed


@pytest.mark.parametrize("policy", [Ucb1(), Thompson()])
def test_rewards_that_drift_are_not_taken_for_independent(policy: Policy) -> None:
    promise = play(policy.clone(), turning(2000, 4)).certificate().theorem
    assert promise is not None
    assert promise.bound is None
    assert promise.failed is not None
    assert "independently" in promise.failed.name
    kept = play(policy.clone(), stochastic(2000, 4, 0.1)).certificate().theorem
    assert kept is not None
    assert kept.holds


def test_a_table_made_to_fool_ucb1_is_not_taken_for_independent() -> None:
    """Every arm pays half the time, but never when it is pulled."""
    policy, rows, rng = Ucb1(arms=3), list[Floats](), np.random.default_rng(1)
    for _ in range(1500):
        row = (rng.random(3) < 0.75).astype(float)
        row[policy.copy().choose()] = 0.0
        policy.play_block(row[None], None, None)
        rows.append(row)
    promise = play(Ucb1(), np.array(rows)).certificate().theorem
    assert promise is not None
    assert promise.bound is None


def test_the_chance_may_be_told() -> None:
    rewards = hard(200, 3)
    game = play(Exp3Ix(horizon=200), rewards)
    bounds = []
    for chance in (0.5, 0.05, 1e-6):
        certificate = game.certificate(chance=chance)
        assert certificate.theorem is not None
        assert certificate.theorem.bound is not None
        bounds.append(certificate.theorem.bound)
        assert verify(certificate, rewards).confirmed
    assert bounds == sorted(bounds)
    assert game.certificate().theorem == game.certificate(chance=0.05).theorem
    with pytest.raises(ValueError, match="chance must be a number between 0 and 1"):
        game.certificate(chance=1.5)


def test_policies_are_tuned_by_their_theorems() -> None:
    assert Exp3.tuned(horizon=100, arms=2).params["horizon"] == 100
    assert Exp3Ix.tuned(horizon=100, chance=0.1).chance == 0.1
    assert Exp4.tuned(horizon=100, arms=2).horizon == 100


def test_bounds_are_least_where_the_rate_is_tuned() -> None:
    for rounds in (100, 10_000):
        tuned = Exp3(arms=7, horizon=rounds)
        least = tuned.bound_after(rounds)
        assert least == pytest.approx(math.sqrt(2 * rounds * 7 * math.log(7)))
        ix = Exp3Ix(arms=7, horizon=rounds, chance=0.01)
        wanted = 2 * math.log(7) + math.log(200)
        assert ix._bound_with(0.01, rounds) == pytest.approx(
            2 * math.sqrt(7 * rounds * wanted) + math.log(200)
        )
        for factor in (0.8, 1.25):
            rate = tuned._rate_at(1) * factor
            assert (Exp3(arms=7, rate=rate).bound_after(rounds) or 0) > (least or 0)


def test_a_certificate_of_named_arms_goes_through_its_file(tmp_path: object) -> None:
    from pathlib import Path

    place = Path(str(tmp_path)) / "certificate.json"
    rows = [{"red": float(r), "blue": float(b)} for r, b in hard(120, 2)]
    certificate = play(Exp3(arms=["red", "blue"]), rows).certificate()
    certificate.save(place)
    assert load_certificate(place) == certificate
    assert verify(place, rows).confirmed
    assert set(certificate.hindsight.witness) == {"red", "blue"}
    assert noregret.all_theorems()["exp3"][0].source


def test_exp4_reads_tables_by_the_names_of_columns() -> None:
    rng = np.random.default_rng(0)
    rewards, said = rng.random((200, 2)), rng.dirichlet([1.0, 1.0], (200, 2))
    rows = [
        {"red": r[0], "blue": r[1], "x.red": s[0, 0], "x.blue": s[0, 1]}
        | {"y.red": s[1, 0], "y.blue": s[1, 1]}
        for r, s in zip(rewards, said, strict=True)
    ]
    policy = Exp4(arms=["red", "blue"], advice="chances")
    game = play(policy, rows)
    assert policy.expert_names == ["x", "y"]
    other = Exp4(arms=2, advice="chances")
    table = np.hstack([rewards, said.reshape(200, 4)])
    assert play(other, table).loss == game.loss
    assert np.array_equal(other._state.sums["costs"], policy._state.sums["costs"])
    assert policy._state.sums["costs"] == pytest.approx(np.einsum("tji,ti->j", said, 1 - rewards))
    certificate = game.certificate()
    assert verify(certificate, rows).confirmed
    best = ["x", "y"][int(policy._state.sums["costs"].argmin())]
    assert [k for k, w in certificate.hindsight.witness.items() if w] == [
        f"{best}.blue",
        f"{best}.red",
    ]
