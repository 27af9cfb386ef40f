"""The choice of the loss of `auto` or a forest, unless it is given: the first outcomes tell.

Numbers get the square loss, two classes the logistic one, several classes the multiclass version of
the learner.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.app.results import DEFAULT_LEARNER
from noregret.errors import BadLabel, NoRegretError
from noregret.linear.learner import is_of_classes
from noregret.streams.block import only
from noregret.streams.class_labels import TextOutcomes, as_text, counted, likely_positive
from noregret.streams.columns import is_number

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.streams.block import Block
    from noregret.streams.options import Options

Floats = NDArray[np.float64]
# Values of --task, and what outcomes are.
NUMBERS, CLASSES = TASKS = ("numbers", "classes")
TWO, SEVERAL = "two classes", "several classes"
# Parameters that settle the loss.
SETTLING = ("loss", "loss_parameter")
# How labels are written that every learner knows, the negative one first.
WRITTEN = ((0.0, 1.0), (-1.0, 1.0))
AS_NUMBERS, AS_CLASSES = "--task numbers", "--task classes"
# Whole numbers with at most this many values may be classes, and the command says so.
MAX_CLASSLIKE = 20
# Text with more different values per row is hardly the name of a class.
MAX_CLASS_SHARE = 0.5
# The learner of several classes, where none is named.
CLASS_LEARNER = "auto-classes"


class Choice(NamedTuple):
    """The kind of target that the first outcomes suggest, its loss, and the reason.

    ``positive`` and ``negative`` are two classes that are not written as 0 and 1, −1 and +1, or
    false and true.
    """

    outcomes: str
    loss: str
    words: str
    why: str = ""
    positive: str | None = None
    negative: str | None = None

    @property
    def labels(self) -> bool:
        """True if outcomes were taken as two classes."""
        return self.outcomes == TWO


def is_open(learner: Learner, params: dict[str, Any]) -> bool:
    """Return whether the outcomes choose the loss: the learner has one for each kind of target."""
    several = learner._for_classes is not None and not is_of_classes(learner)
    return several and not any(name in params for name in SETTLING)


def chosen(
    block: Block,
    options: Options,
    task: str | None = None,
    loss: str = "",
    learner: type[Learner] | None = None,
) -> Choice:
    """Choose by the outcomes of a first block.

    Text and booleans are classes; so are two different numbers, unless ``task`` is numbers. All
    others are numbers. With ``loss``, the learner is one of two classes and has that loss. By
    default it is ``auto``.
    """
    block = only(block, block.labelled)
    name = loss or "logistic"
    if block.bases is not None and task is None:  # classes have no initial predictions
        task = NUMBERS
    if options.positive is not None:
        why = f"as --positive {shlex.quote(options.positive)} says"
        return Choice(TWO, name, f"{why}; the loss is {name}", why)
    if block.values is not None and len(block) and task != NUMBERS:
        return text_chosen(block, options, loss, learner)
    if block.booleans and task != NUMBERS:
        return two_chosen("false and true", name)
    values = different(block.y)
    if len(values) == 2 and len(block) > 2 and task != NUMBERS:
        low, high = (f"{value:+g}" if values[0] < 0 else f"{value:g}" for value in values)
        pair = f"{low.replace('-', '−')} and {high}"
        named = () if tuple(values) in WRITTEN else (as_text(values[1]), as_text(values[0]))
        return two_chosen(pair, name, *named)
    if task == CLASSES and not loss:
        return several_chosen(f"as {AS_CLASSES} says; ", learner)
    is_auto = learner is None or learner.name == DEFAULT_LEARNER
    return Choice(NUMBERS, "square", number_words(block, values, task, is_auto))


def first_row(block: Block) -> Block:
    """Return the first row of a block, so that a choice does not depend on how rows arrive."""
    first = only(block, np.arange(len(block)) == 0)
    return first if first.labelled.any() else replace(first, values=None, booleans=False)


def number_words(block: Block, values: list[float], task: str | None, is_auto: bool) -> str:
    """Say why outcomes are taken as numbers, and how to say otherwise."""
    if block.bases is not None:
        return "square loss, as there are initial predictions"
    if task == NUMBERS:
        return f"as {AS_NUMBERS} says; the loss is square"
    many = different(block.y, MAX_CLASSLIKE + 1)
    if len(values) == 1 and len(block) > 1:
        return f"the first are all {values[0]:g}; {AS_CLASSES} if they are classes"
    if 2 < len(many) <= MAX_CLASSLIKE and all(value.is_integer() for value in many):
        return f"{len(many)} different whole numbers; {AS_CLASSES} if they are classes"
    return "square loss" + ("; choose another with -p loss=absolute" if is_auto else "")


def two_chosen(
    pair: str, loss: str, positive: str | None = None, negative: str | None = None
) -> Choice:
    """Return the choice for two classes."""
    words = f"{pair}; the loss is {loss}; {AS_NUMBERS} takes them as numbers"
    return Choice(TWO, loss, words, pair, positive, negative)


def text_chosen(block: Block, options: Options, loss: str, learner: type[Learner] | None) -> Choice:
    """Return the choice for outcomes that are text: two classes, or several."""
    assert block.values is not None
    counts = counted(block, None)
    if len(counts) == 2:
        positive = likely_positive(counts)
        negative = next(name for name in counts if name != positive)
        shown, other = repr(positive), shlex.quote(negative)
        words = f"probabilities are those of {shown} (--positive {other} for the other)"
        pair = f"{negative!r} and {positive!r}"
        return Choice(TWO, loss or "logistic", f"{pair}; {words}", pair, positive, negative)
    if loss:
        listed = ", ".join(map(repr, list(counts)[:3])) + (", …" if len(counts) > 3 else "")
        raise NoRegretError(
            f"this learner is for two classes, and there are {len(counts)} ({listed})",
            (
                "use --learner auto-classes for several",
                f"--positive {shlex.quote(likely_positive(counts))} for one against all others",
            ),
            file=block.place_of(0).file,
        )
    if len(counts) > max(MAX_CLASSLIKE, MAX_CLASS_SHARE * len(block)):
        raise NoRegretError(
            f"the target {options.target!r} has {len(counts):,} different values in the first"
            f" {len(block):,} rows, so these are hardly classes",
            ("choose another --target", "use --learner auto-classes to take them as classes"),
            file=block.place_of(0).file,
        )
    return several_chosen("", learner)


def several_chosen(why: str, learner: type[Learner] | None) -> Choice:
    """Return the choice for several classes."""
    name = DEFAULT_LEARNER if learner is None else learner.name
    several = CLASS_LEARNER if learner is None else learner._for_classes
    words = f"{why}uses {several}, the multiclass version of {name}, with the log loss"
    return Choice(SEVERAL, "softmax", words, why)


def different(y: Floats, most: int = 3) -> list[float]:
    """Return the different values in order, at most ``most`` of them."""
    found: list[float] = []
    left = y
    while len(left) and len(found) < most:
        found.append(float(left[0]))
        left = left[left != left[0]]
    return sorted(found)


def explain(error: NoRegretError, choice: Choice | None) -> None:
    """Add a cure to an error about classes: several, or a third if the first rows suggested two."""
    if isinstance(error, TextOutcomes) and error.several:
        error.cures += (f"use --learner {CLASS_LEARNER} for several classes",)
    if choice is None or not choice.labels or not isinstance(error, BadLabel):
        return
    if choice.positive is None or is_number(choice.positive):
        error.cures += (
            f"if outcomes are numbers, begin with {AS_NUMBERS}: the first were taken for two"
            f" classes ({choice.why})",
        )
    if choice.positive is not None:
        error.cures += (
            "if there are more classes, begin with --learner auto-classes",
            f"--positive {shlex.quote(choice.positive)} takes all others as one class",
        )
