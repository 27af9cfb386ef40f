"""Streams that try to break a promise: chance, degenerate data, and players who see the learner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import noregret as nr

Floats = NDArray[np.float64]
Pairs = Iterator[tuple[Floats, float]]


@dataclass(frozen=True)
class Plan:
    """The shape of a stream; the rest follows from the seed."""

    seed: int
    rounds: int
    columns: int
    examples: str
    outcomes: str

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


def dense(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(rng.uniform(-1, 1, size=n))


def sparse(rng: np.random.Generator, n: int) -> Floats:
    return dense(rng, n) * (rng.random(n) < 0.3)


def corner(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(rng.choice([-1.0, 1.0], size=n))


def axis(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(np.eye(n)[rng.integers(n)] * rng.choice([-1.0, 1.0]))


def zeros(rng: np.random.Generator, n: int) -> Floats:
    return np.zeros(n)


def any_scale(rng: np.random.Generator, n: int) -> Floats:
    return np.asarray(corner(rng, n) * 10.0 ** rng.integers(-9, 1))


EXAMPLES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "dense": dense,
    "sparse": sparse,
    "corners": corner,
    "axes": axis,
    "zeros": zeros,
    "any scale": any_scale,
    "the same": corner,
    "two by turns": dense,
    "the worst of many": corner,
}
OUTCOMES = ("noise", "a rule", "against", "with", "constant", "nothing")


def plans(rounds: int = 40, columns: int = 5) -> st.SearchStrategy[Plan]:
    return st.builds(
        Plan,
        seed=st.integers(0, 2**32 - 1),
        rounds=st.integers(1, rounds),
        columns=st.integers(1, columns),
        examples=st.sampled_from(sorted(EXAMPLES)),
        outcomes=st.sampled_from(OUTCOMES),
    )


def in_box(plan: Plan, learner: nr.Learner) -> Iterator[Floats]:
    """Yield examples in [−1, 1]ⁿ; the worst are those that the learner is surest of."""
    rng, n = plan.rng, plan.columns
    make = EXAMPLES[plan.examples]
    repeated = [make(rng, n), make(rng, n)]
    for t in range(plan.rounds):
        if plan.examples == "the same":
            yield repeated[0]
        elif plan.examples == "two by turns":
            yield repeated[t % 2]
        elif plan.examples == "the worst of many" and t:
            many = [dense(rng, n), *(make(rng, n) for _ in range(7))]
            yield max(many, key=lambda x: abs(learner.decision_one(x)))
        else:
            yield make(rng, n)


def in_ball(plan: Plan, learner: nr.Learner) -> Iterator[Floats]:
    """Yield examples of norm at most 1."""
    for x in in_box(plan, learner):
        yield x / max(1.0, float(np.linalg.norm(x)) * (1 + 1e-15))


def against(plan: Plan, learner: nr.Learner, size: float = 1.0, norm: float = 1.0) -> Pairs:
    """Yield examples of norm at most ``norm`` with outcomes of size at most ``size``, or labels."""
    rng = np.random.default_rng(plan.seed + 1)
    labels = learner.engine.loss.labels
    hurts = 1.0 if learner.engine.loss.name == "linear" else -1.0
    rule = rng.normal(size=plan.columns)
    for x in in_ball(plan, learner):
        score = learner.decision_one(norm * x)
        y = {
            "noise": float(rng.uniform(-1, 1)),
            "a rule": float(np.clip(rule @ x, -1, 1)),
            "against": hurts if score > 0 else -hurts,
            "with": -hurts if score > 0 else hurts,
            "constant": 1.0,
            "nothing": 0.0,
        }[plan.outcomes]
        yield norm * x, (1.0 if y > 0 else -1.0) if labels else size * y
