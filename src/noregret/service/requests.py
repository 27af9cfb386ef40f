"""Requests to a service, and its replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from noregret.service.journal import Event
from noregret.service.values import plain


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
    """

    action: str
    id: str | None = None
    x: Any = None
    y: Any = None
    key: str | None = None


class Job:
    """A request, and what came of it."""

    def __init__(self, act: Callable[[], Reply]) -> None:
        self.act = act
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
    prediction, chances = json.loads(event.answer)
    chances = None if chances is None else {plain(label): chance for label, chance in chances}
    return Reply(prediction, event.id, event.seq, chances)
