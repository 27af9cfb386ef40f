"""The second-order learners as their papers write them: explicit matrices, solved each round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Vaw:
    """Ridge regression with the x at hand in its matrix."""

    def __init__(self, n: int, penalty: float = 1.0) -> None:
        self.A, self.b = penalty * np.eye(n), np.zeros(n)

    def score(self, x: Floats) -> float:
        return float(x @ np.linalg.solve(self.A + np.outer(x, x), self.b))

    def learn(self, x: Floats, y: float) -> None:
        self.A += np.outer(x, x)
        self.b += y * x

    @property
    def w(self) -> Floats:
        return np.asarray(np.linalg.solve(self.A, self.b))


class Newton:
    """The online Newton step; the curvature is searched for on a grid of scores."""

    def __init__(
        self,
        n: int,
        loss: str = "square",
        penalty: float = 1.0,
        form: str = "full",
        radius: float | None = None,
    ) -> None:
        self.A, self.w = penalty * np.eye(n), np.zeros(n)
        self.loss, self.diagonal, self.radius = loss, form == "diagonal", radius

    def value(self, s: Floats, y: float) -> Floats:
        if self.loss == "square":
            return np.asarray((s - y) ** 2)
        if self.loss == "logistic":
            return np.asarray(np.logaddexp(0, -y * s))
        return np.asarray(np.maximum(0, 1 - y * s) ** 2)

    def slope(self, s: float, y: float) -> float:
        if self.loss == "square":
            return 2 * (s - y)
        if self.loss == "logistic":
            return -y / (1 + float(np.exp(y * s)))
        return -2 * y * max(0.0, 1 - y * s)

    def most(self, x: Floats) -> float:
        return np.inf if self.radius is None else self.radius * float(np.linalg.norm(x))

    def score(self, x: Floats) -> float:
        return float(np.clip(self.w @ x, -self.most(x), self.most(x)))

    def curvature(self, x: Floats, y: float) -> float:
        """Return the least of  2 (loss(v) − tangent(v)) / (v − s)²  over a grid of v."""
        s = self.score(x)
        if self.loss == "square":
            return 2.0
        v = np.concatenate([np.linspace(-1, 1, 2001) * self.most(x)])
        v = v[np.abs(v - s) > 0.02]
        above = self.value(v, y) - self.value(np.array(s), y) - self.slope(s, y) * (v - s)
        return float(np.min(2 * above / (v - s) ** 2, initial=np.inf))

    def learn(self, x: Floats, y: float, curvature: float | None = None) -> None:
        s, c = self.score(x), self.curvature(x, y) if curvature is None else curvature
        P = np.linalg.inv(self.A)
        w = self.w
        if x.any():
            w = w - (w @ x - s) / (x @ P @ x) * (P @ x)
        self.A += c * (np.diag(x * x) if self.diagonal else np.outer(x, x))
        self.w = w - self.slope(s, y) * np.linalg.solve(self.A, x)


class Arow:
    """Adaptive regularisation of weights, Σ = P r as in the paper."""

    def __init__(self, n: int, penalty: float = 1.0, form: str = "full") -> None:
        self.S, self.w, self.r = np.eye(n), np.zeros(n), penalty
        self.diagonal = form == "diagonal"

    def score(self, x: Floats) -> float:
        return float(self.w @ x)

    def learn(self, x: Floats, y: float) -> None:
        margin = y * self.score(x)
        if margin >= 1:
            return
        share = 1 / (x @ self.S @ x + self.r)
        self.w = self.w + share * (1 - margin) * y * self.S @ x
        if self.diagonal:
            self.S = np.diag(1 / (1 / np.diag(self.S) + x * x / self.r))
        else:
            self.S -= share * np.outer(self.S @ x, self.S @ x)
