"""The tolerances of verify are those in docs/certificates.md."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.portfolios.tables import usual
from tests.proof.certificates.games import NUMBERS, ROWS
from tests.proof.certificates.roster import ADVICE, ROUNDS, Entry
from tests.proof.certificates.trials import Trial


def nudged(contents: dict[str, Any], path: tuple[Any, ...], share: float) -> dict[str, Any]:
    changed = copy.deepcopy(contents)
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] *= 1 + share
    return changed


COMPUTED = [
    ("eg-portfolio", ("theorem", "bound")),
    ("uniform-rebalanced", ("theorem", "assumptions", 1, "measured")),
]


@pytest.mark.parametrize(("name", "path"), COMPUTED)
@pytest.mark.parametrize("share", [1e-5, -1e-5, 1e-8, -1e-8])
def test_what_is_no_search_is_refused_when_it_is_off_by_more_than_a_billionth(
    name: str, path: tuple[Any, ...], share: float
) -> None:
    trial = Trial(Entry(name, lambda: nr.portfolios.make(name), usual(ROUNDS, 3)))
    assert trial.confirms(trial.contents)
    assert trial.confirms(nudged(trial.contents, path, 1e-11))
    assert not trial.confirms(nudged(trial.contents, path, share))


EXACT = [
    Entry("widrow-hoff", lambda: nr.WidrowHoff(norm=3.0), ROWS[:ROUNDS], NUMBERS[:ROUNDS]),
    Entry("ball", lambda: nr.GradientDescent(radius=2.0), ROWS[:ROUNDS], NUMBERS[:ROUNDS]),
    Entry("expert", nr.Hedge, ADVICE),
]


@pytest.mark.parametrize("entry", EXACT, ids=lambda entry: entry.name)
@pytest.mark.parametrize("share", [1e-2, 1e-5, 1e-7, 1e-8])
def test_an_exact_answer_has_no_gap_but_rounding(entry: Entry, share: float) -> None:
    trial = Trial(entry)
    assert trial.contents["hindsight"]["exact"]
    assert trial.confirms(trial.contents)
    changed = copy.deepcopy(trial.contents)
    best = changed["hindsight"]
    best["gap"] += share * best["loss"]
    upper = changed["loss"]["total"] - (best["loss"] - best["gap"])
    for promise in (changed["regret"], changed["theorem"]):
        for key, value in promise.items():
            if value == trial.contents["regret"]["upper"]:
                promise[key] = upper
    assert not trial.confirms(changed)


def test_exact_is_refused_of_a_search_and_a_search_of_what_is_exact() -> None:
    for entry in (EXACT[0], Entry("mixture", nr.MlPoly, ADVICE, ADVICE.mean(axis=1))):
        trial = Trial(entry)
        changed = copy.deepcopy(trial.contents)
        changed["hindsight"]["exact"] = not changed["hindsight"]["exact"]
        assert not trial.confirms(changed)


def test_the_stated_mixture_is_that_of_its_weights_divided_by_their_sum() -> None:
    rng = np.random.default_rng(5)
    y = 1e9 + rng.normal(size=40)
    X = y[:, None] + rng.normal(size=(40, 3))
    certificate = nr.play(nr.MlPoly(), X, y).certificate()
    assert nr.verify(certificate, X, y).confirmed
    weights = np.array(list(certificate.hindsight.witness.values()))
    pays = float(np.sum(((X - y[:, None]) @ (weights / weights.sum())) ** 2))
    assert certificate.hindsight.loss == pytest.approx(pays, rel=1e-12)


def test_a_searched_gap_is_not_wider_than_the_search_leaves_it() -> None:
    """The interval would be true, but says less than is proven."""
    classes = np.digitize(NUMBERS[:ROUNDS], [-0.5, 0.5])
    trial = Trial(
        Entry("several", lambda: nr.make("multiclass-perceptron"), ROWS[:ROUNDS], classes)
    )
    assert trial.confirms(trial.contents)
    for factor in (1.3, 1.9, 4.0):
        changed = copy.deepcopy(trial.contents)
        best = changed["hindsight"]
        assert best["gap"] > 0.1 * best["loss"]
        best["gap"] = min(factor * best["gap"], best["loss"])
        changed["regret"]["upper"] = changed["loss"]["total"] - (best["loss"] - best["gap"])
        assert not trial.confirms(changed), factor
