"""The corrected expert: there without a word where it makes sense, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from noregret.streams.corrected_forecast import Correcting
from noregret.streams.parsing.recursive_least_squares import MAX_CORRECTED_EXPERTS
from tests.app.mix.forecasts import csv, frame
from tests.app.run.commands import done, refused

NAN = float("nan")


def experts_of(file: Path, *options: object) -> list[str]:
    made = json.loads(done("mix", file, "--target", "y", "--json", *options))
    return [expert["name"] for expert in made["experts"]]


def chances(rows: int = 60) -> pd.DataFrame:
    """Return probabilities of what is 0 or 1."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, rows).astype(float)
    return pd.DataFrame({"y": y, "a": 0.2 + 0.6 * y, "b": draw.uniform(0.1, 0.9, rows)})


@pytest.mark.parametrize("options", [(), ("--loss", "absolute"), ("--quantile", "0.9")])
def test_numbers_on_a_scale_are_corrected_without_a_word(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    file = csv(tmp_path, frame(40))
    assert "corrected" in experts_of(file, *options)
    assert "corrected" not in experts_of(file, *options, "--no-correct")


def test_percentages_are_corrected_without_a_word(tmp_path: Path) -> None:
    table = frame(40)
    table[["y", "north", "east", "west"]] += 100
    assert "corrected" in experts_of(csv(tmp_path, table), "--loss", "percentage")


@pytest.mark.parametrize("loss", ["log", "zero-one"])
def test_chances_and_labels_are_corrected_only_if_asked(loss: str, tmp_path: Path) -> None:
    file = csv(tmp_path, chances())
    assert experts_of(file, "--loss", loss) == ["a", "average", "b", "median"]
    assert "corrected" in experts_of(file, "--loss", loss, "--correct")


def test_votes_are_not_corrected(tmp_path: Path) -> None:
    table = chances().round()
    how = ("--learner", "weighted-majority", "--no-average")
    assert experts_of(csv(tmp_path, table), *how) == ["a", "b"]


def test_a_column_of_that_name_is_told_how_to_get_in(tmp_path: Path) -> None:
    file = csv(tmp_path, frame(40).rename(columns={"north": "corrected"}))
    said = refused("mix", file, "--target", "y")
    assert "--drop corrected" in said
    assert "--no-correct" in said
    assert "corrected" in experts_of(file, "--no-correct")


def test_it_takes_the_bias_away(tmp_path: Path) -> None:
    table = frame(400)
    for name in ("north", "east", "west"):
        table[name] += 5
    file = csv(tmp_path, table)
    how = ("mix", file, "--target", "y", "--json")
    plain, corrected = (json.loads(done(*how, *one)) for one in [("--no-correct",), ()])
    assert corrected["loss"]["mean"] < 0.5 * plain["loss"]["mean"]


def test_the_summary_tells_of_it(tmp_path: Path) -> None:
    how = ("mix", csv(tmp_path, frame(40)), "--target", "y")
    assert "3 experts, their average and median, and a corrected forecast" in done(*how)
    assert "3 experts and their average and median\n" in done(*how, "--no-correct")
    assert "3 experts and a corrected forecast\n" in done(*how, "--no-average")
    assert "1 expert and its average and median\n" in done(
        *how, "--experts", "west", "--no-correct"
    )


# What it says.


def ridge_by_hand(X: Any, y: Any) -> Any:
    """Return the corrected forecasts, from normal equations solved anew for each row."""
    terms = 2 + X.shape[1] if X.shape[1] <= MAX_CORRECTED_EXPERTS else 2
    A, b = (3 + (terms - 2) / 2 + (terms - 2) ** 2 / 50) * np.eye(terms), np.zeros(terms)
    said, outcomes, squares = list[float](), list[float](), 0.0
    for x, outcome in zip(X, y, strict=True):
        average = float(np.mean(x[~np.isnan(x)]))
        off = np.where(np.isnan(x), 0.0, x - average)
        size = (squares / len(outcomes)) ** 0.5 if outcomes and squares else 0.0
        size = size or float(np.sqrt((off**2).sum() / (~np.isnan(x)).sum())) or 1.0
        level = (average - np.mean(outcomes)) / size if outcomes else 0.0
        z = np.array([1.0, level, *(off / size)])[:terms]
        found = average + size * float(z @ np.linalg.solve(A, b))
        seen = [*outcomes, *x[~np.isnan(x)]]
        said.append(float(np.clip(found, min(seen), max(seen))))
        A += np.outer(z, z)
        b += z * (outcome - average) / size
        squares += (outcome - average) ** 2
        outcomes.append(outcome)
    return np.array(said)


def test_corrected_is_ridge_regression_on_the_past() -> None:
    rng = np.random.default_rng(3)
    y = np.cumsum(rng.normal(size=200))
    X = y[:, None] * [1.0, 0.8, 1.2] + 3 + rng.normal(size=(200, 3))
    X[rng.random(X.shape) < 0.2] = NAN
    X[:, 0] = np.where(np.isnan(X).all(axis=1), 0.0, X[:, 0])
    table = np.column_stack([X, np.zeros(200)])
    Correcting(3).correct(table, [0, 1, 2], 3, y)
    np.testing.assert_allclose(table[:, 3], ridge_by_hand(X, y), rtol=1e-7, atol=1e-7)
    late = slice(100, None)
    plain = np.abs(np.nanmean(X[late], axis=1) - y[late]).mean()
    assert np.abs(table[late, 3] - y[late]).mean() < 0.5 * plain


def test_corrected_looks_at_the_past_only_and_stays_finite() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2)) * 10.0 ** rng.integers(-140, 140, size=(60, 1))
    y = X.sum(axis=1)
    table = np.column_stack([X, np.zeros(60)])
    other = table.copy()
    Correcting(2).correct(table, [0, 1], 2, y)
    changed = y.copy()
    changed[30:] = 5.0
    Correcting(2).correct(other, [0, 1], 2, changed)
    assert np.isfinite(table[:, 2]).all()
    np.testing.assert_array_equal(table[:31, 2], other[:31, 2])


