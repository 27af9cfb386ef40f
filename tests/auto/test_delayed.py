"""With delayed outcomes, what counts is what a service would have served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.linear.learn_many import play
from tests.app.run.commands import command
from tests.auto.streams import LOSSES, Floats, auto, member_losses, member_names, played, stream
from tests.auto.test_known import loss_of
from tests.variants import state


def random_walk(rounds: int) -> Floats:
    return np.cumsum(np.random.default_rng(0).normal(size=rounds))


def served(rows: Any, y: Any, loss: str, delay: int, **options: object) -> Floats:
    """Return the predictions of a service that learns each outcome ``delay`` rounds late."""
    learner, said = auto(loss, delay=delay, **options), []
    for t, x in enumerate(rows):
        if t > delay:
            learner.learn_one(rows[t - 1 - delay], float(y[t - 1 - delay]))
        said.append(learner.decision_one(x))
    return np.array(said)


@pytest.mark.parametrize("recent", [True, False])
@pytest.mark.parametrize("delay", [1, 4])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_counted_loss_is_the_served_one(loss: str, delay: int, recent: bool) -> None:
    X, y = stream(5, 120, 3, loss)
    learner = auto(loss, delay=delay, recent=recent)
    said = served(X, y, loss, delay, recent=recent)
    assert played(learner, X, y).tobytes() == said.tobytes()
    paid = np.logaddexp(0, -y * said) if loss == "logistic" else loss_of(loss, said, y)
    assert learner.total_loss == pytest.approx(paid.sum(), rel=1e-12)


def test_features_that_join_while_outcomes_are_out_are_served_as_unseen() -> None:
    """Also where there come to be too many for filters: 64 that see outcomes, 256 in all."""
    rng = np.random.default_rng(1)
    rows = [
        {f"f{j:03d}": float(rng.normal()) for j in rng.choice(1 + 4 * t, size=3)} for t in range(90)
    ]
    y = rng.normal(size=90) + 2
    learner = auto(delay=5)
    scores = np.empty(90)
    play(learner._entry, rows, y, scores)
    assert len(learner.features) > 140
    np.testing.assert_array_equal(scores, served(rows, y, "square", 5))


def test_a_random_walk_costs_what_it_moves_until_its_outcomes_arrive() -> None:
    """Nobody can lose less than delay + 1 a round on average; 2.5 would be another game's loss."""
    y = random_walk(3000)
    learner = auto(delay=24)
    learner.learn_many(np.zeros((3000, 0)), y)
    assert 20 < learner.total_loss / 3000 < 32
    found = {member["name"]: member["mean_loss"] for member in learner.findings()["members"]}
    last = np.concatenate([np.zeros(25), y[:-25]])
    at = member_names(learner).index("last outcome")
    assert member_losses(learner)[at] == pytest.approx(((last - y) ** 2).sum(), rel=1e-9)
    assert min(found.values()) > 20
    assert "the latest 24 outcomes were still unknown" in learner.describe()


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_members_are_weighed_by_what_they_were_served_as_saying(loss: str) -> None:
    """Something lasts for less time than outcomes take: to follow it costs more than the mean.

    Whoever weighs members by how they do with the outcome of the round before follows it.
    """
    rng = np.random.default_rng(4)
    lasting = np.repeat(rng.normal(size=120), 20)
    y = np.where(lasting > 0, 1.0, -1.0) if loss == "logistic" else lasting
    learner = auto(loss, delay=24)
    learner.learn_many(np.zeros((2400, 0)), y)
    at = member_names(learner).index("running mean")
    assert learner.total_loss < 1.06 * member_losses(learner)[at]


