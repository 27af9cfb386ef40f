"""Logs of decisions, and what other policies would have earned by them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret
from noregret import Logistic, Perceptron, WidrowHoff
from noregret.bandits import Exp3, Exp4, Log, Thompson, Ucb1, off_policy
from noregret.bandits.estimating import OffPolicy
from tests.bandits.common import FORMS, context_of
from tests.thorough import draws, sized

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
contexts = st.none() | st.dictionaries(texts, st.floats(allow_nan=False) | texts, max_size=3)
decisions = st.tuples(
    st.integers(1, 10**9),
    texts,
    st.floats(1e-300, 1.0),
    st.floats(-1e300, 1e300),
    contexts,
)


@given(st.lists(decisions, max_size=8))
@draws(40)
def test_a_log_comes_back_from_its_file_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any]
) -> None:
    log, place = Log(), tmp_path_factory.mktemp("log") / "log.csv"
    for line in lines:
        log.add(*line)
    log.save(place)
    assert list(Log.load(place)) == list(log)


@pytest.mark.parametrize("form", FORMS)
def test_a_policy_logs_what_it_did(form: str) -> None:
    policy = FORMS[form](arms=["a", "b", "c"], seed=2)
    policy.log = Log()
    chances, rewards = [], []
    for k in range(25):
        before = policy.propensities(context_of(policy, k))
        arm = policy.choose(context_of(policy, k))
        rewards.append(k % 4 / 4)
        policy.learn(arm, rewards[-1])
        chances.append(before[policy.names.index(str(arm))])
    assert policy.log.rounds.tolist() == list(range(1, 26))
    assert policy.log.rewards.tolist() == rewards
    assert policy.log.propensities == pytest.approx(np.array(chances), abs=1e-12)


def test_a_log_keeps_as_many_as_it_is_told() -> None:
    policy = Exp3(arms=2)
    policy.log = Log(limit=10)
    for _ in range(35):
        policy.learn(policy.choose(), 1.0)
    assert policy.log.rounds.tolist() == list(range(26, 36))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("round,arm,reward\n1,a,1\n", "column 'propensity'"),
        ("", "column 'round'"),
        ("round,arm,propensity,reward\n1,a,0.5,1\n2,a,0,1\n", "line 3: round 2: the propensity"),
        ("round,arm,propensity,reward\n1,a,1.5,1\n", "line 2: round 1: the propensity"),
        ("round,arm,propensity,reward\n1,a,nan,1\n", "line 2: round 1: the propensity"),
        ("round,arm,propensity,reward\n1,a,0.5,nan\n", "line 2: round 1: the reward"),
        ("round,arm,propensity,reward\n1,a,0.5\n", "line 2"),
        ("round,arm,propensity,reward\nx,a,0.5,1\n", "line 2"),
        ("round,arm,propensity,reward,context\n1,a,0.5,1,{\n", "line 2"),
    ],
)
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, text: str, said: str) -> None:
    place = tmp_path / "log.csv"
    place.write_text(text)
    with pytest.raises(noregret.NoRegretError, match=said):
        Log.load(place)


def test_a_context_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    log = Log()
    log.add(1, "a", 0.5, 1.0, object())
    with pytest.raises(noregret.NoRegretError, match="made of numbers, text, lists and dicts"):
        log.save(tmp_path / "log.csv")
    log = Log()
    log.add(1, "a", 0.5, 1.0, {"x": np.float64(0.5), "y": np.arange(2)})
    log.save(tmp_path / "log.csv")
    assert next(iter(Log.load(tmp_path / "log.csv"))).context == {"x": 0.5, "y": [0, 1]}


# What another policy would have earned.

MEANS = {"a": 0.2, "b": 0.5, "c": 0.7}
TARGET = {"a": 0.1, "b": 0.2, "c": 0.7}
VALUE = sum(TARGET[arm] * MEANS[arm] for arm in MEANS)


def fixed_log(rng: np.random.Generator, rounds: int, wrong: bool = False) -> Log:
    """Decisions by fixed chances, written down wrongly if so asked."""
    log, names, chances = Log(), list(MEANS), [0.6, 0.3, 0.1]
    for t, k in enumerate(rng.choice(3, size=rounds, p=chances), 1):
        reward = float(rng.random() < MEANS[names[k]])
        log.add(t, names[k], 1 / 3 if wrong else chances[k], reward)
    return log


def adaptive_log(seed: int, rounds: int) -> Log:
    """Decisions by a policy that learns."""
    rng, policy = np.random.default_rng(seed), Exp3(arms=list(MEANS), rate=0.05, seed=seed)
    policy.log = Log()
    for _ in range(rounds):
        arm = str(policy.choose())
        policy.learn(arm, float(rng.random() < MEANS[arm]))
    return policy.log


def spread(found: list[float]) -> tuple[float, float]:
    return float(np.mean(found)), float(np.std(found, ddof=1)) / math.sqrt(len(found))


@pytest.mark.parametrize("kind", ["fixed", "adaptive"])
def test_estimates_are_right_on_average_where_propensities_are(kind: str) -> None:
    """Of the mean over many logs: within five of its own standard errors of the truth."""
    rng = np.random.default_rng(1)
    found: list[OffPolicy] = []
    logs = sized(60, full=150)
    for seed in range(logs):
        log = fixed_log(rng, 200) if kind == "fixed" else adaptive_log(seed, 200)
        found.append(off_policy(log, TARGET))
    for method in ("plain", "doubly_robust"):
        mean, error = spread([getattr(each, method).value for each in found])
        assert abs(mean - VALUE) <= 5 * error, method
    covered = [each.doubly_robust.low <= VALUE <= each.doubly_robust.high for each in found]
    assert sum(covered) >= logs * 0.95 - 5 * math.sqrt(logs * 0.95 * 0.05)


def test_standard_errors_are_those_of_the_estimates() -> None:
    rng = np.random.default_rng(2)
    found = [off_policy(fixed_log(rng, 300), TARGET) for _ in range(200)]
    for method in ("plain", "self_normalised", "doubly_robust"):
        values = np.array([getattr(each, method).value for each in found])
        claimed = float(np.mean([getattr(each, method).error for each in found]))
        # The standard deviation of 200 values is known to about 5 %.
        assert claimed == pytest.approx(float(values.std(ddof=1)), rel=0.25)


def test_the_doubly_robust_one_is_right_if_either_part_is() -> None:
    rng = np.random.default_rng(3)
    truth, nonsense = (lambda _, arm: MEANS[arm]), (lambda _, arm: 3.0 if arm == "a" else -1.0)
    for wrong, model in ((True, truth), (False, nonsense)):
        found = [off_policy(fixed_log(rng, 100, wrong), TARGET, model=model) for _ in range(150)]
        mean, error = spread([each.doubly_robust.value for each in found])
        assert abs(mean - VALUE) <= 5 * error
    mean, error = spread(
        [off_policy(fixed_log(rng, 100, True), TARGET).plain.value for _ in range(150)]
    )
    assert abs(mean - VALUE) > 10 * error


def test_a_learner_as_a_model_makes_it_steadier() -> None:
    """Rewards that depend on the context: the model explains most of what the weights amplify."""
    rng, log = np.random.default_rng(4), Log()
    for t in range(1, 3001):
        x, k = float(rng.random()), int(rng.integers(2))
        log.add(t, k, 0.5, (0.2 + 0.6 * x) if k else (0.8 - 0.6 * x), {"x": x, "one": 1.0})
    target = lambda context: int(context["x"] > 0.5)  # noqa: E731
    found = off_policy(log, target, model=WidrowHoff(rate=0.3))
    truth = 0.65  # the mean of 0.5 + 0.6 |x − 0.5|
    assert abs(found.doubly_robust.value - truth) <= 5 * found.doubly_robust.error
    assert found.doubly_robust.error < 0.5 * found.plain.error


def clicks(rng: np.random.Generator, rounds: int) -> Log:
    """Return a log of rewards 0 and 1 whose chance is near 1/2 and depends on the context."""
    log = Log()
    for t in range(1, rounds + 1):
        x, k = float(rng.random()), int(rng.integers(2))
        chance = 0.3 + 0.4 * (x if k else 1 - x)
        log.add(t, k, 0.5, float(rng.random() < chance), {"x": x, "one": 1.0})
    return log


def better(context: dict[str, float]) -> int:
    return int(context["x"] > 0.5)


BEST = 0.6  # the mean of 0.3 + 0.4 max(x, 1 − x)


def scikit_learn() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.02, random_state=0)


def estimator() -> Any:
    from noregret.sklearn import LogisticClassifier

    return LogisticClassifier(rate=0.1)


@pytest.mark.parametrize("make", [lambda: Logistic(rate=0.1), estimator, scikit_learn])
def test_a_classifier_counts_by_its_chances_and_makes_no_estimate_worse(
    make: Callable[[], Any],
) -> None:
    log = clicks(np.random.default_rng(6), sized(400, full=800))
    found = off_policy(log, better, model=make()).doubly_robust
    assert abs(found.value - BEST) <= 4 * found.error
    # The means of the arms are the model where none is given.
    assert found.error <= off_policy(log, better).doubly_robust.error


def test_with_a_classifier_the_estimate_is_right_on_average() -> None:
    rng = np.random.default_rng(7)
    logs = [clicks(rng, 60) for _ in range(80)]
    values = [off_policy(log, better, model=Logistic()).doubly_robust.value for log in logs]
    mean, error = spread(values)
    assert abs(mean - BEST) <= 4 * error


def test_a_model_that_says_labels_alone_is_refused() -> None:
    from sklearn.linear_model import SGDClassifier

    log = clicks(np.random.default_rng(8), 5)
    with pytest.raises(ValueError, match=r"perceptron .* labels alone: .*Logistic\(\)"):
        off_policy(log, better, model=Perceptron())
    with pytest.raises(ValueError, match="with predict_proba, or a regressor"):
        off_policy(log, better, model=SGDClassifier(loss="hinge"))


def test_the_target_may_be_a_policy_an_arm_or_chances() -> None:
    log = fixed_log(np.random.default_rng(5), 400)
    policy = Exp3(arms=list(MEANS))
    same = dict.fromkeys(MEANS, 1 / 3)
    assert off_policy(log, policy) == off_policy(log, same) == off_policy(log, lambda _: same)
    always = off_policy(log, "c")
    assert always == off_policy(log, {"c": 1.0})
    rewards = [d.reward for d in log if d.arm == "c"]
    assert always.self_normalised.value == pytest.approx(np.mean(rewards))
    assert always.effective == pytest.approx(len(rewards))
    assert off_policy(log, Thompson(arms=list(MEANS))).rounds == 400
    assert "doubly robust" in str(always)


def test_clipping_cuts_weights_down() -> None:
    log = fixed_log(np.random.default_rng(6), 400)
    free, cut = off_policy(log, TARGET), off_policy(log, TARGET, clip=2.0)
    assert (free.largest_weight, free.clipped) == (pytest.approx(7.0), 0)
    assert cut.largest_weight == 2.0
    assert cut.clipped == sum(d.arm == "c" for d in log)
    assert cut.plain.error < free.plain.error
    assert cut.plain.value < free.plain.value


def test_numbers_of_arms_and_their_names_agree(tmp_path: Path) -> None:
    policy = Exp4(arms=2, experts=2)
    policy.log = Log()
    for k in range(50):
        policy.learn(policy.choose([0, 1]), float(k % 3 == 0))
    policy.log.save(tmp_path / "log.csv")
    assert off_policy(Log.load(tmp_path / "log.csv"), 1) == off_policy(policy.log, "1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": {"a": 0.5}}, "with sum 1"),
        ({"target": {"a": 1.5, "b": -0.5}}, "0 or above"),
        ({"target": None}, "a policy to evaluate is"),
        ({"model": "trees"}, "the model must be"),
        ({"clip": 0.0}, "clip must be"),
        ({"level": 1.0}, "level must be"),
    ],
)
def test_what_cannot_be_estimated_is_refused(options: dict[str, Any], said: str) -> None:
    log = fixed_log(np.random.default_rng(7), 10)
    with pytest.raises(ValueError, match=said):
        off_policy(log, **({"target": "a"} | options))


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(noregret.NoRegretError, match="the log is empty"):
        off_policy(Log(), "a")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("zzz", "^the target takes arm 'zzz', which never occurs"),
        (7, "^the target takes arm '7', which never occurs"),
        (lambda _: "Ad C", "^round 1: the target takes arm 'Ad C', which never occurs"),
        ({"a": 0.5, "d": 0.5}, "arm 'd'.*nothing can be estimated for it"),
        (Exp3(arms=["a", "x"]), "arm 'x'.*arms of the log are '[abc]', '[abc]', '[abc]'$"),
    ],
)
def test_an_arm_that_the_log_does_not_know_is_refused(target: Any, said: str) -> None:
    log = fixed_log(np.random.default_rng(8), 200)
    with pytest.raises(ValueError, match=said):
        off_policy(log, target)
    assert off_policy(log, {"a": 1.0, "d": 0.0}) == off_policy(log, "a")


def test_of_many_arms_some_are_named() -> None:
    log = Log()
    for k in range(40):
        log.add(k + 1, k, 0.1, 1.0)
    with pytest.raises(ValueError, match=r"'0', '1', .*'10', 28 more, and the last, '39'$"):
        off_policy(log, "40")


def test_a_log_without_chance_tells_nothing_of_other_arms() -> None:
    rng, policy = np.random.default_rng(9), Ucb1(arms=list(MEANS))
    policy.log = Log()
    for _ in range(300):
        arm = str(policy.choose())
        policy.learn(arm, float(rng.random() < MEANS[arm]))
    for target in ("a", TARGET, Exp3(arms=list(MEANS)), lambda _: "c"):
        with pytest.raises(noregret.NoRegretError, match=r"are deterministic.*exp3 or thompson"):
            off_policy(policy.log, target)


def test_rounds_without_chance_count_where_the_target_strays() -> None:
    """Here the context is the arm that was chosen, surely or not."""
    rng, log = np.random.default_rng(10), Log()
    for t in range(1, 101):
        arm, sure = ("a", "b")[int(rng.integers(2))], t % 10 == 0
        log.add(t, arm, 1.0 if sure else 0.5, 0.25, (arm, sure))
    with pytest.raises(noregret.NoRegretError, match=r"10 of the 100 rounds .* in 10 of those"):
        off_policy(log, {"a": 0.5, "b": 0.5})
    chosen = sum(d.arm == "b" and d.propensity == 1 for d in log)
    with pytest.raises(noregret.NoRegretError, match=f"in {chosen} of those"):
        off_policy(log, "a")
    found = off_policy(log, lambda context: context[0] if context[1] else "a")
    assert found.self_normalised.value == pytest.approx(0.25)
    same = Log()
    same.add(1, "a", 1 - 1e-12, 1.0)
    same.add(2, "b", 1.0, 0.0, "b")
    assert off_policy(same, lambda context: context or "a").plain.value == pytest.approx(0.5)
