"""Models behind an address: HTTP and JSON over ``Service``."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from noregret import service as served
from noregret.app.commands.serve import challenges
from noregret.app.commands.serve.dashboard import dashboard
from noregret.app.commands.serve.desk import Desk, Overloaded
from noregret.app.commands.serve.exposition import CONTENT_TYPE, exposition
from noregret.app.commands.serve.feeding import Feeds, source_lines
from noregret.app.commands.serve.interface import described, page
from noregret.app.commands.serve.keys import ADMIN, LABEL, PREDICT, Keys
from noregret.app.commands.serve.watching import Watching
from noregret.errors import BadExample, NoRegretError
from noregret.service.errors import ServiceError
from noregret.service.values import has_field

JSON, NDJSON, PROBLEM = "application/json", "application/x-ndjson", "application/problem+json"
# Bytes of a request, and of a batch; lines of a batch, and features of an example.
MAX_BODY, MAX_BATCH, MAX_LINES, MAX_FEATURES = 1 << 20, 1 << 26, 10_000, 100_000
SCOPES = {"predict": (PREDICT,), "label": (LABEL,), "learn": (PREDICT, LABEL)}
NEEDED = {"predict": ("x",), "label": ("id", "y"), "learn": ("x", "y")}
# The page takes nothing from elsewhere, and no other page shows it in a frame.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src"
    " 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
}
# Of errors in what a client sent, unless they have one of their own.
INVALID = 422


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request: an example, its name, its outcome, and the key of its model."""

    id: str | None = None
    x: dict[str, Any] | list[Any] | None = None
    y: Any = None
    key: str | None = None


decode = msgspec.json.Decoder(Body).decode
encoder = msgspec.json.Encoder()
encode, encode_lines = encoder.encode, encoder.encode_lines
logger = logging.getLogger("uvicorn.error")


class TooLarge(ServiceError):
    """Raised for a body that is too long."""

    status = 413


class Malformed(ServiceError):
    """Raised for a body that is not the JSON of a request."""


