"""The boosted trees of ``auto``: what they see, what they keep, and states that make no sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps, loads
from tests.auto.streams import auto, labels, played

BEGINS, SPEAKS, KEPT = 64, 160, 32768


def curves(seed: int, rows: int, columns: int = 6) -> Any:
    """Return a sum of curves and a product of four columns, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 5 * X[:, 3]
    return X, y + rng.normal(size=rows)


def state(learner: Any) -> dict[str, Any]:
    """Return the arrays of the boosted trees."""
    arrays = learner.engine.get_state()[0]
    return {k.partition(".")[2]: v for k, v in arrays.items() if k.startswith("boosted.")}


def test_it_learns_a_sum_of_curves() -> None:
    X, y = curves(0, 3000)
    errors = [np.mean((played(auto(edition=k), X, y) - y)[1500:] ** 2) for k in (2, 3)]
    assert errors[1] < 0.7 * errors[0]
    signs = labels(y - np.median(y))
    scores = [played(auto("logistic", edition=k), X, signs)[1500:] for k in (2, 3)]
    losses = [np.logaddexp(0, -s * signs[1500:]).mean() for s in scores]
    assert losses[1] < 0.95 * losses[0]


def test_it_begins_after_some_rounds_and_keeps_the_latest_rows() -> None:
    X, y = curves(1, SPEAKS + 4)
    learner = auto()
    for t in range(SPEAKS + 4):
        assert bool(state(learner)) == (t > BEGINS), t
        learner.learn_one(X[t], y[t])
    found = state(learner)
    assert len(found["outcomes"]) == SPEAKS + 4 - BEGINS
    one, two = curves(2, 500, 4), curves(3, KEPT, 4)
    learner = auto()
    learner.learn_many(*(np.concatenate(pair) for pair in zip(one, two, strict=True)))
    kept = np.sort(state(learner)["outcomes"])
    assert len(kept) == KEPT
    unit = learner.engine.get_state()[1]["boosted.unit"]
    assert np.abs(kept - np.sort(two[1] - one[1][0]) / unit).max() < 10  # clipped, not lost
    assert dumps(loads(dumps(learner), "a copy")) == dumps(learner)


@pytest.mark.parametrize("cut", [BEGINS, BEGINS + 1, 100, 126, 127, 128, 129, SPEAKS])
def test_a_copy_from_before_the_first_fit_goes_on_alike(cut: int) -> None:
    """Trees have one node each until 64 rows are kept."""
    X, y = curves(9, 250)
    whole, first = auto(), auto()
    whole.learn_many(X, y)
    first.learn_many(X[:cut], y[:cut])
    copy = loads(dumps(first), "a copy")
    assert dumps(copy) == dumps(first)
    copy.learn_many(X[cut:], y[cut:])
    assert dumps(copy) == dumps(whole)


def test_what_is_fitted_is_the_sum_of_its_trees() -> None:
    """Beside another walk down the trees, over all rows kept."""
    X, y = curves(4, 900)
    learner = auto()
    learner.learn_many(X, y)
    found = state(learner)
    width = len(found["origin"])
    x = found["x"].reshape(-1, width).astype(np.float32)
    sums = np.zeros(len(x))
    for tree in found["trees"].reshape(64, -1, 4):
        for i, row in enumerate(x):
            at = 0
            while tree[at, 3] != at:
                at = int(tree[at, 3]) + int(row[int(tree[at, 2])] > np.float32(tree[at, 1]))
            sums[i] += tree[at, 0]
    assert np.abs(sums - found["fitted"]).max() < 1e-9
    assert np.abs(sums).max() > 0.1


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_the_tree_fitted_last_splits_where_it_gains_most(loss: str) -> None:
    """Beside all splits at edges of bins, in floating point."""
    X, y = curves(8, 900)
    y = labels(y - np.median(y)) if loss == "logistic" else y
    learner = auto(loss)
    learner.learn_many(X[:700], y[:700])
    before = fits = learner.engine.get_state()[1]["boosted.fits"]
    for t in range(700, 900):
        learner.learn_one(X[t], y[t])
        fits = learner.engine.get_state()[1]["boosted.fits"]
        if fits > before:
            break
    assert fits == before + 1
    found = state(learner)
    x = found["x"].reshape(-1, len(found["origin"]))
    tree = found["trees"].reshape(64, -1, 4)[(fits - 1) % 64]
    leaves = np.zeros(len(x), int)
    while (tree[leaves, 3] != leaves).any():
        right = x[np.arange(len(x)), tree[leaves, 2].astype(int)] > tree[leaves, 1]
        leaves = tree[leaves, 3].astype(int) + right * (tree[leaves, 3] != leaves)
    # All trees but the new one, whose residuals that was fitted to.
    score = found["fitted"] - tree[leaves, 0]
    chance = 1 / (1 + np.exp(-score))
    slope = found["outcomes"] - (chance if loss == "logistic" else score)
    curvature = chance * (1 - chance) if loss == "logistic" else np.ones(len(x))
    for leaf in np.unique(leaves):
        own = leaves == leaf
        value = 0.3 * slope[own].sum() / (curvature[own].sum() + 5)
        assert tree[leaf, 0] == pytest.approx(value, rel=1e-3, abs=1e-5)

    def gain(left: Any) -> float:
        sides = [(slope[side].sum(), curvature[side].sum()) for side in (left, ~left)]
        least = 1 if loss == "logistic" else 10
        if min(weight for _, weight in sides) < least:
            return 0.0
        return float(sum(s * s / (w + 5) for s, w in sides))

    edges = found["edges"].reshape(x.shape[1], -1)
    gains = [
        gain(x[:, j] <= edge)
        for j in range(x.shape[1])
        for edge in edges[j, : int(found["counts"][j])]
    ]
    assert gain(x[:, int(tree[0, 2])] <= tree[0, 1]) >= 0.999 * max(gains)


