"""The loss of the learners of a tournament, and how they name two classes: the first rows tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from noregret.app.results.loss_choice import (
    AS_NUMBERS,
    CLASSES,
    NUMBERS,
    SETTLING,
    Choice,
    chosen,
)
from noregret.base.registry import built
from noregret.errors import NoRegretError, WrongUsage
from noregret.linear.learner import is_of_classes

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.streams.block import Block
    from noregret.streams.stream import Stream

# Blocks without an outcome after which the target counts as unknown.
MAX_UNDECIDED_BLOCKS = 64
LOGISTIC = "logistic"


class Contender(NamedTuple):
    """A learner as a command line asks for it, with the parameters that were given."""

    learner: Learner
    params: Mapping[str, Any]

    @property
    def is_open(self) -> bool:
        """True if the outcomes choose the loss."""
        return "loss" in self.learner.params and not any(name in self.params for name in SETTLING)


def decided(
    contenders: Mapping[str, Contender], stream: Stream, task: str | None
) -> tuple[dict[str, Learner], Stream]:
    """Return the learners with the loss that outcomes ask for, and the stream that names classes.

    Learners whose loss was given, or that have only one, stay as they are.
    """
    for name, contender in contenders.items():
        if is_of_classes(contender.learner):
            raise WrongUsage(
                f"{name} predicts one of several classes, which masters cannot mix: mix learners"
                " of numbers or of two classes"
            )
    if task is None and not any(map(is_in_doubt, contenders.values())):
        return {name: each.learner for name, each in contenders.items()}, stream
    first = first_block(stream)
    choice = None if first is None else chosen(first, stream.options, task)
    if choice is None:
        return {name: each.learner for name, each in contenders.items()}, stream
    if choice.outcomes not in (NUMBERS, "two classes"):
        raise NoRegretError(
            "the target has several classes, which masters cannot mix",
            ("use --positive VALUE for one class against all others", "use ‘noregret run’"),
            file=stream.paths[0],
        )
    found = {name: of_loss(name, each, choice) for name, each in contenders.items()}
    return found, with_classes(stream, choice)


def is_in_doubt(contender: Contender) -> bool:
    """Return whether the outcomes must be known: to choose the loss, or to name two classes."""
    return contender.is_open or contender.learner.engine.loss.labels


def first_block(stream: Stream) -> Block | None:
    """Return the first block with an outcome; None if there is none near the start."""
    reading = stream.reading()
    reading.wait()
    reading.ahead = False
    blocks: Iterator[Block] = islice(reading, MAX_UNDECIDED_BLOCKS)
    return next((block for block in blocks if block.labelled.any()), None)


def of_loss(name: str, contender: Contender, choice: Choice) -> Learner:
    """Return a learner with the loss of the chosen kind of target; refuse one that has none."""
    learner, labels = contender.learner, contender.learner.engine.loss.labels
    if contender.is_open and labels != choice.labels:
        loss = LOGISTIC if choice.labels else "square"
        made: Learner = built(type(learner), {**contender.params, "loss": loss})
        return made
    if labels != choice.labels:
        predicts = CLASSES if labels else NUMBERS
        cure = f"leave it out, or use {AS_NUMBERS}" if not labels else "leave it out"
        raise NoRegretError(
            f"{name} predicts {predicts}, and the target has {choice.outcomes}"
            + (f" ({choice.why})" if choice.why else ""),
            cure,
        )
    return learner


def with_classes(stream: Stream, choice: Choice) -> Stream:
    """Return a stream that names two classes as they were chosen."""
    if stream.options.positive is not None or choice.positive is None:
        return stream
    options = replace(stream.options, positive=choice.positive, negative=choice.negative)
    return type(stream)(stream.paths, options)
