"""Answers over HTTP: JSON, and problem details (RFC 9457) for errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from noregret import service as served
from noregret.app.commands.serve.row_options import worded
from noregret.errors import NoRegretError
from noregret.service.errors import ServiceError

JSON, NDJSON, PROBLEM = "application/json", "application/x-ndjson", "application/problem+json"
# Of errors in what a client sent, unless they have one of their own.
INVALID = 422
encoder = msgspec.json.Encoder()
encode, encode_lines = encoder.encode, encoder.encode_lines


class Told(msgspec.Struct, gc=False):
    """An answer without probabilities."""

    id: str
    prediction: Any
    seq: int


class TooLarge(ServiceError):
    """Raised for a body that is too long."""

    status = 413


def as_json(value: Any) -> Response:
    """Return a value as a response."""
    return Response(encode(value), media_type=JSON)


def status_of(answer: served.Reply | Exception) -> int:
    """Return the status of an answer."""
    if isinstance(answer, served.Reply):
        return 200
    if isinstance(answer, HTTPException):
        return answer.status_code
    if isinstance(answer, NoRegretError | TypeError | ValueError):
        return int(getattr(answer, "status", INVALID))
    return 500


TITLES = {
    400: "Malformed request",
    401: "Key needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    409: "Conflict",
    410: "Expired",
    413: "Too large",
    415: "Unsupported media type",
    INVALID: "Invalid example or outcome",
    429: "Too many requests",
    431: "Header fields too large",
    500: "Internal error",
    503: "Not available",
}


def problem_of(error: Exception) -> dict[str, Any]:
    """Return an error as problem details (RFC 9457)."""
    status = status_of(error)
    detail = str(error)
    if isinstance(error, HTTPException):
        detail = error.detail
    elif isinstance(error, NoRegretError):
        detail = worded(error)
    if status == 500:
        detail = "the error is in the log of the server"
    return {"type": "about:blank", "title": TITLES[status], "status": status, "detail": detail}


def problem(error: Exception) -> Response:
    """Return the response to a request that failed."""
    found = problem_of(error)
    headers = dict(headers_of(error, found["status"]))
    return Response(encode(found), found["status"], headers, PROBLEM)


def headers_of(error: Exception, status: int) -> Iterator[tuple[str, str]]:
    """Yield the headers that a status asks for."""
    if isinstance(error, HTTPException):
        yield from (error.headers or {}).items()
    if status == 401:
        yield "WWW-Authenticate", "Bearer"
    if status == 429:
        yield "Retry-After", str(getattr(error, "seconds", 1))
    if status == 503:
        yield "Retry-After", "1"


async def refuse(request: Request, error: Exception) -> Response:
    """Return the response to any error."""
    if isinstance(error, ClientDisconnect):  # no one reads the reply
        return Response(status_code=400)
    return problem(error)
