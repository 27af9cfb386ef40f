"""Advice of experts: an arm or probabilities of all arms, given by hand or in a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.arms import index_of, numbered
from noregret.bandits.drawing import Floats
from noregret.bandits.reward_table import RewardTable
from noregret.errors import BadExample

if TYPE_CHECKING:
    from noregret.bandits.policies.exp4 import Exp4

FORMS = ("arms", "chances")
# Largest difference from 1 of the sum of an expert's probabilities.
SUM_TOLERANCE = 1e-6


def advice_of(
    context: Any, arms: Sequence[str], experts: Sequence[str], round: int | None = None
) -> Floats:
    """Return the probability of each arm by each expert, one row per expert."""
    if isinstance(context, Mapping):
        if experts and set(context) != set(experts):
            raise BadExample(f"advice of {', '.join(experts)} is required", round=round)
        context = [context[name] for name in (experts or sorted(context))]
    if context is None or isinstance(context, str) or not hasattr(context, "__len__"):
        raise BadExample(
            "exp4 needs advice: choose([…]) takes an arm or the probabilities of all arms from each"
            f" expert: got {context!r}",
            round=round,
        )
    if experts and len(context) != len(experts):
        raise BadExample(
            f"advice of {len(context)} experts, but there are {len(experts)}", round=round
        )
    rows = np.zeros((len(context), len(arms)))
    for row, advice in zip(rows, context, strict=True):
        if isinstance(advice, str) or (np.ndim(advice) == 0 and not isinstance(advice, Mapping)):
            row[index_of(advice, arms, round)] = 1.0
        else:
            row[:] = chances_of(advice, arms, round)
    return rows


def chances_of(advice: Any, arms: Sequence[str], round: int | None) -> Floats:
    """Return one expert's probabilities of all arms."""
    if isinstance(advice, Mapping):
        advice = [advice.get(arm, 0.0) for arm in arms]
    try:
        chances = np.asarray(advice, dtype=np.float64)
    except (TypeError, ValueError):
        chances = np.full(1, np.nan)
    if chances.shape != (len(arms),) or not are_chances(chances):
        raise BadExample(
            f"an expert's advice must be {len(arms)} probabilities, 0 or above, with sum 1: got"
            f" {advice!r}",
            round=round,
        )
    return np.asarray(chances / chances.sum())


def are_chances(values: Floats) -> NDArray[np.bool_]:
    """Return whether numbers, along the last axis, are 0 or above and sum to 1."""
    sums = np.abs(values.sum(axis=-1) - 1) <= SUM_TOLERANCE
    return np.asarray((values >= 0).all(axis=-1) & sums)


def are_arms(values: Floats, arms: int) -> NDArray[np.bool_]:
    """Return a mask of the numbers that are numbers of arms."""
    with np.errstate(invalid="ignore"):
        return np.asarray((values >= 0) & (values < arms) & (values == np.floor(values)))


def layout(
    names: Sequence[str], arms: Sequence[str], form: str
) -> tuple[list[int], list[list[int]], list[str]]:
    """Return the columns of the arms, those of each expert, and the experts' names."""
    if missing := [arm for arm in arms if arm not in names]:
        raise BadExample(
            f"no column {missing[0]!r}: the columns of a table are the arms,"
            " Exp4(arms=['red', 'blue']), and the advice of experts"
        )
    rest = [name for name in names if name not in arms]
    at = {name: k for k, name in enumerate(names)}
    rewards = [at[arm] for arm in arms]
    if form == "arms":
        return rewards, [[at[name]] for name in rest], rest
    experts = sorted({name.rpartition(".")[0] for name in rest})
    expected = [f"{expert}.{arm}" for expert in experts for arm in arms]
    if sorted(expected) != sorted(rest):
        raise BadExample(
            "the columns of an expert's probabilities are called expert.arm, one for each arm: got"
            f" {', '.join(rest[:10])}"
        )
    return rewards, [[at[f"{expert}.{arm}"] for arm in arms] for expert in experts], experts


