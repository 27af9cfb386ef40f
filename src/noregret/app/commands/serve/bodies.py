"""Requests from their JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from noregret import service as served
from noregret.app.commands.serve.answers import TooLarge
from noregret.errors import NoRegretError
from noregret.service.requests import Lines
from noregret.service.wire import Malformed, checked, refuse_repeated
from noregret.streams.json_lines import MAX_NESTING

# Bytes of a request, and of a batch; lines of a batch, and features of an example.
MAX_BODY, MAX_BATCH, MAX_LINES, MAX_FEATURES = 1 << 20, 1 << 26, 10_000, 100_000


class Body(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body of a request: an example, its name, its outcome, and the key of its model."""

    id: str | None = None
    x: dict[str, Any] | list[Any] | None = None
    y: Any = None
    key: str | None = None


decode = msgspec.json.Decoder(Body).decode


async def received(receive: Receive, most: int) -> bytes:
    """Return the body of a request, or raise an error if it is too long."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise TooLarge(f"a body of more than {most:,} bytes", f"send at most {most:,}")
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def request_of(action: str, body: bytes, target: str) -> served.Request:
    """Return a request from its JSON, or raise Malformed, or BadExample for a field ``target``."""
    try:
        found = decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"the request body is invalid: {error}") from None
    refuse_repeated(body, members_of(found))
    if action != "label" and len(found.x or ()) > MAX_FEATURES:
        raise TooLarge(f"{len(found.x or ()):,} features", f"send at most {MAX_FEATURES:,}")
    return checked(action, found.id, found.x, found.y, found.key, target, body.strip())


def members_of(found: Body) -> int:
    """Return the number of names in a body, without those of nested objects."""
    x = found.x
    given = (found.id is not None) + (x is not None) + (found.y is not None)
    return given + (found.key is not None) + (len(x) if type(x) is dict else 0)


def lines_of(lines: list[bytes], target: str) -> Lines | None:
    """Return examples with outcomes from their JSON; None if some line is anything else."""
    try:
        found = [*map(decode, lines)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    ids, examples, outcomes = [], [], []
    members = 0
    for each in found:
        x = each.x
        if type(x) is not dict or each.id is None or each.y is None or each.key is not None:
            return None
        if target in x or len(x) > MAX_FEATURES:
            return None
        members += len(x) + 3
        ids.append(each.id)
        examples.append(x)
        outcomes.append(each.y)
    if any(line.count(b"[") + line.count(b"{") > MAX_NESTING for line in lines):
        return None  # they may be nested too deeply
    if sum(line.count(b":") for line in lines) != members:  # a name may come twice
        try:
            for line, x in zip(lines, examples, strict=True):
                refuse_repeated(line, len(x) + 3)
        except Malformed:
            return None
    return None if "=" in target else Lines(ids, examples, outcomes, lines)


def attempted(action: str, line: bytes, target: str) -> served.Request | Exception:
    """Return a request of a batch, or its error."""
    try:
        return request_of(action, line, target)
    except NoRegretError as error:
        return error
