"""Save and load the state of a strategy; files are checked, as they may be malicious."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.checks import state_numbers
from noregret.proof.game.table_player import TablePlayer

Floats = NDArray[np.float64]
# How far the shares in a file may be from a sum of 1.
SUM_TOLERANCE = 1e-9


class Kept(TablePlayer):
    """The part of a strategy that goes to files: see ``Strategy``."""

    width: int
    names: list[str] | None
    _played: int
    _unrecorded = ("play_block", "set_state")

    def meet(self, assets: int) -> None:
        """Get to know how many assets there are, once."""
        raise NotImplementedError

    def numbers(self) -> dict[str, Any]:
        """Return the numbers that files hold."""
        raise NotImplementedError

    def take_numbers(self, numbers: dict[str, Any]) -> None:
        """Go on from the numbers of a file."""
        raise NotImplementedError

    def shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the arrays that it keeps, each an attribute, and their shapes."""
        return {}

    def check_state(self) -> None:
        """Raise ValueError where the arrays of a file make no sense."""

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return all that it has learned."""
        arrays = {name: np.array(getattr(self, name)) for name in self._arrays(self.width)}
        return arrays, self.numbers(), list(self.names or [])

    def _arrays(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return all arrays that files hold, and their shapes."""
        if not assets:
            return {}
        return {"shares": (assets,), "drifted": (assets,)} | self.shapes(assets)

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Go on from a state; raise ValueError where it makes no sense."""
        fresh = self.clone()
        state_numbers(numbers, fresh.numbers(), ("loss_sum", "total_rest"))
        check_asset_names(names, numbers)
        width = numbers["width"]
        if not width and (numbers["rounds"] or arrays):
            raise ValueError("there are no assets, but something was learned")
        fresh.take_numbers(numbers)
        check_arrays(arrays, fresh._arrays(width))  # before room is made for so many
        if width:
            fresh._played = 0
            fresh.meet(width)
            fresh.take_numbers(numbers)
            for key, values in arrays.items():
                setattr(fresh, key, np.array(values))
            for key in ("shares", "drifted"):
                check_shares(key, getattr(fresh, key))
            fresh.check_state()
        fresh.names = list(names) if numbers["named"] else None
        self.__dict__.update(fresh.__dict__)


def check_asset_names(names: Any, numbers: dict[str, Any]) -> None:
    """Raise ValueError where the names in a file are not those of its assets."""
    wanted = numbers["width"] if numbers["named"] else 0
    good = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not good or len(names) != wanted or len(set(names)) != wanted:
        raise ValueError(f"expected the names of {wanted} assets")


def check_arrays(arrays: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise ValueError where the arrays of a file are not of the kind that a strategy keeps."""
    if arrays.keys() != shapes.keys():
        raise ValueError(f"expected the arrays {sorted(shapes)}, got {sorted(arrays)}")
    for name, shape in shapes.items():
        found = np.asarray(arrays[name])
        if found.dtype != np.float64 or found.shape != shape:
            raise ValueError(
                f"{name} should be float64 of shape {shape}: got {found.dtype} of {found.shape}"
            )
        if np.isnan(found).any():
            raise ValueError(f"{name} holds NaN")


def check_shares(name: str, shares: Floats) -> None:
    """Raise ValueError where shares are not shares of a whole."""
    if not (shares >= 0).all() or abs(math.fsum(shares) - 1) > SUM_TOLERANCE:
        raise ValueError(f"{name} should be shares of a whole: not negative, of sum 1")
