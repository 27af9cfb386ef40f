"""The peers that are not linear, as the benchmark plays them: none sees an outcome too early."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("pandas")

from benchmarks._quality_curved import CURVED
from benchmarks._quality_sets import Set, dense
from benchmarks._quality_trees import forests, guesses, lightgbm, river, second_half, with_lags


def drawn(classes: bool, rows: int = 120) -> Set:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 2))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=rows)
    return dense(X, y > 0 if classes else y, classes)


def changed(rows: Set, at: int) -> Set:
    """Return the rows with other outcomes from one on."""
    y = rows.y.copy()
    y[at:] = 1 - y[at:]
    return replace(rows, y=y)


@pytest.mark.parametrize("classes", [False, True])
def test_before_the_first_fit_it_says_the_mean_so_far(classes: bool) -> None:
    rows = drawn(classes)
    for k, said in enumerate(guesses(rows)):
        before = rows.y[:k]
        if classes:
            assert said == pytest.approx(np.log((before.sum() + 0.5) / ((1 - before).sum() + 0.5)))
        else:
            assert said == pytest.approx(before.mean() if k else 0.0)


@pytest.mark.parametrize("classes", [False, True])
def test_refitted_lightgbm_knows_only_rows_before_its_last_fit(classes: bool) -> None:
    pytest.importorskip("lightgbm")
    rows = drawn(classes, 300)
    scores, other = lightgbm(rows, every=100), lightgbm(changed(rows, 200), every=100)
    assert scores[:100] == pytest.approx(guesses(rows)[:100])
    assert scores[:201] == pytest.approx(lightgbm(rows.first(201), every=100))
    assert scores[:200] == pytest.approx(other[:200])
    assert len(set(scores[100:200])) > 1
    assert not np.allclose(scores[200:], lightgbm(changed(rows, 100), every=100)[200:])


def test_lightgbm_does_not_fit_before_it_has_seen_both_classes() -> None:
    pytest.importorskip("lightgbm")
    rows = drawn(True)
    rows = replace(rows, y=np.r_[np.zeros(60), np.ones(60)])
    assert lightgbm(rows, every=40)[:80] == pytest.approx(guesses(rows)[:80])


@pytest.mark.parametrize("sparsely", [False, True])
def test_lags_are_the_outcomes_before(sparsely: bool) -> None:
    rows = drawn(False, 9)
    given = replace(rows, X=sparse.csr_matrix(rows.X)) if sparsely else rows
    X = with_lags(given).X
    X = X.toarray() if sparsely else X
    assert (X[:, :2] == rows.X).all()
    for k in range(9):
        for lag in (1, 2, 3):
            assert np.isnan(X[k, 1 + lag]) if k < lag else X[k, 1 + lag] == rows.y[k - lag]


@pytest.mark.parametrize("classes", [False, True])
def test_the_second_half_is_in_the_unit_of_the_whole(classes: bool) -> None:
    rows = drawn(classes, 50)
    scores = np.linspace(-1, 1, 50)
    losses = (scores - rows.y) ** 2 / rows.y.var()
    if classes:
        losses = np.log1p(np.exp(-scores * (2 * rows.y - 1)))
    assert second_half(scores, rows) == pytest.approx(losses[25:].mean())


@pytest.mark.parametrize("classes", [False, True])
def test_river_predicts_before_it_learns(classes: bool) -> None:
    pytest.importorskip("river")
    rows = drawn(classes, 40)
    for make, scaled in product(forests(classes).values(), (False, True)):
        scores = river(rows, make, scaled)
        assert scores[:31] == pytest.approx(river(changed(rows, 30), make, scaled)[:31])
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", [name for name in CURVED if "," in name])
def test_what_drifts_begins_with_the_same_inputs_and_is_no_constant(name: str) -> None:
    drifting, still = CURVED[name](), CURVED[name.partition(",")[0]]()
    assert drifting.X.shape == still.X.shape == (10_000, drifting.X.shape[1])
    assert np.isfinite(drifting.X).all()
    assert not np.array_equal(drifting.y, still.y) or not np.array_equal(drifting.X, still.X)
    if drifting.classes:
        assert 0.1 < drifting.y.mean() < 0.9
        assert set(np.unique(drifting.y)) == {0.0, 1.0}
    start = slice(0, 100)
    if "radial" not in name:
        assert np.array_equal(drifting.X[start], still.X[start])
