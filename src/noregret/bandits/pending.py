"""Choices whose rewards are not known yet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """An arm that was chosen, with the values that its reward will need.

    ``chance`` is NaN if no log needs it; ``advice`` has the probability of the arm by each expert.
    """

    arm: int
    chance: float
    advice: Floats | None = None
    context: Any = None


class Pending(dict[int, Choice]):
    """Choices by their number, oldest first."""

    def oldest(self, arm: int) -> int | None:
        """Return the number of the oldest choice of an arm."""
        return next((number for number, choice in self.items() if choice.arm == arm), None)

    def arrays(self, experts: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file, which omits contexts."""
        advice = [c.advice for c in self.values() if c.advice is not None]
        return {
            "waiting_rounds": np.array(list(self), dtype=np.int64),
            "waiting_arms": np.array([c.arm for c in self.values()], dtype=np.int64),
            "waiting_chances": np.array([c.chance for c in self.values()], dtype=np.float64),
            "waiting_advice": np.array(advice, dtype=np.float64).reshape(len(advice), experts),
        }

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]], chosen: int, arms: int, experts: int) -> Pending:
        """Build from the arrays of a model file; raise ValueError if they are invalid."""
        numbers, pulled = arrays["waiting_rounds"], arrays["waiting_arms"]
        chances, advice = arrays["waiting_chances"], arrays["waiting_advice"]
        count = len(numbers)
        if numbers.dtype != np.int64 or pulled.dtype != np.int64:
            raise ValueError("rounds and arms of pending choices should be integers")
        if chances.dtype != np.float64 or advice.dtype != np.float64:
            raise ValueError("probabilities and advice of pending choices should be float64")
        if not numbers.shape == pulled.shape == chances.shape == (count,):
            raise ValueError("the arrays of pending choices differ in length")
        if advice.shape != (count if experts else 0, experts):
            raise ValueError("the advice of pending choices has the wrong shape")
        if count and (numbers[0] < 1 or numbers[-1] > chosen or (np.diff(numbers) <= 0).any()):
            raise ValueError("the rounds of pending choices are not in order")
        if ((pulled < 0) | (pulled >= arms)).any():
            raise ValueError("a pending choice has an unknown arm")
        if ((chances <= 0) | (chances > 1 + 1e-9)).any() or not in_unit(advice):
            raise ValueError("a pending choice has an impossible probability")
        rows_of_advice = list(advice) if experts else [None] * count
        rows = zip(numbers.tolist(), pulled.tolist(), chances.tolist(), rows_of_advice, strict=True)
        return cls({number: Choice(arm, chance, row) for number, arm, chance, row in rows})


def in_unit(values: Floats) -> bool:
    """Return whether all numbers lie in [0, 1] up to rounding."""
    return bool(((values >= 0) & (values <= 1 + 1e-9)).all())
