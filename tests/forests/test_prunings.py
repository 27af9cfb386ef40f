"""The promise holds against every pruning, and weights are those of the mixture of all of them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.forests.trees import (
    COUNT,
    FEATURE,
    FIELDS,
    LEFT,
    LOSS,
    RATES,
    RIGHT,
    STOP,
    THRESHOLD,
    Floats,
    after_first,
    below,
    growth_of,
    mixed_loss,
    mixture,
    prunings,
    tables,
    unit_of,
)
from tests.thorough import sized

SEEDS = range(sized(4, full=60))
KINDS = ("square", "logistic", "classes", "heavy", "earlier")


def stream(kind: str, seed: int, rows: int = 9) -> tuple[Floats, Any]:
    """Return rows and outcomes of a kind; those of ``heavy`` widen their range again and again.

    ``earlier`` is the square loss in edition 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2)).round(1)
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=rows)
    if kind == "heavy":
        return X, y * 3.0 ** np.arange(rows)
    if kind == "classes":
        return X, np.array(["a", "b", "c"])[np.searchsorted([-0.2, 0.3], y)]
    return X, y > 0 if kind == "logistic" else y


def forest(kind: str, **params: Any) -> Any:
    if kind == "classes":
        return nr.MondrianForestClasses(**params)
    loss = "logistic" if kind == "logistic" else "square"
    return nr.MondrianForest(loss=loss, edition=1 if kind == "earlier" else 2, **params)


@pytest.mark.parametrize("nodes", [4000, 9])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_pruning_is_beaten_by_more_than_its_price(kind: str, seed: int, nodes: int) -> None:
    X, y = stream(kind, seed, rows=9 if nodes == 4000 else 40)
    learner = forest(kind, trees=2, seed=seed, nodes=nodes)
    learner.learn_many(X, y)
    accounts, unit = learner.engine.accounts(), unit_of(learner)
    growth = Decimal(growth_of(learner))
    priors = learner.get_state()[0]["priors"][2 * RATES :: RATES]
    assert np.exp(priors) == pytest.approx([1 / 16, 1 / 16, 1 / 16])  # two trees, and a fresh one
    for i, table in enumerate(tables(learner)):
        found = prunings(table)
        assert abs(sum((p.prior for p in found), Decimal(-1))) < Decimal("1e-40")
        priced = [p.loss - unit * p.prior.ln() for p in found]
        for total in priced:
            assert Decimal(after_first(learner, y)) <= (
                total - unit * Decimal(priors[i]) + growth
            ) * Decimal("1.000000000001")
        assert accounts["pruned"][i] + accounts["price"][i] == pytest.approx(
            float(min(priced) - unit * Decimal(priors[i]) + growth)
        )
        if nodes == 4000:  # no subtree has collapsed
            assert accounts["least"][i] == pytest.approx(float(min(p.loss for p in found)))


@pytest.mark.parametrize("rate", range(RATES))
@pytest.mark.parametrize("nodes", [4000, 9])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_the_posterior_of_all_prunings(
    kind: str, seed: int, nodes: int, rate: int
) -> None:
    """So neither inserted nodes nor a range that grows nor a collapse has lost any weight."""
    X, y = stream(kind, seed, rows=9 if nodes == 4000 else 40)
    learner = forest(kind, trees=1, seed=seed, nodes=nodes)
    learner.learn_many(X, y)
    (table, _), unit = tables(learner), unit_of(learner)
    if rate:
        unit /= 2 if kind in ("logistic", "classes") else 512 if kind == "earlier" else 128
    found = [(p.leaves, p.prior * (-p.loss / unit).exp()) for p in prunings(table, rate=rate)]
    for k in range(len(table)):
        if table[k, LEFT]:
            inside = below(table, k)
            here = sum(weight for leaves, weight in found if k in leaves)
            reached = sum(weight for leaves, weight in found if leaves & inside)
            assert table[k, STOP + rate] == pytest.approx(float(here / reached), rel=1e-8)


