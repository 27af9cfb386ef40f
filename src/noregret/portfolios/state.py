"""Save and load the state of a strategy; files are checked, as they may be malicious."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.checks import state_arrays, state_numbers

if TYPE_CHECKING:
    from noregret.portfolios.strategy import Strategy

Floats = NDArray[np.float64]
# Largest difference from 1 of the sum of shares in a file.
SUM_TOLERANCE = 1e-9


def state_of(strategy: Strategy) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the arrays, numbers and names of a strategy's state."""
    shapes = shapes_of(strategy, strategy.width)
    arrays = {name: np.array(getattr(strategy, f"_{name}")) for name in shapes}
    return arrays, strategy._numbers(), list(strategy.names or [])


def shapes_of(strategy: Strategy, assets: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all arrays of a model file."""
    if not assets:
        return {}
    return {"shares": (assets,), "drifted": (assets,)} | strategy._shapes(assets)


def restore(
    strategy: Strategy, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]
) -> None:
    """Restore a state; raise ValueError if it is invalid."""
    fresh = strategy.clone()
    state_numbers(numbers, fresh._numbers(), ("loss_sum", "total_rest"))
    check_asset_names(names, numbers)
    width = numbers["width"]
    if not width and (numbers["rounds"] or arrays):
        raise ValueError("there are no assets, but something was learned")
    fresh._take_numbers(numbers)
    state_arrays(arrays, shapes_of(fresh, width), finite=False)  # before memory is allocated
    if width:
        fresh._played = 0
        fresh._meet(width)
        fresh._take_numbers(numbers)
        for key, values in arrays.items():
            setattr(fresh, f"_{key}", np.array(values))
        check_shares("shares", fresh._shares)
        check_shares("drifted", fresh._drifted)
        fresh._check_state()
    fresh.names = list(names) if numbers["named"] else None
    strategy.__dict__.update(fresh.__dict__)


def check_asset_names(names: Any, numbers: dict[str, Any]) -> None:
    """Raise ValueError unless a file has a distinct name for each asset."""
    expected = numbers["width"] if numbers["named"] else 0
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not good or len(names) != expected or len(set(names)) != expected:
        raise ValueError(f"expected the names of {expected} assets")


def check_shares(name: str, shares: Floats) -> None:
    """Raise ValueError unless shares are 0 or above and sum to 1."""
    if not (shares >= 0).all() or abs(math.fsum(shares) - 1) > SUM_TOLERANCE:
        raise ValueError(f"{name} should be shares: not negative, with sum 1")
