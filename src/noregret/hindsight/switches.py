"""The best sequences of experts: one expert after another, with few switches between them.

By dynamic programming over rounds, for every number of switches up to the most at once, in time
rounds × experts × switches and in memory rounds × switches. The search is exact: all that can be
lost is rounding, of which sums of pairs of numbers leave next to nothing.
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
    """Some rounds in a row that are left to one expert.

    Parameters
    ----------
    first, last
        The first of the rounds and the last, counted from 1.
    expert
        The expert, counted from 0.
    loss
        What it pays in these rounds.
    """

    first: int
    last: int
    expert: int
    loss: float


@dataclass(frozen=True)
class Sequences:
    """The best sequences of experts for every number of switches up to the most.

    Parameters
    ----------
    losses
        The least cumulative loss of a sequence with at most k switches, for k = 0, 1, …, most.
    rounding
        By how much each of them may be off.
    rounds, experts
        How many there were.
    """

    losses: Floats
    rounding: Floats
    rounds: int
    experts: int
    ends: list[NDArray[np.uint32]] = field(repr=False)
    starts: list[NDArray[np.uint32]] = field(repr=False)
    given: Given = field(repr=False)
    loss: Any = field(repr=False)

    exact: ClassVar[bool] = True  # sums, not the end of a search

    @property
    def most(self) -> int:
        """The most switches that were asked for."""
        return len(self.losses) - 1

    def segments(self, switches: int) -> list[Segment]:
        """Return a best sequence with at most so many switches, which it need not use up.

        What each segment pays is summed in one more pass over the rounds.
        """
        return paid_along(self.given, self.stays(switches), self.loss)

    def stays(self, switches: int) -> list[tuple[int, int]]:
        """Return the first round of every segment, counted from 1, and the expert it is left to."""
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
        """Return the least loss with at most so many switches, with a proof of either end.

        The witness holds two numbers for every segment: its first round and its expert.
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
    given
        Advice and outcomes as ``Rows``; or a table of losses; or a function that returns a fresh
        iterator of blocks each time it is called, (advice, outcomes) or losses.
    most
        The most switches between experts.
    loss
        By name, or one of your own; None where the table holds losses.
    loss_parameter
        The loss's quantile, where it was given by name.
    doubts
        By how much the losses of a table may be off, as for ``expert_losses``.

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
    """Return by how much the least losses may be off.

    What rounding takes from the first numbers of the pairs is at most u a round, as a share of what
    a path has paid; only that is rounded again, when it is added and when two paths are compared.
    Where losses are negative, a path's sum is no measure of its parts: there, ``size`` is, not
    below the sum of the largest losses of all rounds. Losses that were computed are each off by
    some roundings.
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
    """Return what a sequence of experts pays, segment by segment.

    Parameters
    ----------
    given, loss, loss_parameter
        As for ``best_sequences``.
    stays
        For every segment its first round, counted from 1, and its expert.

    Examples
    --------
    >>> paid_along([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [(1, 1), (2, 0)])
    [Segment(first=1, last=1, expert=1, loss=1.0), Segment(first=2, last=3, expert=0, loss=1.0)]
    """
    plan = list(stays)
    sums = [ColumnSums(1) for _ in plan]
    firsts = np.array([first for first, _ in plan])
    if not plan or firsts[0] != 1 or (np.diff(firsts) < 1).any():
        raise ValueError("segments must follow each other, beginning with round 1")
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
        raise ValueError(f"a segment begins with round {firsts[-1]}, after the last, {before}")
    lasts = [*(firsts[1:] - 1).tolist(), before]
    return [
        Segment(first, last, expert, math.fsum(total.parts.ravel()))
        for (first, expert), last, total in zip(plan, lasts, sums, strict=True)
    ]
