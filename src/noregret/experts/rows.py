"""One round of advice or losses in any form, as one number per expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.linear import inputs

if TYPE_CHECKING:
    from noregret.experts.master import Master

Floats = NDArray[np.float64]


def as_row(master: Master, x: Any) -> Floats:
    """Return one number per expert, NaN for one asleep. The first round sets the experts.

    Until a round has been learned, every row sets them again: a row that was rejected, or only
    predicted, does not.
    """
    if isinstance(x, Mapping) or (hasattr(x, "keys") and hasattr(x, "__getitem__")):
        # A row of a data frame has keys, too, but looping over it gives its values.
        return from_names(master, {name: x[name] for name in x.keys()})  # noqa: SIM118
    row = numbers_of(master, x)
    if not master.rounds and len(row) != master.width:
        if not len(row):
            raise BadExample("there are no experts to learn from", round=1)
        master._begin(len(row))
        master._round.experts = []
    if len(row) != master.width:
        raise BadExample(
            f"{len(row)} numbers for {master.width} experts: use NaN for one that sleeps, and"
            " add_expert for a new one",
            round=master.rounds + 1,
        )
    return row


def from_names(master: Master, x: Mapping[Any, Any]) -> Floats:
    """Return the numbers of a dict in the order of the experts; missing ones sleep."""
    given = {str(name): number_of(master, name, value) for name, value in x.items()}
    if not master.rounds and not (given and given.keys() <= set(master._round.experts)):
        settle(master, x)
    if not master._round.experts:
        raise BadExample(
            "the experts so far came without names",
            "continue with a list or an array",
            round=master.rounds + 1,
        )
    places = {name: place for place, name in enumerate(master._round.experts)}
    row = np.full(master.width, np.nan)
    for name, value in given.items():
        if name not in places:
            raise BadExample(
                f"there is no expert {name!r}: add it with add_expert({name!r})",
                round=master.rounds + 1,
                feature=name,
            )
        row[places[name]] = value
    return row


def settle(master: Master, x: Mapping[Any, Any]) -> None:
    """Set the experts from the names of a dict."""
    names = [str(name) for name in x]
    if not names:
        raise BadExample("there are no experts to learn from", round=1)
    if len(set(names)) < len(names):
        raise BadExample(f"two experts have the same name: {', '.join(names)}", round=1)
    master._begin(len(names))
    master._round.experts = names


def numbers_of(master: Master, x: Any) -> Floats:
    """Return a sequence of numbers as an array."""
    if isinstance(x, str | bytes) or not (isinstance(x, Sequence) or hasattr(x, "__array__")):
        raise TypeError(
            "give one number per expert, as a list, an array or a dict of names: got"
            f" {type(x).__name__}"
        )
    if isinstance(x, Sequence):
        return np.array([number_of(master, k, value) for k, value in enumerate(x)], dtype=float)
    if np.ndim(x) != 1:
        raise BadExample(
            f"a round is a row of numbers: got an array of shape {np.shape(x)}; learn_many takes"
            " many rounds",
            round=master.rounds + 1,
        )
    array = np.ma.filled(x.astype(float), np.nan) if inputs.is_masked_array(x) else x
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        array = np.array([number_of(master, k, value) for k, value in enumerate(array)])
    return inputs.as_floats(array)


def number_of(master: Master, name: Any, value: Any) -> float:
    """Return a number; NaN for None."""
    if value is None:
        return float("nan")
    try:
        if isinstance(value, inputs.NOT_NUMBERS):
            raise ValueError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadExample(
            f"expert {name!r}: the forecast {value!r} is not a number",
            round=master.rounds + 1,
            feature=str(name),
        ) from None
