"""Both kernel learners written down with NumPy alone, from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Kernel = Callable[[Floats, Floats], float]


def kernel(kind: str, width: float = 1.0, degree: int = 2, offset: float = 1.0) -> Kernel:
    """Return k(x, z)."""
    return {
        "rbf": lambda x, z: math.exp(-float(((x - z) ** 2).sum()) / (2 * width**2)),
        "polynomial": lambda x, z: (float(x @ z) + offset) ** degree,
        "linear": lambda x, z: float(x @ z),
    }[kind]


def gram(k: Kernel, X: Floats, Z: Floats) -> Floats:
    return np.array([[k(x, z) for z in Z] for x in X]).reshape(len(X), len(Z))


@dataclass
class Function:
    """A function of a kernel's space: points and their coefficients."""

    k: Kernel
    points: list[Floats] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)

    def __call__(self, x: Floats) -> float:
        return sum(c * self.k(s, x) for s, c in zip(self.points, self.coefficients, strict=True))

    def inner(self, other: Function) -> float:
        return sum(c * other(s) for s, c in zip(self.points, self.coefficients, strict=True))

    @property
    def norm(self) -> float:
        return math.sqrt(max(0.0, self.inner(self)))


@dataclass
class Machine:
    """f ← f − rate · slope · k(x, ·), within a budget and a ball."""

    k: Kernel
    rate: float
    budget: int
    radius: float = math.inf
    moved: float = 0.0
    exchanged: float = 0.0
    removals: int = 0

    def __post_init__(self) -> None:
        self.f = Function(self.k)

    def step(self, x: Floats, slope: float) -> None:
        if slope == 0:
            return
        self.f.points.append(x)
        self.f.coefficients.append(-self.rate * slope)
        if len(self.f.points) > self.budget:
            self.remove()
        if self.f.norm > self.radius:
            share = self.radius / self.f.norm
            self.f.coefficients = [share * c for c in self.f.coefficients]

    def remove(self) -> None:
        """Let the vector go that others can best stand in for, the Gram matrix a little lifted."""
        points, c = np.array(self.f.points), np.array(self.f.coefficients)
        K = gram(self.k, points, points)
        size = np.sqrt(K.diagonal())
        inverse = np.linalg.inv(K / np.outer(size, size) + 1e-5 * np.eye(len(c)))
        j = int(np.argmin((c * size) ** 2 / inverse.diagonal()))
        a = -inverse[j] / inverse[j, j] * size[j] / size
        a[j] = 0
        e = Function(self.k, list(points), list(c[j] * (np.eye(len(c))[j] - a)))
        self.moved += e.norm
        self.exchanged += e.norm**2 - 2 * e.inner(self.f)
        self.removals += 1
        keep = np.arange(len(c)) != j
        self.f = Function(self.k, list(points[keep]), list((c + c[j] * a)[keep]))
