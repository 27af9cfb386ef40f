"""A certificate is not confirmed by data in which anything is changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret
from noregret import play, verify
from tests.proof.certificates.games import CASES, ROWS, certificate_of, frame
from tests.thorough import draws

NAMES = ["widrow-hoff", "perceptron, separable", "eg", "logistic in a ball", "conjunction"]


def lines(name: str, X: Any, y: Any) -> set[str]:
    """The lines that are not confirmed; a refusal to play counts as all of them."""
    try:
        return {line.name for line in verify(certificate_of(name), X, y).failed}
    except noregret.NoRegretError:
        return {"data.digest"}


@pytest.mark.parametrize("name", CASES)
def test_the_data_it_was_made_from_confirm_it(name: str) -> None:
    found = verify(certificate_of(name), **CASES[name].data())
    assert found.confirmed, str(found)
    assert bool(found)


@draws(40)
@given(st.sampled_from(NAMES[:4]), st.integers(0, 59), st.integers(0, 3), st.booleans())
def test_one_value_changed_in_its_last_bit_is_caught(
    name: str, row: int, column: int, up: bool
) -> None:
    X = np.array(CASES[name].X)
    X[row, column] = np.nextafter(X[row, column], np.inf if up else -np.inf)
    assert "data.digest" in lines(name, X, CASES[name].y)


@draws(20)
@given(st.sampled_from(NAMES), st.integers(0, 59))
def test_one_outcome_changed_is_caught(name: str, row: int) -> None:
    y = np.array(CASES[name].y, dtype=float)
    labels = set(np.unique(y)) <= {-1.0, 0.0, 1.0}
    low = y.min()
    y[row] = (1.0 if y[row] == low else low) if labels else np.nextafter(y[row], np.inf)
    assert "data.digest" in lines(name, CASES[name].X, y)


@draws(20)
@given(st.sampled_from(NAMES), st.integers(0, 59), st.integers(0, 59))
def test_two_rows_swapped_are_caught(name: str, here: int, there: int) -> None:
    X, y = np.array(CASES[name].X), np.array(CASES[name].y)
    order = np.arange(len(y))
    order[[here, there]] = order[[there, here]]
    swapped = (X[order] != X).any() or (y != y[order]).any()
    assert ("data.digest" in lines(name, X[order], y[order])) == swapped


@draws(20)
@given(st.sampled_from(NAMES), st.integers(0, 59), st.booleans())
def test_a_row_dropped_or_doubled_is_caught(name: str, row: int, dropped: bool) -> None:
    order = list(range(60))
    order[row : row + 1] = [] if dropped else [row, row]
    found = lines(name, CASES[name].X[order], CASES[name].y[order])
    assert {"data.digest", "data.rounds"} <= found


@pytest.mark.parametrize("name", NAMES)
def test_columns_swapped_or_added_are_caught(name: str) -> None:
    X, y = CASES[name].X, CASES[name].y
    assert "data.digest" in lines(name, X[:, ::-1], y)
    assert {"data.digest", "data.features"} <= lines(name, np.c_[X, np.ones(60)], y)


def test_a_column_renamed_is_caught() -> None:
    stated = certificate_of("widrow-hoff, named")
    for changed in (
        frame().rename(columns={"wind": "Wind"}),
        frame().assign(city=lambda t: t["city"].str.replace("Oslo", "Bergen")),
        frame().rename(columns={"sun": "wind", "wind": "sun"}),
    ):
        found = verify(stated, changed)
        assert "data.digest" in {line.name for line in found.failed}


def test_the_same_numbers_in_another_form_confirm_it() -> None:
    named, table = certificate_of("widrow-hoff, named"), frame()
    rows = table.drop(columns="sold").to_dict("records")
    pairs = list(zip(rows, table["sold"], strict=True))
    for data in (table, pd.DataFrame(table[table.columns[::-1]])):
        assert verify(named, data).confirmed
    for data in (pairs, iter(pairs)):  # nothing in them tells what the outcomes are called
        assert verify(named, data, target="sold").confirmed
    for told in (None, "bought"):
        assert [line.name for line in verify(named, pairs, target=told).failed] == ["data.target"]
    unnamed = play(noregret.make("widrow-hoff", rate=0.4, norm=1.5), pairs).certificate()
    assert unnamed.data.target is None
    assert verify(unnamed, table, target="sold").confirmed
    assert verify(certificate_of("widrow-hoff"), ROWS.tolist(), CASES["widrow-hoff"].y)


def test_a_learner_trained_before_cannot_be_confirmed_and_is_told_so() -> None:
    learner = noregret.make("widrow-hoff", rate=0.3)
    learner.learn_many(ROWS, np.ones(60))
    case = CASES["widrow-hoff"]
    stated = play(learner, case.X, case.y).certificate()
    found = verify(stated, case.X, case.y)
    assert not found.confirmed
    assert "The learner was trained before this game" in " ".join(str(found).split())


def test_a_search_that_stopped_early_is_held_to_what_it_claims() -> None:
    case = CASES["eg"]
    limits = noregret.hindsight.Limits(tolerance=1e-2)
    stated = case.play().certificate(limits=limits)
    assert stated.hindsight.tolerance == 1e-2
    found = verify(stated, case.X, case.y)
    assert found.confirmed
    # The search was done again as it is stated: what it claims is not loosened for that.
    assert found.solver_tolerance == pytest.approx(1e-5)
    usual = case.play().certificate()
    lie = replace(usual, hindsight=replace(usual.hindsight, tolerance=1e-2))
    assert [line.name for line in verify(lie, case.X, case.y).failed] == ["hindsight.tolerance"]
