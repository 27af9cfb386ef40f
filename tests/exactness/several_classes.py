"""The best weights and the largest margin for several classes, against exact losses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noregret.errors import NoRegretError
from noregret.hindsight import Limits, Rows, best_classes, largest_class_margin
from tests.exactness.arithmetic import SURE, Matrix, dot, exp, fractions, ln, square, table
from tests.exactness.data import Floats, Rng, drawn, power
from tests.exactness.intervals import untrue
from tests.exactness.protocol import Case

Codes = NDArray[np.intp]
SOFTMAX, HINGE, MARGIN = "softmax", "multiclass-hinge", "margin"
# Cases of a short run, and other weights that are compared with each answer.
SHORT, CANDIDATES = 60, 6


def draw(seed: int) -> Case:
    """Return a question about several classes."""
    rng = np.random.default_rng((23, seed))
    kind, examples = drawn(rng)
    X, K = examples.X[:20, :6], int(rng.integers(2, 5))
    y = rng.integers(0, K, size=len(X))
    if rng.random() < 0.5:
        with np.errstate(all="ignore"):
            y = (X @ rng.normal(size=(X.shape[1], K))).argmax(axis=1)
    asked = str(rng.choice([SOFTMAX, HINGE, MARGIN]))

    def check() -> str:
        with np.errstate(all="ignore"):
            try:
                return of_margin(X, y, K) if asked == MARGIN else of_ball(asked, X, y, K, rng)
            except NoRegretError:  # a refusal claims nothing
                return ""

    return Case("class margin" if asked == MARGIN else "classes", asked, kind, check)


def scores_of(X: Matrix, w: Floats, K: int) -> Matrix:
    """Return the exact scores of weights, which are laid out feature after feature."""
    columns = [fractions(w[k::K]) for k in range(K)]
    return [[dot(x, column) for column in columns] for x in X]


def paid(loss: str, X: Matrix, y: Codes, w: Floats, K: int) -> Fraction:
    """Return the exact loss of weights."""
    total = Fraction(0)
    for scores, own in zip(scores_of(X, w, K), y.tolist(), strict=True):
        if loss == SOFTMAX:
            top = max(scores)
            total += ln(sum((exp(s - top) for s in scores), Fraction(0))) + top - scores[own]
        else:
            total += max(s + (k != own) for k, s in enumerate(scores)) - scores[own]
    return total


def of_ball(loss: str, X: Floats, y: Codes, K: int, rng: Rng) -> str:
    """Check that the witness is in the ball and pays what is said, and that no others pay less."""
    radius = float(power(rng, -4, 4)[0])
    limits = Limits(steps=int(rng.choice([3, 30, 200])), seconds=1.0)
    answer = best_classes(Rows(X, y.astype(float)), loss, radius, classes=K, limits=limits)
    if square(fractions(answer.witness)) > Fraction(radius) ** 2:
        return "the witness is outside the ball"
    exact = table(X)
    own = paid(loss, exact, y, answer.witness, K)
    others = (paid(loss, exact, y, w, K) for w in candidates(answer.witness, radius, rng))
    least = min(own, *others)
    return untrue(answer.lower, answer.loss, own, least, (abs(own) + 1) * SURE * len(y))


def candidates(witness: Floats, radius: float, rng: Rng) -> Iterator[Floats]:
    """Yield weights of the ball: none, and some near the witness."""
    yield np.zeros_like(witness)
    for size in power(rng, -9, 0, CANDIDATES):
        near = witness + size * radius * rng.normal(size=witness.shape)
        near *= min(1.0, radius * (1 - 1e-12) / float(np.linalg.norm(near)))
        if square(fractions(near)) <= Fraction(radius) ** 2:
            yield near


def of_margin(X: Floats, y: Codes, K: int) -> str:
    """Check that the witness has the lower end as its margin."""
    found = largest_class_margin(Rows(X, y.astype(float)), classes=K)
    if not found.lower <= found.upper < np.inf:
        return f"from {found.lower!r} to {found.upper!r}"
    if not found.lower > 0:
        return ""
    least = min(
        scores[own] - max(s for k, s in enumerate(scores) if k != own)
        for scores, own in zip(scores_of(table(X), found.witness, K), y.tolist(), strict=True)
    )
    size = square(fractions(found.witness))
    if least <= 0 or least**2 < Fraction(found.lower) ** 2 * size:
        return f"the witness has not the margin {found.lower!r}"
    if least**2 > Fraction(found.upper) ** 2 * size:
        return f"the witness has a larger margin than {found.upper!r}"
    return ""
