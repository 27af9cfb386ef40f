"""Its findings are true, on simulated streams."""

from __future__ import annotations

import numpy as np
import pytest

from tests.auto.streams import (
    LOSSES,
    Floats,
    auto,
    labels,
    member_losses,
    member_names,
    member_weights,
    stream,
)


def drifting(rows: int = 6000) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    w = np.cumsum(0.05 * rng.normal(size=(rows, 3)), axis=0)
    return X, (X * w).sum(axis=1) + 0.3 * rng.normal(size=rows)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("recent", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 127, 128, 129, 700])
def test_lengths_agree_and_weights_add_up_to_one(loss: str, recent: bool, rows: int) -> None:
    X, y = stream(0, 700, 3, loss)
    learner = auto(loss, recent=recent)
    learner.learn_many(X[:rows], y[:rows])
    n = len(learner.members)
    assert len(set(member_names(learner))) == n
    assert member_weights(learner).sum() == pytest.approx(1)
    assert member_weights(learner).min() >= 0
    rounds, weights = learner.history
    assert weights.shape == (len(rounds), n)
    assert len(rounds) == rows if rows <= 128 else 64 <= len(rounds) <= 128
    if rows:
        assert rounds[0] == 1
        assert len(set(np.diff(rounds).tolist())) <= 1
        assert weights.sum(axis=1) == pytest.approx(1)


def test_the_latest_of_a_history_is_now() -> None:
    X, y = stream(0, 100, 3)
    learner = auto()
    learner.learn_many(X, y)
    rounds, weights = learner.history
    assert rounds[-1] == 100
    assert weights[-1] == pytest.approx(member_weights(learner))


@pytest.mark.parametrize("loss", LOSSES)
def test_findings_agree_with_what_they_are_made_from(loss: str) -> None:
    X, y = stream(0, 300, 3, loss)
    learner = auto(loss)
    learner.learn_many(X, y)
    found = learner.findings()
    assert found["leader"] == member_names(learner)[int(member_weights(learner).argmax())]
    assert found["leader_weight"] == pytest.approx(member_weights(learner).max())
    assert sum(found["groups"].values()) == pytest.approx(1)
    assert sum(f["share"] for f in found["features"]) == pytest.approx(1)
    for member in found["members"]:
        at = member_names(learner).index(member["name"])
        assert member["mean_loss"] == pytest.approx(member_losses(learner)[at] / 300)
    assert found["leader"] in learner.describe()


def test_nothing_is_told_before_anything_is_learned() -> None:
    assert auto().describe() == "Nothing has been learned yet."


def test_drift_is_told_where_there_is_some_and_only_there() -> None:
    learner = auto()
    learner.learn_many(*drifting())
    assert "The data are drifting" in learner.describe()
    assert learner.findings()["drift"] > 0.3
    steady = auto()
    steady.learn_many(*stream(0, 6000, 3))
    assert "No notable drift" in steady.describe()
    assert steady.findings()["drift"] < 0.01


def test_recent_outcomes_are_praised_where_they_help_and_only_there() -> None:
    rng = np.random.default_rng(0)
    y = np.zeros(4000)
    for t in range(1, 4000):
        y[t] = 0.9 * y[t - 1] + rng.normal()
    follows = auto()
    follows.learn_many(rng.normal(size=(4000, 2)), y)
    assert "Recent outcomes help:" in follows.describe()
    steady = auto()
    steady.learn_many(*stream(0, 4000, 3))
    assert "Recent outcomes do not help" in steady.describe()
    blind = auto(recent=False)
    blind.learn_many(*stream(0, 400, 3))
    assert blind.findings()["recent_gain"] is None
    assert "ecent outcomes" not in blind.describe()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("follows", [0.0, 0.9, 1.0])
def test_the_gain_of_recent_outcomes_is_what_leaving_them_out_costs(
    loss: str, follows: float
) -> None:
    """Beside another that sees none of them: about the same saving, and members.

    Small changes move whole splits of boosted trees, and what is combined with these.
    """
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(3000, 2)), np.zeros(3000)
    for t in range(1, 3000):
        y[t] = follows * y[t - 1] + rng.normal()
    y = labels(y) if loss == "logistic" else y
    seeing, blind = auto(loss), auto(loss, recent=False)
    seeing.learn_many(X, y)
    blind.learn_many(X, y)
    n = len(blind.members)
    assert member_names(seeing)[:n] == member_names(blind)
    pairs = zip(member_names(blind), member_losses(seeing)[:n], member_losses(blind), strict=True)
    some = [pair for name, *pair in pairs if not name.startswith(("combination", "boosted"))]
    assert len(some) >= n - 5
    theirs, alone = np.transpose(some)
    np.testing.assert_allclose(theirs, alone, rtol=0.01)
    best, without = member_losses(seeing)[n:].min(), member_losses(blind).min()
    gain = seeing.findings()["recent_gain"]
    assert gain == pytest.approx(1 - best / without, abs=0.01)
    assert gain == pytest.approx(1 - seeing.total_loss / blind.total_loss, abs=0.1)
    assert ("Recent outcomes help:" in seeing.describe()) == (follows > 0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("others", [3, 300])
def test_the_feature_that_matters_is_named_first(loss: str, unit: float, others: int) -> None:
    """Whatever its unit, among few and among more than filters take."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, others + 1))
    y = 3 * X[:, 1] + 0.3 * X[:, 0] + 0.3 * rng.normal(size=1500)
    X[:, 1] *= unit
    learner = auto(loss)
    learner.learn_many(X, labels(y) if loss == "logistic" else y)
    found = learner.findings()["features"]
    assert found[0]["name"] == "1"
    if others == 3:
        assert found[0]["share"] > 0.4
    names = [f"column {j}" for j in range(others + 1)]
    assert "column 1" in learner.describe(names)


def test_as_many_names_as_features_are_wanted() -> None:
    learner = auto()
    learner.learn_one([1.0, 2.0], 3.0)
    with pytest.raises(ValueError, match="expected 2 names of features: got 1"):
        learner.describe(["height"])
    with pytest.raises(ValueError, match="expected 2 names of features: got 3"):
        learner.findings(["a", "b", "c"])
