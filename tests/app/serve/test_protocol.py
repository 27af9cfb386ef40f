"""HTTP as clients may speak it: in pieces, in advance, or not to the end."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from struct import pack
from types import SimpleNamespace
from typing import Any

import pytest

from noregret.app.commands.serve.protocol import REQUEST_SECONDS, Protocol, sweep
from tests.app.serve.running import Server

LEARN = "/models/default/learn"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("serve"), "--learner", "nlms", "--store", "s.db")
    yield running
    assert running.end() == 0


def request(body: bytes, *headers: str, path: str = LEARN) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: here", *headers]
    if not any(line.lower().startswith("transfer") for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body


class Client:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.socket.makefile("rb")

    def answer(self) -> tuple[int, dict[str, str], Any]:
        status = int(self.file.readline().split()[1])
        headers = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        found = self.file.read(int(headers.get("content-length", 0)))
        return status, headers, json.loads(found) if found[:1] == b"{" else found


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    client = Client(server.port)
    with client.socket, client.file:
        yield client


def body_of(name: str) -> bytes:
    return json.dumps({"id": name, "x": {"a": 1.0}, "y": 2.0}).encode()


def test_requests_sent_in_advance_are_answered_in_order(client: Client) -> None:
    names = [f"ahead {k}" for k in range(20)]
    between = b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"
    client.socket.sendall(between.join(request(body_of(name)) for name in names))
    for name in names[:-1]:
        assert client.answer()[2]["id"] == name
        assert client.answer()[2] == b"alive\n"
    assert client.answer()[2]["id"] == names[-1]


def test_clients_that_break_off_are_no_error(tmp_path: Path) -> None:
    """The log would have a traceback for each request that is answered to no one."""
    server = Server(tmp_path, "--learner", "nlms", "--store", "s.db")
    for k in range(60):
        client = Client(server.port)
        with client.socket, client.file:
            sent = b"".join(request(body_of(f"{k}-{each}")) for each in range(50))
            if k % 3 == 0:  # in advance: the first is answered
                client.socket.sendall(sent)
                assert client.answer()[0] == 200
            elif k % 3 == 1:  # within a request, or behind its end
                client.socket.sendall(sent[: 30 * k])
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
            else:  # nothing more will come, but answers are awaited
                client.socket.sendall(request(body_of(f"{k}-0")))
                client.socket.shutdown(socket.SHUT_WR)
                assert client.answer()[0] == 200
    assert server.post(LEARN, {"x": {"a": 1.0}, "y": 2.0})[0] == 200
    server.process.send_signal(signal.SIGTERM)
    assert server.process.communicate(timeout=60)[1] == ""


def test_a_request_may_come_byte_by_byte(client: Client) -> None:
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in request(body_of("slow")):
        client.socket.sendall(bytes([byte]))
    assert client.answer()[2]["id"] == "slow"


def test_a_body_may_come_in_chunks_and_be_announced(client: Client) -> None:
    body = body_of("parts")
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    client.socket.sendall(request(chunks, "Transfer-Encoding: chunked"))
    assert client.answer()[2]["id"] == "parts"
    asks = request(body_of("asks"), "Expect: 100-continue")
    head, _, body = asks.partition(b"\r\n\r\n")
    client.socket.sendall(head + b"\r\n\r\n")
    assert client.answer()[0] == 100
    client.socket.sendall(body)
    assert client.answer()[2]["id"] == "asks"


def test_a_body_without_end_is_refused_and_the_connection_still_serves(client: Client) -> None:
    client.socket.sendall(request(b"", "Transfer-Encoding: chunked"))
    part = b"%x\r\n%s\r\n" % (1 << 16, b" " * (1 << 16))
    for _ in range(20):
        client.socket.sendall(part)
    status, _, problem = client.answer()
    assert (status, problem["status"]) == (413, 413)
    client.socket.sendall(b"0\r\n\r\n" + request(body_of("after")))
    assert client.answer()[2]["id"] == "after"


def test_connections_close_if_asked_to(client: Client) -> None:
    client.socket.sendall(request(body_of("last"), "Connection: close"))
    status, headers, _ = client.answer()
    assert (status, headers["connection"]) == (200, "close")
    assert client.file.read() == b""


def test_unread_answers_are_not_collected_without_end(server: Server, client: Client) -> None:
    """A client that never reads is not read from either, once its answers fill the buffers."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
    client.socket.settimeout(2)
    lines = b'{"x": {}}\n' * 9_000
    asks = request(lines, "Content-Type: application/x-ndjson", path="/models/default/predict")
    with pytest.raises(TimeoutError):
        client.socket.sendall(asks * 200)
    assert server.call("GET", "/healthz")[0] == 200


