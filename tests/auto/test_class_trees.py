"""The forest of ``auto-classes``: what it sees, when it begins and ends, and its laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps, loads
from tests.auto.class_reference import products
from tests.auto.test_late import late_notes
from tests.auto.test_trees import BEGINS, SPEAKS, nodes

FILES = Path(__file__).parents[1] / "fixtures" / "before_class_trees"
ROWS = 220
MAX_FEATURES, MAX_CLASSES = 128, 32


def member(learner: nr.AutoClasses) -> Any:
    """Return the forest among the members."""
    return next(each for each in learner.members if each.name == "forest")


def test_it_sees_the_sign_of_a_product() -> None:
    X, y = products(0, rows=1500)
    one, lines = nr.AutoClasses(), nr.AutoClasses(members="linear")
    for learner in (one, lines):
        learner.learn_many(X, y)
    assert one.total_loss < 0.8 * lines.total_loss
    assert "trees" in one.findings()["groups"]
    assert "forest" not in [each.name for each in lines.members]
    assert member(one).loss < lines.total_loss


def test_before_it_takes_part_combinations_do_without_it() -> None:
    """So the others lose what they lose without it."""
    X, y = products(1)
    learner, lines = nr.AutoClasses(), nr.AutoClasses(members="linear")
    for t in range(SPEAKS + 1):
        assert (nodes(learner) > 0) == (t > BEGINS), t
        losses = [each.loss for each in lines.members]
        assert [each.loss for each in learner.members][:20] == pytest.approx(losses, rel=1e-9)
        assert member(learner).loss == learner.members[0].loss
        for each in (learner, lines):
            each.learn_one(X[t], str(y[t]))
    assert member(learner).loss != learner.members[0].loss


def test_rows_one_by_one_and_in_blocks_and_from_a_file_are_the_same() -> None:
    X, y = products(2, classes=6)
    one, many = nr.AutoClasses(), nr.AutoClasses()
    many.learn_many(X, y)
    for t in range(ROWS):
        one.predict_one(X[t])
        one.learn_one(X[t], y[t])
        if t in (BEGINS - 1, BEGINS, BEGINS + 1, SPEAKS, 200):
            one = loads(dumps(one), "a copy")
    assert dumps(one) == dumps(many)


def test_more_features_than_it_takes_end_it_and_refused_ones_do_not() -> None:
    X, y = products(3, 5)
    learner, other = nr.AutoClasses(), nr.AutoClasses()
    named = [{f"x{k}": float(v) for k, v in enumerate(x)} for x in X]
    wide = {f"more{k}": 1.0 for k in range(MAX_FEATURES)}
    for t in range(150):
        learner.learn_one(named[t], y[t])
        other.learn_one(named[t], y[t])
        if t in (100, 149):
            for refused in ({"new": 1e200}, wide | {"x0": 1e200}):
                for label in (y[0], "a new class"):
                    with pytest.raises(nr.NoRegretError):
                        learner.learn_one(named[t] | refused, label)
    assert dumps(learner) == dumps(other)
    assert nodes(learner) > 0
    learner.learn_one(named[0] | wide, y[0])
    assert nodes(learner) == 0
    again = loads(dumps(learner), "a copy")
    for t in range(150, ROWS):
        learner.learn_one(named[t], y[t])
        again.learn_one(named[t], y[t])
    assert dumps(learner) == dumps(again)


def test_more_classes_than_it_takes_end_it_and_refused_ones_do_not() -> None:
    X, y = products(4)
    learner, other = nr.AutoClasses(), nr.AutoClasses()
    classes = [f"{t}" if t % 6 == 0 else str(y[t]) for t in range(ROWS)]
    ended = 0
    for t, label in enumerate(classes):
        for each in (learner, other):
            each.learn_one(X[t], label)
        with pytest.raises(nr.NoRegretError):  # the square overflows
            learner.learn_one([1e200, 0.0, 0.0], "another")
        ended = ended or (t if t > BEGINS and nodes(learner) == 0 else 0)
    assert dumps(learner) == dumps(other)
    assert ended
    assert len(set(classes[:ended])) == MAX_CLASSES
    assert len(set(classes[: ended + 1])) == MAX_CLASSES + 1


def test_units_and_signs_of_features_change_no_bit() -> None:
    X, y = products(5, 4)
    units = np.array([2.0**40, -1.0, 2.0**-30, -0.5])
    here, there = nr.AutoClasses(), nr.AutoClasses()
    here.learn_many(X, y)
    there.learn_many(X * units, y)
    assert here.total_loss == there.total_loss


def test_classes_that_come_late_are_paid_for_as_predicted() -> None:
    """The regret to each member, by what all said then, is at most its price."""
    X, y = products(6)
    learner = nr.AutoClasses()
    names = [str(each) for each in y]
    for t, came, _, note in late_notes(learner, X, 3):
        if came:
            learner._entry.learn_late(X[t], names[t], 0.0, note)
    assert learner.rounds == ROWS
    assert nodes(learner) > 0
    accounts = learner.engine.accounts()
    assert (-accounts["excess"] <= accounts["price"] * (1 + 1e-9)).all()
    assert len(accounts["excess"]) == 21
    other = loads(dumps(learner), "a copy")
    assert dumps(other) == dumps(learner)
    assert other.predict_proba_one(X[0]) == learner.predict_proba_one(X[0])


def test_a_certificate_with_it_is_verified_and_names_the_members() -> None:
    X, y = products(7)
    for members in ("all", "linear"):
        certificate = nr.play(nr.AutoClasses(members=members), X, y).certificate()
        assert certificate.params.get("members", "linear") == members
        assert certificate.theorem.holds
        assert nr.verify(certificate, X, y).confirmed


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trees.features", 129),
        ("trees.features", 2),
        ("trees.classes", 33),
        ("trees.classes", 0),
        ("trees.nodes", None),
        ("trees.counts", np.full(12, 3000.0)),
    ],
)
def test_states_of_a_forest_that_make_no_sense_are_refused(name: str, change: Any) -> None:
    X, y = products(8)
    learner, other = nr.AutoClasses(), nr.AutoClasses()
    learner.learn_many(X, y)
    arrays, numbers, names = learner.get_state()
    (arrays if name in arrays else numbers)[name] = change
    if change is None:
        del arrays[name]
    with pytest.raises(ValueError, match=r"array|numbers|state|inputs"):
        other.set_state(arrays, numbers, names)
    assert other.rounds == 0


# Models and certificates from before there were forests among the members.


def before() -> tuple[list[dict[str, float]], list[str]]:
    """Return the rows that the model of then learned, and their classes."""
    rows = [{"a": t * 7 % 11 / 8, "b": t * t % 13 / 4 - 1, "c": t % 2 * 0.5} for t in range(150)]
    kinds = [int(x["a"] + x["b"] + t % 3 / 2 > 1) + (x["c"] > x["b"]) for t, x in enumerate(rows)]
    return rows, [["red", "green", "blue"][kind] for kind in kinds]


def test_a_model_of_before_goes_on_as_it_did() -> None:
    rows, classes = before()
    model = nr.load(FILES / "auto-classes.model")
    assert model.params == {"recent": True, "members": "linear"}
    fresh = nr.AutoClasses(members="linear")
    for x, y in zip(rows, classes, strict=True):
        fresh.learn_one(x, y)
    assert model.clone().params == model.params
    assert model.total_loss == pytest.approx(fresh.total_loss, rel=1e-9)
    for x, y in zip(rows[:30], classes, strict=False):
        mine, theirs = fresh.predict_proba_one(x), model.predict_proba_one(x)
        assert theirs == pytest.approx(mine, rel=1e-7)
        model.learn_one(x, y)
        fresh.learn_one(x, y)


def test_a_certificate_of_before_is_confirmed() -> None:
    rows, classes = before()
    assert nr.verify(FILES / "auto-classes.json", list(zip(rows, classes, strict=True))).confirmed


@pytest.mark.parametrize("members", ["some", True, None])
def test_there_are_no_other_members(members: Any) -> None:
    with pytest.raises(ValueError, match="members"):
        nr.AutoClasses(members=members)


@pytest.mark.parametrize("edition", [2, 3])
def test_many_classes_are_told_apart_early_from_edition_3_on(edition: int) -> None:
    """A leaf of edition 2 counts as pure until it has seen a dozen outcomes of 24 other classes."""
    X = np.random.default_rng(9).random((1500, 2))
    y = np.floor(5 * X[:, 0]) * 5 + np.floor(5 * X[:, 1])
    learner = nr.MondrianForestClasses(edition=edition)
    learner.learn_many(X, y.astype(int))
    assert (learner.total_loss / 1500 < 0.9) == (edition == 3)
