"""HTTP for ``serve``: uvicorn's, with a short cut for predictions and labels.

These are answered from the parser's callbacks: no task, no event and no ASGI messages per request.
All else, and what is pipelined behind a request that is under way, goes to the ASGI application.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import httptools
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from noregret.app.commands.serve.answers import problem
from noregret.app.commands.serve.desk import Overloaded
from noregret.app.commands.serve.hot import Header, Hot, Route, too_large
from noregret.service.errors import ServiceError
from noregret.service.wire import Malformed

# Seconds within which a request must have come as a whole, and between two looks for those that
# have not.
REQUEST_SECONDS, SWEEP_SECONDS = 30.0, 1.0
# Bytes of the request line with all headers, and connections at the same time.
MAX_HEAD, MAX_CONNECTIONS = 1 << 16, 1000


class HeadTooLarge(ServiceError):
    """Raised for a request whose headers are too long."""

    status = 431


class TooSlow(ServiceError):
    """Raised for a request that does not come to its end."""

    status = 408


class Pending:
    """A request that is answered from here; uvicorn sees it as it sees its own."""

    __slots__ = (
        "body", "disconnected", "headers", "keep_alive", "message_event", "more_body", "most",
        "response_complete", "route", "size",
    )  # fmt: skip

    def __init__(self, route: Route, headers: dict[bytes, bytes], most: int, keep: bool) -> None:
        self.route, self.headers, self.most, self.keep_alive = route, headers, most, keep
        self.response_complete = self.disconnected = False
        self.more_body = True
        self.body: list[bytes] = []
        self.size = 0
        self.message_event = NOBODY


class Nobody:
    """An event that nobody waits for."""

    def set(self) -> None:
        """Do nothing."""


NOBODY = Nobody()


class Protocol(HttpToolsProtocol):
    """One connection."""

    hot: Hot
    cycle: Any
    # When it began to wait for a request or for the rest of one; None while one is answered.
    since: float | None = None
    # Whether a request line or headers are being received, how many bytes of them came with
    # earlier data, and whether there may be too many with this data.
    in_head, head_size, is_long = False, 0, False
    fault: ServiceError | None = None
    # Whether the request asks for another protocol; it is parsed again without that.
    upgrades = False
    # The request that the application answers, or has answered last.
    answering: Any = None
    # Whether the client will send nothing more, but may await an answer.
    at_end = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self.since = self.loop.time()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Return whether the connection stays open: for the answer to a request under way."""
        answers = type(self.cycle) is Pending and not self.cycle.more_body
        self.at_end = answers and self.scheme == "http"  # TLS has no half-closed connections
        return self.at_end and not self.cycle.response_complete

    def connection_lost(self, exc: Exception | None) -> None:
        """End: there is no one to answer the request under way, and those that wait behind it."""
        for cycle in (self.answering, *(cycle for cycle, _ in self.pipeline)):
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Let the application answer a request."""
        self.answering = cycle
        super()._start_asgi_task(cycle, app)

    def _unset_keepalive_if_required(self) -> None:
        """Do nothing: ``sweep`` closes connections that wait for too long."""

    def pause_writing(self) -> None:
        """Read no further requests of a client that does not read its answers."""
        super().pause_writing()
        self.flow.pause_reading()

    def resume_writing(self) -> None:
        """Read on."""
        super().resume_writing()
        self.flow.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if self.transport.is_closing():
            return
        size = self.head_size + len(data)
        self.is_long = size > MAX_HEAD
        self.feed(data)
        if self.in_head:
            self.head_size = size
            if self.is_long and not self.transport.is_closing():
                self.give_up(head_too_large())

    def feed(self, data: bytes) -> None:
        """Parse bytes; the wish for another protocol, such as h2c, is ignored, as HTTP allows.

        The parser stops behind the head of such a request and skips its body.
        """
        rest = memoryview(data)
        while True:
            try:
                if self.upgrades:
                    self.parse_again()
                if rest:
                    self.parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as stopped:
                (offset,) = stopped.args
                rest = rest[offset:]
                if not self.upgrades:  # CONNECT
                    self.send_400_response("")
                    return
            except httptools.HttpParserError:
                self.send_400_response("")
                return

    def parse_again(self) -> None:
        """Begin the request once more, without its wish for another protocol."""
        method = self.parser.get_method()
        head = [method, b" ", self.url, b" HTTP/1.1\r\n"]
        for name, value in self.headers:
            if name == b"connection":
                head += (b"connection: close\r\n",) if b"close" in value.lower() else ()
            elif name != b"upgrade":
                head += (name, b": ", value, b"\r\n")
        self.upgrades = False
        self.parser = httptools.HttpRequestParser(self)
        with suppress(AttributeError):  # as uvicorn does, where httptools has it
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.parser.feed_data(b"".join((*head, b"\r\n")))

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, or was refused by a callback of the parser."""
        self.give_up(self.fault or Malformed("this is not a request in HTTP/1.1"))

    def give_up(self, error: ServiceError) -> None:
        """Answer with a problem, and close the connection."""
        found = problem(error)
        self.in_head = False
        self.write(found.status_code, found.raw_headers, bytes(found.body), keep_alive=False)

    # Callbacks of the parser.

    def on_message_begin(self) -> None:
        """Begin a request."""
        self.in_head, self.head_size = True, 0
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        if self.since is not None:
            self.since = self.loop.time()

    def on_headers_complete(self) -> None:
        """Take a prediction or a label; leave other requests to the application."""
        self.in_head, self.head_size = False, 0
        if self.is_long and self.head_length() > MAX_HEAD:
            self.fault = head_too_large()
            raise self.fault
        parser, cycle = self.parser, self.cycle
        if parser.should_upgrade() and parser.get_method() != b"CONNECT":
            self.upgrades = True
            return
        try:
            route = self.hot.routes.get(self.url.decode())
        except UnicodeDecodeError:
            route = None
        if (
            route is None
            or parser.get_method() != b"POST"
            or not (cycle is None or cycle.response_complete)
            or self.expect_100_continue
            or parser.should_upgrade()  # CONNECT
            or parser.get_http_version() != "1.1"
            or len(self.connections) > MAX_CONNECTIONS
        ):
            self.leave()
            return
        given = dict(self.headers)
        self.cycle = pending = Pending(route, given, 0, parser.should_keep_alive())
        try:
            pending.most = self.hot.admitted(route, given)
        except Exception as error:
            self.refuse(pending, error)

    def leave(self) -> None:
        """Leave a request to the application, unless there are too many."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers += headers
        app = self.app
        if max(len(self.connections), len(self.tasks)) > MAX_CONNECTIONS:
            self.app = too_many
        try:
            super().on_headers_complete()
        finally:
            self.app = app

    def head_length(self) -> int:
        """Return the bytes of the request line and the headers."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        pending = self.cycle
        if type(pending) is not Pending:
            super().on_body(body)
        elif not pending.response_complete:
            pending.body.append(body)
            pending.size += len(body)
            if pending.size > pending.most:
                self.refuse(pending, too_large(pending.size, pending.most))

    def on_message_complete(self) -> None:
        """Answer a request that has come as a whole."""
        if self.upgrades:
            return
        pending = self.cycle
        if not pending.response_complete:
            self.since = None
        if type(pending) is not Pending:
            super().on_message_complete()
        elif not pending.response_complete:
            pending.more_body = False
            parts = pending.body
            body = parts[0] if len(parts) == 1 else b"".join(parts)

            def tell(status: int, headers: list[Header], answer: bytes) -> None:
                self.tell(pending, status, headers, answer)

            self.hot.answer(pending.route, pending.headers, body, tell)

    # Answers.

    def refuse(self, pending: Pending, error: Exception) -> None:
        """Answer a request whose body is skipped: a client that still sends it can read why."""
        pending.body.clear()
        self.tell(pending, *self.hot.failed(pending.route[1], error))

    def tell(self, pending: Pending, status: int, headers: list[Header], body: bytes) -> None:
        """Send an answer."""
        pending.response_complete = True
        if pending.disconnected or self.transport.is_closing():
            return
        headers.append((b"content-length", b"%d" % len(body)))
        self.write(status, headers, body, pending.keep_alive and not self.at_end)
        self.on_response_complete()

    def write(self, status: int, headers: list[Header], body: bytes, keep_alive: bool) -> None:
        """Write an answer."""
        parts = [STATUS_LINE[status]]
        for name, value in (*self.server_state.default_headers, *headers):
            parts += (name, b": ", value, b"\r\n")
        parts.append(b"\r\n" if keep_alive else b"connection: close\r\n\r\n")
        parts.append(body)
        self.transport.write(b"".join(parts))
        if not keep_alive:
            self.transport.close()

    def on_response_complete(self) -> None:
        """Go on with what is pipelined, or wait for the next request."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        if not self.flow.write_paused:
            self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)
        else:
            self.since = self.loop.time()


def sweep(connections: Any, now: float) -> None:
    """Close connections that have waited too long for a request or for the rest of one."""
    for each in list(connections):
        if isinstance(each, Protocol) and each.since is not None:
            cycle = each.cycle
            idle = (cycle is None or cycle.response_complete) and not each.in_head
            if now - each.since <= (each.timeout_keep_alive if idle else REQUEST_SECONDS):
                continue
            if idle or getattr(cycle, "response_started", False):
                each.transport.close()
            else:
                limit = f"{REQUEST_SECONDS:g} s"
                each.give_up(TooSlow(f"the request did not come to its end within {limit}"))


def head_too_large() -> HeadTooLarge:
    """Return the error of a request whose headers are too long."""
    what = f"a request line and headers of more than {MAX_HEAD:,} bytes"
    return HeadTooLarge(what, "send fewer or shorter headers")


async def too_many(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a request, and close its connection."""
    what = f"there are {MAX_CONNECTIONS:,} connections already"
    found = problem(Overloaded(what, "try again in a second"))
    found.headers["connection"] = "close"
    await found(scope, receive, send)


async def sweeping(connections: Any) -> None:
    """Sweep every now and then."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        sweep(connections, loop.time())


def protocol(hot: Hot) -> type[Protocol]:
    """Return the protocol for some models."""
    return type("Protocol", (Protocol,), {"hot": hot})
