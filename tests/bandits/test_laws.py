"""Laws of every policy."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret
from noregret.bandits import Exp4, Ucb1
from noregret.bandits.drawing import drawn, gibbs
from noregret.bandits.policy import Policy
from tests.bandits.common import FORMS, WITHOUT_EXPERTS, context_of, feed, rewards_of, same_state
from tests.thorough import draws

forms = pytest.mark.parametrize("form", FORMS)
without_experts = pytest.mark.parametrize("form", WITHOUT_EXPERTS)


@forms
def test_a_policy_goes_on_alike_from_every_kind_of_copy(form: str, tmp_path: Path) -> None:
    policy = FORMS[form](arms=["a", "b", "c"], seed=5)
    rewards = rewards_of(60, 3)
    feed(policy, rewards[:30])
    waiting = policy.choose(context_of(policy, 30))
    policy.save(tmp_path / "model")
    copies: list[Any] = [
        noregret.load(tmp_path / "model"),
        policy.copy(),
        copy.deepcopy(policy),
        pickle.loads(pickle.dumps(policy)),
    ]
    for each in (policy, *copies):
        each.learn(waiting, 0.25)
    expected = feed(policy, rewards[31:], 31)
    for each in copies:
        assert each.params == policy.params
        assert feed(each, rewards[31:], 31) == expected
        assert same_state(each, policy)


@forms
def test_a_fresh_one_of_the_same_parameters_plays_the_same(form: str) -> None:
    policy = FORMS[form](arms=3, seed=9)
    first = feed(policy, rewards_of(50, 3))
    assert feed(policy.clone(), rewards_of(50, 3)) == first
    assert feed(FORMS[form](arms=3, seed=10), rewards_of(50, 3)) != first or form == "ucb1"


@forms
@given(arms=st.integers(1, 6), rounds=st.integers(0, 30), seed=st.integers(0, 99))
@draws(15)
def test_propensities_are_probabilities(form: str, arms: int, rounds: int, seed: int) -> None:
    policy = FORMS[form](arms=arms, seed=seed)
    feed(policy, rewards_of(rounds, arms, seed))
    chances = policy.propensities(context_of(policy, rounds))
    assert chances.shape == (arms,)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert (chances >= 0).all()
    assert (chances > 0).all() or form.startswith(("ucb1", "exp4"))


@forms
def test_asking_for_propensities_changes_nothing(form: str) -> None:
    one, other = FORMS[form](arms=3), FORMS[form](arms=3)
    for k, row in enumerate(rewards_of(20, 3)):
        one.propensities(context_of(one, k))
        feed(one, row[None], k)
        feed(other, row[None], k)
    assert same_state(one, other)


@without_experts
def test_a_table_is_played_as_its_rows_are_chosen_and_learned(form: str) -> None:
    rewards = rewards_of(80, 4)
    one, other, third = (FORMS[form](arms=4, seed=3) for _ in range(3))
    arms = np.empty(80)
    one.play_block(rewards, None, arms)
    assert feed(other, rewards) == arms.tolist()
    third.play_block(rewards[:33], None, None)
    third.play_block(rewards[33:], None, None)
    assert same_state(one, third)
    for key in set(one._kept) - {"costs"}:
        assert np.array_equal(one._state.sums[key], other._state.sums[key])
    assert one.rounds == other.rounds == 80


@without_experts
@given(data=st.data())
@draws(15)
def test_permuting_arms_permutes_propensities(form: str, data: st.DataObject) -> None:
    arms = data.draw(st.integers(2, 5))
    order = np.array(data.draw(st.permutations(range(arms))))
    policy = FORMS[form](arms=arms, seed=data.draw(st.integers(0, 99)))
    feed(policy, rewards_of(data.draw(st.integers(0, 25)), arms))
    arrays, numbers, names = policy.get_state()
    other = policy.clone()
    other.set_state(arrays | {key: arrays[key][order] for key in policy._kept}, numbers, names)
    assert other.propensities() == pytest.approx(policy.propensities()[order], abs=1e-12)


@forms
@given(
    low=st.sampled_from([-8.0, 0.0, 0.5, 1024.0]),
    span=st.sampled_from([2.0**-30, 0.25, 4.0, 2.0**40]),
)
@draws(10)
def test_rewards_on_another_scale_change_no_choice(form: str, low: float, span: float) -> None:
    rewards = np.round(rewards_of(40, 3) * 16) / 16  # so that scaling rounds nothing
    scaled = low + span * rewards
    assume(np.array_equal((scaled - low) / span, rewards))
    policy = FORMS[form](arms=3)
    other = FORMS[form](arms=3, low=low, high=low + span)
    assert feed(policy, rewards) == feed(other, scaled)
    assert other.total_loss == pytest.approx(span * policy.total_loss, rel=1e-12)


@forms
def test_rewards_may_come_late_and_in_any_order(form: str) -> None:
    policy = FORMS[form](arms=3, seed=1)
    rng, waiting = np.random.default_rng(0), list[tuple[int, Any]]()
    for k in range(60):
        waiting.append((policy.chosen + 1, policy.choose(context_of(policy, k))))
        while len(waiting) > 5:
            number, arm = waiting.pop(int(rng.integers(len(waiting))))
            policy.learn(arm, float(rng.random()), round=number)
    assert len(policy._state.pending) == 5
    assert (policy.chosen, policy.rounds) == (60, 55)
    policy.withdraw(waiting[0][0])
    assert len(policy._state.pending) == 4
    with pytest.raises(noregret.NoRegretError, match="with a pending reward"):
        policy.withdraw(waiting[0][0])


def test_the_oldest_choice_of_an_arm_is_settled_first() -> None:
    policy = Ucb1(arms=1)
    for _ in range(3):
        policy.choose()
    policy.learn(0, 1.0)
    assert list(policy._state.pending) == [2, 3]
    policy.learn(0, 1.0, round=3)
    assert list(policy._state.pending) == [2]


@pytest.mark.parametrize("form", ["ucb1", "thompson"])
def test_arms_may_join_where_theory_allows_it(form: str) -> None:
    policy = FORMS[form](arms=["a", "b"])
    for _ in range(50):
        policy.learn(policy.choose(), 0.5)
    policy.add_arm("c")
    for _ in range(200):
        arm = policy.choose()
        policy.learn(arm, 1.0 if arm == "c" else 0.5)
    assert policy.names == ["a", "b", "c"]
    assert policy.pulls[2] > 80
    copied = policy.copy()
    assert same_state(copied, policy)


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"ucb1", "thompson", "thompson prior"}))
def test_arms_may_not_join_a_running_policy_where_the_promise_is_for_all(form: str) -> None:
    policy = FORMS[form](arms=2)
    policy.add_arm()
    assert policy.names == ["0", "1", "2"]
    feed(policy, rewards_of(1, 3))
    with pytest.raises(noregret.NoRegretError, match="cannot add arms while it runs"):
        policy.add_arm()


# The parts.


@given(
    st.lists(st.floats(0, 1e200), min_size=1, max_size=20),
    st.floats(0, 1e100),
)
def test_weights_of_any_estimates_are_positive_and_have_sum_one(
    estimates: list[float], rate: float
) -> None:
    chances = gibbs(np.array(estimates), rate)
    assert np.isfinite(chances).all()
    assert (chances > 0).all()
    assert chances.sum() == pytest.approx(1.0)


def test_draws_are_not_those_of_numpy_with_the_same_seed() -> None:
    """Rewards drawn by default_rng(0) must not hang on the arms that seed 0 draws."""
    policy, rng = FORMS["exp3"](arms=2, rate=1e-9, seed=0), np.random.default_rng(0)
    agree = sum((policy.choose() == 1) == (rng.random() > 0.5) for _ in range(1000))
    assert abs(agree - 500) <= 5 * np.sqrt(250)


def test_what_has_no_chance_is_never_drawn() -> None:
    rng = np.random.default_rng(0)
    assert {drawn(np.array([0.0, 0.3, 0.0, 0.7, 0.0]), rng) for _ in range(2000)} == {1, 3}


@without_experts
def test_arms_are_drawn_by_their_propensities(form: str) -> None:
    """Of many draws the counts are within five standard errors of what is expected."""
    policy = FORMS[form](arms=4, seed=1)
    feed(policy, rewards_of(12, 4))
    chances, draws = policy.propensities(), 4000
    counts = np.bincount([policy._draw(None)[0] for _ in range(draws)], minlength=4)
    errors = np.sqrt(draws * chances * (1 - chances))
    assert (np.abs(counts - draws * chances) <= 5 * errors + 1e-6).all()


def test_the_same_advice_in_any_shape_is_the_same() -> None:
    shapes: list[Any] = [
        ["b", 2, "a"],
        [[0, 1, 0], [0, 0, 1.0], [1, 0, 0]],
        np.eye(3)[[1, 2, 0]],
        {"x": "b", "y": "c", "z": {"a": 1.0}},
    ]
    chances = []
    for shape in shapes:
        policy = Exp4(arms=["a", "b", "c"], experts=["x", "y", "z"])
        policy.learn(policy.choose(shape), 0.3)
        chances.append(policy.propensities(shape))
    assert all(np.array_equal(each, chances[0]) for each in chances)


def test_every_policy_is_offered_by_name() -> None:
    from noregret import bandits

    for name in ("exp3", "exp3-ix", "ucb1", "thompson", "exp4"):
        policy = bandits.make(name, arms=2)
        assert isinstance(policy, Policy)
        assert isinstance(noregret.make(name, arms=2), type(policy))
        assert eval(repr(policy), {type(policy).__name__: type(policy)}).params == policy.params
    assert {"Exp3", "Log", "Policy", "off_policy"} <= set(dir(bandits))
