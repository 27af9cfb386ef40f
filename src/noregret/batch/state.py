"""Save and load the state of a batch method; files are checked, as they may be malicious."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.packing import of_prefix, with_prefix

if TYPE_CHECKING:
    from noregret.batch.method import Batch

NOT_AT_HAND = (
    "a copy or a file does not include the examples: ask for the certificate where it was fitted,"
    " or fit it again"
)
# The prefixes of two parts of a model file: the reader of the examples, and the result.
EXAMPLES, FOUND = "scribe.", "found."


def state_of(method: Batch) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the arrays, numbers and names of the state."""
    fitted = method.rounds > 0
    found = method.solution if fitted else None
    kept, numbers, names = method._fixed.get_state()
    arrays: dict[str, Any] = with_prefix(EXAMPLES, kept)
    numbers = with_prefix(EXAMPLES, numbers)
    if found is not None:
        arrays |= {"weights": found.weights} | with_prefix(FOUND, found.arrays)
        numbers |= with_prefix(FOUND, found.numbers)
    return arrays, numbers, names


def restore(
    method: Batch, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]
) -> None:
    """Restore a state; raise ValueError if it is invalid."""
    from noregret.batch.method import Solution

    fixed = method._new_fixed()
    fixed.set_state(of_prefix(EXAMPLES, arrays), of_prefix(EXAMPLES, numbers), names)
    found = None
    if fixed.rounds:
        weights = np.array(arrays["weights"], dtype=np.float64)
        if weights.shape != (fixed.engine.size + method.intercept,):
            raise ValueError(f"expected {fixed.engine.size + method.intercept} weights")
        if not np.isfinite(weights).all():
            raise ValueError("a weight is not finite")
        found = Solution(weights, of_prefix(FOUND, numbers), of_prefix(FOUND, arrays))
        method._check_found(found)
        fixed.give(weights)
    method.game, method._fixed, method._kept = None, fixed, found
