"""The adaptive and parameter-free learners in plain dense NumPy, beside ``tests.reference``."""

from __future__ import annotations

import numpy as np

from tests.reference import Floats, Reference, project


class Adagrad(Reference):
    def __init__(
        self,
        n: int,
        loss: str,
        rate: float,
        form: str = "diagonal",
        radius: float | None = None,
        loss_parameter: float | None = None,
    ) -> None:
        super().__init__(n)
        self.loss, self.loss_parameter = loss, loss_parameter
        self.rate, self.form, self.radius = rate, form, radius
        self.squares = np.zeros(n)

    def learn(self, x: Floats, y: float) -> None:
        g = self.slope(self.score(x), y) * x
        self.squares = self.squares + g**2
        divisor = np.sqrt(self.squares if self.form == "diagonal" else self.squares.sum())
        step = self.rate * g / np.where(divisor > 0, divisor, 1.0)
        domain = "box" if self.form == "diagonal" else "ball"
        self.w = project(self.w - step, domain, self.radius)


class FtrlProximal(Reference):
    """The leader itself, from the whole history: nothing is accumulated but what is summed."""

    def __init__(
        self, n: int, loss: str, rate: float, beta: float = 1.0, l1: float = 0.0, l2: float = 0.0
    ) -> None:
        super().__init__(n)
        self.loss, self.rate, self.beta, self.l1, self.l2 = loss, rate, beta, l1, l2
        self.gradients: list[Floats] = []
        self.used: list[Floats] = []

    def learn(self, x: Floats, y: float) -> None:
        self.used.append(self.w)
        self.gradients.append(self.slope(self.score(x), y) * x)
        roots = np.sqrt(np.cumsum(np.square(self.gradients), axis=0))
        rises = np.diff(roots, axis=0, prepend=0.0) / self.rate
        pull = np.sum(self.gradients, axis=0) - np.sum(rises * np.array(self.used), axis=0)
        stiff = (self.beta + roots[-1]) / self.rate + self.l2
        self.w = -np.sign(pull) * np.maximum(0.0, np.abs(pull) - self.l1) / stiff


class CoinBetting(Reference):
    def __init__(
        self,
        n: int,
        loss: str,
        form: str = "coordinate",
        wealth: float = 1.0,
        lipschitz: float = 1.0,
    ) -> None:
        super().__init__(n)
        self.loss, self.form, self.lipschitz = loss, form, lipschitz
        self.gamblers = np.zeros(n, dtype=int) if form == "norm" else np.arange(n)
        self.wealth = np.full(n, wealth)[self.gamblers]
        self.coins, self.bets = np.zeros(n), np.zeros(n)

    def learn(self, x: Floats, y: float) -> None:
        c = -self.slope(self.score(x), y) * x / self.lipschitz
        if self.form == "norm":
            c = c / max(1.0, float(np.linalg.norm(c)))
            self.wealth = self.wealth + c @ self.w
            self.bets = self.bets + bool(np.any(c))
        else:
            c = np.clip(c, -1, 1)
            self.wealth = self.wealth + c * self.w
            self.bets = self.bets + (c != 0)
        self.coins = self.coins + c
        self.w = self.coins / (self.bets + 1) * self.wealth


class ScaleInvariant(Reference):
    def __init__(self, n: int, loss: str, wealth: float = 1.0, lipschitz: float = 1.0) -> None:
        super().__init__(n)
        self.loss, self.lipschitz = loss, lipschitz
        self.wealth = np.full(n, wealth)
        self.coins, self.squares, self.peak = np.zeros(n), np.zeros(n), np.zeros(n)

    def shares(self, peak: Floats) -> Floats:
        s = np.sqrt(self.squares + peak**2)
        s = np.where(s > 0, s, 1.0)
        return np.asarray(np.clip(self.coins / s, -1, 1) / (2 * s))

    def score(self, x: Floats) -> float:
        return float(self.wealth * self.shares(np.maximum(self.peak, np.abs(x))) @ x)

    def learn(self, x: Floats, y: float) -> None:
        c = -np.clip(self.slope(self.score(x), y) / self.lipschitz, -1, 1) * x
        self.peak = np.maximum(self.peak, np.abs(x))
        self.wealth = self.wealth * (1 + c * self.shares(self.peak))
        self.coins, self.squares = self.coins + c, self.squares + c**2
        self.w = self.wealth * self.shares(self.peak)
