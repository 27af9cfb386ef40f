"""The learner where none is named, and its loss where none is given: the outcomes tell it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.app.results import DEFAULT_LEARNER
from noregret.errors import BadLabel, NoRegretError

if TYPE_CHECKING:
    from noregret.streams.block import Block
    from noregret.streams.options import Options

Floats = NDArray[np.float64]
# Parameters that settle the loss.
SETTLING = ("loss", "loss_parameter")
# How labels are written, the negative one first.
WRITTEN = ((0.0, 1.0), (-1.0, 1.0))
AS_NUMBERS = "-p loss=square"


class Choice(NamedTuple):
    """A loss that the first outcomes suggest: what they are, its name, words for it, and why."""

    outcomes: str
    loss: str
    words: str
    why: str = ""

    @property
    def labels(self) -> bool:
        """True if outcomes were taken as labels."""
        return self.outcomes == "labels"


def is_open(learner: str, params: dict[str, Any]) -> bool:
    """Return whether the outcomes choose the loss."""
    return learner == DEFAULT_LEARNER and not any(name in params for name in SETTLING)


def chosen(block: Block, options: Options) -> Choice:
    """Choose a loss by the outcomes of a first block.

    Outcomes are labels where they are written as such (false and true, or with ``positive``), and
    where they are all 0 or 1, or all −1 or +1, both seen. All others are numbers.
    """
    if options.positive is not None:
        why = f"as --positive {shlex.quote(options.positive)} says"
        return Choice("labels", "logistic", f"{why}, so the loss is logistic", why)
    if block.booleans:
        return labels("they are false and true")
    values = different(block.y)
    if tuple(values) in WRITTEN:
        low, high = (f"{value:+g}" if values[0] < 0 else f"{value:g}" for value in values)
        return labels(f"they are {low.replace('-', '−')} and {high}")
    words = "so the loss is square (-p loss=absolute for another)"
    if len(values) == 2 and len(block) > len(values):
        words = f"so the loss is square; with --positive {values[1]:g} they would be labels"
    if len(values) == 1 and any(values[0] in pair for pair in WRITTEN):
        words = f"all {values[0]:g} at first, so the loss is square; -p loss=logistic for labels"
    return Choice("numbers", "square", words)


def labels(why: str) -> Choice:
    """Return the choice for labels."""
    words = f"{why}, so the loss is logistic; {AS_NUMBERS} takes them as numbers"
    return Choice("labels", "logistic", words, why)


def different(y: Floats) -> list[float]:
    """Return the values that there are, in order; three where there are more."""
    found: list[float] = []
    left = y
    while len(left) and len(found) < 3:
        found.append(float(left[0]))
        left = left[left != left[0]]
    return sorted(found)


def explain(error: NoRegretError, choice: Choice | None) -> None:
    """Say what to do about an outcome that is no label, where labels were our idea."""
    if choice is not None and choice.labels and isinstance(error, BadLabel):
        error.cures += (
            f"if outcomes are numbers, begin with {AS_NUMBERS}: the first were taken for labels"
            f" ({choice.why})",
        )
