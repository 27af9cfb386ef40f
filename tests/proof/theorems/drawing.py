"""Strategies that draw the cases."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import noregret as nr
from tests.proof.theorems.hostile import Pairs, Plan

Case = Callable[[Plan], tuple[nr.Learner, Pairs]]
"""From a plan to a learner and a stream that meets its assumptions."""


def cases(known: dict[str, Case]) -> Callable[[str], Callable[[Case], Case]]:
    """Return a decorator that registers the case of a theorem."""

    def case(theorem: str) -> Callable[[Case], Case]:
        def register(make: Case) -> Case:
            known[theorem] = make
            return make

        return register

    return case


def choice(plan: Plan) -> np.random.Generator:
    """Return what parameters are drawn from: not what the stream is drawn from."""
    return np.random.default_rng([plan.seed, 2])


def scale(rng: np.random.Generator, decades: float = 5) -> float:
    return float(10 ** rng.uniform(-decades, decades))
