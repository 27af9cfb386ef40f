"""An honest certificate is confirmed, of whichever learner, on whichever data it can play."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import noregret
from noregret import Certificate, averaged, play, verify
from tests.proof.certificates.games import BITS, KINDS, LABELS, NOISY, NUMBERS, ROWS
from tests.thorough import draws, paired

ONE_PER_LEARNER: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in noregret.all_learners()),
    ("winnow", {"form": "balanced"}),
    ("winnow", {"form": "winnow1", "dimension": 9}),
    ("exponentiated-gradient", {"loss": "logistic", "weight": 2.0}),
    ("gradient-descent", {"loss": "hinge", "radius": 2.0, "schedule": "sqrt"}),
    ("ftrl", {"regulariser": "entropic", "weight": 2.0}),
    ("perceptron", {"averaged": True}),
]


def data_for(learner: noregret.Learner) -> tuple[Any, Any]:
    if learner.name == "conjunction" or learner.params.get("form") == "winnow1":
        return BITS, (BITS[:, 0] * BITS[:, 1] > 0).astype(float)
    if hasattr(learner, "classes"):
        return ROWS, KINDS
    if learner.engine.loss.name == "linear":
        return ROWS, np.sign(NUMBERS)
    return ROWS, NOISY if learner.engine.loss.labels else NUMBERS / 3


@pytest.mark.parametrize(
    ("of", "form"), paired(ONE_PER_LEARNER, ["dense", "sparse", "named"]), ids=str
)
def test_an_honest_certificate_is_confirmed(of: tuple[str, dict[str, Any]], form: str) -> None:
    name, params = of
    learner = noregret.make(name, **params)
    X, y = data_for(learner)
    X, y = X[:30], y[:30]
    stream: Any = (X, y)
    if form == "sparse":
        stream = (sparse.csr_array(X * (abs(X) > 0.3)), y)
    if form == "named":  # names join late
        kept = [[f"f{i}" for i in range(X.shape[1]) if abs(x[i]) > 0.3] for x in X]
        rows = [{n: x[int(n[1:])] for n in names} for x, names in zip(X, kept, strict=True)]
        stream = list(zip(rows, y.tolist(), strict=True))
    certificate = play(learner, stream).certificate()
    found = verify(certificate, stream)
    assert found.confirmed, str(found)
    assert Certificate.from_dict(certificate.to_dict()) == certificate


def test_an_averaged_learner_is_confirmed() -> None:
    certificate = play(averaged(noregret.make("widrow-hoff")), ROWS, NUMBERS).certificate()
    assert verify(certificate, ROWS, NUMBERS).confirmed


rows_of_any_size = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 3)),
    elements=st.floats(-1e3, 1e3).map(lambda v: v if abs(v) > 1e-6 else 0.0),
)


@draws(60)
@given(rows_of_any_size, st.data())
def test_degenerate_data_are_confirmed_too(X: Any, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["nlms", "perceptron", "exponentiated-gradient"]))
    params = {"rate": 1e-7} if name == "exponentiated-gradient" else {}
    outcome = st.sampled_from([-1.0, 1.0]) if name == "perceptron" else st.floats(-1e3, 1e3)
    y = np.array(data.draw(st.lists(outcome, min_size=len(X), max_size=len(X))))
    certificate = play(noregret.make(name, **params), X, y).certificate()
    found = verify(certificate, X, y)
    assert found.confirmed, str(found)


def test_sums_and_rows_agree() -> None:
    X = np.c_[ROWS, ROWS[:, 0], np.zeros(60)] / 2  # columns that say nothing new
    game = play(noregret.make("widrow-hoff"), X, NUMBERS, keep="sums")
    assert verify(game.certificate(), X, NUMBERS).confirmed


def test_a_game_that_went_on_is_one_game() -> None:
    game = play(noregret.make("perceptron"), ROWS[:20], LABELS[:20])
    game.play(ROWS[20:], LABELS[20:])
    assert verify(game.certificate(), ROWS, LABELS).confirmed


def test_what_a_theorem_cannot_be_told_is_refused() -> None:
    game = play(noregret.make("widrow-hoff"), ROWS, NUMBERS)
    with pytest.raises(ValueError, match="unknown 'radus': a theorem can be told"):
        game.certificate(radus=3.0)
    certificate = game.certificate(radius=np.float64(0.5))
    assert certificate.hindsight.comparator == "ball of radius 0.5"
    assert verify(certificate, ROWS, NUMBERS).confirmed
    assert math.isfinite(certificate.hindsight.gap)
