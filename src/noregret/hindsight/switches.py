"""The best sequences of experts with few switches, in hindsight.

Dynamic programming over rounds finds them for every number of switches up to a maximum, in time
rounds × experts × switches and memory rounds × switches. The search is exact except for rounding,
which compensated sums keep tiny.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.hindsight.expert_losses import (
    MAX_FLOAT,
    Doubts,
    Given,
    doubts_of,
    loss_blocks,
)
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.rounding import Floats
from noregret.hindsight.sums import ColumnSums, Paths
from noregret.limits import SMALLEST, UNIT


class Segment(NamedTuple):
    """Consecutive rounds in which a sequence follows one expert.

    Parameters
    ----------
    first, last
        The first and the last of these rounds, counted from 1.
    expert
        The expert, counted from 0.
    loss
        Its loss in these rounds.
    """

    first: int
    last: int
    expert: int
    loss: float


@dataclass(frozen=True)
class Sequences:
    """The best sequences of experts for every number of switches up to a maximum.

    Parameters
    ----------
    losses
        The smallest cumulative loss of a sequence with at most k switches, for k = 0, 1, …, most.
    rounding
        Bounds on the rounding errors of these losses.
    rounds, experts
        The number of rounds and of experts.
    """

    losses: Floats
    rounding: Floats
    rounds: int
    experts: int
    ends: list[NDArray[np.uint32]] = field(repr=False)
    starts: list[NDArray[np.uint32]] = field(repr=False)
    given: Given = field(repr=False)
    loss: Any = field(repr=False)

    exact: ClassVar[bool] = True  # sums, not the result of a search

    @property
    def most(self) -> int:
        """The maximum number of switches."""
        return len(self.losses) - 1

    def segments(self, switches: int) -> list[Segment]:
        """Return a best sequence with at most this many switches; it may use fewer.

        The loss of each segment takes another pass over the rounds.
        """
        return paid_along(self.given, self.stays(switches), self.loss)

    def stays(self, switches: int) -> list[tuple[int, int]]:
        """Return the first round, counted from 1, and the expert of each segment."""
        if not 0 <= switches <= self.most:
            raise ValueError(f"switches must be between 0 and {self.most}, got {switches}")
        offsets = np.cumsum([0, *(len(part) for part in self.ends)])
        found: list[tuple[int, int]] = []
        last, k = self.rounds - 1, switches
        while last >= 0:
            block = int(np.searchsorted(offsets, last, side="right")) - 1
            row = last - int(offsets[block])
            first, expert = int(self.starts[block][row, k]), int(self.ends[block][row, k])
            if found and found[-1][1] == expert:
                found.pop()
            found.append((first + 1, expert))
            last, k = first - 1, k - 1
        return found[::-1]

    def answer(self, switches: int) -> Answer:
        """Return the smallest loss with at most this many switches, with both ends proven.

        The witness holds two numbers per segment: its first round and its expert.
        """
        witness = np.array(self.stays(switches), dtype=np.float64).ravel()
        loss, off = float(self.losses[switches]), float(self.rounding[switches])
        above = math.nextafter(loss + off, math.inf) if off else loss
        lower = min(math.nextafter(loss - off, -math.inf) if off else loss, MAX_FLOAT)
        return Answer(words(switches), above, lower, witness, exact=True)


def words(switches: int) -> str:
    """Return the name of the class of sequences."""
    return f"sequences of experts with at most {switches} switch{'es' * (switches != 1)}"


def best_sequences(
    given: Given,
    most: int,
    loss: Any = None,
    *,
    loss_parameter: float | None = None,
    doubts: Doubts | None = None,
) -> Sequences:
    """Return the best sequences of experts with at most 0, 1, …, ``most`` switches.

    Parameters
    ----------
    given, loss, loss_parameter, doubts
        As in ``best_expert``.
    most
        The maximum number of switches between experts.

    Examples
    --------
    >>> found = best_sequences([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], most=1)
    >>> found.losses
    array([1., 0.])
    >>> found.segments(1)
    [Segment(first=1, last=2, expert=0, loss=0.0), Segment(first=3, last=3, expert=1, loss=0.0)]
    """
    if most < 0:
        raise ValueError(f"most must not be negative, got {most}")
    if loss is not None and loss_parameter is not None:
        from noregret.base.expert_losses import expert_loss

        loss = expert_loss(loss, loss_parameter)
    blocks = loss_blocks(given, loss)
    first = next(blocks)
    paths = Paths(first.shape[1], most)
    ends: list[NDArray[np.uint32]] = []
    starts: list[NDArray[np.uint32]] = []
    size, negative, whole = 0.0, False, True
    for block in chain([first], blocks):
        least, most_paid = float(block.min()), float(block.max())
        negative = negative or least < 0
        whole = whole and bool((np.rint(block) == block).all())
        size += len(block) * max(-least, most_paid) if most_paid < np.inf else largest(block)
        came_to, since = paths.add(block)
        ends.append(came_to)
        starts.append(since)
    losses = np.minimum.accumulate(np.add(*paths.losses()))
    doubts = doubts_of(loss) if doubts is None else doubts
    if whole and not any(doubts) and size < 2**53:
        rounding = np.zeros(most + 1)
    else:
        rounding = off_by(losses, paths.rounds, size * negative, *doubts)
    return Sequences(losses, rounding, paths.rounds, first.shape[1], ends, starts, given, loss)


def off_by(losses: Floats, rounds: int, size: float, doubt: int, of_one: int) -> Floats:
    """Return bounds on the errors of the smallest losses.

    Rounding takes at most u per round from the first number of a pair, relative to the loss of a
    path. Only that error is rounded again, when it is added and when two paths are compared. If
    losses are negative, the sum of a path does not bound its terms; then ``size`` does, an upper
    bound on the sum of the largest losses of all rounds. Computed losses have errors of their own.
    """
    again = (rounds + 8) * UNIT
    sizes = np.abs(losses) + size
    off = (8 * again * again + doubt * UNIT) * sizes + 2 * UNIT * np.abs(losses)
    off += rounds * (doubt * SMALLEST + of_one * UNIT)
    return np.asarray(np.where(np.isinf(losses), 0.0, off))


def largest(block: Floats) -> float:
    """Return the sum of the largest finite losses of all rounds."""
    return float(np.where(np.isfinite(block), np.abs(block), 0.0).max(axis=1).sum())


def paid_along(
    given: Given,
    stays: Iterable[tuple[int, int]],
    loss: Any = None,
    *,
    loss_parameter: float | None = None,
) -> list[Segment]:
    """Return the losses of a sequence of experts, segment by segment.

    Parameters
    ----------
    given, loss, loss_parameter
        As in ``best_expert``.
    stays
        The first round, counted from 1, and the expert of each segment.

    Examples
    --------
    >>> paid_along([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [(1, 1), (2, 0)])
    [Segment(first=1, last=1, expert=1, loss=1.0), Segment(first=2, last=3, expert=0, loss=1.0)]
    """
    plan = list(stays)
    sums = [ColumnSums(1) for _ in plan]
    firsts = np.array([first for first, _ in plan])
    if not plan or firsts[0] != 1 or (np.diff(firsts) < 1).any():
        raise ValueError("segments must be in order and begin with round 1")
    before = 0
    for block in loss_blocks(given, loss, loss_parameter):
        after = before + len(block)
        current = int(np.searchsorted(firsts, before + 1, side="right")) - 1
        while current < len(plan) and firsts[current] <= after:
            stop = int(firsts[current + 1]) - 1 if current + 1 < len(plan) else after
            part = slice(max(0, int(firsts[current]) - 1 - before), min(stop, after) - before)
            sums[current].add(np.ascontiguousarray(block[part, plan[current][1], None]))
            current += 1
        before = after
    if firsts[-1] > before:
        raise ValueError(f"a segment begins in round {firsts[-1]}, but there are {before} rounds")
    lasts = [*(firsts[1:] - 1).tolist(), before]
    return [
        Segment(first, last, expert, math.fsum(total.parts.ravel()))
        for (first, expert), last, total in zip(plan, lasts, sums, strict=True)
    ]
