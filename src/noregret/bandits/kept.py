"""The state of a policy, and its form in files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.arms import checked_arms, names_of, numbered
from noregret.bandits.drawing import Floats, generator_of, generator_state, new_generator
from noregret.bandits.waiting import Waiting
from noregret.checks import state_numbers
from noregret.limits import MAX_PARAMETER
from noregret.proof.game.table_player import TablePlayer


class Kept(TablePlayer):
    """Arms with some numbers each, a generator, and choices that wait for their rewards.

    ``kept`` names the arrays of one number an arm; each is an attribute.
    """

    family = "bandits"
    # How often each arm was pulled, what it brought in shares of the range, and what each would
    # have cost in a table.
    kept: ClassVar[tuple[str, ...]] = ("pulls", "gains", "costs")
    # Whether it knows the chance of every arm that it chooses.
    knows_chances: ClassVar[bool] = True
    pulls: Floats
    gains: Floats
    costs: Floats

    def __init__(self, arms: int | list[str] | None, low: float, high: float, seed: int) -> None:
        self.arms = checked_arms(arms)
        self.low, self.high = checked_range(low, high)
        self.seed = checked_seed(seed)
        self.random = new_generator(self.seed)
        self.waiting = Waiting()
        self.chosen = self.learned = self.simulated = 0
        self.missed = 0.0  # the loss so far, in shares of the range
        self.names: list[str] = []
        self.begin(names_of(self.arms))

    @property
    def span(self) -> float:
        """The length of the range of rewards."""
        return self.high - self.low

    def sizes(self) -> dict[str, int]:
        """Return the length of every array."""
        return dict.fromkeys(self.kept, len(self.names))

    def begin(self, names: Sequence[str]) -> None:
        """Begin with these arms: all arrays are zero."""
        self.names = list(names)
        self.has_names = self.names != numbered(len(names))
        for key, size in self.sizes().items():
            setattr(self, key, np.zeros(size))

    def advisers(self) -> int:
        """Return how many experts are heard; none but for Exp4."""
        return 0

    def labels(self) -> list[str]:
        """Return all names that a file must hold."""
        return list(self.names)

    def relabel(self, labels: Sequence[str], numbers: dict[str, Any]) -> None:
        """Begin again with the names of a file."""
        self.begin(names_of(checked_arms(list(labels))) if labels else [])

    # Files, copies and pickles.

    def get_state(
        self,
    ) -> tuple[dict[str, NDArray[Any]], dict[str, float | int | bool], list[str]]:
        """Return all by which another of the same parameters goes on; the log is not part of it."""
        arrays: dict[str, NDArray[Any]] = {key: getattr(self, key).copy() for key in self.kept}
        arrays |= self.waiting.state(self.advisers())
        arrays["generator"] = generator_state(self.random)
        return arrays, self._numbers(), self.labels()

    def _numbers(self) -> dict[str, float | int | bool]:
        return {
            "arms": len(self.names),
            "chosen": self.chosen,
            "learned": self.learned,
            "simulated": self.simulated,
            "missed": self.missed,
        }

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Go on from a state; what makes no sense is refused."""
        state_numbers(numbers, self._numbers())
        other = type(self)(**self.params)
        other._restore(arrays, numbers, names)
        self.__dict__.update({**other.__dict__, "log": self.__dict__.get("log")})

    def _restore(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        self.relabel(names, numbers)
        wanted = self.get_state()[0].keys()
        if arrays.keys() != wanted or numbers["arms"] != len(self.names):
            raise ValueError(f"expected the arrays {sorted(wanted)}, got {sorted(arrays)}")
        if not numbers["simulated"] <= numbers["learned"] <= numbers["chosen"]:
            raise ValueError("more rewards were learned than arms chosen")
        for key, size in self.sizes().items():
            values = arrays[key]
            if values.dtype != np.float64 or values.shape != (size,):
                raise ValueError(f"{key} should be {size} numbers of float64")
            if not (np.isfinite(values) & (values >= 0)).all():
                raise ValueError(f"{key} should be numbers, 0 or above")
            setattr(self, key, np.array(values))
        self.waiting = Waiting.of(arrays, numbers["chosen"], len(self.names), self.advisers())
        if self.knows_chances and np.isnan(arrays["waiting_chances"]).any():
            raise ValueError("a waiting choice has no chance")
        self.random = generator_of(arrays["generator"])
        self.chosen, self.learned = numbers["chosen"], numbers["learned"]
        self.simulated, self.missed = numbers["simulated"], numbers["missed"]


def checked_range(low: Any, high: Any) -> tuple[float, float]:
    """Return the range of rewards, or raise ValueError."""
    for name, value in (("low", low), ("high", high)):
        real = isinstance(value, Real) and not isinstance(value, bool)
        if not real or not abs(float(value)) < MAX_PARAMETER:
            raise ValueError(
                f"{name} must be a number, smaller than {MAX_PARAMETER:g}: got {value!r}"
            )
    span = float(high) - float(low)
    if not span > 0 or not math.isfinite(1 / span):
        raise ValueError(f"high must be above low: got low={low!r}, high={high!r}")
    return float(low), float(high)


def checked_seed(seed: Any) -> int:
    """Return the seed, or raise ValueError."""
    if isinstance(seed, Integral) and not isinstance(seed, bool) and 0 <= int(seed) < 2**63:
        return int(seed)
    raise ValueError(f"seed must be a whole number, 0 or above: got {seed!r}")
