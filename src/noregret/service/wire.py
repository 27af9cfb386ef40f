"""Requests and replies as JSON: the same for HTTP and for messages of brokers."""

from __future__ import annotations

import json
from typing import Any

from noregret.errors import BadExample
from noregret.service.errors import ServiceError
from noregret.service.requests import Reply, Request
from noregret.service.values import has_field

FIELDS = ("id", "x", "y", "key")
# What each action needs.
NEEDED = {"predict": ("x",), "label": ("id", "y"), "learn": ("x", "y")}


class Malformed(ServiceError):
    """Raised for what is not the JSON of a request."""


def checked(
    action: str, id: Any, x: Any, y: Any, key: Any, target: str, body: bytes | None = None
) -> Request:
    """Return a request, or raise Malformed, or BadExample for a feature called ``target``.

    Parameters
    ----------
    action
        ``predict``, ``label`` or ``learn``.
    id, x, y, key
        The fields of the request, None for those that it does not have.
    target
        The name of the outcome, which no feature may have.
    body
        The same as a JSON object, if it is at hand.
    """
    if (x is None and action != "label") or (y is None and action != "predict"):
        raise Malformed(f"{action} needs {'x' if x is None else 'y'!r}: {example(action)}")
    if action == "label":
        if id is None:
            raise Malformed(f"label needs 'id': {example(action)}")
        if x is not None:
            raise Malformed("a label has no 'x': learn takes both")
        if key is not None:
            raise Malformed("a label has no 'key': its prediction has one")
    elif action == "predict" and y is not None:
        raise Malformed("a prediction has no 'y': learn takes both")
    if x is not None and isinstance(x, dict | list) and has_field(x, target):
        raise BadExample(
            f"feature {target!r} is called like the outcome",
            ("send outcomes as 'y', outside of 'x'", "serve with another --target"),
            feature=target,
        )
    return Request(action, id, x, y, key, None if id is None else body)


def refuse_repeated(body: bytes, members: int) -> None:
    """Raise Malformed if an object of a JSON text names a member twice.

    A parser would take the last of them and say nothing.

    Parameters
    ----------
    body
        The text, which is valid.
    members
        The number of members that a parser found. Each has a colon: if there are no more of these,
        none was lost, and the text need not be read again.
    """
    if body.count(b":") > members:
        try:
            json.loads(body, object_pairs_hook=distinct, parse_int=str, parse_float=str)
        except RecursionError:
            raise Malformed("the objects are nested too deeply") from None


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object as a dict, or raise Malformed if one comes twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen = set[str]()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Malformed(f"the name {twice!r:.80} comes twice in one object", "send each name once")
    return found


def told(reply: Reply) -> dict[str, Any]:
    """Return a reply as JSON can hold it."""
    found: dict[str, Any] = {"id": reply.id, "prediction": reply.prediction, "seq": reply.seq}
    if reply.chances is not None:
        found["chances"] = {
            label if isinstance(label, str) else json.dumps(label): chance
            for label, chance in reply.chances.items()
        }
    return found


def example(action: str) -> str:
    """Return an example of a body."""
    given = {"id": '"order-1"', "x": '{"sun": 0.8}', "y": "31.0"}
    wanted = ["id", *(name for name in NEEDED[action] if name != "id")]
    return "{" + ", ".join(f'"{name}": {given[name]}' for name in wanted) + "}"
