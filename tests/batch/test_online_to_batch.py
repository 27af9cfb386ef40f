"""One pass made a predictor: which weights it has, what it promises, and that this is kept."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import noregret as nr
from benchmarks._coverage import CHANCES, FIRST, TASKS, Task, split
from noregret.batch import OnlineToBatch
from noregret.errors import BadExample, Diverged, NoRegretError
from noregret.linear.learner import all_learners
from tests import reference
from tests.thorough import draws, sized
from tests.variants import ROUNDED

Floats = NDArray[np.float64]


def examples(seed: int, m: int = 60, n: int = 3) -> tuple[Floats, Floats]:
    """Return rows of norm at most 1, and outcomes that follow them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    return X, X @ np.linspace(1, -1, n) + 0.2 * rng.normal(size=m)


# Its weights.


@draws(30)
@given(
    m=st.integers(1, 30),
    rate=st.sampled_from([0.1, 0.7]),
    seed=st.integers(0, 99),
    take=st.sampled_from(["average", "last", "last-half"]),
)
def test_weights_are_those_of_the_pass_by_hand(m: int, rate: float, seed: int, take: str) -> None:
    X, y = examples(seed, m)
    by_hand = reference.WidrowHoff(3, rate=rate)
    used, losses = [], []
    for x, outcome in zip(X, y, strict=True):
        used.append(by_hand.w.copy())
        losses.append((by_hand.w @ x - outcome) ** 2)
        by_hand.learn(x, outcome)
    method = OnlineToBatch(nr.WidrowHoff(rate=rate), take=take).fit(X, y)
    start = m // 2 if take == "last-half" else 0
    expected = by_hand.w if take == "last" else np.mean(used[start:], axis=0)
    np.testing.assert_allclose(method.weights, expected, rtol=1e-9, atol=1e-12)
    assert method.progressive_loss == pytest.approx(np.mean(losses[start:]))
    np.testing.assert_allclose(method.predict_many(X), X @ expected, rtol=1e-9, atol=1e-12)
    assert method.risk(X, y) == pytest.approx(np.mean((X @ expected - y) ** 2))


LINEAR = [name for name in all_learners() if nr.make(name).engine.linear]


RULES = ["conjunction"]
LEARNERS = [name for name in LINEAR if name not in RULES]


@pytest.mark.parametrize("name", RULES)
def test_rules_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a rule with a threshold"):
        OnlineToBatch(name)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_mean_is_that_of_averaged_for_every_learner(name: str) -> None:
    X, y = examples(1)
    method = OnlineToBatch(name)
    learner = nr.averaged(nr.make(name))
    y = np.sign(y) if learner.engine.loss.labels else y
    learner.learn_many(X, y)
    np.testing.assert_array_equal(method.fit(X, y).weights, learner.weights)
    np.testing.assert_allclose(method.decision_many(X), learner.decision_many(X), atol=1e-12)


def test_a_shuffled_pass_is_the_pass_over_shuffled_rows() -> None:
    X, y = examples(2)
    method = OnlineToBatch(nr.WidrowHoff(rate=0.3), order="shuffled", seed=5).fit(X, y)
    order = np.random.default_rng(5).permutation(len(y))
    plain = OnlineToBatch(nr.WidrowHoff(rate=0.3)).fit(X[order], y[order])
    np.testing.assert_array_equal(method.weights, plain.weights)
    again = OnlineToBatch(nr.WidrowHoff(rate=0.3), order="shuffled", seed=5).fit(X, y)
    np.testing.assert_array_equal(method.weights, again.weights)
    other = OnlineToBatch(nr.WidrowHoff(rate=0.3), order="shuffled", seed=6).fit(X, y)
    assert (method.weights != other.weights).any()
    # The certificate is about the data as they were given.
    assert method.certificate().data.digest == other.certificate().data.digest
    assert nr.verify(method.certificate(), X, y).confirmed


