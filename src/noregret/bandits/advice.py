"""Advice of experts: an arm or probabilities of all arms, given by hand or in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.bandits.arms import index_of
from noregret.bandits.drawing import Floats
from noregret.errors import BadExample

FORMS = ("arms", "chances")
# How far from 1 the sum of an expert's chances may be.
ROUNDING = 1e-6


def advice_of(
    context: Any, arms: Sequence[str], experts: Sequence[str], round: int | None = None
) -> Floats:
    """Return the chances that each expert gives to each arm, one row an expert."""
    if isinstance(context, Mapping):
        if experts and set(context) != set(experts):
            raise BadExample(f"advice is wanted of {', '.join(experts)}", round=round)
        context = [context[name] for name in (experts or sorted(context))]
    if context is None or isinstance(context, str) or not hasattr(context, "__len__"):
        raise BadExample(
            "exp4 chooses by advice: choose([…]) takes an arm of each expert, or its chances for"
            f" all arms: got {context!r}",
            round=round,
        )
    if experts and len(context) != len(experts):
        raise BadExample(
            f"{len(context)} experts advise, but there are {len(experts)}", round=round
        )
    rows = np.zeros((len(context), len(arms)))
    for row, said in zip(rows, context, strict=True):
        if isinstance(said, str) or (np.ndim(said) == 0 and not isinstance(said, Mapping)):
            row[index_of(said, arms, round)] = 1.0
        else:
            row[:] = chances_of(said, arms, round)
    return rows


def chances_of(said: Any, arms: Sequence[str], round: int | None) -> Floats:
    """Return one expert's chances for all arms."""
    if isinstance(said, Mapping):
        said = [said.get(arm, 0.0) for arm in arms]
    try:
        chances = np.asarray(said, dtype=np.float64)
    except (TypeError, ValueError):
        chances = np.full(1, np.nan)
    if chances.shape != (len(arms),) or not are_chances(chances):
        raise BadExample(
            f"an expert's advice must be {len(arms)} chances, 0 or above, of sum 1: got {said!r}",
            round=round,
        )
    return np.asarray(chances / chances.sum())


def are_chances(values: Floats) -> NDArray[np.bool_]:
    """Say whether numbers, along the last axis, are 0 or above and have sum 1."""
    sums = np.abs(values.sum(axis=-1) - 1) <= ROUNDING
    return np.asarray((values >= 0).all(axis=-1) & sums)


def are_arms(values: Floats, arms: int) -> NDArray[np.bool_]:
    """Say which numbers are those of arms."""
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
    wanted = [f"{expert}.{arm}" for expert in experts for arm in arms]
    if sorted(wanted) != sorted(rest):
        raise BadExample(
            "the columns of an expert's chances are called expert.arm, one for each arm: got"
            f" {', '.join(rest[:10])}"
        )
    return rewards, [[at[f"{expert}.{arm}"] for arm in arms] for expert in experts], experts
