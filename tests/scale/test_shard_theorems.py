"""Every theorem about shards: against the theorem of each shard alone, and against attacks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.proof.game.shards import Sharded, play_shards
from noregret.proof.record.parts_digest import Part
from noregret.proof.theorems.registry import all_theorems
from noregret.proof.theorems.shards import ENDING
from tests.thorough import sized

Floats = NDArray[np.float64]
SIZES = (50, 1, 70, 79)
# Learners by theorem; the last word is the kind of outcomes that the rows have.
LEARNERS: dict[str, tuple[Any, str]] = {
    "widrow-hoff": (nr.WidrowHoff(norm=2.0), "numbers"),
    "vaw": (nr.Vaw(), "numbers"),
    "ogd": (nr.GradientDescent(rate=0.05, radius=2.0), "numbers"),
    "ogd-anytime": (nr.GradientDescent("hinge", 0.5, "sqrt", radius=2.0), "labels"),
    "projected-gradient": (
        nr.GradientDescent("logistic", 1.0, "horizon", 80, radius=2.0),
        "labels",
    ),
    "projected-gradient-anytime": (
        nr.GradientDescent("absolute", 0.5, "sqrt", radius=2.0),
        "numbers",
    ),
    "hinge-ogd": (nr.Hinge(schedule="horizon", horizon=80), "labels"),
    "logistic": (nr.Logistic(radius=2.0), "labels"),
    "ftrl": (nr.Ftrl("hinge", 0.1, radius=2.0), "labels"),
    "ftrl-proximal": (nr.FtrlProximal(), "labels"),
    "adagrad": (nr.Adagrad("absolute", radius=1.5), "numbers"),
    "adagrad-norm": (nr.Adagrad("logistic", form="norm", radius=2.0), "labels"),
    "adagrad-free": (nr.Adagrad("absolute"), "numbers"),
    "coin-betting": (nr.CoinBetting("logistic", form="norm", lipschitz=3.0), "labels"),
    "coin-betting-coordinates": (nr.CoinBetting("absolute"), "numbers"),
    "scale-invariant": (nr.ScaleInvariant("absolute"), "numbers"),
    "online-newton": (nr.OnlineNewton("logistic", radius=4.0), "labels"),
    "online-newton-everywhere": (nr.OnlineNewton(), "numbers"),
    "online-newton-diagonal": (nr.OnlineNewton(form="diagonal"), "numbers"),
    "eg": (nr.ExponentiatedGradient(rate=0.05, weight=2.0), "numbers"),
    "perceptron": (nr.Perceptron(), "separable"),
    "perceptron-any-data": (nr.Perceptron(), "labels"),
    "passive-aggressive": (nr.PassiveAggressive("pa"), "separable"),
    "passive-aggressive-i": (nr.PassiveAggressive("pa-i"), "labels"),
    "max-margin": (nr.MaxMargin(), "separable"),
    "winnow": (nr.Winnow(rate=0.02, form="balanced"), "separable"),
    "winnow1": (nr.Winnow(form="winnow1"), "or"),
    "conjunctions": (nr.Conjunction(), "and"),
}
# Those that state a radius themselves are compared up to this one.
ASK = {"ftrl-proximal", "adagrad-free", "coin-betting"}


def rows(kind: str, seed: int = 0) -> tuple[Floats, Floats]:
    """Return rows that meet the assumptions of the theorems."""
    rng, count = np.random.default_rng(seed), sum(SIZES)
    if kind in ("or", "and"):
        X = (rng.random((count, 4)) < (0.3 if kind == "or" else 0.7)).astype(float)
        chosen = X[:, :2].astype(bool)
        return X, (chosen.any(axis=1) if kind == "or" else chosen.all(axis=1)).astype(float)
    X = np.column_stack([np.full(count, 0.5), rng.uniform(-0.6, 0.6, (count, 3))])
    scores = X @ [0.4, 1.0, -0.5, 0.2]
    if kind == "numbers":
        return X, scores + 0.1 * rng.normal(size=count)
    if kind == "separable":
        X = np.where(np.abs(scores)[:, None] < 0.1, 0.6 * np.sign([1.0, 1.0, -1.0, 1.0]), X)
        return X, np.where(X @ [0.4, 1.0, -0.5, 0.2] > 0, 1.0, -1.0)
    return X, np.where(scores + 0.3 * rng.normal(size=count) > 0, 1.0, -1.0)


def of_shards(learner: Any, X: Floats, y: Floats, sizes: tuple[int, ...]) -> Any:
    return play_shards(Sharded(learner), [Part(size, "") for size in sizes], X, y)


def test_every_theorem_about_shards_is_tried() -> None:
    known = {name for name in all_theorems() if name.endswith(ENDING)}
    assert known == {name + ENDING for name in LEARNERS}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_bound_is_that_of_one_learner_on_one_shard_and_no_less_than_the_sum_on_several(
    name: str,
) -> None:
    """The sum of the bounds of shards, each at its own best u, is valid too, and smaller."""
    learner, kind = LEARNERS[name]
    X, y = rows(kind)
    given = {"radius": 3.0} if name in ASK else {}
    # The sum of bounds of shards that are compared with the same class.
    ends = np.cumsum([0, *SIZES]).tolist()
    alone = [
        nr.play(learner.clone(), X[a:b], y[a:b], keep="rows").certificate(name, **given).theorem
        for a, b in pairwise(ends)
    ]
    found = of_shards(learner, X, y, SIZES).certificate(name + ENDING, **given)
    theorem = found.theorem
    assert theorem is not None
    assert theorem.failed is None, theorem.failed
    assert theorem.holds
    bounds = [each.bound for each in alone if each is not None and each.bound is not None]
    assert theorem.bound >= sum(bounds) * (1 - 1e-6)
    measured = sum(each.measured for each in alone if each is not None)
    if name == "hinge-ogd":  # the radius of its class is that of all rows
        pass
    elif theorem.quantity == "regret":  # to one u for all shards
        assert theorem.measured <= measured * (1 + 1e-6)
    else:
        assert theorem.measured == pytest.approx(measured)
    whole = nr.play(learner.clone(), X[:80], y[:80], keep="rows").certificate(name, **given)
    one = of_shards(learner, X[:80], y[:80], (80,)).certificate(name + ENDING, **given)
    assert one.theorem is not None
    assert whole.theorem is not None
    if whole.theorem.bound is not None:
        assert one.theorem.bound == pytest.approx(whole.theorem.bound, rel=1e-6)
    verified = nr.verify(found, X, y)
    assert verified.confirmed, verified.failed


# Bounds that are figures of the game, so that those of shards add up exactly.
FIXED = ["ogd", "logistic", "adagrad", "adagrad-norm", "ftrl", "ftrl-proximal", "online-newton"]


@pytest.mark.parametrize("name", FIXED)
def test_bounds_that_are_figures_add_up(name: str) -> None:
    learner, kind = LEARNERS[name]
    X, y = rows(kind, 1)
    given = {"radius": 3.0} if name in ASK else {}
    ends = np.cumsum([0, *SIZES]).tolist()
    alone = 0.0
    for a, b in pairwise(ends):
        own = nr.play(learner.clone(), X[a:b], y[a:b], keep="rows").certificate(name, **given)
        assert own.theorem is not None
        assert own.theorem.bound is not None
        alone += own.theorem.bound
    theorem = of_shards(learner, X, y, SIZES).certificate(name + ENDING, **given).theorem
    assert theorem.bound == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", range(sized(1, full=12)))
def test_signs_that_depend_on_the_predictions_of_each_shard_stay_within_the_bound(
    name: str, seed: int
) -> None:
    learner, kind = LEARNERS[name]
    if kind in ("or", "and", "separable"):
        pytest.skip("outcomes are not free there")
    rng, sizes = np.random.default_rng(seed), (1, 1, 12, 40, 1)
    X, y = rng.choice([-0.5, 0.5], (sum(sizes), 3)), np.empty(sum(sizes))
    at = 0
    for size in sizes:
        fresh = learner.clone()
        for row in range(at, at + size):
            score = fresh.predict_one(X[row]) if kind == "numbers" else fresh.decision_one(X[row])
            y[row] = -1.0 if score > 0 else 1.0
            fresh.learn_one(X[row], y[row])
        at += size
    theorem = of_shards(learner, X, y, sizes).certificate(name + ENDING).theorem
    assert theorem.holds is not False
    assert theorem.bound is None or theorem.measured <= theorem.bound * (1 + 1e-9)


def test_a_perceptron_on_many_shards_of_one_row_reaches_the_bound() -> None:
    """Each learner pays for its first row, and one unit vector has margin R on all of them."""
    X, y = np.ones((30, 1)), np.ones(30)
    theorem = of_shards(nr.Perceptron(), X, y, (1,) * 30).certificate().theorem
    assert theorem.measured == 30
    assert theorem.bound == pytest.approx(30, rel=1e-6)


@pytest.mark.parametrize(
    "learner", [nr.Auto(), nr.Nlms(), nr.MondrianForest(), nr.Auto(loss="logistic"), nr.Arow()]
)
def test_learners_without_such_a_theorem_state_regret_and_no_bound(learner: Any) -> None:
    two = learner.engine.loss.labels
    X, y = rows("labels" if two else "numbers")
    found = of_shards(learner, X, y, SIZES).certificate()
    assert found.theorem is None
    assert found.regret.upper == pytest.approx(found.loss.total - found.hindsight.loss, abs=1e-2)
    assert nr.verify(found, X, y).confirmed


@pytest.mark.parametrize("learner", [nr.AutoClasses(), nr.KernelPerceptron()])
def test_learners_without_a_weight_per_feature_are_refused(learner: Any) -> None:
    with pytest.raises(ValueError, match="weight per feature"):
        Sharded(learner)


def test_a_feature_that_some_shard_never_meets_is_a_late_one() -> None:
    """The learner of that shard has no weight for it, so its simplex is a smaller one."""
    X, y = rows("numbers")
    dicts = [
        {f"x{k}": v for k, v in enumerate(x) if row >= 50 or k < 3}
        for row, x in enumerate(X.tolist())
    ]
    learner = nr.ExponentiatedGradient(rate=0.05, weight=2.0)
    found = of_shards(learner, dicts, y, SIZES)  # type: ignore[arg-type]
    late = found.certificate("eg-shards").theorem
    assert late.failed is None or late.failed.name.startswith("features that joined")