@pytest.mark.parametrize("order", ["given", "shuffled"])
def test_rows_of_every_kind_give_the_same_weights(order: str) -> None:
    import polars as pl

    X, y = examples(3)
    X[np.abs(X) < 0.3] = 0.0
    names = [str(k) for k in range(X.shape[1])]
    dicts = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    learner = nr.Logistic()
    plain = OnlineToBatch(learner, order=order).fit(X, y > 0)
    assert learner.rounds == 0
    for rows in (sparse.csr_array(X), dicts, pl.DataFrame(X, schema=names, orient="row")):
        method = OnlineToBatch(learner, order=order).fit(rows, y > 0)
        np.testing.assert_array_equal(method.weights, plain.weights)
        np.testing.assert_array_equal(method.predict_many(rows), plain.predict_many(X))
    assert plain.predict_one(X[0]) in (True, False)


def test_copies_and_files_predict_alike(tmp_path: Path) -> None:
    X, y = examples(4)
    learner = nr.GradientDescent(loss=nr.make_loss("huber", 0.5), rate=0.1, radius=2.0)
    method = OnlineToBatch(learner, take="last-half").fit(X, y)
    method.save(tmp_path / "model")
    for other in (nr.load(tmp_path / "model"), pickle.loads(pickle.dumps(method)), method.copy()):
        np.testing.assert_array_equal(other.weights, method.weights)
        assert other.progressive_loss == method.progressive_loss
        assert repr(other) == repr(method)
        with pytest.raises(NoRegretError, match="does not include the examples"):
            other.certificate()


def test_a_loss_of_ones_own_has_to_be_given_again(tmp_path: Path) -> None:
    X, y = examples(20)
    learner = nr.GradientDescent(loss=ROUNDED, rate=0.1)
    method = OnlineToBatch(learner).fit(X, y)
    method.save(tmp_path / "model")
    again = nr.load(tmp_path / "model", loss=ROUNDED)
    np.testing.assert_array_equal(again.weights, method.weights)
    with pytest.raises(NoRegretError, match="written in Python"):
        nr.load(tmp_path / "model")
    certificate = method.certificate(largest_loss=9.0)
    assert nr.verify(certificate, X, y, loss=ROUNDED).confirmed
    assert certificate.theorem is not None
    convex = next(a for a in certificate.theorem.assumptions if a.name == "the loss is convex")
    assert convex.holds is None  # on trust


# What is refused.


@pytest.mark.parametrize("name", ["auto", "vaw"])
def test_learners_that_predict_with_more_than_weights_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"does not predict with w·x"):
        OnlineToBatch(nr.make(name))


def test_what_makes_no_sense_is_refused() -> None:
    trained = nr.WidrowHoff()
    trained.learn_one([1.0], 1.0)
    for learner, said in (
        (trained, "pass an untrained one"),
        (nr.averaged(nr.WidrowHoff()), "averaged already"),
        (nr.Perceptron(averaged=True), "averaged already"),
        (nr.make("conjunction"), "a rule with a threshold"),
        ("no-such", "unknown learner"),
    ):
        with pytest.raises(ValueError, match=said):
            OnlineToBatch(learner)
    with pytest.raises(TypeError, match="learner must be a learner"):
        OnlineToBatch(3)
    for params in ({"take": "first"}, {"order": "sorted"}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(params))):
            OnlineToBatch(**params)


def test_what_is_refused_or_diverges_changes_nothing() -> None:
    X, y = examples(5)
    method = OnlineToBatch(nr.GradientDescent(rate=1.0)).fit(X, y)
    before = method.weights
    with pytest.raises(BadExample):
        method.fit([[math.nan]], [1.0])
    with pytest.raises(Diverged):
        method.fit(1e30 * X, y)
    with pytest.raises(NoRegretError, match="no examples"):
        method.fit(np.empty((0, 3)), [])
    np.testing.assert_array_equal(method.weights, before)


# Its promises.