class AdviceTable(RewardTable):
    """A table with a column of rewards per arm and the advice of each expert.

    An expert's advice is one column with the number of an arm, or a column of probabilities per
    arm.
    """

    competitors = "the best expert"
    policy: Exp4

    def __init__(self, policy: Exp4) -> None:
        super().__init__(policy)
        self.rewards: list[int] = []
        self.advice: list[list[int]] = []

    @property
    def columns_per_expert(self) -> int:
        """The number of columns per expert."""
        return len(self.policy.names) if self.policy.advice == "chances" else 1

    @property
    def width(self) -> int:
        """The number of columns; 0 if the experts are not known yet."""
        experts = len(self.policy.expert_names)
        return len(self.policy.names) + self.columns_per_expert * experts if experts else 0

    def set_names(self, names: Sequence[str]) -> None:
        """Find the columns of the arms and of the experts by their names."""
        rewards, advice, experts = layout(names, self.policy.names, self.policy.advice)
        self.policy._set_experts(experts)
        if experts != self.policy.expert_names:
            raise BadExample(f"advice of {', '.join(self.policy.expert_names[:10])} is required")
        self.rewards, self.advice = rewards, advice

    def set_width(self, width: int) -> None:
        """Use the columns after those of the arms as advice."""
        self.policy._need_arms()
        n, each = len(self.policy.names), self.columns_per_expert
        if width <= n or (width - n) % each or (self.width and width != self.width):
            experts = len(self.policy.expert_names)
            raise BadExample(
                f"{width} columns, but {n} arms and {each} for each expert"
                f" ({experts or 'some'} of them) are expected"
            )
        if not self.advice:
            self.rewards = list(range(n))
            self.advice = [list(range(k, k + each)) for k in range(n, width, each)]
            self.policy._set_experts(numbered(len(self.advice)))

    def invalid_cells(self, X: Floats) -> NDArray[np.bool_]:
        """Return a mask of the cells that cannot be played."""
        invalid = np.zeros(X.shape, dtype=np.bool_)
        invalid[:, self.rewards] = super().invalid_cells(X[:, self.rewards])
        advice = X[:, self.advice]  # rows × experts × columns of each
        if self.policy.advice == "arms":
            valid = are_arms(advice, len(self.policy.names))
        else:
            valid = np.broadcast_to(are_chances(advice)[:, :, None], advice.shape)
        invalid[:, self.advice] = ~valid
        return invalid

    def error(self, row: Floats, column: int) -> BadExample:
        """Return the error for an invalid cell."""
        if column in self.rewards:
            return self.invalid_reward(float(row[column]), self.rewards.index(column))
        expert = next(k for k, columns in enumerate(self.advice) if column in columns)
        advice, name = row[self.advice[expert]].tolist(), self.policy.expert_names[expert]
        arms = self.policy.advice == "arms"
        expected = "the number of an arm" if arms else "probabilities with sum 1"
        return BadExample(
            f"expert {name!r}: the advice {advice} is not {expected}",
            round=self.policy.rounds + 1,
            feature=name,
        )

    def losses(self, X: Floats) -> Floats:
        """Return the loss of each arm per row."""
        return super().losses(X[:, self.rewards])

    def rows(self, X: Floats) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield the losses of each row, and the probability of each arm by each expert."""
        certain = np.eye(len(self.policy.names))
        for (losses, _), row in zip(super().rows(X), X, strict=True):
            advice = row[self.advice]
            if self.policy.advice == "arms":
                yield losses, certain[advice[:, 0].astype(np.intp)]
            else:
                yield losses, advice / advice.sum(axis=1, keepdims=True)

    def competitor_losses(self, X: Floats) -> Floats:
        """Return the loss of each expert per row."""
        losses, advice = self.losses(X), X[:, self.advice]
        if self.policy.advice == "arms":
            return np.take_along_axis(losses, advice[:, :, 0].astype(np.intp), axis=1)
        advice = advice / advice.sum(axis=2, keepdims=True)
        return np.asarray(np.einsum("tji,ti->tj", advice, losses))

    def columns_of(self, competitor: int) -> list[int]:
        """Return the columns of an expert."""
        return self.advice[competitor]
