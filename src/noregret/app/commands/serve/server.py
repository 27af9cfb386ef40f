"""Models behind an address: HTTP and JSON over ``Service``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

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
encode = msgspec.json.Encoder().encode


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
        self.app = Starlette(
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
        """Predict, label or learn, and count the answer."""
        action = request.path_params["action"]
        if action not in SCOPES:
            raise HTTPException(404, f"there is no action {action!r}: predict, label or learn")
        try:
            return await self.answered(action, request)
        except Exception as error:
            self.count(action, error)
            raise

    async def answered(self, action: str, request: Request) -> Response:
        """Answer one request, or a batch; what is refused before it is asked raises an error."""
        desk = self.desk_of(request, *SCOPES[action])
        kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
        if kind == NDJSON:
            return await self.batch(desk, action, request)
        if kind != JSON:
            raise HTTPException(415, f"the body is {kind}: send {JSON}, or {NDJSON} for many rows")
        asked = request_of(action, await body_of(request, MAX_BODY), self.target_of(request))
        (answer,) = await desk.ask([asked])
        self.count(action, answer)
        if isinstance(answer, Exception):
            return problem(answer)
        return Response(encode(told(answer)), media_type=JSON)

    async def batch(self, desk: Desk, action: str, request: Request) -> Response:
        """Answer many requests, a line each, all in one transaction."""
        lines = (await body_of(request, MAX_BATCH)).splitlines()
        lines = [line for line in lines if line.strip()]
        if len(lines) > MAX_LINES:
            raise TooLarge(f"{len(lines):,} lines", f"send at most {MAX_LINES:,} at once")
        parsed = [attempted(action, line, self.target_of(request)) for line in lines]
        asked = [each for each in parsed if not isinstance(each, Exception)]
        answers = iter(await desk.ask(asked) if asked else [])
        found = [each if isinstance(each, Exception) else next(answers) for each in parsed]
        for answer in found:
            self.count(action, answer)
        shown = [
            problem_of(answer) if isinstance(answer, Exception) else told(answer)
            for answer in found
        ]
        return Response(b"".join(encode(each) + b"\n" for each in shown), media_type=NDJSON)

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


async def body_of(request: Request, most: int) -> bytes:
    """Return the body of a request, or raise an error if it is too long."""
    given = request.headers.get("content-length")
    if given is not None and given.isdecimal() and int(given) > most:
        raise TooLarge(f"a body of {int(given):,} bytes", f"send at most {most:,}")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise TooLarge(f"a body of more than {most:,} bytes", f"send at most {most:,}")
        parts.append(part)
    return b"".join(parts)


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
    return served.Request(action, found.id, found.x, found.y, found.key)


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
