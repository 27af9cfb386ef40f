"""Convert signals of any kind to arrays."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.linear.inputs import as_floats, as_outcomes, kind_of, numbers_of

Floats = NDArray[np.float64]


def signal(name: str, given: Any, before: int = 0) -> Floats:
    """Return a signal of one channel as numbers.

    Parameters
    ----------
    name
        Its name in messages.
    given
        The signal: a 1-d array, a list or a series of numbers.
    before
        The number of samples played before.
    """
    if isinstance(given, list | tuple) and np.ndim(given[0] if given else 0) == 0:
        numbers, _, bad, _ = as_outcomes(given)
        if bad is not None:
            sample = before + len(numbers) + 1
            raise BadExample(f"{name} is {bad}: a number is expected", round=sample, unit="sample")
        return numbers
    try:
        samples = numbers_of(given)
    except (TypeError, ValueError):
        raise BadExample(f"{name} must be a 1-d array of numbers: got {kind_of(given)}") from None
    if samples.ndim != 1:
        raise BadExample(
            f"{name} must be a 1-d array, one number per sample: got shape {samples.shape} (a"
            " filter takes one channel)"
        )
    return as_floats(samples)


def pair(x: Any, d: Any, before: int) -> tuple[Floats, Floats]:
    """Return the input and the signal to predict, which must have the same length."""
    heard, wanted = signal("x", x, before), signal("d", d, before)
    if len(heard) != len(wanted):
        raise BadExample(
            f"x has {len(heard)} samples and d has {len(wanted)}: they must be equally long"
        )
    return heard, wanted


def is_signal(given: Any) -> bool:
    """Return whether an array looks like one signal, not like the rows of a table."""
    if isinstance(given, list | tuple):
        return bool(given) and isinstance(given[0], Real)
    shape = getattr(given, "shape", None)
    return shape is not None and len(shape) <= 1
