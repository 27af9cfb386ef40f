"""A certificate's witness: its mistakes are counted, and its class written, without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noregret import make_loss
from noregret.hindsight import Rows, best_in_ball, best_in_box, best_in_simplex
from noregret.hindsight.proofs.witness import paid_by


def test_no_mistake_is_hidden_by_rounding() -> None:
    """Sums that nearly cancel have a sign that floating-point numbers get wrong."""
    rng, mistake = np.random.default_rng(0), make_loss("mistake")
    X, w = rng.normal(size=(200, 4)), rng.normal(size=4)
    X[:, 3] = -(X[:, :3] @ w[:3]) / w[3]
    for x, label in zip(X, rng.choice([-1.0, 1.0], size=200).tolist(), strict=True):
        pairs = zip(x.tolist(), w.tolist(), strict=True)
        score = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
        counted = paid_by(w, "all linear predictors", Rows([x], [label]), mistake).loss
        assert counted >= (score * Fraction(label) <= 0)


@pytest.mark.parametrize("radius", [1.0, 0.1, 1 / 3, 1234567.0, 1e-9 / 7, 2e30])
def test_the_words_of_a_class_are_the_class(radius: float) -> None:
    """A lower end holds for the class as written, so its number is written in full."""
    rows = Rows([[1.0, 2.0], [3.0, 1.0]], [1.0, -1.0])
    for found in (
        best_in_ball(rows, "square", radius),
        best_in_ball(rows, "absolute", radius),
        best_in_box(rows, "absolute", radius),
        best_in_simplex(rows, "absolute", weight=radius),
    ):
        assert float(found.comparator.split()[-1]) == radius