@pytest.mark.parametrize(
    ("since", "answered", "limit"),
    [(None, False, None), (100.0, True, 5.0), (100.0, False, REQUEST_SECONDS)],
)
def test_connections_that_wait_too_long_are_closed(
    since: float | None, answered: bool, limit: float | None
) -> None:
    closed, sent = [], list[bytes]()
    connection = Protocol.__new__(Protocol)
    connection.since, connection.timeout_keep_alive = since, 5
    connection.cycle = SimpleNamespace(response_complete=answered)
    connection.server_state = SimpleNamespace(default_headers=[])  # type: ignore[assignment]
    connection.transport = SimpleNamespace(close=lambda: closed.append(1), write=sent.append)  # type: ignore[assignment]
    sweep({connection}, 100.0 + (limit or 1e9))
    assert not closed
    sweep({connection}, 100.1 + (limit or 1e9))
    assert len(closed) == (limit is not None)
    assert [each.split()[1] for each in sent] == ([b"408"] if limit == REQUEST_SECONDS else [])


def problem_of(client: Client) -> dict[str, Any]:
    """Return the problem that a client is told of before the connection is closed."""
    status, headers, told = client.answer()
    assert headers["content-type"] == "application/problem+json"
    assert headers["connection"] == "close"
    assert (told["status"], client.file.read()) == (status, b"")
    return dict(told)


@pytest.mark.parametrize(
    "sent",
    [b"what?\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
     b"POST /models HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"GET \xff HTTP/1.1\r\n\r\n"],
)  # fmt: skip
def test_what_is_not_http_is_a_problem(client: Client, sent: bytes) -> None:
    client.socket.sendall(sent)
    assert problem_of(client)["status"] == 400


@pytest.mark.parametrize(
    "head",
    [b"POST /%s HTTP/1.1\r\n" % (b"a" * 70_000),
     b"POST / HTTP/1.1\r\nX: %s" % (b"a" * 1_000_000),
     b"POST / HTTP/1.1\r\n" + b"".join(b"X%d: %d\r\n" % (k, k) for k in range(9_000))],
    ids=["line", "header", "headers"],
)  # fmt: skip
@pytest.mark.parametrize("ends", [b"\r\n\r\n", b""])
def test_headers_are_limited(server: Server, client: Client, head: bytes, ends: bytes) -> None:
    try:
        client.socket.sendall(head + ends)
        assert problem_of(client)["status"] == 431
    except ConnectionError:  # it was closed while this was still sent
        assert len(head) > 500_000
    assert server.call("GET", "/healthz")[0] == 200


def test_headers_up_to_the_limit_are_taken(client: Client) -> None:
    client.socket.sendall(request(body_of("long"), "X: " + "a" * 60_000))
    assert client.answer()[2]["id"] == "long"


def test_too_many_connections_are_a_problem(server: Server, client: Client) -> None:
    sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(1_000)]
    try:
        late = Client(server.port)
        with late.socket, late.file:
            late.socket.sendall(request(body_of("late")))
            assert problem_of(late)["status"] == 503
    finally:
        for each in sockets:
            each.close()
    client.socket.sendall(request(body_of("then")))
    assert client.answer()[2]["id"] == "then"


@pytest.mark.parametrize("wish", ["h2c", "websocket"])
def test_a_wish_for_another_protocol_is_ignored(client: Client, wish: str) -> None:
    # Java's HttpClient sends the first with its first request.
    headers = "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAEAAEAA", f"Upgrade: {wish}"
    names = [f"{wish} {k}" for k in range(3)]
    client.socket.sendall(b"".join(request(body_of(name), *headers) for name in names))
    for name in names:
        assert client.answer()[2]["id"] == name
    between = "\r\n".join(("GET /healthz HTTP/1.1", "Host: here", *headers, "", "")).encode()
    client.socket.sendall(between)
    assert client.answer()[2] == b"alive\n"
    for byte in request(body_of(f"{wish} slow"), *headers):
        client.socket.sendall(bytes([byte]))
    assert client.answer()[2]["id"] == f"{wish} slow"
    body = body_of(f"{wish} parts")
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    client.socket.sendall(request(chunks, "Transfer-Encoding: chunked", *headers))
    assert client.answer()[2]["id"] == f"{wish} parts"
    client.socket.sendall(b"CONNECT here:80 HTTP/1.1\r\nHost: here\r\n\r\n")
    assert client.answer()[0] == 400
