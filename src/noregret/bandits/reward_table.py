"""A table of rewards with one column per arm: its columns, losses and invalid cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.arms import checked_arms, names_of, numbered
from noregret.bandits.drawing import Floats
from noregret.errors import BadExample
from noregret.limits import MAX_PARAMETER

if TYPE_CHECKING:
    from noregret.bandits.policy import Policy

# Rows whose losses are computed at a time.
ROWS_PER_BLOCK = 4_096


class RewardTable:
    """The layout of the tables that a policy plays.

    A loss is (high − reward)/(high − low), so that it lies in [0, 1].

    Parameters
    ----------
    policy
        The policy, which has the arms and the range of rewards.
    """

    # The competitors of the policy, as certificates call the best of them.
    competitors = "the best arm"

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @property
    def width(self) -> int:
        """The number of columns; 0 if not known yet."""
        return len(self.policy.names)

    def set_names(self, names: Sequence[str]) -> None:
        """Use the names of the columns as arms, or check that they are the arms."""
        policy, known = self.policy, self.policy.names
        if list(names) == known:
            return
        if known and (policy._has_names or policy.chosen or len(names) != len(known)):
            raise BadExample(
                f"the columns should be the arms {', '.join(known[:10])}: got"
                f" {', '.join(names[:10])}"
            )
        policy._begin(names_of(checked_arms(list(names))))

    def set_width(self, width: int) -> None:
        """Use the columns as arms, if arms are not known yet; check their number."""
        if not self.policy.names:
            self.policy._begin(numbered(width))
        if width != self.width:
            raise BadExample(f"{width} columns, but there are {self.width} arms")

    def invalid_cells(self, X: Floats) -> NDArray[np.bool_]:
        """Return a mask of the cells that cannot be played."""
        low, high = self.policy.low, self.policy.high
        return np.asarray(~((low <= X) & (high >= X)))

    def error(self, row: Floats, column: int) -> BadExample:
        """Return the error for an invalid cell."""
        return self.invalid_reward(float(row[column]), column)

    def invalid_reward(self, reward: Any, arm: int) -> BadExample:
        """Return the error for a reward outside the range."""
        policy, name = self.policy, self.policy.names[arm]
        return BadExample(
            f"arm {name!r}: the reward {reward!r} is not in [{policy.low:g}, {policy.high:g}]",
            "set low and high, or scale the rewards",
            round=policy.rounds + 1,
            feature=name,
        )

    def losses(self, X: Floats) -> Floats:
        """Return the loss of each arm per row."""
        policy = self.policy
        losses: Floats = (policy.high - X) / policy._span
        return losses

    def rows(self, X: Floats) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield the losses of each row, and the advice of experts, if any."""
        for at in range(0, len(X), ROWS_PER_BLOCK):
            for losses in self.losses(X[at : at + ROWS_PER_BLOCK]):
                yield losses, None

    def competitor_losses(self, X: Floats) -> Floats:
        """Return the loss of each competitor per row."""
        return self.losses(X)

    def columns_of(self, competitor: int) -> list[int]:
        """Return the columns of a competitor."""
        return [competitor]


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
