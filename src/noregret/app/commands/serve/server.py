"""Models behind an address: HTTP and JSON over ``Service``."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from noregret import service as served
from noregret.app.commands.serve import challenges
from noregret.app.commands.serve.answers import JSON, NDJSON, as_json, problem, refuse
from noregret.app.commands.serve.bodies import received
from noregret.app.commands.serve.dashboard import dashboard
from noregret.app.commands.serve.desk import Desk, Overloaded
from noregret.app.commands.serve.exposition import CONTENT_TYPE, exposition
from noregret.app.commands.serve.feeding import Feeds, source_lines
from noregret.app.commands.serve.hot import Header, Hot
from noregret.app.commands.serve.interface import Kind, described, page
from noregret.app.commands.serve.keys import ADMIN, ANY, Keys
from noregret.app.commands.serve.watching import Watching
from noregret.base.model_file import dumps
from noregret.errors import NoRegretError
from noregret.service.errors import NotCertified, Stopped
from noregret.service.values import takes_names

# The page takes nothing from elsewhere, and no other page shows it in a frame.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src"
    " 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'none'"
}


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
        self.feeds: Feeds = []  # of the models that brokers feed
        self.watching = Watching(self.desks)
        self.hot = Hot(self.desks, keys, self.targets)
        self.rest = Starlette(
            routes=[
                Route("/models/{model}/certificate", self.certificate),
                Route("/models/{model}/report", self.report),
                Route("/models/{model}/rows", self.rows),
                Route("/models/{model}/start", self.start),
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
        route = self.hot.routes.get(scope["path"]) if scope["type"] == "http" else None
        if route is None or scope["method"] != "POST":
            await self.rest(scope, receive, send)
            return
        answer = asyncio.get_running_loop().create_future()

        def tell(*found: Any) -> None:
            if not answer.done():  # the client may have gone
                answer.set_result(found)

        headers = dict(scope["headers"])
        try:
            body = await received(receive, self.hot.admitted(route, headers))
        except ClientDisconnect:
            return
        except Exception as error:
            tell(*self.hot.failed(route[1], error))
        else:
            self.hot.answer(route, headers, body, tell)
        given: tuple[int, list[Header], bytes] = await answer
        status, more, body = given
        more = [*more, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": more})
        await send({"type": "http.response.body", "body": body})

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

    # Predictions and labels.

    async def act(self, request: Request) -> Response:
        """Refuse what is no prediction and no label."""
        self.desk_of(request)
        action = request.path_params["action"]
        raise HTTPException(404, f"there is no action {action!r}: predict, label or learn")

    # Results.

    async def models(self, request: Request) -> Response:
        """List the models that the request's key is for."""
        given = request.headers.get("authorization")
        self.keys.check(given, ANY)
        return as_json({name: self.desks[name].facts() for name in self.visible(request)})

    async def model(self, request: Request) -> Response:
        """Tell about one model."""
        return as_json(self.desk_of(request).facts())

    async def certificate(self, request: Request) -> Response:
        """Certify what was served."""
        desk = self.desk_of(request, ADMIN)
        key, of = map(request.query_params.get, ("key", "of"))
        found = await desk.report(lambda: desk.service.certificate(key=key, of=of))
        return Response(found.to_json(), media_type=JSON)

    async def report(self, request: Request) -> Response:
        """Return the certificate as a page."""
        from noregret.app.report.served import helped_by, page

        desk = self.desk_of(request, ADMIN)
        name, target = request.path_params["model"], self.target_of(request)
        key, of = map(request.query_params.get, ("key", "of"))
        found = await desk.report(lambda: desk.service.certificate(key=key, of=of))
        lead = await desk.report(lambda: helped_by(found, desk.service.outcomes(key=key, of=of)))
        began = desk.service.start is not None
        verify = commands(str(request.base_url), name, target, key, of, began)
        told = page(found, name, verify, lead)
        return HTMLResponse(told, headers=PAGE_HEADERS)

    async def rows(self, request: Request) -> Response:
        """Return the rows to verify a certificate with."""
        desk = self.desk_of(request, ADMIN)
        target, (key, of) = self.target_of(request), map(request.query_params.get, ("key", "of"))
        found = await desk.report(lambda: b"".join(desk.service.exported(target, key, of)))
        return Response(found, media_type=NDJSON)

    async def start(self, request: Request) -> Response:
        """Return the file of the trained model that the journal began with."""
        desk = self.desk_of(request, ADMIN)
        learner = desk.service.start
        if learner is None:
            raise NotCertified("the journal began with an untrained model: verify needs none")
        return Response(dumps(learner), media_type="application/octet-stream")

    async def metrics(self, request: Request) -> Response:
        """Return the metrics for Prometheus."""
        self.allow(request)
        found = {name: await desk.do(desk.service.metrics) for name, desk in self.desks.items()}
        text = exposition(found, self.hot.counts)
        text += "".join(f"{line}\n" for line in source_lines(self.feeds))
        return PlainTextResponse(text, media_type=CONTENT_TYPE)

    async def alive(self, request: Request) -> Response:
        """Say that the process is alive."""
        return PlainTextResponse("alive\n")

    async def ready(self, request: Request) -> Response:
        """Say whether all models can answer."""
        stopped = [name for name, desk in self.desks.items() if desk.service.stopped is not None]
        if stopped:
            return problem(Stopped(f"stopped: {', '.join(stopped)}"))
        return PlainTextResponse("ready\n")

    async def watch(self, request: Request) -> Response:
        """Stream the figures of a model to a dashboard."""
        self.desk_of(request, ADMIN)
        found = self.watching.response(request.path_params["model"])
        return problem(Overloaded("too many dashboards are open")) if found is None else found

    # Pages. Where keys are set, they name no model unless the request has a key for it.

    def visible(self, request: Request) -> list[str]:
        """Return the names of the models that a request may know of."""
        return self.keys.visible(request.headers.get("authorization"), self.desks)

    async def home(self, request: Request) -> Response:
        """Return the dashboard, which asks for a key if it needs one."""
        return HTMLResponse(dashboard(), headers=PAGE_HEADERS)

    async def openapi(self, request: Request) -> Response:
        """Describe the interface for programs."""
        found = {}
        for name in self.visible(request):
            fresh = self.desks[name].service.fresh
            of_classes, target = bool(fresh._of_classes), self.targets.get(name, "y")
            found[name] = Kind(of_classes, target, takes_names(fresh) and not of_classes)
        return as_json(described(found))

    async def page(self, request: Request) -> Response:
        """Describe the interface for people."""
        return HTMLResponse(page(described(), self.visible(request), str(request.base_url)))


def commands(
    base: str, name: str, target: str, key: str | None, of: str | None, trained: bool
) -> list[str]:
    """Return the commands that fetch a certificate and confirm it."""
    asked = urlencode({k: v for k, v in (("key", key), ("of", of)) if v is not None})
    here, ask = f"{base}models/{quote(name)}", f"?{asked}" if asked else ""
    start = " --start start.model" if trained else ""
    fetch = [("certificate", ask, "certificate.json"), ("rows", ask, "rows.jsonl")]
    if trained:
        fetch.append(("start", "", "start.model"))
    return [
        *(f"curl {shlex.quote(f'{here}/{what}{ask}')} > {file}" for what, ask, file in fetch),
        f"noregret verify certificate.json rows.jsonl --target {shlex.quote(target)}{start}",
    ]
