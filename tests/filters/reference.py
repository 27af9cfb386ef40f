"""Every adaptive filter written down as in a textbook, with whole matrices and no recursions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import toeplitz

import noregret as nr
from noregret.filters.filter import Filter

Floats = NDArray[np.float64]
Step = Callable[[Floats, float], Floats]

# Every filter with its defaults, and in forms that reach the rest of its code.
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("lms", {}),
    ("lms", {"taps": 5, "rate": 0.5, "norm": 4.0}),
    ("nlms", {}),
    ("nlms", {"taps": 3, "rate": 1.5, "epsilon": 0.1}),
    ("sign-lms", {"taps": 33}),
    ("affine-projection", {}),
    ("affine-projection", {"taps": 2, "order": 7, "rate": 1.0, "epsilon": 0.1}),
    ("affine-projection", {"taps": 40, "order": 1}),
    ("rls", {}),
    ("rls", {"taps": 6, "forgetting": 0.9, "penalty": 0.5}),
]


def made(form: tuple[str, dict[str, Any]]) -> Filter:
    """Return a new filter."""
    name, params = form
    found: Filter = nr.filters.make(name, **params)
    return found


def windows(x: Floats, taps: int) -> Floats:
    """Return the window of every sample, newest first, one a row."""
    return np.asarray(toeplitz(x, np.r_[x[:1], np.zeros(taps - 1)]))


def played(name: str, params: dict[str, Any], x: Floats, d: Floats) -> tuple[Floats, Floats]:
    """Return the predictions of a filter, and its weights when all is over."""
    X, w = windows(x, params["taps"]), np.zeros(params["taps"])
    inverse = np.eye(params["taps"]) / params.get("penalty", 1.0)
    predictions = np.empty(len(x))
    for t in range(len(x)):
        predictions[t] = X[t] @ w
        error = d[t] - predictions[t]
        if name == "lms":
            longest2 = params["taps"] if params["norm"] is None else params["norm"] ** 2
            w = w + params["rate"] * error * X[t] / longest2
        elif name == "nlms":
            w = w + params["rate"] * error * X[t] / (params["epsilon"] + X[t] @ X[t])
        elif name == "sign-lms":
            w = w + params["rate"] * np.sign(error) * X[t]
        elif name == "affine-projection":
            w = w + projected(X, d, w, t, params)
        else:
            inverse = np.linalg.inv(np.linalg.inv(inverse) + np.outer(X[t], X[t]))
            w = w + error * inverse @ X[t]
            inverse = faded(inverse, params["forgetting"], params["penalty"])
    return predictions, w


def projected(X: Floats, d: Floats, w: Floats, t: int, params: dict[str, Any]) -> Floats:
    """Return the step of an affine projection."""
    last = slice(max(0, t - params["order"] + 1), t + 1)
    rows, errors = X[last], d[last] - X[last] @ w
    gram = rows @ rows.T
    cushion = params["epsilon"] + 1e-12 * gram.diagonal().max()
    solved = np.linalg.solve(gram + cushion * np.eye(len(rows)), errors)
    return np.asarray(params["rate"] * rows.T @ solved)


def faded(inverse: Floats, forgetting: float, penalty: float) -> Floats:
    """Return P/f, but with no variance above the first, where it was not above it already."""
    most = 1 / np.sqrt(forgetting)
    stretch = np.clip(1 / np.sqrt(penalty * inverse.diagonal()), 1.0, most)
    return inverse * np.outer(stretch, stretch)


def signals(seed: int, samples: int, taps: int = 8) -> tuple[Floats, Floats]:
    """Return noise that is a little coloured, silent for a while, and what a path makes of it."""
    rng = np.random.default_rng(seed)
    x = np.convolve(rng.normal(size=samples), [1.0, 0.7, 0.3])[:samples] * 0.4
    if samples > 20:
        quiet = int(rng.integers(samples - 10))
        x[quiet : quiet + int(rng.integers(1, 3 * taps))] = 0.0
    path = rng.normal(size=taps) * 0.7 ** np.arange(taps)
    return x, np.convolve(x, path)[:samples] + 0.1 * rng.normal(size=samples)


def state(player: Filter) -> dict[str, Any]:
    """Return all that a filter has learned, such that == means equal to the bit."""
    arrays, numbers, _ = player.get_state()
    shown: dict[str, Any] = {name: array.tobytes() for name, array in arrays.items()}
    return shown | {name: float(number).hex() for name, number in numbers.items()}
