"""Invalid input is refused with an explanation, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret
from noregret import play
from noregret.bandits import Exp3, Exp3Ix, Exp4, Thompson, Ucb1
from tests.bandits.common import FORMS, context_of, feed, rewards_of, same_state

forms = pytest.mark.parametrize("form", FORMS)
nan, inf = float("nan"), float("inf")


@forms
@pytest.mark.parametrize("reward", [nan, inf, -inf, 1.5, -1e-9, 1e308, "x", None, [0.5], 10**400])
def test_a_reward_that_is_none_is_refused(form: str, reward: Any) -> None:
    policy = FORMS[form](arms=["a", "b"])
    arm = policy.choose(context_of(policy, 0))
    before = policy.copy()
    with pytest.raises(
        noregret.BadExample, match=r"round 1: arm '[ab]'.*not in \[0, 1\]"
    ) as raised:
        policy.learn(arm, reward)
    assert raised.value.round == 1
    assert raised.value.feature == arm
    assert same_state(policy, before)
    policy.learn(arm, 0.5)


@forms
@pytest.mark.parametrize("arm", ["c", 2, -1, 0.5, None, True, nan, "0"])
def test_an_arm_that_is_none_is_refused(form: str, arm: Any) -> None:
    policy = FORMS[form](arms=["a", "b"])
    policy.choose(context_of(policy, 0))
    with pytest.raises(noregret.BadExample, match=r"unknown arm .*: the arms are a, b"):
        policy.learn(arm, 0.5)


@forms
def test_what_was_not_chosen_is_not_learned(form: str) -> None:
    policy = FORMS[form](arms=2)
    with pytest.raises(noregret.NoRegretError, match="was not chosen, or its reward is known"):
        policy.learn(0, 0.5)
    arm = policy.choose(context_of(policy, 0))
    assert isinstance(arm, int)
    with pytest.raises(noregret.NoRegretError, match="was not chosen"):
        policy.learn(1 - arm, 0.5)
    with pytest.raises(noregret.NoRegretError, match="was not chosen in round 2"):
        policy.learn(arm, 0.5, round=2)
    policy.learn(arm, 0.5)
    with pytest.raises(noregret.NoRegretError, match="known already"):
        policy.learn(arm, 0.5)
    assert policy.rounds == 1


@forms
@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"arms": 0}, "arms must be a positive whole number"),
        ({"arms": []}, "arms must be between 1"),
        ({"arms": "ab"}, "a number or a list of names"),
        ({"arms": ["a", 1]}, "a number or a list of names"),
        ({"arms": ["a", "a"]}, "two arms are called 'a'"),
        ({"arms": 10**9}, "arms must be"),
        ({"arms": True}, "arms must be"),
        ({"low": 1.0}, "high must be above low"),
        ({"low": nan}, "low must be a number"),
        ({"high": inf}, "high must be a number"),
        ({"high": 1e300}, "high must be a number"),
        ({"low": -1e-320, "high": 0.0}, "high must be above low"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    form: str, params: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        FORMS[form](**({"arms": 2} | params))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Exp3(horizon=10, rate=0.1), "a horizon or a rate, not both"),
        (lambda: Exp3(horizon=0), "horizon must be a positive"),
        (lambda: Exp3(rate=-1), "rate must be a positive"),
        (lambda: Exp3Ix(chance=1.0), "chance must be a number between 0 and 1"),
        (lambda: Thompson(prior_successes=0), "prior_successes must be a positive"),
        (lambda: Exp4(arms=2, advice="words"), "unknown advice 'words'"),
        (lambda: Exp4(arms=2, experts=["x", "x"]), "two experts are called 'x'"),
    ],
)
def test_parameters_of_their_own_are_checked(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


@forms
def test_without_arms_nothing_can_be_chosen(form: str) -> None:
    policy = FORMS[form]()
    with pytest.raises(noregret.NoRegretError, match=r"the number of arms is not known"):
        policy.choose(context_of(policy, 0) if not form.startswith("exp4") else [0])
    with pytest.raises(noregret.NoRegretError, match=r"the number of arms is not known"):
        policy.propensities()


@pytest.mark.parametrize("form", ["exp3", "exp3-ix", "ucb1", "thompson"])
@pytest.mark.parametrize("bad", [nan, inf, -inf, 1.01, -0.5])
def test_a_bad_cell_of_a_table_stops_there(form: str, bad: float) -> None:
    rewards = rewards_of(20, 3)
    rewards[7, 1] = bad
    policy, other = FORMS[form](), FORMS[form]()
    with pytest.raises(noregret.BadExample, match="round 8: arm '1'") as raised:
        policy.play_block(rewards, None, None)
    assert (raised.value.round, raised.value.feature) == (8, "1")
    other.play_block(rewards[:7], None, None)
    assert same_state(policy, other)


def test_tables_that_are_none_are_refused() -> None:
    with pytest.raises(noregret.NoRegretError, match="has no outcomes"):
        play(Exp3(), rewards_of(5, 2), np.zeros(5))
    with pytest.raises(noregret.BadExample, match="3 columns"):
        play(Exp3(arms=2), rewards_of(5, 3))
    frame = [{"a": 0.5, "b": 0.25}]
    with pytest.raises(noregret.BadExample, match="the columns should be the arms a, c"):
        play(Exp3(arms=["a", "c"]), frame)
    policy = Ucb1(arms=["b", "a"])
    play(policy, frame)
    assert policy.names == ["b", "a"]


@pytest.mark.parametrize(
    ("advice", "said"),
    [
        (None, "exp4 needs advice"),
        ("a", "exp4 needs advice"),
        (3, "exp4 needs advice"),
        (["a"], "advice of 1 experts, but there are 2"),
        (["a", "c"], "unknown arm 'c'"),
        (["a", 2], "unknown arm 2"),
        (["a", [0.5, 0.6]], "probabilities, 0 or above, with sum 1"),
        (["a", [1.5, -0.5]], "probabilities, 0 or above, with sum 1"),
        (["a", [nan, 1.0]], "probabilities, 0 or above, with sum 1"),
        (["a", [1.0]], "must be 2 probabilities"),
        ({"x": "a"}, "advice of x, y is required"),
    ],
)
def test_advice_that_is_none_is_refused(advice: Any, said: str) -> None:
    policy = Exp4(arms=["a", "b"], experts=["x", "y"])
    before = policy.copy()
    with pytest.raises(noregret.BadExample, match=said):
        policy.choose(advice)
    assert same_state(policy, before)


def test_advice_in_tables_is_checked() -> None:
    rewards = rewards_of(10, 2)
    said = np.zeros((10, 3))
    said[4, 1] = 2
    with pytest.raises(noregret.BadExample, match=r"round 5: expert '1'.*number of an arm"):
        play(Exp4(arms=2), np.hstack([rewards, said]))
    chances = np.full((10, 4), 0.5)
    chances[3, 2] = 0.6
    with pytest.raises(noregret.BadExample, match=r"round 4: expert '1'.*probabilities with sum 1"):
        play(Exp4(arms=2, advice="chances"), np.hstack([rewards, chances]))
    for table, policy in ((rewards, Exp4(arms=2)), (rewards, Exp4(arms=2, advice="chances"))):
        with pytest.raises(noregret.BadExample, match="2 columns, but 2 arms and"):
            play(policy, table)
    with pytest.raises(noregret.NoRegretError, match="number of arms is not known"):
        play(Exp4(), rewards)
    with pytest.raises(noregret.BadExample, match="no column 'c'"):
        play(Exp4(arms=["a", "c"]), [{"a": 1.0, "b": 0.0, "x": 0.0}])
    with pytest.raises(noregret.BadExample, match=r"called expert\.arm"):
        play(Exp4(arms=["a", "b"], advice="chances"), [{"a": 1.0, "b": 0.0, "x": 0.0}])


@forms
@given(data=st.data())
def test_a_state_that_makes_no_sense_is_refused(form: str, data: st.DataObject) -> None:
    policy = FORMS[form](arms=["a", "b", "c"])
    feed(policy, rewards_of(10, 3))
    policy.choose(context_of(policy, 10))
    arrays, numbers, names = policy.get_state()
    told: dict[str, Any] = dict(numbers)
    key = data.draw(st.sampled_from(sorted([*arrays, *told, "names", "missing"])))
    fresh = policy.clone()
    before = fresh.copy()
    if key in arrays and arrays[key].size:
        worse = arrays[key].copy()
        if key == "generator":
            worse = data.draw(st.sampled_from([worse[:5], worse.astype(float), worse * 0 + 2]))
        elif key.startswith("waiting"):
            bad = data.draw(st.sampled_from([-3, 99]))
            worse = data.draw(
                st.sampled_from([worse.astype(np.float32), worse[1:], np.full_like(worse, bad)])
            )
        else:
            bad_value = data.draw(st.sampled_from([nan, inf, -1.0]))
            spoilt = worse.copy()
            spoilt[0] = bad_value
            worse = data.draw(st.sampled_from([worse[1:], worse[None], worse.astype(int), spoilt]))
        arrays = arrays | {key: worse}
    elif key in told:
        worst = [-1, 2**63, 0.5, nan, True, "1", 10**6 if key in ("arms", "learned") else -1]
        told = told | {
            key: data.draw(st.sampled_from(worst if key != "missed" else [nan, -1.0, 1]))
        }
    elif key == "names":
        names = data.draw(
            st.sampled_from([["a", "a", *names[2:]], names[:-1], [*names, "z"], [1, 2, 3]])
        )
    else:
        arrays = {k: v for k, v in arrays.items() if k != "pulls"}
    with pytest.raises((ValueError, TypeError, KeyError)):
        fresh.set_state(arrays, told, names)
    assert same_state(fresh, before)


def test_huge_importance_weights_leave_numbers() -> None:
    """An arm whose chance has all but vanished may still be learned about."""
    for policy in (Exp3(arms=2, rate=1e50), Exp3(arms=2, rate=1e-50), Exp3Ix(arms=2, rate=1e99)):
        for _ in range(200):
            policy.learn(policy.choose(), 0.0)
            assert np.isfinite(policy.propensities()).all()
            assert np.isfinite(policy._estimates).all()