def promises(method: OnlineToBatch, **given: Any) -> dict[str, nr.certificate.Promise]:
    """Return all promises of a method by the end of their names."""
    certificate = method.certificate(**given)
    stated = [certificate.theorem, *certificate.further]
    return {p.name.removeprefix("online-to-batch-"): p for p in stated if p is not None}


def test_the_bounds_are_those_of_the_theorems() -> None:
    X, y = examples(6)
    rate, m = 0.3, len(y)
    method = OnlineToBatch(nr.WidrowHoff(rate=rate)).fit(X, y)
    found = promises(method, largest_loss=9.0, chance=0.1)
    loss = nr.play(nr.WidrowHoff(rate=rate), X, y).loss
    likely = 9 * math.sqrt(2 * math.log(10) / m)
    assert found["high-probability"].bound == pytest.approx(loss / m + likely)
    assert found["expectation"].bound == pytest.approx(loss / m)
    # The minimiser of  R(u)/(1−η) + ‖u‖²/(ηm),  where its gradient is zero.
    u = np.linalg.solve(X.T @ X / (1 - rate) + np.eye(3) / rate, X.T @ y / (1 - rate))
    least = np.mean((X @ u - y) ** 2) / (1 - rate) + u @ u / (rate * m)
    assert found["comparator"].bound == pytest.approx(least)


def test_a_bound_on_the_regret_is_added_to_the_best_loss() -> None:
    X, y = examples(7)
    learner = nr.GradientDescent.tuned(loss="absolute", radius=1.0, lipschitz=1.0, horizon=len(y))
    found = promises(OnlineToBatch(learner).fit(X, y), largest_loss=4.0)
    own = nr.play(learner.clone(), X, y).certificate()
    assert own.theorem is not None
    assert own.theorem.bound is not None
    expected = (own.hindsight.loss + own.theorem.bound) / len(y)
    assert found["comparator"].bound == pytest.approx(expected)


@pytest.mark.parametrize("name", LEARNERS)
def test_what_a_learner_pays_is_within_what_its_own_theorem_allows(name: str) -> None:
    X, y = examples(18)
    method = OnlineToBatch(name)
    y = np.sign(y) if nr.make(name).engine.loss.labels else y
    found = promises(method.fit(np.abs(X) if name == "winnow" else X, y))
    if "comparator" in found and found["comparator"].bound is not None:
        assert found["expectation"].bound is not None
        assert found["comparator"].bound >= found["expectation"].bound * (1 - 1e-9)


def test_the_theorem_of_a_loss_of_its_own_says_nothing_of_the_risk() -> None:
    X, y = examples(19)
    found = promises(OnlineToBatch("nlms").fit(5 * X, y))  # it bounds the loss divided by ‖x‖²
    assert found.keys() == {"high-probability", "expectation"}


def test_the_last_half_answers_for_its_own_rounds() -> None:
    X, y = examples(8, m=61)
    found = promises(OnlineToBatch(nr.WidrowHoff(), take="last-half").fit(X, y), largest_loss=4.0)
    game = nr.play(nr.WidrowHoff(), X[:30], y[:30])
    before = game.loss
    later = game.play(X[30:], y[30:]).loss - before
    likely = 4 * math.sqrt(2 * math.log(20) / 31)
    assert found["high-probability"].bound == pytest.approx(later / 31 + likely)
    assert found["expectation"].bound == pytest.approx(later / 31)
    assert "comparator" not in found  # the learner's own theorem is about all rounds


def test_a_first_half_that_paid_far_more_takes_nothing_from_the_second() -> None:
    signs = np.random.default_rng(0).choice([-1.0, 1.0], 199)
    y = np.concatenate([1e9 * signs, np.zeros(201)])
    by_hand, losses = 0.0, []
    for outcome in y:
        losses.append((by_hand - outcome) ** 2)
        by_hand += 0.999999 * (outcome - by_hand)
    method = OnlineToBatch(nr.WidrowHoff(rate=0.999999), take="last-half").fit(np.ones((400, 1)), y)
    assert method.progressive_loss == pytest.approx(math.fsum(losses[200:]) / 200, rel=1e-12)