class Server:
    """Some models, as an ASGI application (``app``).

    Parameters
    ----------
    services
        The models by name; they are closed when the server stops.
    keys
        Who may do what.
    targets
        The name of the outcome in exported rows, by model; ``y`` unless given.
    """

    def __init__(
        self,
        services: Mapping[str, served.Service],
        keys: Keys,
        targets: Mapping[str, str] | None = None,
    ) -> None:
        self.desks = {name: Desk(service) for name, service in services.items()}
        self.keys, self.targets = keys, dict(targets or {})
        self.counts: dict[tuple[str, int], int] = {}  # by action and status
        self.feeds: Feeds = []  # of the models that brokers feed
        self.watching = Watching(self.desks)
        self.hot = {f"/models/{n}/{action}": (n, action) for n in self.desks for action in SCOPES}
        self.rest = Starlette(
            routes=[
                Route("/models/{model}/certificate", self.certificate),
                Route("/models/{model}/rows", self.rows),
                Route("/models/{model}/watch", self.watch),
                *challenges.routes(self.desk_of),
                Route("/models/{model}/{action}", self.act, methods=["POST"]),
                Route("/models/{model}", self.model),
                Route("/models", self.models),
                Route("/metrics", self.metrics),
                Route("/healthz", self.alive),
                Route("/readyz", self.ready),
                Route("/openapi.json", self.openapi),
                Route("/api", self.page),
                Route("/", self.home),
            ],
            exception_handlers={
                Exception: refuse,  # these are also logged
                **dict.fromkeys((HTTPException, NoRegretError, ClientDisconnect), refuse),
                **dict.fromkeys((TypeError, ValueError), refuse),
            },
            lifespan=self.lifespan,
        )

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer predictions and labels without a detour; the rest goes by its routes."""
        found = self.hot.get(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] != "POST":
            await self.rest(scope, receive, send)
            return
        model, action = found
        try:
            status, kind, body = await self.fast(model, action, scope["headers"], receive)
            headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
        except ClientDisconnect:
            return
        except Exception as error:
            self.count(action, error)
            if status_of(error) == 500:
                logger.exception("%s", scope["path"])
            response = problem(error)
            await response(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def fast(
        self, model: str, action: str, headers: list[tuple[bytes, bytes]], receive: Receive
    ) -> tuple[int, bytes, bytes]:
        """Return status, media type and body of the answer to a request or a batch."""
        given = dict(headers)
        if self.keys.keys:
            self.keys.check(given.get(b"authorization", b"").decode("latin-1"), model,
                            *SCOPES[action])  # fmt: skip
        desk, target = self.desks[model], self.targets.get(model, "y")
        kind = given.get(b"content-type", b"application/json")
        batch = False
        if kind != b"application/json":
            media = kind.decode("latin-1").partition(";")[0].strip().lower()
            batch = media == NDJSON
            if not batch and media != JSON:
                what = f"the body is {media}: send {JSON}, or {NDJSON} for many rows"
                raise HTTPException(415, what)
        body = await received(
            receive, given.get(b"content-length"), MAX_BATCH if batch else MAX_BODY
        )
        if batch:
            return 200, NDJSON.encode(), await self.batch(desk, action, body, target)
        (answer,) = await desk.ask((request_of(action, body, target),))
        if isinstance(answer, Exception):
            raise answer
        counted = action, 200
        self.counts[counted] = self.counts.get(counted, 0) + 1
        return 200, b"application/json", encode(told(answer))

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Serve, and close all models in the end."""
        self.watching.start()
        try:
            yield
        finally:
            await self.watching.stop()
            for desk in self.desks.values():
                desk.close()

    def allow(self, request: Request, *scopes: str) -> None:
        """Raise an error unless the request's key allows this for all models."""
        self.keys.check(request.headers.get("authorization"), None, *scopes)

    def desk_of(self, request: Request, *scopes: str) -> Desk:
        """Return the desk of the model that a request names, if its key allows this."""
        name = request.path_params["model"]
        self.keys.check(request.headers.get("authorization"), name, *scopes)
        if name not in self.desks:
            raise HTTPException(404, f"there is no model {name!r}: GET /models lists all")
        return self.desks[name]

    def target_of(self, request: Request) -> str:
        """Return the name of the outcome in the exported rows of the model of a request."""
        return self.targets.get(request.path_params["model"], "y")

    def count(self, action: str, answer: served.Reply | Exception) -> None:
        """Count an answer by its status."""
        key = action, status_of(answer)
        self.counts[key] = self.counts.get(key, 0) + 1

    # Predictions and labels.

    async def act(self, request: Request) -> Response:
        """Refuse what is no prediction and no label."""
        self.desk_of(request)
        action = request.path_params["action"]
        raise HTTPException(404, f"there is no action {action!r}: predict, label or learn")

    async def batch(self, desk: Desk, action: str, body: bytes, target: str) -> bytes:
        """Answer many requests, a line each, all in one transaction."""
        lines = [line for line in body.splitlines() if line.strip()]
        if len(lines) > MAX_LINES:
            raise TooLarge(f"{len(lines):,} lines", f"send at most {MAX_LINES:,} at once")
        parsed = [attempted(action, line, target) for line in lines]
        asked = [each for each in parsed if type(each) is served.Request]
        answers = iter(await desk.ask(asked) if asked else [])
        shown, good = [], 0
        for each in parsed:
            answer = next(answers) if type(each) is served.Request else each
            if type(answer) is served.Reply:
                good += 1
                shown.append(told(answer))
            else:
                assert isinstance(answer, Exception)
                self.count(action, answer)
                shown.append(problem_of(answer))
        if good:
            self.counts[action, 200] = self.counts.get((action, 200), 0) + good
        return encode_lines(shown)

    # Results.

    async def models(self, request: Request) -> Response:
        """List the models."""
        self.allow(request)
        return as_json({name: desk.facts() for name, desk in self.desks.items()})

    async def model(self, request: Request) -> Response:
        """Tell about one model."""
        return as_json(self.desk_of(request).facts())

    async def certificate(self, request: Request) -> Response:
        """Certify what was served."""
        desk = self.desk_of(request, ADMIN)
        key = request.query_params.get("key")
        found = await desk.do(lambda: desk.service.certificate(key=key))
        return Response(found.to_json(), media_type=JSON)

    async def rows(self, request: Request) -> Response:
        """Return the rows to verify a certificate with."""
        desk = self.desk_of(request, ADMIN)
        target, key = self.target_of(request), request.query_params.get("key")
        found = await desk.do(lambda: b"".join(desk.service.exported(target, key)))
        return Response(found, media_type=NDJSON)

    async def metrics(self, request: Request) -> Response:
        """Return the metrics for Prometheus."""
        self.allow(request)
        found = {name: await desk.do(desk.service.metrics) for name, desk in self.desks.items()}
        text = exposition(found, self.counts)
        text += "".join(f"{line}\n" for line in source_lines(self.feeds))
        return PlainTextResponse(text, media_type=CONTENT_TYPE)

    async def alive(self, request: Request) -> Response:
        """Say that the process is alive."""
        return PlainTextResponse("alive\n")

    async def ready(self, request: Request) -> Response:
        """Say whether all models can answer."""
        stopped = [name for name, desk in self.desks.items() if desk.service.stopped is not None]
        if stopped:
            return PlainTextResponse(f"stopped: {', '.join(stopped)}\n", 503)
        return PlainTextResponse("ready\n")

    async def watch(self, request: Request) -> Response:
        """Stream the figures of a model to a dashboard."""
        self.desk_of(request, ADMIN)
        found = self.watching.response(request.path_params["model"])
        return problem(Overloaded("too many dashboards are open")) if found is None else found

    async def home(self, request: Request) -> Response:
        """Return the dashboard."""
        return HTMLResponse(dashboard(list(self.desks)), headers=PAGE_HEADERS)

    async def openapi(self, request: Request) -> Response:
        """Describe the interface for programs."""
        return as_json(described())

    async def page(self, request: Request) -> Response:
        """Describe the interface for people."""
        return HTMLResponse(page(described(), list(self.desks), str(request.base_url)))


