"""Messages as requests to a service, and its replies as messages."""

from __future__ import annotations

import json

from noregret.service.requests import Reply, Request
from noregret.service.sources.source import Message
from noregret.service.wire import FIELDS, Malformed, checked, distinct, told

FORM = 'send {"id", "x"} to predict, {"id", "y"} to label, {"id", "x", "y"} to learn'


def request_of(message: Message, target: str) -> Request:
    """Return a message as a request, or raise Malformed, or BadExample for a field ``target``.

    An example without a label is to be predicted, one with a label to be learned; without ``id``,
    its position is its id.
    """
    if message.fault:
        raise Malformed(message.fault, f"put JSON there: {FORM}")
    try:
        found = json.loads(message.body, object_pairs_hook=distinct)
    except Malformed:
        raise
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the message is not JSON ({error})", FORM) from None
    if not isinstance(found, dict):
        raise Malformed("the message is not a JSON object", FORM)
    if odd := sorted(set(found) - set(FIELDS)):
        raise Malformed(f"the message has a field {odd[0]!r:.80}", FORM)
    name, x, y, key = (found.get(field) for field in FIELDS)
    if x is None and (y is None or name is None):
        raise Malformed("the message has neither an example nor a label with its id", FORM)
    action = "label" if x is None else "predict" if y is None else "learn"
    return checked(action, message.position if name is None else name, x, y, key, target)


def reply_body(reply: Reply) -> bytes:
    """Return a reply as the body of a message."""
    return json.dumps(told(reply), ensure_ascii=False).encode()


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