@pytest.mark.parametrize("kind", ["square", "earlier"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_node_has_the_record_of_a_forecaster_that_was_always_there(
    kind: str, seed: int
) -> None:
    """A node begins with the forecast of what lies beside it, then learns from its own rows.

    In its first round it loses what the mixture beside it does, but for edition 1, where that is
    what its forecast loses. Outcomes count from the first one.
    """
    X, y = stream(kind, seed, rows=40)
    learner, first, size = forest(kind, trees=1, seed=seed), {}, 1
    paid: dict[int, float] = {}
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        learner.learn_one(x, outcome)
        table, _ = tables(learner)
        if len(table) > size:  # the last node is new, and beside it is the one before
            size, first[t] = len(table), mixture(table, size, x)
            if kind == "square":
                paid[t] = table[-1, LOSS]
                expected = mixed_loss(table, len(table) - 2, x, outcome - y[0], unit_of(learner))
                assert paid[t] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    y = y - y[0]
    mean, count, loss = np.zeros(len(table)), np.zeros(len(table)), np.zeros(len(table))
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        k, path = 0, [0]
        while table[k, LEFT]:
            side = LEFT if x[int(table[k, FEATURE])] <= table[k, THRESHOLD] else RIGHT
            k = int(table[k, side])
            path.append(k)
        for k in path:
            if count[k] == 0 and t > 0:
                mean[k], count[k] = first[t], 0.05
        for k in path:
            new = count[k] == 0.05 and t in paid
            loss[k] += paid[t] if new else (mean[k] - outcome) ** 2
            count[k] += 1
            mean[k] += (outcome - mean[k]) / count[k]
    np.testing.assert_allclose(table[:, LOSS], loss, rtol=1e-9)
    np.testing.assert_allclose(table[1:, COUNT], count[1:])
    np.testing.assert_allclose(table[:, FIELDS], mean, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("nodes", [4000, 9])
@pytest.mark.parametrize("kind", ["logistic", "classes"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_log_loss_of_a_tree_is_that_of_the_mixture_of_its_prunings(
    kind: str, seed: int, nodes: int
) -> None:
    """Also in rounds that insert a split: the prediction is that of the tree with the split."""
    X, y = stream(kind, seed, rows=40)
    learner = forest(kind, trees=1, seed=seed, nodes=nodes)
    for x, outcome in zip(X[:9] if nodes == 4000 else X, y, strict=False):
        learner.learn_one(x, outcome)
        table, _ = tables(learner)
        likelihood = sum(p.prior * (-p.loss).exp() for p in prunings(table))
        paid = learner.get_state()[0]["paid"][2 * RATES]
        assert paid == pytest.approx(float(-Decimal(likelihood).ln()), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tree_of_numbers_pays_what_the_mixture_of_its_prunings_does(seed: int) -> None:
    """By their likelihoods; while the range does not grow, which may only add to it."""
    X, y = stream("square", seed, rows=40)
    y[:2] = -9.0, 9.0
    learner = forest("square", trees=1, seed=seed)
    for x, outcome in zip(X[:9], y, strict=False):
        learner.learn_one(x, outcome)
    (table, _), unit = tables(learner), unit_of(learner)
    mixed = sum(p.prior * (-p.loss / unit).exp() for p in prunings(table))
    paid = learner.get_state()[0]["paid"][2 * RATES]
    assert paid == pytest.approx(float(-unit * Decimal(mixed).ln()), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_round_within_the_range_costs_more_than_the_mixture_of_all_weights(seed: int) -> None:
    """The theorem of mixable losses, round by round, for outcomes that an adversary chooses."""
    rng = np.random.default_rng(seed)
    learner = forest("square", trees=1, seed=seed)
    learner.learn_many([[0.0], [1.0]], [0.0, 1.0])
    unit = float(unit_of(learner))
    potential, lost = 0.0, 0.0
    for _ in range(60):
        x = [float(rng.integers(6))]
        learner.learn_one(x, float(learner.predict_one(x) < rng.choice([0.3, 0.5, 0.7])))
        state = learner.get_state()[0]
        now = -unit * np.logaddexp.reduce(state["priors"] - state["paid"] / unit)
        assert state["fresh"][0] - lost <= now - potential + 1e-12 or potential == 0
        potential, lost = now, state["fresh"][0]
    assert state["interval"][2] == pytest.approx(0, abs=1e-12)


def test_half_per_node_can_fail_where_nodes_are_inserted_above() -> None:
    """The log loss, two forecasters: a node v, and S, the prunings below it.

    S starts hopeless, so half of each puts all weight on v. Inserting a node above v gives S a
    quarter of the prior. S is then right for certain, and v is not.
    """
    half, tiny = Fraction(1, 2), Fraction(1, 10**9)
    v, s = Fraction(1), tiny  # likelihoods so far
    paid = half * v + half * s
    v_later, s_later = v * tiny**3, s  # from now on only S predicts well
    three, one = Fraction(3, 4), Fraction(1, 4)  # after the insertion: v and its copy, and S
    paid *= (three * v_later + one * s_later) / (three * v + one * s)
    assert -log(paid) > -log(s_later) + 2 * log(2) + 0.4  # two split nodes, and full-depth leaves


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nodes", [3, 8, 21])
def test_collapse_keeps_to_the_budget_and_to_the_promise(kind: str, nodes: int) -> None:
    X, y = stream(kind, 5, rows=sized(200, full=2000) if kind != "heavy" else 60)
    learner = forest(kind, trees=3, nodes=nodes)
    for start in range(0, len(X), 20):
        learner.learn_many(X[start : start + 20], y[start : start + 20])
        assert max(map(len, tables(learner))) <= nodes
        found = learner.engine.accounts()
        assert after_first(learner, y) <= (found["pruned"] + found["price"]).min() * (1 + 1e-9)
    assert found["collapsed"].any()


@pytest.mark.parametrize("kind", ["square", "logistic"])
def test_units_do_not_matter(kind: str) -> None:
    X, y = stream(kind, 1, rows=200)
    guesses = forest(kind).play_many(X, y)
    scale = 1.0 if kind == "logistic" else 1024.0
    other = forest(kind).play_many(X * [0.25, 2.0**40], y if kind == "logistic" else y * scale)
    np.testing.assert_array_equal(other, guesses * scale if kind == "square" else guesses)


def test_seeds_make_the_trees() -> None:
    X, y = stream("square", 1, rows=200)
    one, same, other = (forest("square", seed=seed).play_many(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_the_certificate_speaks_of_prunings_and_verifies(tmp_path: Path) -> None:
    X, y = stream("square", 2, rows=120)
    lines = ["a,b,y", *(f"{a},{b},{out!r}" for (a, b), out in zip(X, y.tolist(), strict=True))]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join(lines) + "\n")
    learner = forest("square", trees=2, nodes=15)
    certificate = nr.play(learner, str(table), target="y", progress=False).certificate()
    promise = certificate.theorem
    assert promise is not None
    assert promise.measured is not None
    assert promise.bound is not None
    assert promise.measured <= promise.bound
    assert "the best pruning of its trees" in str(certificate)
    assert nr.verify(certificate, str(table), target="y").confirmed
