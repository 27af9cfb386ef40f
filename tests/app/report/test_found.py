"""The findings of any learner reach the page, the summary and the JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret
from noregret.app.report.run.html import page
from noregret.app.report.run.json import as_dict
from noregret.app.results.findings import Found, Member, found_of
from noregret.app.results.run import Result
from noregret.base.positions import Names
from noregret.learners.widrow_hoff import WidrowHoff
from tests.app.report.results import found, regression
from tests.app.report.test_page import read, visible
from tests.app.report.test_text_and_json import printed


class Teller(WidrowHoff):
    """A learner that has a word to say, and no members."""

    name = "teller"

    def describe(self, names: Any = None) -> str:
        """Say something."""
        return f"It looked at {(names or self.features)[0]}."

    def findings(self, names: Any = None) -> dict[str, Any]:
        """Return a number, and a feature."""
        return {"seen": self.rounds, "features": [{"name": "x", "share": 0.75}]}


def told(result: Result) -> Found:
    """Return what was found."""
    assert result.found is not None
    return result.found


def test_the_course_and_the_members_are_those_of_the_learner() -> None:
    learner = noregret.make("auto")
    draw = np.random.default_rng(1)
    X = draw.normal(size=(500, 3))
    learner.learn_many(X, X @ [1.0, -2.0, 0.0] + draw.normal(size=500))
    made = found_of(learner)
    assert made is not None
    assert made.words == learner.describe()
    assert made.shares.shape == (len(made.rounds), len(made.groups))
    np.testing.assert_allclose(made.shares.sum(axis=1), 1)
    assert sum(member.weight for member in made.members) == pytest.approx(1)
    assert sorted(m.name for m in made.members) == sorted(m.name for m in learner.members)
    weights = [member.weight for member in made.members]
    assert weights == sorted(weights, reverse=True)
    best = min(member.loss for member in made.members)
    assert best == pytest.approx(min(member.loss for member in learner.members) / 500)
    assert {made.features[0][0], made.features[1][0]} == {"0", "1"}
    named = found_of(learner, Names(3, "abc".__getitem__), 1_000.0)
    assert named is not None
    assert "b (" in named.words
    assert min(member.loss for member in named.members) == pytest.approx(best / 2)


def test_the_page_tells_it() -> None:
    result = found(2_000)
    words, made = visible(read(page(result))), told(result)
    assert made.words in words
    for said in (
        "What it found",
        "Weights over time",
        "Members",
        "Most influential features",
    ):
        assert said in words, said
    for member in made.members[:3]:
        assert member.name in words
    for name, _ in made.features:
        assert name in words
    assert "auto (all members combined)" in words
    assert "Learned weights" not in words


def test_the_one_that_lost_least_is_listed_whatever_its_weight() -> None:
    members = (Member("heavy", "a", 0.9999, 3.0), Member("light", "a", 0.0001, 1.0))
    made = Found("Words.", {}, (), members, ("a",), np.array([1, 2]), np.ones((2, 1)))
    words = visible(read(page(replace(regression(50), found=made))))
    assert "The largest weights of 2 learners and the one with the least loss." in words
    assert "light" in words


def test_the_summary_has_the_words_in_place_of_weights() -> None:
    result = found(2_000)
    text = printed(result, 100)
    assert told(result).words[:40] in text
    assert "Largest weights" not in text
    assert "What it found" not in printed(regression(50))


def test_json_has_the_numbers() -> None:
    result = found(2_000)
    made, whole = as_dict(result)["found"], told(result)
    assert list(made) == ["words", "numbers", "members", "course"]
    assert made["numbers"]["leader"] == whole.members[0].name
    assert made["course"]["groups"] == list(whole.groups)
    assert len(made["course"]["weights"]) == len(made["course"]["rounds"]) > 10
    assert as_dict(regression(50))["found"] is None


def test_any_learner_may_tell_and_needs_no_members() -> None:
    learner = Teller(rate=0.1)
    learner.learn_one({"x": 1.0}, 2.0)
    made = found_of(learner)
    assert made is not None
    assert (made.words, made.features, made.members) == ("It looked at x.", (("x", 0.75),), ())
    assert made.numbers["seen"] == 1
    result = replace(regression(50), found=made)
    assert "It looked at x." in visible(read(page(result)))
    assert "It looked at x." in printed(result)
    assert found_of(noregret.WidrowHoff()) is None


def test_names_are_looked_up_one_by_one() -> None:
    asked: list[int] = []

    def name(at: int) -> str:
        asked.append(at)
        return f"x{at}"

    names = Names(1_000_000, name)
    assert len(names) == 1_000_000
    assert (names[3], names[-1], names[1:3]) == ("x3", "x999999", ["x1", "x2"])
    assert asked == [3, 999_999, 1, 2]
    with pytest.raises(IndexError):
        names[1_000_000]