def test_the_last_weights_have_no_promise_and_the_certificate_says_so() -> None:
    X, y = examples(9)
    certificate = OnlineToBatch(take="last").fit(X, y).certificate()
    assert certificate.theorem is None
    assert certificate.further == ()
    words = " ".join(str(certificate).replace("│", " ").split())
    assert "only means of weights have a theorem" in words
    assert nr.verify(certificate, X, y).confirmed


def test_mistakes_have_no_promise() -> None:
    X, y = examples(10)
    found = promises(OnlineToBatch("perceptron").fit(X, np.sign(y)))
    assert found.keys() == {"high-probability", "expectation"}
    for promise in found.values():
        assert promise.bound is None
        assert promise.failed is not None
        assert promise.failed.name == "the loss is convex"


def test_a_range_that_was_measured_is_on_trust() -> None:
    X, y = examples(11)
    method = OnlineToBatch(nr.WidrowHoff(rate=0.3)).fit(X, y)
    measured = promises(method)["high-probability"]
    largest = max(
        (p - t) ** 2
        for p, t in zip(
            nr.play(nr.WidrowHoff(rate=0.3), X, y, predictions=True).predictions, y, strict=True
        )
    )
    (trusted,) = (a for a in measured.assumptions if "measured, not given" in a.name)
    assert trusted.holds is None
    assert trusted.limit == pytest.approx(largest)
    assert measured.bound == promises(method, largest_loss=trusted.limit)["high-probability"].bound
    exceeded = promises(method, largest_loss=0.5 * largest)["high-probability"]
    assert exceeded.bound is None


@pytest.mark.parametrize(("below", "holds"), [(0.0, None), (5.0, False)])
def test_a_loss_of_ones_own_below_zero_has_no_promise(below: float, holds: bool | None) -> None:
    own = nr.PythonLoss(lambda s, y: (s - y) ** 2 - below, lambda s, y: 2 * (s - y))
    learner = nr.GradientDescent(loss=own, rate=0.1, schedule="constant")
    certificate = OnlineToBatch(learner).fit(*examples(2)).certificate(largest_loss=9.0)
    assert certificate.theorem is not None
    assert (certificate.theorem.bound is None) == (holds is False)
    assert [each.holds for each in certificate.theorem.assumptions if "loss" in each.name] == [
        holds,
        None,
    ]


@pytest.mark.parametrize("chance", [5e-324, 1e-310, 0.5])
def test_any_chance_between_0_and_1_gives_a_finite_bound(chance: float) -> None:
    X, y = examples(3)
    certificate = OnlineToBatch().fit(X, y).certificate(largest_loss=9.0, chance=chance)
    paid, likely = certificate.loss.mean, math.sqrt(-2 * math.log(chance) / 60)
    assert certificate.theorem is not None
    assert certificate.theorem.bound == pytest.approx(paid + 9.0 * likely, rel=1e-12)
    assert nr.verify(certificate, X, y).confirmed


@pytest.mark.parametrize("chance", [0, 1, math.nan, True, None, "0.1", [0.1]])
def test_what_is_no_chance_is_refused(chance: Any) -> None:
    with pytest.raises(ValueError, match="lies between 0 and 1"):
        OnlineToBatch().fit(*examples(3)).certificate(chance=chance)


def test_what_its_own_theorem_assumes_must_hold() -> None:
    X, y = examples(12)
    found = promises(OnlineToBatch(nr.WidrowHoff(rate=0.3)).fit(1.5 * X, y))
    failed = found["comparator"].failed
    assert failed is not None
    assert failed.name == "norm(x) <= 1, as widrow-hoff assumes"
    assert failed.first_violation is not None
    assert found["expectation"].bound is not None


# That certificates are true.


