"""The state of a policy: names and sums of its arms, pending choices, counters, generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.drawing import Floats, generator_of, generator_state, new_generator
from noregret.bandits.pending import Pending
from noregret.checks import state_arrays


class PolicyState:
    """Everything that changes while a policy runs.

    ``sums`` maps the names of arrays to one number per arm, or per expert of exp4. All have
    ``pulls``, the number of pulls; ``gains``, the rewards relative to the range; and ``costs``,
    the losses in a table of each arm or expert.
    """

    def __init__(self, seed: int) -> None:
        self.names: list[str] = []
        self.sums: dict[str, Floats] = {}
        self.pending = Pending()
        self.random = new_generator(seed)
        self.chosen = self.learned = self.simulated = 0
        self.missed = 0.0  # cumulative loss relative to the range

    def begin(self, names: Sequence[str], sizes: Mapping[str, int]) -> None:
        """Set the arms, with all sums zero."""
        self.names = list(names)
        self.sums = {key: np.zeros(size) for key, size in sizes.items()}

    def count(self, arm: int, loss: float, paid: float) -> None:
        """Count a round with the loss of the arm and the loss charged to the policy."""
        self.learned += 1
        self.missed += paid
        self.sums["pulls"][arm] += 1.0
        self.sums["gains"][arm] += 1.0 - loss

    def numbers(self) -> dict[str, float | int | bool]:
        """Return the numbers of a model file."""
        return {
            "arms": len(self.names),
            "chosen": self.chosen,
            "learned": self.learned,
            "simulated": self.simulated,
            "missed": self.missed,
        }

    def arrays(self, experts: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file."""
        arrays: dict[str, NDArray[Any]] = {key: sums.copy() for key, sums in self.sums.items()}
        arrays |= self.pending.arrays(experts)
        arrays["generator"] = generator_state(self.random)
        return arrays

    def restore(self, arrays: dict[str, Any], numbers: dict[str, Any], experts: int) -> None:
        """Restore arrays and numbers once the arms are set; raise ValueError if invalid."""
        expected = self.arrays(experts).keys()
        if arrays.keys() != expected or numbers["arms"] != len(self.names):
            raise ValueError(f"expected the arrays {sorted(expected)}, got {sorted(arrays)}")
        if not numbers["simulated"] <= numbers["learned"] <= numbers["chosen"]:
            raise ValueError("more rewards were learned than arms chosen")
        sums = {key: np.array(arrays[key]) for key in self.sums}
        state_arrays(sums, {key: values.shape for key, values in self.sums.items()})
        for key, values in sums.items():
            if (values < 0).any():
                raise ValueError(f"{key} should be numbers, 0 or above")
        self.sums = sums
        self.pending = Pending.of(arrays, numbers["chosen"], len(self.names), experts)
        self.random = generator_of(arrays["generator"])
        self.chosen, self.learned = numbers["chosen"], numbers["learned"]
        self.simulated, self.missed = numbers["simulated"], numbers["missed"]
