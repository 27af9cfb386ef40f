"""Challengers over HTTP: add one, compare, promote, roll back. All need a key for ``admin``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from noregret.app.commands.serve.keys import ADMIN
from noregret.base.registry import built, find
from noregret.service.errors import ServiceError
from noregret.service.service import Service
from noregret.service.wire import Malformed, refuse_repeated

if TYPE_CHECKING:
    from noregret.app.commands.serve.desk import Desk

# Bytes of a request.
MAX_BODY = 1 << 16


class Change(msgspec.Struct, forbid_unknown_fields=True):
    """A challenger: its name, and for a new one the learner and what ``Challengers.add`` takes.

    In place of a learner, ``mixture`` is the master that mixes all models.
    """

    name: str = ""
    learner: str | UnsetType = UNSET
    mixture: str | UnsetType = UNSET
    params: dict[str, Any] | UnsetType = UNSET
    bound: float = 1.0


decode = msgspec.json.Decoder(Change).decode


def routes(desk_of: Callable[[Request, str], Desk]) -> list[Route]:
    """Return the routes, given the desk of a request's model that checks the key."""

    async def challengers(request: Request) -> Response:
        """List the challengers of the serving model, or add one."""
        desk = desk_of(request, ADMIN)
        if request.method == "POST":
            change = await change_of(request)
            await desk.do(lambda: add(desk.service, change))
        return await told(desk)

    async def promote(request: Request) -> Response:
        """Let a challenger serve."""
        desk, change = desk_of(request, ADMIN), await change_of(request)
        await desk.do(lambda: desk.service.challengers.promote(change.name))
        return await told(desk)

    async def retire(request: Request) -> Response:
        """Remove a challenger."""
        desk, change = desk_of(request, ADMIN), await change_of(request)
        await desk.do(lambda: desk.service.challengers.retire(change.name))
        return await told(desk)

    async def rollback(request: Request) -> Response:
        """Let the previous model serve again."""
        desk = desk_of(request, ADMIN)
        await desk.do(desk.service.challengers.rollback)
        return await told(desk)

    path = "/models/{model}"
    return [
        Route(f"{path}/challengers", challengers, methods=["GET", "POST"]),
        Route(f"{path}/promote", promote, methods=["POST"]),
        Route(f"{path}/rollback", rollback, methods=["POST"]),
        Route(f"{path}/retire", retire, methods=["POST"]),
    ]


def add(service: Service, change: Change) -> None:
    """Add a challenger."""
    if change.mixture is not UNSET:
        if change.learner is not UNSET or change.params is not UNSET:
            raise ServiceError("a mixture has no learner of its own: leave learner and params out")
        service.challengers.mix(change.name, change.mixture, change.bound)
        return
    if change.learner is UNSET:
        raise ServiceError('a challenger needs a learner: {"name": "newer", "learner": "auto"}')
    params = {} if change.params is UNSET else change.params
    learner = built(find(change.learner, "learners"), params)
    service.challengers.add(change.name, learner, change.bound)


async def change_of(request: Request) -> Change:
    """Return a change from its JSON."""
    body = await request.body()
    if len(body) > MAX_BODY:
        raise ServiceError(f"a body of {len(body):,} bytes", f"send at most {MAX_BODY:,}")
    try:
        found = decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"the request body is invalid: {error}") from None
    refuse_repeated(body, 0)
    return found


async def told(desk: Desk) -> Response:
    """Return the model that serves, and the comparison with each challenger."""
    service = desk.service
    found = {"serving": service.challengers.serving, "challengers": await desk.do(
        service.challengers.comparison
    )}  # fmt: skip
    return Response(msgspec.json.encode(found), media_type="application/json")
