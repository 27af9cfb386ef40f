"""Small problems, many of them degenerate, and what an independent solver makes of them."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.losses import losses_of

Floats = NDArray[np.float64]
cp: Any = import_module("cvxpy")  # its type hints miss most of its names

LABELLED = ("hinge", "squared-hinge", "logistic")
CONVEX = {
    "square": 0.0,
    "absolute": 0.0,
    "quantile": 0.3,
    "epsilon-insensitive": 0.4,
    "squared-epsilon-insensitive": 0.4,
    "huber": 0.7,
    "hinge": 0.0,
    "squared-hinge": 0.0,
    "logistic": 0.0,
    "linear": 0.0,
}
SHAPES = {
    "plain": (40, 4),
    "duplicate columns": (30, 5),
    "columns of zeros": (30, 4),
    "constant outcomes": (25, 3),
    "fewer rows than features": (6, 12),
    "one row": (1, 3),
    "one feature": (20, 1),
    "whole numbers": (40, 5),
    "without noise": (30, 4),
    "repeated rows": (30, 3),
}


class Problem(NamedTuple):
    """Rows, outcomes and a loss with its parameter."""

    X: Floats
    y: Floats
    loss: str
    parameter: float | None

    def total(self, w: Floats) -> float:
        """The loss of w, as floating-point numbers have it."""
        losses = losses_of(self.loss, self.y, self.parameter)
        return float(losses.value(self.X @ w).sum())

    def exactly(self, w: Floats) -> Fraction:
        """The loss of w without any rounding; not for the logistic loss."""
        weights = [Fraction(v) for v in w.tolist()]
        total = Fraction(0)
        for x, y in zip(self.X.tolist(), self.y.tolist(), strict=True):
            score = sum((Fraction(a) * b for a, b in zip(x, weights, strict=True)), Fraction(0))
            total += exact_loss(self.loss, score, Fraction(y), Fraction(self.parameter or 0))
        return total


def exact_loss(loss: str, s: Fraction, y: Fraction, parameter: Fraction) -> Fraction:
    """The loss of one score as a rational number."""
    away = abs(s - y)
    over, short = max(Fraction(0), away - parameter), max(Fraction(0), 1 - y * s)
    rising = 1 - float(parameter)  # the core's slope above the outcome is this number
    return {
        "square": away**2,
        "absolute": away,
        "quantile": Fraction(rising) * (s - y) if s > y else parameter * (y - s),
        "epsilon-insensitive": over,
        "squared-epsilon-insensitive": over**2,
        "huber": away**2 / 2 if away <= parameter else parameter * (away - parameter / 2),
        "hinge": short,
        "squared-hinge": short**2,
        "linear": y * s,
    }[loss]


def problem(kind: str, loss: str, seed: int) -> Problem:
    """Make a problem of a kind in SHAPES."""
    draw = np.random.default_rng([seed, list(SHAPES).index(kind), list(CONVEX).index(loss)])
    rounds, features = SHAPES[kind]
    X = draw.normal(size=(rounds, features))
    if kind == "duplicate columns":
        X[:, 3] = X[:, 1]
    if kind == "columns of zeros":
        X[:, 2] = 0.0
    if kind == "whole numbers":
        X = np.round(X)
    if kind == "repeated rows":
        X = X[draw.integers(0, 5, size=rounds)]
    scores = X @ draw.normal(size=features)
    noise = 0.0 if kind == "without noise" else 0.7
    y = scores + noise * draw.normal(size=rounds)
    if loss in LABELLED:
        y = np.where(y > 0, 1.0, -1.0)
    elif kind == "whole numbers":
        y = np.round(y)
    if kind == "constant outcomes":
        y[:] = 1.0
    return Problem(X, y, loss, CONVEX[loss] or None)


def expression(task: Problem, w: Any) -> Any:
    """Write the loss of w for CVXPY."""
    s, y, parameter = task.X @ w, task.y, task.parameter or 0.0
    away, short = s - y, cp.pos(1 - cp.multiply(y, s))
    made = {
        "square": lambda: cp.sum_squares(away),
        "absolute": lambda: cp.norm1(away),
        "quantile": lambda: cp.sum(cp.maximum(-parameter * away, (1 - parameter) * away)),
        "epsilon-insensitive": lambda: cp.sum(cp.pos(cp.abs(away) - parameter)),
        "squared-epsilon-insensitive": lambda: cp.sum_squares(cp.pos(cp.abs(away) - parameter)),
        "huber": lambda: 0.5 * cp.sum(cp.huber(away, parameter)),
        "hinge": lambda: cp.sum(short),
        "squared-hinge": lambda: cp.sum_squares(short),
        "logistic": lambda: cp.sum(cp.logistic(-cp.multiply(y, s))),
        "linear": lambda: y @ s,
    }
    return made[task.loss]()


def solved(objective: Any, constraints: list[Any], solver: str = "CLARABEL") -> float | None:
    """Return the minimum that an independent solver finds, or None where it doubts itself."""
    task = cp.Problem(cp.Minimize(objective), constraints)
    options = {"eps": 1e-9, "max_iters": 20_000} if solver == "SCS" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so in its status too
        try:
            least = float(task.solve(solver=solver, **options))
        except cp.SolverError:
            return None
    return least if task.status == "optimal" and math.isfinite(least) else None


def into_ball(w: Floats, radius: float) -> Floats:
    """Return w, scaled down if it is outside the ball."""
    return np.asarray(w * min(1.0, radius * (1 - 1e-12) / max(float(np.linalg.norm(w)), 1e-300)))
