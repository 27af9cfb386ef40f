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
from tests.thorough import picked, sized

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


def loss_of(witness: dict[str, float], X: Any, y: Any) -> Fraction:
    """Return the square loss of a witness, exactly."""
    weights = fractions(list(witness.values()))
    errors = (dot(x, weights) - v for x, v in zip(table(X), fractions(y), strict=True))
    return sum((error**2 for error in errors), Fraction(0))


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
    paid = loss_of(worse, X, y)
    assert paid > true * (1 + Fraction(factor - 1) / 2)
    assert not nr.verify(forged(certificate, loss=float(paid), witness=worse), X, y).confirmed


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize("learner", ["vaw", "linear-regression", "ridge"])
def test_what_is_not_called_exact_is_what_its_witness_pays(name: str, learner: str) -> None:
    """A wide gap explains neither another loss nor another witness."""
    X, y = OFFSETS[name]
    make = nr.make if learner == "vaw" else nr.batch.make
    params = {"penalty": 1e-3} if learner == "ridge" else {}
    certificate = nr.play(make(learner, **params), X, y).certificate()
    assert nr.verify(certificate, X, y).confirmed
    best = certificate.hindsight
    for factor in picked((1 + 1e-7, 1 + 1e-5, 1.01, 2.0, 10.0), f"{name} {learner}", 2):
        loss = best.loss * factor
        lie = forged(certificate, loss=loss, exact=False)
        assert not nr.verify(lie, X, y).confirmed, factor
        worse = dict(best.witness)
        worse["0"] += math.sqrt((factor - 1) * best.loss / 50)
        paid = float(loss_of(worse, X, y))
        lie = forged(certificate, loss=paid, exact=False, witness=worse)
        if learner != "vaw":  # whose loss is that of its weights
            lie["loss"] |= {"total": paid, "mean": paid / 50}
            lie["regret"] = {"lower": 0.0, "upper": lie["hindsight"]["gap"]}
        if learner == "linear-regression":
            lie["theorem"]["measured"] = lie["regret"]["upper"]
        assert not nr.verify(resealed(lie), X, y).confirmed, factor


@pytest.mark.parametrize("name", OFFSETS)
def test_sums_alone_are_certified_only_as_far_as_they_keep_digits(name: str) -> None:
    X, y = OFFSETS[name]
    game = nr.play(nr.make("vaw"), X, y, keep="sums")
    if name != "nothing":
        with pytest.raises(nr.NoRegretError, match="only sums over the rows were kept"):
            game.certificate()
        return
    certificate = game.certificate()
    assert certificate.hindsight.exact
    assert nr.verify(certificate, X, y).failed == ()


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


def test_a_closed_form_was_not_stopped_by_the_clock() -> None:
    X, y = OFFSETS["nothing"]
    certificate = nr.play(nr.make("vaw"), X, y).certificate()
    half = {name: weight / 2 for name, weight in certificate.hindsight.witness.items()}
    paid = float(loss_of(half, X, y))
    for seconds in (1.0, 1e300):
        lie = forged(certificate, loss=paid, gap=paid, witness=half, seconds=seconds)
        assert not nr.verify(lie, X, y).confirmed
        honest = forged(certificate, loss=certificate.hindsight.loss, seconds=seconds)
        assert not nr.verify(honest, X, y).confirmed


@pytest.mark.parametrize("name", ["offset", "powers", "times"])
def test_what_rounding_hides_is_not_called_exact(name: str) -> None:
    """Where little is proven, nothing is exact, and a worse witness is not excused."""
    draw, N = np.random.default_rng(5), 40
    y, time = draw.normal(size=N).round(3), 1.7e12 + np.arange(N)
    X = {
        "offset": np.c_[np.round(draw.normal(size=(N, 2)) * 3) + 1e15, np.ones(N)],
        "powers": np.vander(1000 + np.arange(N) / N, 6),
        "times": np.c_[time, time**2 / 1e12, np.ones(N)],
    }[name]
    certificate = nr.play(nr.make("vaw"), X, y).certificate()
    best = certificate.hindsight
    assert best.gap > 1e-3 * best.loss
    assert not best.exact
    assert nr.verify(certificate, X, y).confirmed
    assert not nr.verify(forged(certificate, loss=best.loss, exact=True), X, y).confirmed
    top = np.linalg.svd(X, full_matrices=False)
    for factor in (0.05, 0.5, 1.0):
        step = top[2][0] * math.sqrt(factor * best.loss) / top[1][0]
        worse = {k: w + float(step[int(k)]) for k, w in best.witness.items()}
        paid = float(loss_of(worse, X, y)) * (1 + 1e-15)
        for exact in (True, False):
            lie = forged(certificate, loss=paid, gap=paid, exact=exact, witness=worse)
            assert not nr.verify(lie, X, y).confirmed, (factor, exact)


