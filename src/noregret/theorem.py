"""What a theorem is: the promise that a learner answers for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Theorem:
    """A promise: what is bounded, by what, under which assumptions.

    Parameters
    ----------
    name
        The name it is known by, in kebab case.
    quantity
        What it bounds: the cumulative ``loss``, the ``regret`` or the number of ``mistakes``.
    bound
        The promise as a LaTeX formula.
    assumptions
        What must hold of the data and the parameters, a LaTeX-in-Markdown sentence each.
    tuning
        How to choose the parameters, where the promise asks for a choice.
    source
        Who proved it, and where.
    warning
        Whether it says what goes wrong, not what is promised.
    """

    name: str
    quantity: Literal["loss", "regret", "mistakes"]
    bound: str
    assumptions: tuple[str, ...]
    tuning: str = ""
    source: str = ""
    warning: bool = False
