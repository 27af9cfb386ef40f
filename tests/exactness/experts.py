"""The best expert, the best sequence of experts and the best mixture, against rational numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from noregret.errors import BadExample
from noregret.hindsight.experts import best_convex, best_expert
from noregret.hindsight.rows import Rows
from noregret.hindsight.switches import best_sequences
from tests.exactness.arithmetic import (
    SURE,
    Matrix,
    Vector,
    dot,
    fractions,
    ln,
    table,
    weights_of,
)
from tests.exactness.intervals import outside, untrue
from tests.exactness.losses import LOSSES as PARAMETERS
from tests.exactness.losses import OWN, OWN_SHARE, own, rest_of
from tests.exactness.protocol import Case
from tests.exactness.tables import KINDS, Floats, plain, tenths
from tests.exactness.weightings import balanced

LOSSES = ("given", "square", "absolute", "zero-one", "log", "quantile", "percentage")
CONVEX = ("given", "square", "absolute", "log", "quantile", "percentage")
QUANTILE = PARAMETERS["quantile"]
# Cases of a short run.
SHORT = 40


def cost(loss: str, x: Fraction, y: Fraction) -> Fraction:
    """Return what a forecast costs, exactly but for logarithms."""
    loss = loss.removeprefix("own ")
    if loss == "square":
        return (x - y) ** 2
    if loss == "absolute":
        return abs(x - y)
    if loss == "zero-one":
        return Fraction(x != y)
    if loss == "quantile":
        q = Fraction(QUANTILE or 0)
        return max(rest_of(q) * (x - y), q * (y - x))
    if loss == "percentage":
        return abs(x - y) / abs(y)
    one = -y * ln(x) if y else Fraction(0)
    return one - ((1 - y) * ln(1 - x) if y < 1 else 0)


def advice(rng: np.random.Generator, loss: str) -> tuple[str, Floats, Floats]:
    """Return a kind of data, the advice or the losses, and the outcomes."""
    rows, columns = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    kind = str(rng.choice([*KINDS, "tenths", "planted"]))
    if kind == "tenths":
        rows = 1 if loss == "log" else rows
        X = tenths(rng, rows, columns)[:: 1 if loss == "given" else 5]
    else:
        X = KINDS.get(kind, plain)(rng, rows, columns)
    y = rng.choice(X.ravel(), len(X)) if rng.random() < 0.5 else rng.normal(size=len(X))
    if kind == "planted":
        share = 1 / 2.0 ** rng.integers(0, 4)
        y = X[:, 0] * share + X[:, -1] * (1 - share)
    if kind == "huge offset":
        y = 1e8 + rng.normal(size=len(X))
    if loss == "percentage":
        y[y == 0] = 1.0
    if loss == "zero-one":
        X, y = np.sign(X), np.sign(y)
    if loss == "log":
        X = X[:400]
        with np.errstate(over="ignore"):
            X, y = (1 / (1 + np.exp(-part)) for part in (X, y[: len(X)]))
        if rng.random() < 0.3:  # some are tiny
            X = X * 10.0 ** rng.integers(-40, 1, X.shape)
        X = np.clip(X, 1e-300, 1 - 2**-53)
        y = np.rint(y) if rng.random() < 0.5 else y
    return kind, X, y


def paid(loss: str, X: Matrix, y: Vector) -> Matrix:
    """Return what every expert pays in every round."""
    if loss == "given":
        return X
    return [[cost(loss, x, now) for x in row] for row, now in zip(X, y, strict=True)]


def draw(seed: int) -> Case:
    """Return a question about experts."""
    rng = np.random.default_rng(seed)
    group = ("best expert", "sequences", "mixture")[int(rng.integers(3))]
    loss = str(rng.choice(CONVEX if group == "mixture" else LOSSES))
    kind, X, y = advice(rng, loss)
    if loss in OWN and rng.random() < OWN_SHARE:
        loss = "own " + loss
    if group == "mixture" and "log" not in loss and len(X) > 50:
        X, y = X[:50], y[:50]
    if group == "mixture" and loss != "given":
        X, y = moderate(X), moderate(y)
    question = {"best expert": of_expert, "sequences": of_sequences, "mixture": of_mixture}[group]
    return Case(group, loss, kind, lambda: question(loss, X, y))


def moderate(values: Floats) -> Floats:
    """Return values whose squares add up to a number."""
    return np.clip(values, -1e145, 1e145)


def given(loss: str, X: Floats, y: Floats) -> tuple[Any, Any, float | None]:
    """Return the arguments of hindsight's questions."""
    if loss == "given":
        return X, None, None
    if loss.startswith("own "):
        return Rows(X, y), own(loss.removeprefix("own ")), None
    return Rows(X, y), loss, QUANTILE if loss == "quantile" else None


def error_of(loss: str, rounds: int) -> Fraction:
    """Return the error of the exact arithmetic."""
    return SURE * rounds if "log" in loss else Fraction(0)