def test_a_certificate_states_the_served_loss_and_no_promise(tmp_path: Path) -> None:
    y = random_walk(400)
    X = np.random.default_rng(1).normal(size=(400, 2))
    game = nr.play(auto(delay=6), X, y, predictions=True)
    said = served(X, y, "square", 6)
    assert game.loss == pytest.approx(((said - y) ** 2).sum(), rel=1e-12)
    np.testing.assert_array_equal(game.predictions, said)
    certificate = game.certificate()
    assert certificate.theorem is None
    assert "delay=0" in str(certificate)
    data, stated = tmp_path / "walk.csv", tmp_path / "c.json"
    np.savetxt(
        data, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="", fmt="%.17g"
    )
    options = ["--target", "y", "-p", "delay=6", "--no-intercept", "--certificate", str(stated)]
    ran = command("run", data, *options)
    assert ran.code == 0, ran
    assert json.loads(stated.read_text())["loss"]["total"] == pytest.approx(game.loss, rel=1e-9)
    assert command("verify", stated, data).code == 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cut", [0, 2, 5, 40])
def test_one_that_is_saved_while_outcomes_are_out_goes_on_to_the_bit(
    loss: str, cut: int, tmp_path: Path
) -> None:
    X, y = stream(3, 70, 3, loss)
    whole, first = auto(loss, delay=4), auto(loss, delay=4)
    whole.learn_many(X, y)
    first.learn_many(X[:cut], y[:cut])
    first.save(tmp_path / "model")
    loaded = nr.load(tmp_path / "model")
    assert state(loaded) == state(first)
    for x, outcome in zip(X[cut:], y[cut:], strict=True):
        loaded.learn_one(x, outcome)
    assert state(loaded) == state(whole)


def test_rows_of_every_form_are_held_alike(tmp_path: Path) -> None:
    """Named rows, some empty, of other sizes and importances, saved and loaded in between."""
    rng = np.random.default_rng(2)
    rows = [{f"f{j}": 1.0 for j in rng.choice(9, size=t % 4)} for t in range(40)]
    y, importance = rng.normal(size=40), rng.integers(0, 3, size=40).astype(float)
    whole, part = auto(delay=3), auto(delay=3)
    whole.learn_many(rows, y, importance)
    for start in range(0, 40, 8):
        now = slice(start, start + 8)
        part.learn_many(rows[now], y[now], importance[now])
        part.save(tmp_path / "model")
        part = nr.load(tmp_path / "model")
    assert state(part) == state(whole)


def test_a_refused_row_leaves_all_as_it_was() -> None:
    X, y = stream(3, 30, 3)
    learner = auto(delay=3)
    learner.learn_many(X[:20], y[:20])
    before = state(learner)
    for x, outcome in (([np.nan, 0, 0], 1.0), ([0, 0, 1.0], 1e149), ([0, 0], 1.0)):
        with pytest.raises(nr.NoRegretError):
            learner.learn_one(np.array(x, dtype=float), outcome)
        assert state(learner) == before


def held(arrays: dict[str, Any], change: str) -> None:
    rounds = arrays["held.rounds"].reshape(-1, 5)
    if change == "fewer rounds":
        arrays["held.rounds"] = arrays["held.rounds"][:-5]
    elif change == "none":
        del arrays["held.values"]
    elif change == "count":
        rounds[0, 3] += 1
    elif change == "size":
        rounds[0, 2] = 99
    elif change == "place":
        arrays["held.places"][0] = 7
    elif change == "value":
        arrays["held.values"][0] = np.nan
    else:
        rounds[0, 1] = -1


@pytest.mark.parametrize(
    "change", ["fewer rounds", "none", "count", "size", "place", "value", "importance"]
)
def test_held_rounds_that_make_no_sense_are_refused(change: str) -> None:
    X, y = stream(3, 30, 3)
    learner = auto(delay=3)
    learner.learn_many(X, y)
    arrays, numbers, names = learner.get_state()
    held(arrays, change)
    other = auto(delay=3)
    fresh = state(other)
    with pytest.raises(ValueError, match=r"held|places|delayed"):
        other.set_state(arrays, numbers, names)
    assert state(other) == fresh


def test_models_that_counted_other_losses_are_refused() -> None:
    """A state without rounds that wait is from a version that counted losses never served."""
    learner = auto(delay=2)
    arrays, numbers, names = learner.get_state()
    old = {name: value for name, value in numbers.items() if not name.startswith("behind.")}
    with pytest.raises(ValueError, match="never served: train again"):
        learner.set_state(arrays, old, names)