@pytest.mark.parametrize("name", ["logistic", "softmax", "multiclass-hinge", "scale-invariant"])
def test_weights_too_large_for_a_certificate_are_refused_in_words(name: str) -> None:
    game = nr.play(nr.make(name), ROWS * [1e120, 1e-120], np.sign(ROWS[:, 0]))
    with pytest.raises(nr.NoRegretError, match="scale the columns"):
        game.certificate()


def test_a_separator_too_large_for_a_certificate_is_refused_in_words() -> None:
    game = nr.play(nr.make("multiclass-perceptron"), ROWS * 1e100, np.sign(ROWS[::-1, 0]))
    with pytest.raises(nr.NoRegretError, match="scale the columns"):
        game.certificate()


@pytest.mark.parametrize("offset", sized([1e9], full=[1e6, 1e9, 1e15]))
def test_the_loss_of_a_support_vector_machine_is_that_of_its_weights(offset: float) -> None:
    X, y = ROWS + offset, np.sign(ROWS[:, 0] + 0.3 * ROWS[::-1, 1])
    certificate = nr.batch.make("soft-margin-svm").fit(X, y).certificate()
    weights = fractions([certificate.hindsight.witness[str(k)] for k in range(X.shape[1])])
    short = (1 - Fraction(v) * dot(x, weights) for x, v in zip(table(X), y.tolist(), strict=True))
    exact = float(sum((max(Fraction(0), each) for each in short), Fraction(0)))
    assert certificate.loss.total == pytest.approx(exact, rel=1e-12)
    assert certificate.hindsight.loss == pytest.approx(exact, rel=1e-9)
    assert nr.verify(certificate, X, y).confirmed


@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_a_gap_that_is_not_proven_is_refused(penalty: float) -> None:
    X, y = ROWS, ROWS @ np.arange(1.0, ROWS.shape[1] + 1) + 1e-3 * np.sin(np.arange(len(ROWS)))
    certificate = nr.batch.make("ridge", penalty=penalty).fit(X, y).certificate()
    best = certificate.hindsight
    assert nr.verify(certificate, X, y).confirmed
    assert best.gap > 1e-8 * best.loss
    assert not nr.verify(forged(certificate, loss=best.loss, gap=0.0), X, y).confirmed


def test_an_exact_fit_is_exact_however_little_time_there_is() -> None:
    X = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 1], [2, 1, 1], [3, 5, 1]])
    y = X @ [2.0, -1.0, 0.5]
    game = nr.play(nr.make("nlms"), X, y)
    certificate = game.certificate(limits=nr.hindsight.Limits(seconds=1e-9))
    assert certificate.hindsight.exact
    assert certificate.hindsight.seconds is None
    assert nr.verify(certificate, X, y).failed == ()


def test_many_long_names_of_classes_are_verified() -> None:
    names = [f"{k} " + "x" * 150 for k in range(100)]
    X = draw.normal(size=(100, 2)).round(2)
    certificate = nr.play(nr.make("softmax", radius=1.0), X, names).certificate()
    assert max(map(len, certificate.data.transforms)) > 10_000
    assert nr.verify(json.loads(certificate.to_json()), X, names).confirmed


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_of_tiny_columns_are_refused_in_words(intercept: bool) -> None:
    fitted = nr.batch.make("linear-regression", intercept=intercept).fit(ROWS * 1e-150, ROWS[:, 0])
    with pytest.raises(nr.NoRegretError, match="scale the columns"):
        fitted.certificate()


STOPPED = [
    ("perceptron", False),
    ("max-margin", False),
    ("kernel-perceptron", False),
    ("multiclass-perceptron", False),
    ("winnow", True),
    ("conjunction", True),
]


@pytest.mark.parametrize(("name", "boolean"), STOPPED)
def test_what_is_left_open_for_want_of_time_is_confirmed(name: str, boolean: bool) -> None:
    """A search that knows less claims less."""
    X = (ROWS > 0) * 1.0 if boolean else ROWS
    y = np.where(ROWS[:, 0] + 0.2 * ROWS[::-1, 0] > 0, 1, -1)
    game = nr.play(nr.make(name), X, y)
    certificate = game.certificate(limits=nr.hindsight.Limits(seconds=1e-9))
    assert nr.verify(certificate, X, y).failed == ()


def test_an_offset_does_not_excuse_a_gap_that_is_not_proven() -> None:
    X, classes = ROWS[:, :2] + 1e6, np.searchsorted([-0.2, 0.2], ROWS[:, 0] - ROWS[:, 1])
    for name in ("multiclass-hinge", "softmax"):
        certificate = nr.play(nr.make(name), X, classes).certificate()
        best = certificate.hindsight
        assert nr.verify(certificate, X, classes).failed == ()
        if best.gap > 1e-6 * best.loss:
            lie = forged(certificate, loss=best.loss, gap=0.01 * best.gap)
            assert not nr.verify(lie, X, classes).confirmed