@pytest.mark.parametrize("experts", [1, 2, 3, 5, 9])
def test_a_forecast_is_the_same_whether_or_not_its_outcome_is_there(experts: int) -> None:
    X, y = biased(experts, 40)
    known = np.column_stack([X, np.zeros(len(y))])
    Correcting(experts).correct(known, range(experts), experts, y)
    for last in range(len(y)):
        table, so_far = np.column_stack([X, np.zeros(len(y))])[: last + 1], y[: last + 1].copy()
        so_far[last] = NAN
        Correcting(experts).correct(table, range(experts), experts, so_far)
        assert table[last, -1] == known[last, -1]


# Many experts.


def biased(experts: int, rows: int = 300) -> tuple[Any, Any]:
    draw = np.random.default_rng(1)
    y = np.cumsum(draw.normal(size=rows))
    return 0.5 * y[:, None] + 3 + draw.normal(size=(rows, experts)), y


def test_of_many_experts_only_the_average_is_corrected() -> None:
    X, y = biased(MAX_CORRECTED_EXPERTS + 1)
    table = np.column_stack([X, np.zeros(len(y))])
    correcting = Correcting(X.shape[1])
    correcting.correct(table, range(X.shape[1]), X.shape[1], y)
    assert len(correcting.state[0]) == 2
    np.testing.assert_allclose(table[:, -1], ridge_by_hand(X, y), rtol=1e-7, atol=1e-7)
    late = slice(100, None)
    assert np.abs(table[late, -1] - y[late]).mean() < 0.2 * np.abs(X.mean(1) - y)[late].mean()


def test_up_to_many_experts_each_has_a_share() -> None:
    assert len(Correcting(MAX_CORRECTED_EXPERTS).state[0]) == MAX_CORRECTED_EXPERTS + 2


def test_more_than_many_experts_are_certified_and_confirmed(tmp_path: Path) -> None:
    X, y = biased(MAX_CORRECTED_EXPERTS + 5, 60)
    table = pd.DataFrame(X.round(3), columns=[f"e{k:03d}" for k in range(X.shape[1])]).assign(y=y)
    file, certificate = csv(tmp_path, table), tmp_path / "c.json"
    done("mix", file, "--target", "y", "-q", "--certificate", certificate)
    assert "CONFIRMED: every figure" in done("verify", certificate, file)