def of_expert(loss: str, X: Floats, y: Floats) -> str:
    """Check the best expert."""
    asked, name, parameter = given(loss, X, y)
    answer = best_expert(asked, name, loss_parameter=parameter)
    losses = paid(loss, table(X), fractions(y))
    totals = [sum(column, Fraction(0)) for column in zip(*losses, strict=True)]
    error = error_of(loss, len(X))
    if sorted(answer.witness)[-1:] != [1.0] or np.count_nonzero(answer.witness) != 1:
        return f"the witness {answer.witness} is no expert"
    own = totals[int(np.argmax(answer.witness))]
    return untrue(answer.lower, answer.loss, own, min(totals), error)


def of_sequences(loss: str, X: Floats, y: Floats) -> str:
    """Check the best sequences with few switches, by the same recursion in rational numbers."""
    asked, name, parameter = given(loss, X, y)
    most = 3
    found = best_sequences(asked, most, name, loss_parameter=parameter)
    losses = paid(loss, table(X), fractions(y))
    error = error_of(loss, len(X))
    ends = [list(losses[0]) for _ in range(most + 1)]
    for row in losses[1:]:
        leasts = [min(end) for end in ends]
        ends = [
            [
                now + min(stay, leasts[k - 1] if k else stay)
                for now, stay in zip(row, ends[k], strict=True)
            ]
            for k in range(most + 1)
        ]
    for k in range(most + 1):
        answer, stays = found.answer(k), found.stays(k)
        if len(stays) > k + 1 or stays[0][0] != 1:
            return f"{len(stays) - 1} switches where {k} are allowed"
        own, at = Fraction(0), 0
        for t, row in enumerate(losses, 1):
            at += at + 1 < len(stays) and stays[at + 1][0] == t
            own += row[stays[at][1]]
        if wrong := untrue(answer.lower, answer.loss, own, min(ends[k]), error):
            return f"{k} switches: {wrong}"
    return ""


def of_mixture(loss: str, X: Floats, y: Floats) -> str:
    """Check the best mixture: its witness, and that no candidate pays less than the lower end."""
    asked, name, parameter = given(loss, X, y)
    try:
        answer = best_convex(asked, name, loss_parameter=parameter)
    except BadExample:
        with np.errstate(over="ignore"):
            beyond = loss == "percentage" and np.isinf((X - y[:, None]) / y[:, None]).any()
        return "" if beyond else "refused"
    rows, outcomes = table(X), fractions(y)
    error = error_of(loss, 2 * len(X))

    def pays(q: Vector) -> Fraction:
        if loss == "given":
            return sum((dot(q, row) for row in rows), Fraction(0))
        return sum(
            (cost(loss, dot(q, row), now) for row, now in zip(rows, outcomes, strict=True)),
            Fraction(0),
        )

    if (answer.witness < 0).any() or abs(answer.witness.sum() - 1) > 1e-12:
        return f"the witness {answer.witness} is no mixture"
    own = pays(weights_of(answer.witness))
    if wrong := untrue(-np.inf, answer.loss, own, own, error):
        return wrong
    for q in candidates(loss, rows, outcomes, answer.witness):
        if wrong := outside(answer.lower, np.inf, pays(q), error):
            return wrong
    return ""


def candidates(loss: str, rows: Matrix, outcomes: Vector, witness: Floats) -> Iterator[Vector]:
    """Yield mixtures that may be best: with square loss or two experts, the best is one."""
    n = len(rows[0])
    yield weights_of(witness)
    for i in range(n):
        yield [Fraction(i == k) for k in range(n)]
    if loss == "given":
        return
    loss = loss.removeprefix("own ")
    residuals = [[x - now for x in row] for row, now in zip(rows, outcomes, strict=True)]
    if loss == "square":
        for size in range(2, n + 1):
            for support in combinations(range(n), size):
                found = balanced([[row[k] for k in support] for row in rows], outcomes)
                if found and min(found) >= 0:
                    yield [
                        found[support.index(k)] if k in support else Fraction(0) for k in range(n)
                    ]
        return
    for i, j in combinations(range(n), 2):
        pairs = [(row[i], row[j]) for row in residuals]
        if loss == "log":
            shares = [stationary(rows, outcomes, i, j)]
        else:
            shares = [b / (b - a) for a, b in pairs if a != b][:8]
        for share in shares:
            if 0 < share < 1:
                yield [share if k == i else 1 - share if k == j else Fraction(0) for k in range(n)]


def stationary(rows: Matrix, outcomes: Vector, i: int, j: int) -> Fraction:
    """Return the share of expert i, beside j, at which the log loss is least, nearly."""
    low, high = 0.0, 1.0
    a, b, y = (
        np.array([float(v) for v in part])
        for part in ([row[i] for row in rows], [row[j] for row in rows], outcomes)
    )
    for _ in range(80):
        share = 0.5 * (low + high)
        x = share * a + (1 - share) * b
        with np.errstate(all="ignore"):
            slope = float(((a - b) * np.nan_to_num(-y / x + (1 - y) / (1 - x))).sum())
        low, high = (low, share) if slope > 0 else (share, high)
    return Fraction(share)