def as_json(value: Any) -> Response:
    """Return a value as a response."""
    return Response(encode(value), media_type=JSON)


# Requests.


async def received(receive: Receive, length: bytes | None, most: int) -> bytes:
    """Return the body of a request, or raise an error if it is too long."""
    if length is not None and length.isdigit() and int(length) > most:
        raise TooLarge(f"a body of {int(length):,} bytes", f"send at most {most:,}")
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
    for name in NEEDED[action]:
        if getattr(found, name) is None:
            raise Malformed(f"{action} needs {name!r}: {example(action)}")
    if action != "label" and len(found.x or ()) > MAX_FEATURES:
        raise TooLarge(f"{len(found.x or ()):,} features", f"send at most {MAX_FEATURES:,}")
    if action == "label" and found.x is not None:
        raise Malformed("a label has no 'x': learn takes both")
    if action == "label" and found.key is not None:
        raise Malformed("a label has no 'key': its prediction has one")
    if action == "predict" and found.y is not None:
        raise Malformed("a prediction has no 'y': learn takes both")
    if found.x is not None and has_field(found.x, target):
        raise BadExample(
            f"feature {target!r} is called like the outcome",
            ("send outcomes as 'y', outside of 'x'", "serve with another --target"),
            feature=target,
        )
    sent = None if found.id is None else body.strip()
    return served.Request(action, found.id, found.x, found.y, found.key, sent)


def attempted(action: str, line: bytes, target: str) -> served.Request | Exception:
    """Return a request of a batch, or its error."""
    try:
        return request_of(action, line, target)
    except NoRegretError as error:
        return error


def example(action: str) -> str:
    """Return an example of a body."""
    given = {"id": '"order-1"', "x": '{"sun": 0.8}', "y": "31.0"}
    wanted = ["id", *(name for name in NEEDED[action] if name != "id")]
    return "{" + ", ".join(f'"{name}": {given[name]}' for name in wanted) + "}"


# Answers.


def told(answer: served.Reply) -> dict[str, Any]:
    """Return an answer as JSON."""
    found = {"id": answer.id, "prediction": answer.prediction, "seq": answer.seq}
    if answer.chances is not None:
        found["chances"] = {named(label): chance for label, chance in answer.chances.items()}
    return found


def named(label: Any) -> str:
    """Return a label as the name of a member of a JSON object."""
    return label if isinstance(label, str) else encode(label).decode()


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
    409: "Conflict",
    410: "Expired",
    413: "Too large",
    415: "Unsupported media type",
    INVALID: "Invalid example or outcome",
    500: "Internal error",
    503: "Not available",
}


def problem_of(error: Exception) -> dict[str, Any]:
    """Return an error as problem details (RFC 9457)."""
    status = status_of(error)
    detail = error.detail if isinstance(error, HTTPException) else str(error)
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
    if status == 503:
        yield "Retry-After", "1"


async def refuse(request: Request, error: Exception) -> Response:
    """Return the response to any error."""
    if isinstance(error, ClientDisconnect):  # no one reads the reply
        return Response(status_code=400)
    return problem(error)
