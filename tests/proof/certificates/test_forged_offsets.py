"""Columns far from zero: what the best pays is known to many digits, and no other figure passes."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.proof.certificates.certificate import seal
from tests.exactness.arithmetic import dot, fractions, gram, solve, table

draw = np.random.default_rng(3)
SMALL = draw.normal(size=(40, 3))


def data(offset: float, noise: float) -> tuple[Any, Any]:
    y = SMALL @ [0.5, -1.0, 0.25] + noise * draw.normal(size=40)
    return np.c_[SMALL + offset, np.ones(40)], y


def resealed(contents: dict[str, Any]) -> dict[str, Any]:
    open_ = {name: value for name, value in contents.items() if name != "seal"}
    return open_ | {"seal": seal(open_)}


def least(X: Any, y: Any) -> Fraction:
    """Return the least square loss of a linear predictor, exactly."""
    rows, outcomes = table(X), fractions(y)
    moments = [dot(list(column), outcomes) for column in zip(*rows, strict=True)]
    best = solve(gram(rows), moments)
    assert best is not None
    return sum(((dot(x, best) - v) ** 2 for x, v in zip(rows, outcomes, strict=True)), Fraction(0))


@pytest.mark.parametrize("offset", [1.0, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("noise", [0.1, 1e-3])
def test_only_what_the_best_pays_is_confirmed(offset: float, noise: float) -> None:
    X, y = data(offset, noise)
    certificate = nr.play(nr.make("vaw"), X, y).certificate()
    best, true = certificate.hindsight, least(X, y)
    assert Fraction(best.loss - best.gap) <= true <= Fraction(best.loss)
    assert nr.verify(certificate, X, y).confirmed
    slack = 2 * best.gap / best.loss + 1e-8
    for factor in (0.001, 0.5, 1 - slack, 1 + slack, 2.0, 10.0):
        stated = json.loads(certificate.to_json())
        loss = stated["hindsight"]["loss"] * factor
        gap = min(stated["hindsight"]["gap"], loss)
        stated["hindsight"] |= {"loss": loss, "gap": gap}
        lower = stated["loss"]["total"] - loss
        stated["regret"] = {"lower": lower, "upper": lower + gap}
        assert not nr.verify(resealed(stated), X, y).confirmed, factor


def test_a_part_of_the_class_is_confirmed_only_where_sums_prove_no_more() -> None:
    X, y = data(1.0, 0.1)
    stated = json.loads(nr.play(nr.make("vaw"), X, y).certificate().to_json())
    paid = float(y @ y)
    stated["hindsight"] |= {
        "class": "linear predictors of norm at most 1e-12",
        "loss": paid,
        "gap": 1e-9 * paid,
        "witness": dict.fromkeys(stated["hindsight"]["witness"], 0.0),
    }
    lower = stated["loss"]["total"] - paid
    stated["regret"] = {"lower": lower, "upper": lower + 1e-9 * paid}
    found = nr.verify(resealed(stated), X, y)
    assert "hindsight.class" in [line.name for line in found.failed]


@pytest.mark.parametrize("column", ["zeros", "outcomes"])
def test_zeros_certified_from_sums_are_confirmed(column: str) -> None:
    X, y = data(0.0, 0.1)
    X, y = (X * [1, 0, 1, 1], y) if column == "zeros" else (X, 0 * y)
    certificate = nr.play(nr.make("vaw"), X, y, keep="sums").certificate()
    assert nr.verify(certificate, X, y).confirmed


def test_what_underflows_or_overflows_is_certified_or_refused_in_words() -> None:
    tiny = np.array([[1e-150, 2.3e-150]])
    assert nr.verify(nr.play(nr.make("vaw"), tiny, [1.7]).certificate(), tiny, [1.7]).confirmed
    huge = 1e100 * np.random.default_rng(2).normal(size=(2, 3))
    y = huge @ [0.2, 0.3, 0.5] + 3e98
    game = nr.play(nr.make("exponentiated-gradient", loss="square"), huge, y)
    assert nr.verify(game.certificate(), huge, y).confirmed


# The same rows, certified by somebody who says more or less than they tell.

ROWS = np.random.default_rng(1).normal(size=(50, 2))
OFFSETS: dict[str, tuple[Any, Any]] = {
    "outcomes": (np.c_[np.ones(50), ROWS[:, 0]], 1e6 + ROWS @ [1.0, 0.1]),
    "a column": (np.c_[np.ones(50), 1e6 + ROWS[:, 0]], 1 + ROWS @ [1.0, 0.5]),
    "seconds": (np.c_[np.ones(50), 1.7e9 + np.arange(50)], np.arange(50) / 10 + ROWS[:, 1]),
    "nothing": (np.c_[np.ones(50), ROWS[:, 0]], ROWS @ [1.0, 0.5]),
}


def forged(certificate: nr.Certificate, **hindsight: Any) -> dict[str, Any]:
    """Return the certificate with another best in hindsight, and all that follows from it."""
    stated = json.loads(certificate.to_json())
    best = stated["hindsight"]
    lower = best["loss"] - best["gap"]
    best |= {"gap": max(0.0, hindsight["loss"] - lower), **hindsight}
    total = stated["loss"]["total"]
    upper = total - (best["loss"] - best["gap"])
    stated["regret"] = {"lower": total - best["loss"], "upper": upper}
    return resealed(stated)


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize("factor", [1 + 1e-8, 1 + 1e-6, 1.01, 10.0, 100.0])
def test_what_is_called_exact_is_what_the_best_pays(name: str, factor: float) -> None:
    X, y = OFFSETS[name]
    certificate = nr.play(nr.make("nlms"), X, y).certificate()
    best, true = certificate.hindsight, least(X, y)
    assert best.exact
    assert Fraction(best.loss - best.gap) <= true <= Fraction(best.loss)
    assert nr.verify(certificate, X, y).confirmed
    loss = best.loss * factor
    assert not nr.verify(forged(certificate, loss=loss), X, y).confirmed
    worse = dict(best.witness)
    worse["0"] += math.sqrt((factor - 1) * best.loss / 50)
    residues = [dot(x, fractions(list(worse.values()))) for x in table(X)]
    paid = sum(
        ((r - v) ** 2 for r, v in zip(residues, fractions(y), strict=True)),
        Fraction(0),
    )
    assert paid > true * (1 + Fraction(factor - 1) / 2)
    assert not nr.verify(forged(certificate, loss=float(paid), witness=worse), X, y).confirmed


@pytest.mark.parametrize("name", OFFSETS)
def test_sums_alone_are_exact_only_as_far_as_they_keep_digits(name: str) -> None:
    X, y = OFFSETS[name]
    certificate = nr.play(nr.make("vaw"), X, y, keep="sums").certificate()
    best = certificate.hindsight
    assert best.exact == (best.gap <= 1e-9 * best.loss)
    assert nr.verify(certificate, X, y).failed == ()
    if not best.exact:
        bold = forged(certificate, loss=best.loss, gap=best.gap, exact=True)
        assert not nr.verify(bold, X, y).confirmed
        assert not nr.verify(forged(certificate, loss=100 * best.loss), X, y).confirmed


@pytest.mark.parametrize("keep", ["rows", "sums"])
@pytest.mark.parametrize("method", ["linear-regression", "ridge"])
@pytest.mark.parametrize("name", OFFSETS)
def test_of_a_batch_method_only_the_loss_of_its_weights_is_confirmed(
    name: str, method: str, keep: Any
) -> None:
    X, y = OFFSETS[name]
    fitted = nr.batch.make(method, **({"penalty": 1e-9} if method == "ridge" else {}))
    try:
        certificate = nr.play(fitted, X, y, keep=keep).certificate()
    except nr.NoRegretError:  # sums do not tell what the weights pay
        assert keep == "sums"
        return
    assert nr.verify(certificate, X, y).failed == ()
    best = certificate.hindsight
    for factor in (0.0, 0.5, 1000.0):
        stated = json.loads(certificate.to_json())
        total = stated["loss"]["total"] * factor
        more = total - stated["loss"]["total"]
        stated["loss"] |= {"total": total, "mean": total / 50}
        upper = total - (best.loss - best.gap)
        stated["regret"] = {"lower": total - best.loss, "upper": upper}
        stated["theorem"]["measured"] += more
        assert not nr.verify(resealed(stated), X, y).confirmed, factor