@pytest.mark.parametrize("take", ["average", "last-half", "last"])
def test_a_certificate_is_confirmed_and_shown_whole(take: str, tmp_path: Path) -> None:
    X, y = examples(13)
    given = {} if take == "last" else {"largest_loss": 9.0, "chance": 0.2}
    method = OnlineToBatch(nr.Hinge(), take=take, order="shuffled")
    certificate = method.fit(X, np.sign(y)).certificate(**given)
    assert nr.verify(certificate, X, np.sign(y)).confirmed
    certificate.save(tmp_path / "certificate.json")
    assert nr.load_certificate(tmp_path / "certificate.json") == certificate
    assert nr.verify(tmp_path / "certificate.json", X, np.sign(y)).confirmed
    for promise in certificate.further:
        assert promise.name in str(certificate)
        assert promise.name in certificate._repr_html_()


@pytest.mark.parametrize("field", ["bound", "holds", "name", "quantity", "measured"])
def test_a_changed_promise_beside_the_theorem_is_found_out(field: str) -> None:
    X, y = examples(14)
    contents = OnlineToBatch(nr.WidrowHoff(rate=0.3)).fit(X, y).certificate().to_dict()
    changed: dict[str, Any] = {
        "bound": 0.9 * contents["further"][1]["bound"],
        "holds": True,
        "name": "online-to-batch-expectation",
        "quantity": "risk",
        "measured": 0.001,
    }
    contents["further"][1][field] = changed[field]
    failed = nr.verify(contents, X, y).failed
    assert any(line.name.startswith("further") for line in failed)
    assert any(line.name == "seal" for line in failed)


def test_a_promise_that_was_left_out_is_found_out() -> None:
    X, y = examples(15)
    contents = OnlineToBatch(nr.WidrowHoff(rate=0.3)).fit(X, y).certificate().to_dict()
    contents["further"].pop()
    assert "further" in {line.name for line in nr.verify(contents, X, y).failed}
    del contents["further"]
    assert "further" in {line.name for line in nr.verify(contents, X, y).failed}


# That promises are kept: where the risk is known exactly, and on flights.


@pytest.mark.parametrize("take", ["average", "last-half"])
@pytest.mark.parametrize("chance", [0.5, 0.1])
def test_the_risk_is_within_its_bound_as_often_as_promised(take: str, chance: float) -> None:
    """Seven examples are equally likely, so that the risk is a mean over seven."""
    population, outcomes = examples(16, m=7)
    outcomes = np.clip(outcomes, -1, 1)
    rng, kept, runs = np.random.default_rng(17), 0, sized(30, full=100)
    risks, figures = np.empty(runs), np.empty(runs)
    for run in range(runs):
        drawn = rng.integers(7, size=30)
        learner = nr.GradientDescent(loss="absolute", rate=0.3, radius=1.0)
        method = OnlineToBatch(learner, take=take).fit(population[drawn], outcomes[drawn])
        risks[run] = np.mean(np.abs(population @ method.weights - outcomes))
        figures[run] = method.progressive_loss
        rounds = 30 if take == "average" else 15
        bound = figures[run] + 2 * math.sqrt(2 * math.log(1 / chance) / rounds)
        if run < 3:
            promise = promises(method, largest_loss=2.0, chance=chance)["high-probability"]
            assert promise.bound == pytest.approx(bound)
        kept += risks[run] <= bound
    assert kept >= (1 - chance) * runs
    surely = 3 * (risks - figures).std() / math.sqrt(runs)
    assert risks.mean() <= figures.mean() + surely  # E[R_v] ≤ E[L/m]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name}, {task.loss}")
def test_on_flights_the_risk_is_within_its_bound_as_often_as_promised(task: Task) -> None:
    runs = [
        split(seed, task, FIRST, "average", examples=500)[1] for seed in range(sized(5, full=20))
    ]
    for chance in CHANCES:
        kept = np.mean([run.risk <= run.bounds[chance] for run in runs])
        assert kept >= 1 - chance
    gap = np.array([run.risk - run.progressive for run in runs])
    assert gap.mean() <= 3 * gap.std() / math.sqrt(len(runs))  # E[R_v] ≤ E[L/m]
