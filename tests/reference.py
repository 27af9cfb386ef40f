"""Every learner once more, in plain dense NumPy: what the compiled core must agree with.

Each class is the pseudocode of one algorithm, written for reading and not for speed. ``w`` are
the weights that the next round will use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
LossFunction = Callable[[float, float, float], float]

# Losses: functions of score, outcome and the loss's own parameter.

LABELLED = frozenset({"hinge", "squared-hinge", "mistake", "logistic"})
PARAMETERS = {
    "quantile": 0.5,
    "epsilon-insensitive": 0.1,
    "squared-epsilon-insensitive": 0.1,
    "huber": 1.0,
}
VALUES: dict[str, LossFunction] = {
    "square": lambda s, y, _: (s - y) * (s - y),
    "absolute": lambda s, y, _: abs(s - y),
    "quantile": lambda s, y, q: max(q * (y - s), (1 - q) * (s - y)),
    "epsilon-insensitive": lambda s, y, e: max(0.0, abs(s - y) - e),
    "squared-epsilon-insensitive": lambda s, y, e: max(0.0, abs(s - y) - e) ** 2,
    "huber": lambda s, y, d: 0.5 * (s - y) ** 2 if abs(s - y) <= d else d * (abs(s - y) - d / 2),
    "hinge": lambda s, y, _: max(0.0, 1 - y * s),
    "squared-hinge": lambda s, y, _: max(0.0, 1 - y * s) ** 2,
    "mistake": lambda s, y, _: float(y * s <= 0),
    "logistic": lambda s, y, _: float(np.logaddexp(0.0, -y * s)),
    "linear": lambda s, y, _: y * s,
}
SLOPES: dict[str, LossFunction] = {
    "square": lambda s, y, _: 2 * (s - y),
    "absolute": lambda s, y, _: float(np.sign(s - y)),
    "quantile": lambda s, y, q: (1 - q) * (s > y) - q * (s < y),
    "epsilon-insensitive": lambda s, y, e: float(np.sign(s - y)) * (abs(s - y) > e),
    "squared-epsilon-insensitive": lambda s, y, e: (
        2 * float(np.sign(s - y)) * max(0.0, abs(s - y) - e)
    ),
    "huber": lambda s, y, d: min(d, max(-d, s - y)),
    "hinge": lambda s, y, _: -y * (y * s < 1),
    "squared-hinge": lambda s, y, _: -2 * y * max(0.0, 1 - y * s),
    "mistake": lambda s, y, _: -y * (y * s <= 0),
    "logistic": lambda s, y, _: -y * float(expit(-y * s)),
    "linear": lambda s, y, _: y,
}


def crossing(start: float, rate: float, slope_after: Callable[[float], float]) -> float:
    """Find the t with t = rate · slope_after(t), where slope_after never rises.

    That is the implicit step: setting the derivative of rate · loss + distance to zero says that
    the step is the rate times the slope where the step ends. A jump of the slope may hold it.
    ``start`` is the slope before the step; the answer lies between 0 and rate · start.
    """
    low, high = sorted((0.0, rate * start))
    for _ in range(90):
        middle = 0.5 * (low + high)
        if middle in (low, high):  # no number lies between them
            break
        if middle < rate * slope_after(middle):
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def shares(logs: Floats) -> Floats:
    """Return the weights on the simplex that have these logarithms, up to a constant."""
    masses: Floats = np.exp(logs - logs.max())
    return np.asarray(masses / masses.sum())


def rate_of_round(t: int, rate: float, schedule: str, horizon: int | None) -> float:
    if schedule == "horizon":
        assert horizon is not None
        return rate / float(np.sqrt(horizon))
    return rate / float(np.sqrt(t)) if schedule == "sqrt" else rate


def project(w: Floats, domain: str, radius: float | None) -> Floats:
    """Return the point of the domain nearest to w."""
    if radius is None or domain == "everything":
        return w
    if domain == "box":
        return np.clip(w, -radius, radius)
    return w * min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300))


class Reference:
    """Zero weights, a linear score, and the loss that the learner answers for."""

    loss: str = "square"
    loss_parameter: float | None = None
    unit: float = 0.0  # the size that the weights have by nature, where they have one

    def __init__(self, n: int) -> None:
        self.w = np.zeros(n)
        self.t = 0

    def score(self, x: Floats) -> float:
        return float(self.w @ x)

    def learn(self, x: Floats, y: float) -> None:
        raise NotImplementedError

    def value(self, s: float, y: float) -> float:
        return VALUES[self.loss](s, y, self._parameter())

    def slope(self, s: float, y: float) -> float:
        return SLOPES[self.loss](s, y, self._parameter())

    def _parameter(self) -> float:
        default = PARAMETERS.get(self.loss, 0.0)
        return default if self.loss_parameter is None else self.loss_parameter


class WidrowHoff(Reference):
    def __init__(self, n: int, rate: float, norm: float = 1.0, step: str = "explicit") -> None:
        super().__init__(n)
        self.rate, self.step = rate / norm**2, step

    def learn(self, x: Floats, y: float) -> None:
        divisor = 1 + self.rate * float(x @ x) if self.step == "implicit" else 1.0
        self.w = self.w - self.rate / divisor * (self.score(x) - y) * x


class Nlms(Reference):
    def __init__(self, n: int, rate: float, epsilon: float) -> None:
        super().__init__(n)
        self.rate, self.epsilon = rate, epsilon

    def learn(self, x: Floats, y: float) -> None:
        self.w = self.w - self.rate * (self.score(x) - y) * x / (self.epsilon + x @ x)


class GradientDescent(Reference):
    """Also the online SVM and logistic regression: they are nothing but its losses."""

    def __init__(
        self,
        n: int,
        loss: str,
        rate: float,
        schedule: str = "constant",
        horizon: int | None = None,
        domain: str = "everything",
        radius: float | None = None,
        step: str = "explicit",
        loss_parameter: float | None = None,
    ) -> None:
        super().__init__(n)
        self.loss, self.loss_parameter, self.step = loss, loss_parameter, step
        self.rate, self.schedule, self.horizon = rate, schedule, horizon
        self.domain, self.radius = domain, radius

    def learn(self, x: Floats, y: float) -> None:
        self.t += 1
        rate = rate_of_round(self.t, self.rate, self.schedule, self.horizon)
        s = self.score(x)
        size = rate * self.slope(s, y)
        if self.step == "implicit":
            squared = float(x @ x)
            size = crossing(self.slope(s, y), rate, lambda t: self.slope(s - t * squared, y))
        self.w = project(self.w - size * x, self.domain, self.radius)


class ExponentiatedGradient(Reference):
    """Also normalised and balanced Winnow, with the mistake loss, and entropic FTRL."""

    def __init__(
        self,
        n: int,
        loss: str,
        rate: float,
        schedule: str = "constant",
        horizon: int | None = None,
        weight: float | None = None,
        step: str = "explicit",
        loss_parameter: float | None = None,
    ) -> None:
        super().__init__(n)
        self.loss, self.loss_parameter, self.step = loss, loss_parameter, step
        self.rate, self.schedule, self.horizon = rate, schedule, horizon
        self.weight, self.unit = weight, weight or 1.0
        self.logs = np.zeros(n if weight is None else 2 * n)
        self.w = self.signed()

    def learn(self, x: Floats, y: float) -> None:
        self.t += 1
        rate = rate_of_round(self.t, self.rate, self.schedule, self.horizon)
        s = self.score(x)
        z = x if self.weight is None else np.concatenate([self.weight * x, -self.weight * x])
        size = rate * self.slope(s, y)
        if self.step == "implicit":
            size = crossing(
                self.slope(s, y),
                rate,
                lambda t: self.slope(float(shares(self.logs - t * z) @ z), y),
            )
        self.logs = self.logs - size * z
        self.w = self.signed()

    def signed(self) -> Floats:
        share = shares(self.logs)
        if self.weight is None:
            return share
        n = len(share) // 2
        return self.weight * (share[:n] - share[n:])


class Perceptron(Reference):
    loss = "mistake"

    def learn(self, x: Floats, y: float) -> None:
        if y * self.score(x) <= 0:
            self.w = self.w + y * x


class Winnow1(Reference):
    """Yes where the weights of the features present exceed n/2; nothing is ever just equal."""

    loss = "mistake"

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.n, self.w = n, np.ones(n)

    def score(self, x: Floats) -> float:
        # The weights are whole numbers: the quarter only settles what "exceed" means.
        return float(self.w @ x) - self.n / 2 - 0.25

    def learn(self, x: Floats, y: float) -> None:
        if y * self.score(x) <= 0:
            self.w = np.where(x == 1, 2 * self.w if y > 0 else 0.0, self.w)


class PassiveAggressive(Reference):
    LOSSES: ClassVar = {
        "hinge": "squared-hinge",
        "epsilon-insensitive": "squared-epsilon-insensitive",
    }

    def __init__(
        self, n: int, form: str, aggressiveness: float, loss: str, epsilon: float = 0.1
    ) -> None:
        super().__init__(n)
        self.form, self.c, self.margin, self.epsilon = form, aggressiveness, loss, epsilon
        self.loss = self.LOSSES[loss] if form == "pa-ii" else loss
        self.loss_parameter = epsilon

    def learn(self, x: Floats, y: float) -> None:
        s, norm2 = self.score(x), float(x @ x)
        lost = VALUES[self.margin](s, y, self.epsilon)
        if lost == 0 or norm2 == 0:
            return
        size = {
            "pa": lost / norm2,
            "pa-i": min(self.c, lost / norm2),
            "pa-ii": lost / (norm2 + 1 / (2 * self.c)),
        }[self.form]
        self.w = self.w + size * (y if self.margin == "hinge" else np.sign(y - s)) * x


class Leader(Reference):
    """Follow the leader, and the Euclidean regularised leader where a rate is given."""

    def __init__(
        self,
        n: int,
        loss: str,
        rate: float | None = None,
        schedule: str = "constant",
        horizon: int | None = None,
        domain: str = "ball",
        radius: float | None = None,
        loss_parameter: float | None = None,
    ) -> None:
        super().__init__(n)
        self.loss, self.loss_parameter, self.domain, self.radius = (
            loss,
            loss_parameter,
            domain,
            radius,
        )
        self.rate, self.schedule, self.horizon = rate, schedule, horizon
        self.sum = np.zeros(n)

    def learn(self, x: Floats, y: float) -> None:
        self.t += 1
        self.sum = self.sum + self.slope(self.score(x), y) * x
        if self.rate is not None:
            # The weights of the coming round, and so its rate.
            rate = rate_of_round(self.t + 1, self.rate, self.schedule, self.horizon)
            self.w = project(-rate * self.sum, self.domain, self.radius)
        elif self.domain == "box":
            self.w = -(self.radius or 0.0) * np.sign(self.sum)
        else:
            length = float(np.linalg.norm(self.sum))
            self.w = -(self.radius or 0.0) * self.sum / length if length > 0 else 0 * self.sum


class Conjunction(Reference):
    """``w`` is +1 where only the literal is kept, −1 where only its negation is."""

    loss = "mistake"

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.plain, self.negated = np.ones(n, dtype=bool), np.ones(n, dtype=bool)

    def score(self, x: Floats) -> float:
        if self.plain.all() and self.negated.all():
            return -0.5
        falsified = (self.plain & (x == 0)).sum() + (self.negated & (x == 1)).sum()
        return 0.5 - float(falsified)

    def learn(self, x: Floats, y: float) -> None:
        if y > 0 and self.score(x) <= 0:
            self.plain &= x == 1
            self.negated &= x == 0
            self.w = self.plain.astype(np.float64) - self.negated
