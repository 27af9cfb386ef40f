"""Messages as requests to a service, and its replies as messages."""

from __future__ import annotations

import json
from typing import Any

from noregret.errors import BadExample
from noregret.service.errors import ServiceError
from noregret.service.requests import Reply, Request
from noregret.service.sources.source import Message
from noregret.service.values import has_field

FIELDS = ("id", "x", "y", "key")
FORM = 'send {"id", "x"} to predict, {"id", "y"} to label, {"id", "x", "y"} to learn'


class BadMessage(ServiceError):
    """Raised for a message that is not the JSON of a request."""


def request_of(message: Message, target: str) -> Request:
    """Return a message as a request, or raise BadMessage, or BadExample for a field ``target``.

    An example without a label is to be predicted, one with a label to be learned; without ``id``,
    its position is its id.
    """
    if message.fault:
        raise BadMessage(message.fault, f"put JSON there: {FORM}")
    try:
        found = json.loads(message.body)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"the message is not JSON ({error})", FORM) from None
    if not isinstance(found, dict):
        raise BadMessage("the message is not a JSON object", FORM)
    if odd := sorted(set(found) - set(FIELDS)):
        raise BadMessage(f"the message has a field {odd[0]!r:.80}", FORM)
    name, x, y, key = (found.get(field) for field in FIELDS)
    if x is None and (y is None or name is None):
        raise BadMessage("the message has neither an example nor a label with its id", FORM)
    if x is None:
        if key is not None:
            raise BadMessage("a label has no 'key': its prediction has one")
        return Request("label", name, y=y)
    if isinstance(x, dict | list) and has_field(x, target):
        raise BadExample(
            f"feature {target!r} is called like the outcome", "send outcomes as 'y', outside of 'x'"
        )
    action = "predict" if y is None else "learn"
    return Request(action, message.position if name is None else name, x, y, key)


def told(reply: Reply) -> bytes:
    """Return a reply as JSON."""
    found: dict[str, Any] = {"id": reply.id, "prediction": reply.prediction, "seq": reply.seq}
    if reply.chances is not None:
        found["chances"] = {
            label if isinstance(label, str) else json.dumps(label): chance
            for label, chance in reply.chances.items()
        }
    return json.dumps(found, ensure_ascii=False).encode()


def refusal(message: Message, error: Exception) -> bytes:
    """Return a refused message as JSON, with the reason."""
    found = {
        "topic": message.topic,
        "position": message.position,
        "status": int(getattr(error, "status", 422)),
        "error": str(error),
        "message": message.body.decode("utf-8", "replace"),
    }
    return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
