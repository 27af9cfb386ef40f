"""Auto with several classes, beside plain NumPy and by its laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from tests.auto.class_reference import Bank, forest_of


def stream(rows: int, columns: int, seed: int = 0) -> tuple[Any, Any]:
    """Return rows without zeros, and five classes, of which the last comes late."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(rows, columns)) + 0.5) * np.logspace(-2, 2, columns)
    scores = (X / np.logspace(-2, 2, columns)) @ rng.normal(size=(columns, 4))
    y = (scores + 0.5 * rng.normal(size=scores.shape)).argmax(axis=1)
    return X, np.where((np.arange(rows) > rows // 2) & (y == 0), 4, y)


@pytest.mark.parametrize(
    ("recent", "members", "rows"),
    [(True, "linear", 120), (False, "linear", 120), (True, "all", 200), (False, "all", 160)],
)
def test_every_member_and_the_mixture_are_those_of_plain_numpy(
    recent: bool, members: str, rows: int
) -> None:
    X, y = stream(rows, 3)
    X[30::20, 1] *= 50
    learner = nr.AutoClasses(recent=recent, members=members)
    bank = Bank(3, recent, members == "all")
    codes: dict[int, int] = {}
    n = (20 if recent else 16) + (members == "all")
    prior = np.exp(-learner.engine.accounts()["price"])
    tracked = prior.copy()
    tracked[12:14] = 0.1 * (n - 2) / 0.8 * tracked[0]
    share = tracked / tracked.sum()
    held, losses, total = share.copy(), np.zeros(n + 1), 0.0
    for t, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        if label not in codes:
            codes[label] = len(codes)
            bank.join()
        else:
            said = bank.chances(x)
            weights = np.append(prior, 1 - prior.sum()) * np.exp(-(losses - losses.min()))
            weights /= weights.sum()
            mixed = weights[:-1] @ said + weights[-1] * (held @ said)
            own = learner.predict_proba_one(x)
            found = [own[each] for each in codes]
            np.testing.assert_allclose(found, mixed, rtol=1e-6, err_msg=str(t))
        said, k = bank.chances(x), codes[label]
        weights = np.append(prior, 1 - prior.sum()) * np.exp(-(losses - losses.min()))
        weights /= weights.sum()
        chances = np.append(said[:, k], held @ said[:, k])
        total -= math.log(weights @ chances)
        losses -= np.log(chances)
        held = held * said[:, k] / chances[-1]
        held = (1 - 0.25 / (t + 2)) * held + 0.25 / (t + 2) * share
        bank.learn(x, k, said)
        learner.learn_one(x, label)
        bank.forest = bank.forest or forest_of(learner)
        np.testing.assert_allclose(learner.engine.member_losses(), losses, rtol=1e-6, atol=1e-9)
        assert learner.total_loss == pytest.approx(total, rel=1e-6, abs=1e-9)


def test_outliers_do_not_undo_what_was_learned() -> None:
    """Values of 1,000 times the usual size in one row of 50 cost little more than those rows."""
    X, y = stream(1_000, 4)
    clean, hit = nr.AutoClasses(), nr.AutoClasses()
    clean.learn_many(X, y)
    X[np.arange(25, 1_000, 50), np.arange(20) % 4] *= 1_000
    hit.learn_many(X, y)
    assert hit.total_loss < clean.total_loss + 20 * math.log(1_000)


def test_the_unit_of_a_feature_does_not_matter() -> None:
    X, y = stream(200, 6)
    for columns in (6, 300):
        wide = np.tile(X, (1, columns // 6))
        here = nr.AutoClasses()
        here.learn_many(wide, y)
        binary = 2.0 ** np.round(np.linspace(-20, 20, columns))  # changes no digit of a product
        for units, rounding in ((binary, 0.0), (np.logspace(-6, 6, columns), 1e-4)):
            there = nr.AutoClasses()
            there.learn_many(wide * units, y)
            assert there.total_loss == pytest.approx(here.total_loss, rel=rounding, abs=0.0)


def test_filters_learn_several_rows_at_a_time_and_end_beyond_256_features() -> None:
    """Rows wait in a queue for wide filters; names join until there are no filters."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(900, 20)), rng.integers(3, size=900)
    y = np.where(X[:, 0] > 0.4, 0, np.where(X[:, 1] > 0.3, 1, y))
    learner = nr.AutoClasses()
    learner.learn_many(X, y)
    assert learner.engine.members.filters.rounds == 900
    assert learner.total_loss / 900 < 0.8 * math.log(3)
    named = nr.AutoClasses()
    for k in range(60):
        named.learn_one({f"{k}-{j}": 1.0 for j in range(5)} | {"x": X[k, 0]}, int(y[k]))
    assert not named.engine.full
    assert named.engine.members.filters.n < 258
    assert math.isfinite(named.total_loss)


@pytest.mark.parametrize("most", [1.0, 1e6, 1e100])
def test_importances_up_to_1_keep_the_bound_and_0_changes_no_weight(most: float) -> None:
    X, y = stream(80, 4)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, most], size=80)
    learner = nr.AutoClasses()
    for x, label, weight in zip(X, y.tolist(), weights, strict=True):
        before = learner.engine.member_weights()
        learner.learn_many(x[None], [label], importance=[weight])
        if weight == 0:
            np.testing.assert_array_equal(learner.engine.member_weights(), before)
    accounts = learner.engine.accounts()
    assert most > 1 or (-accounts["excess"] <= accounts["price"] * (1 + 1e-9)).all()
    assert math.isfinite(learner.total_loss)
    assert sum(learner.predict_proba_one(X[0]).values()) == pytest.approx(1)


def test_a_late_class_is_unlikely_at_first_and_then_learned() -> None:
    learner = nr.AutoClasses()
    rng = np.random.default_rng(3)
    for _ in range(300):
        x = rng.normal(size=2)
        learner.learn_one(x, "left" if x[0] < 0 else "right")
    before = learner.total_loss
    learner.learn_one([0.0, 5.0], "up")
    assert 3 < learner.total_loss - before < 12
    assert learner.predict_proba_one([2.0, 0.0])["up"] < 0.1
    for _ in range(30):
        learner.learn_one([rng.normal(), 5.0], "up")
    assert learner.predict_one([0.3, 5.0]) == "up"


def test_classes_that_follow_each_other_are_found_unless_recent_is_false() -> None:
    y = np.tile(["a", "b", "c"], 100)
    X = np.ones((300, 1))
    here, there = nr.AutoClasses(), nr.AutoClasses(recent=False)
    here.learn_many(X, y)
    there.learn_many(X, y)
    assert here.total_loss < 0.5 * there.total_loss
    assert "Recent outcomes help:" in here.describe()
    assert here._caveat is not None
    assert there._caveat is None


def test_findings_name_the_members_and_the_features() -> None:
    X, y = stream(300, 4)
    learner = nr.AutoClasses()
    learner.learn_many(X, y)
    found = learner.findings(["a", "b", "c", "d"])
    assert sum(found["groups"].values()) == pytest.approx(1)
    assert sum(member.weight for member in learner.members) == pytest.approx(1)
    assert {each["name"] for each in found["features"]} <= set("abcd")
    rounds, weights = learner.history
    assert weights.shape == (len(rounds), 21)
    assert learner.weights.shape == (4, 5)


def test_more_weights_than_there_is_memory_for_are_refused_with_a_cure() -> None:
    learner = nr.AutoClasses()
    row = sp.csr_array(([1.0], ([0], [2**22])), shape=(1, 2**22 + 1))
    with pytest.raises(nr.BadExample, match="too many weights") as refused:
        learner.learn_many(row, ["a"])
    assert "hash" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("outlook", lambda a: [*a[:2], 5.0]),
        ("outlook", lambda a: [*a[:2], 0.5]),
        ("outlook", lambda a: [-1.0, *a[1:]]),
        ("counts", lambda a: -a - 1),
        ("after", lambda a: a - 1),
        ("lanes", lambda a: -np.abs(a) - 1),
        ("features", lambda a: -np.abs(a) - 1),
        ("filters.D", lambda a: -a - 1),
        ("tracker.held", lambda a: a * 2),
        ("filters.w", lambda a: a[:-1]),
        ("combining", lambda a: a * np.nan),
    ],
)
def test_states_that_make_no_sense_are_refused(name: str, change: Any) -> None:
    X, y = stream(30, 2)
    learner = nr.AutoClasses()
    learner.learn_many(X, y)
    arrays, numbers, names = learner.get_state()
    arrays[name] = np.array(change(arrays[name]))
    other = nr.AutoClasses()
    with pytest.raises(ValueError, match=r"array|numbers|weights"):
        other.set_state(arrays, numbers, names)
    assert other.rounds == 0


def test_states_with_huge_numbers_predict_finite_probabilities() -> None:
    X, y = stream(30, 2)
    learner = nr.AutoClasses()
    learner.learn_many(X, y)
    arrays, numbers, names = learner.get_state()
    for name in ("lanes", "counts", "combining", "filters.w", "filters.D", "features"):
        changed = arrays | {name: np.abs(arrays[name]) * 1e300}
        other = nr.AutoClasses()
        other.set_state(changed, numbers, names)
        for x, label in zip(X, y.tolist(), strict=True):
            assert sum(other.predict_proba_one(x).values()) == pytest.approx(1)
            other.learn_one(x, label)


def test_auto_names_its_form_for_several_classes() -> None:
    with pytest.raises(ValueError, match="AutoClasses"):
        nr.make("auto", loss="softmax")
