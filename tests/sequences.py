"""Sequences to learn from: chance, and adversaries who see the score before they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.reference import ExponentiatedGradient, Floats, Reference

Answer = Callable[[float], float]
"""From the score of an example to its outcome."""
Sequence = Iterator[tuple[Floats, Answer]]


def fixed(y: float) -> Answer:
    return lambda score: y


def contrary(sign: float) -> Answer:
    """Always against the score; ``sign`` is +1 where the outcome is itself the slope."""
    return lambda score: sign if score > 0 else -sign


def outcome(rng: np.random.Generator, labels: bool) -> float:
    return float(rng.choice([-1.0, 1.0])) if labels else float(rng.normal())


def direction(rng: np.random.Generator, n: int) -> Floats:
    """Return a random vector of norm 1: any rate that a theorem allows is stable on it."""
    x = rng.normal(size=n)
    return np.asarray(x / np.linalg.norm(x))


def dense(rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float) -> Sequence:
    u = rng.normal(size=n)
    for _ in range(rounds):
        x = direction(rng, n)
        y = float(u @ x) + 0.3 * float(rng.normal())
        yield x, fixed(float(np.sign(y)) if labels else y)


def sparse(rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float) -> Sequence:
    for x, answer in dense(rng, n, rounds, labels, hurt):
        yield x * (rng.random(n) < 0.25), answer


def against(rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float) -> Sequence:
    for _ in range(rounds):
        yield direction(rng, n), contrary(hurt)


def alternating(
    rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float
) -> Sequence:
    """Two directions by turns, never of the same size, the labels changing at another pace."""
    xs = [direction(rng, n), direction(rng, n)]
    for t in range(rounds):
        yield float(rng.uniform(0.3, 1.0)) * xs[t % 2], fixed(1.0 if t % 3 else -1.0)


def repeated(rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float) -> Sequence:
    """One example again and again with one outcome, then another against the score.

    The second is no rational multiple of the first: steps there and back would cancel to a score
    of zero but for rounding, and then nobody could say what is right.
    """
    x, y = direction(rng, n), outcome(rng, labels)
    for t in range(rounds):
        yield (x, fixed(y)) if t < rounds // 2 else (x / np.sqrt(1 + t), contrary(hurt))


def huge_then_tiny(
    rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float
) -> Sequence:
    """One example hundreds of times too large, then tiny ones, then ordinary ones."""
    for t in range(rounds):
        size = 300.0 if t == 0 else 1e-6 if t < rounds // 2 else 0.5
        yield size * direction(rng, n), fixed(outcome(rng, labels))


def enormous(rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float) -> Sequence:
    """Examples of sizes between 1e-8 and 1e8, in any order."""
    for _ in range(rounds):
        yield float(10 ** rng.uniform(-8, 8)) * direction(rng, n), fixed(outcome(rng, labels))


def with_zeros(
    rng: np.random.Generator, n: int, rounds: int, labels: bool, hurt: float
) -> Sequence:
    """Examples of nothing but zeros, first, last and in between."""
    for t in range(rounds):
        x = direction(rng, n) if t % 3 == 1 else np.zeros(n)
        yield x, fixed(outcome(rng, labels))


SEQUENCES = {
    "dense": dense,
    "sparse": sparse,
    "against": against,
    "alternating": alternating,
    "repeated": repeated,
    "huge-then-tiny": huge_then_tiny,
    "with-zeros": with_zeros,
}


def binary(rng: np.random.Generator, n: int, rounds: int, kind: str) -> Sequence:
    """Examples of zeros and ones, the labels by a rule, by chance or against the score."""
    rule = rng.random(n) < 0.4
    for _ in range(rounds):
        x = (rng.random(n) < 0.5).astype(np.float64)
        label = 1.0 if np.any(x[rule]) else -1.0
        yield (
            x,
            {"rule": fixed(label), "chance": fixed(outcome(rng, True)), "against": contrary(-1.0)}[
                kind
            ],
        )


def arriving(
    rng: np.random.Generator, n: int, rounds: int, labels: bool, model: Reference
) -> Sequence:
    """Make up sparse examples; tell the reference of each name before its first example."""
    seen = np.zeros(n, dtype=bool)
    for t in range(rounds):
        x = rng.uniform(-1, 1, size=n) * (rng.random(n) < 0.4)
        x[: n - 1 - t // 5] = 0
        x[-1] = x[-1] or 0.5
        seen |= x != 0
        if isinstance(model, ExponentiatedGradient):
            waiting = ~np.tile(seen, len(model.logs) // n)
            model.logs = np.where(waiting, -np.inf, np.where(np.isinf(model.logs), 0.0, model.logs))
            model.w = model.signed()
        yield x, fixed(outcome(rng, labels))