def test_more_features_than_it_takes_end_it() -> None:
    X, y = curves(5, 130)
    learner = auto()
    for t in range(130):
        learner.learn_one({f"x{k}": float(v) for k, v in enumerate(X[t])}, y[t])
    assert state(learner)
    learner.learn_one({f"more{k}": 1.0 for k in range(300)}, 1.0)
    assert not state(learner)
    assert dumps(loads(dumps(learner), "a copy")) == dumps(learner)


def test_bins_are_finer_with_more_rows() -> None:
    """A column has a hundred values, which 64 bins cannot tell apart, with an outcome each."""
    rng = np.random.default_rng(10)
    rows, half = 16_500, 8300
    place = rng.integers(0, 100, rows)
    X = np.column_stack([place, rng.normal(size=(rows, 3))])
    y = rng.normal(size=100)[place] + 0.1 * rng.normal(size=rows)
    learner = auto()
    said = learner.play_many(X[:half], y[:half])
    assert state(learner)["counts"][1:].tolist() == [99, 127, 127, 127]
    copy = loads(dumps(learner), "a copy")
    said = np.concatenate([said, learner.play_many(X[half:], y[half:])])
    assert state(learner)["counts"][1:].tolist() == [99, 255, 255, 255]
    assert np.array_equal(copy.play_many(X[half:], y[half:]), said[half:])
    assert dumps(copy) == dumps(learner)
    assert np.mean((said - y)[12_000:] ** 2) < 0.03  # 0.041 with 64


def test_bins_of_many_columns_stay_as_few_as_a_tree_can_count() -> None:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(8300, 40))
    learner = auto()
    for x in X:
        learner.learn_one({f"x{k}": v for k, v in enumerate(x[:10].tolist())}, x[0])
    found = state(learner)
    assert (found["counts"][1:] == 127).all()
    for x in X[:20]:  # inputs that have bins do not lose them when others appear
        learner.learn_one({f"x{k}": v for k, v in enumerate(x.tolist())}, x[0])
    assert (state(learner)["counts"][:11] == found["counts"]).all()
    assert dumps(loads(dumps(learner), "a copy")) == dumps(learner)
    learner = auto()
    learner.learn_many(X, X[:, 0])
    assert (state(learner)["counts"][1:] == 63).all()
    arrays, numbers, names = learner.get_state()
    arrays["boosted.counts"][:] = 100
    arrays["boosted.edges"].reshape(41, -1)[:, :100] = np.arange(100)
    with pytest.raises((ValueError, nr.NoRegretError)):
        learner.set_state(arrays, numbers, names)


@pytest.mark.parametrize(
    "what", ["left", "feature", "value", "edges", "counts", "x", "fitted", "rows", "next"]
)
def test_a_state_that_makes_no_sense_is_refused(what: str) -> None:
    X, y = curves(6, 200)
    learner = auto()
    learner.learn_many(X, y)
    arrays, numbers, names = learner.get_state()
    trees, before = arrays["boosted.trees"].reshape(-1, 4), dumps(learner)
    if what in ("left", "feature"):
        trees[0, 3 if what == "left" else 2] = 31 if what == "left" else 99
    elif what == "edges":
        arrays["boosted.edges"][:2] = 1, 0
    elif what == "counts":
        arrays["boosted.counts"][0] = 64
    elif what == "value":
        trees[0, 0] = -1e308
    elif what in ("x", "fitted"):
        arrays[f"boosted.{what}"][0] = 1e39
    else:
        numbers[f"boosted.{what}"] += 1
    with pytest.raises((ValueError, nr.NoRegretError)):
        learner.set_state(arrays, numbers, names)
    assert dumps(learner) == before


def test_a_feature_whose_values_are_huge_or_tiny_does_no_harm() -> None:
    X, y = curves(7, 600)
    for unit in (1e-60, 1e60):
        said = played(auto(), X * [unit, 1, 1, 1, 1, 1], y)
        assert np.abs(said - played(auto(), X, y))[200:].mean() < 0.5
