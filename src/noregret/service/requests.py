"""Requests to a service, and its replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from noregret.service.blocks import Floats
from noregret.service.compiled.plain_lines import PlainLines
from noregret.service.events import Event


class Reply(NamedTuple):
    """The reply of a service to a request.

    Parameters
    ----------
    prediction
        The prediction that was served.
    id
        The name of the prediction, which its label must have.
    seq
        Its number in the journal.
    chances
        The probability of each label, if the learner has them.
    """

    prediction: Any
    id: str
    seq: int
    chances: dict[Any, float] | None = None


class Request(NamedTuple):
    """A request for ``answer_many``: an example to predict, a label, or both.

    Parameters
    ----------
    action
        ``predict``, ``label`` or ``learn``.
    id, x, y, key
        The arguments of the method of that name.
    body
        The same as a JSON object, if it is at hand: it must have ``id``.
    """

    action: str
    id: str | None = None
    x: Any = None
    y: Any = None
    key: str | None = None
    body: bytes | None = None


class Lines(NamedTuple):
    """Examples with their outcomes, to predict and learn one after the other.

    Parameters
    ----------
    ids, examples, outcomes
        Strings, dicts and numbers.
    bodies
        Each of the three as a JSON object.
    """

    ids: list[str]
    examples: list[dict[str, Any]]
    outcomes: list[Any]
    bodies: list[bytes]

    @classmethod
    def parsed(cls, bodies: list[bytes]) -> Lines:
        """Return lines from their JSON, which was checked."""
        found = [json.loads(body) for body in bodies]
        ids, examples, outcomes = ([each[name] for each in found] for name in ("id", "x", "y"))
        return cls(ids, examples, outcomes, bodies)

    def requests(self) -> Iterator[Request]:
        """Yield a request for each."""
        for name, x, y, body in zip(*self, strict=True):
            yield Request("learn", name, x, y, None, body)


class Learned(NamedTuple):
    """The replies to lines: the predictions, and the number of the first in the journal."""

    ids: list[str]
    predictions: list[float]
    first: int


class LearnedPlain(NamedTuple):
    """The replies to the first of plain lines: the predictions, and the number of the first."""

    lines: PlainLines
    predictions: Floats
    first: int


class Job:
    """A request, and what came of it."""

    __slots__ = ("answer", "done", "error", "request")

    def __init__(self, request: Request | Callable[[], Reply]) -> None:
        self.request = request
        self.done = False
        self.answer: Reply | None = None
        self.error: Exception | None = None

    @property
    def outcome(self) -> Reply | Exception:
        """The answer, or the error."""
        found = self.error or self.answer
        assert found is not None
        return found


def answer_of(event: Event) -> Reply:
    """Return the answer that was given."""
    chances = event.chances
    return Reply(
        event.prediction,
        event.id,
        event.seq,
        None if chances is None else dict(chances),
    )
