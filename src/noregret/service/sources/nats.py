"""NATS JetStream: subjects of streams, read by durable pull consumers."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from noregret.errors import WrongUsage
from noregret.service.sources.source import (
    Address,
    Disconnected,
    Message,
    client_of,
    register,
)

T = TypeVar("T")
# Seconds to connect, and for a call; seconds after which the server delivers again what was not
# acknowledged.
TIMEOUT, REDELIVER = 5.0, 30.0
# Messages that are published at the same time.
PUBLISHED = 256


@register("nats", "tls")
class Nats:
    """Subjects of JetStream streams, which must exist.

    Parameters
    ----------
    address
        The address; its parameters are ``creds``, a file of credentials, and ``redeliver``, the
        seconds after which the server delivers again what was not acknowledged.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.client = client_of(address, "nats", "nats-py", "nats", "creds", "redeliver")
        try:
            self.redeliver = float(address.options.get("redeliver", REDELIVER))
        except ValueError:
            raise WrongUsage(f"{address.shown}: redeliver is a number of seconds") from None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.connection: Any = None

    def open(self) -> None:
        """Connect, and create the consumer of each stream or continue with it."""
        self.close()
        self.loop = asyncio.new_event_loop()
        self._call(self._open())

    async def _open(self) -> None:
        async def ignore(error: Exception) -> None:
            """Do nothing: calls raise their errors."""

        scheme, options = self.address.scheme, dict[str, Any]()
        if "creds" in self.address.options:
            options["user_credentials"] = self.address.options["creds"]
        self.connection = await self.client.connect(
            [f"{scheme}://{host}" for host in self.address.hosts.split(",")],
            name=self.address.group,
            allow_reconnect=False,
            connect_timeout=TIMEOUT,
            error_cb=ignore,
            **options,
        )
        self.streams = self.connection.jetstream(timeout=TIMEOUT)
        by_stream: dict[str, list[str]] = {}
        for subject in self.address.topics:
            try:
                stream = await self.streams.find_stream_name_by_subject(subject)
            except self.client.js.errors.NotFoundError:
                what = f"no stream has the subject {subject!r}"
                raise Disconnected(what, f"nats stream add --subjects {subject}") from None
            by_stream.setdefault(stream, []).append(subject)
        self.created, self.pulls = dict[str, int](), list[Any]()
        for stream, subjects in by_stream.items():
            info = await self.streams.stream_info(stream)
            # Part of each position: a stream that is created anew counts from 1 again.
            self.created[stream] = int(info.created.timestamp())
            await self.streams.add_consumer(
                stream,
                self.client.js.api.ConsumerConfig(
                    durable_name=self.address.group,
                    filter_subjects=subjects,
                    ack_policy=self.client.js.api.AckPolicy.EXPLICIT,
                    ack_wait=self.redeliver,
                    max_ack_pending=20 * self.address.batch,
                ),
            )
            self.pulls.append(
                await self.streams.pull_subscribe_bind(
                    self.address.group, stream, pending_msgs_limit=-1, pending_bytes_limit=-1
                )
            )

    def receive(self, most: int, seconds: float) -> list[Message]:
        """Return the messages of all streams."""
        return self._call(self._receive(most, seconds))

    async def _receive(self, most: int, seconds: float) -> list[Message]:
        found = await asyncio.gather(
            *(self._fetch(pull, most, seconds / len(self.pulls)) for pull in self.pulls)
        )
        return [self._message(each) for fetched in found for each in fetched]

    async def _fetch(self, pull: Any, most: int, seconds: float) -> list[Any]:
        try:
            return list(await pull.fetch(most, timeout=seconds))
        except self.client.errors.TimeoutError:
            if not self.connection.is_connected:
                raise Disconnected("the connection is lost") from None
            return []

    def _message(self, each: Any) -> Message:
        place = each.metadata
        position = f"nats:{place.stream}:{self.created[place.stream]}:{place.sequence.stream}"
        return Message(each.subject, position, each.data, each)

    def finish(self, messages: Iterable[Message]) -> None:
        """Acknowledge messages."""

        async def finished() -> None:
            for message in messages:
                await message.handle.ack()
            await self.connection.flush(TIMEOUT)

        self._call(finished())

    def send(self, topic: str, messages: Iterable[tuple[str, bytes]]) -> None:
        """Publish messages to a subject of a stream; the server drops repeated ones."""

        async def sent() -> None:
            pending = [(topic, body, {"Nats-Msg-Id": key}) for key, body in messages]
            for at in range(0, len(pending), PUBLISHED):
                some = pending[at : at + PUBLISHED]
                await asyncio.gather(
                    *(self.streams.publish(where, body, headers=key) for where, body, key in some)
                )

        self._call(sent())

    def close(self) -> None:
        """Disconnect."""
        if self.loop is None:
            return
        if self.connection is not None:
            with suppress(Exception):
                self.loop.run_until_complete(self.connection.close())
        self.loop.close()
        self.loop = self.connection = None

    def _call(self, task: Coroutine[Any, Any, T]) -> T:
        """Wait for a call; any failure of the connection is Disconnected."""
        assert self.loop is not None
        try:
            return self.loop.run_until_complete(task)
        except self.client.js.errors.NoStreamResponseError:
            what = "no stream has the subject that is to be published"
            raise Disconnected(what, "nats stream add") from None
        except (self.client.errors.Error, OSError, TimeoutError) as error:
            what = str(error) or type(error).__name__
            raise Disconnected(f"NATS cannot be reached ({what})") from None
