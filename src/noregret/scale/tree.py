"""Reductions over a fixed binary tree, so that sums do not depend on who computes which part.

Leaves are numbered from 0. A node is known by the first of its leaves and their number, a power of
two except for nodes at the right edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
Key = tuple[int, int]  # the first leaf, and how many there are


def grown(leaves: Iterable[tuple[int, T]], join: Callable[[T, T], T]) -> dict[Key, T]:
    """Return the nodes of some consecutive leaves, joined as far as the tree allows."""
    nodes: list[tuple[int, int, T]] = []
    for number, leaf in leaves:
        nodes.append((number, 1, leaf))
        while len(nodes) > 1:
            (first, size, left), (_, other, right) = nodes[-2:]
            if size != other or first % (2 * size):
                break
            nodes[-2:] = [(first, 2 * size, join(left, right))]
    return {(first, size): value for first, size, value in nodes}


def reduced(
    take: Callable[[Key], T | None], count: int, join: Callable[[T, T], T], first: int = 0
) -> T:
    """Return the root over ``count`` leaves, given the nodes that are known; None for others."""
    if (node := take((first, count))) is not None:
        return node
    half = 1 << (count - 1).bit_length() - 1
    left = reduced(take, half, join, first)
    return join(left, reduced(take, count - half, join, first + half))
