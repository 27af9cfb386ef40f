"""Redis Streams, read by a consumer group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
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
# The field of an entry that holds a message.
FIELD = b"data"
# Seconds for a call.
TIMEOUT = 10.0


@register("redis", "rediss")
class Redis:
    """Streams of Redis. An entry has its message in the field ``data``.

    Parameters
    ----------
    address
        The address; its parameter is ``db``, the number of the database.
    """

    def __init__(self, address: Address) -> None:
        self.address, self.client = address, client_of(address, "redis", "redis", "redis", "db")
        database = address.options.get("db", "0")
        if not database.isdecimal():
            raise WrongUsage(f"{address.shown}: db is the number of a database: got {database!r}")
        self.url = f"{address.scheme}://{address.hosts}/{database}"
        self.connection: Any = None
        # Where to continue among the entries that were delivered, but not acknowledged, before.
        self.unfinished: dict[str, bytes] = {}

    def open(self) -> None:
        """Connect, and create the group of each stream unless it exists."""
        self.close()
        connection = self.client.Redis.from_url(
            self.url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT
        )
        self.connection = connection

        def created() -> None:
            for stream in self.address.topics:
                groups = connection.xinfo_groups(stream) if connection.exists(stream) else []
                if self.address.group.encode() not in [each["name"] for each in groups]:
                    connection.xgroup_create(stream, self.address.group, "0", mkstream=True)

        self._call(created)
        self.unfinished = dict.fromkeys(self.address.topics, b"0")

    def receive(self, most: int, seconds: float) -> list[Message]:
        """Return new entries; first those that were delivered before."""
        if self.unfinished:
            found = self._read(self.unfinished, most, None)
            self.unfinished = {stream: entries[-1][0] for stream, entries in found if entries}
            if any(entries for _, entries in found):
                return self._messages(found)
        new = dict.fromkeys(self.address.topics, b">")
        return self._messages(self._read(new, most, max(1, int(1000 * seconds))))

    def _read(self, places: dict[str, bytes], most: int, block: int | None) -> list[Any]:
        group = self.address.group
        found = self._call(
            lambda: self.connection.xreadgroup(group, group, places, count=most, block=block)
        )
        pairs = found.items() if isinstance(found, dict) else found or []
        return [(stream.decode(), flat(entries)) for stream, entries in pairs]

    def _messages(self, found: list[Any]) -> list[Message]:
        return [
            Message(
                stream,
                f"redis:{stream}:{name.decode()}",
                (fields or {}).get(FIELD, b""),
                (stream, name),
                "" if FIELD in (fields or {}) else "the entry has no field 'data'",
            )
            for stream, entries in found
            for name, fields in entries
        ]

    def finish(self, messages: Iterable[Message]) -> None:
        """Acknowledge entries."""
        names: dict[str, list[bytes]] = defaultdict(list)
        for message in messages:
            stream, name = message.handle
            names[stream].append(name)

        def finished() -> None:
            with self.connection.pipeline(transaction=False) as calls:
                for stream, some in names.items():
                    calls.xack(stream, self.address.group, *some)
                calls.execute()

        if names:
            self._call(finished)

    def send(self, topic: str, messages: Iterable[tuple[str, bytes]]) -> None:
        """Add entries to a stream, with the keys in the field ``key``."""

        def sent() -> None:
            with self.connection.pipeline(transaction=False) as calls:
                for key, body in messages:
                    calls.xadd(topic, {"key": key, FIELD: body})
                calls.execute()

        self._call(sent)

    def close(self) -> None:
        """Disconnect."""
        if self.connection is not None:
            with suppress(Exception):
                self.connection.close()
            self.connection = None

    def _call(self, act: Callable[[], T]) -> T:
        """Do something; any failure is Disconnected."""
        try:
            return act()
        except (self.client.exceptions.RedisError, OSError) as error:
            raise Disconnected(f"Redis cannot be used ({error})") from None


def flat(entries: Any) -> list[Any]:
    """Return the entries of a stream, which the third version of the protocol nests once more."""
    nested = entries and isinstance(entries[0], list) and entries[0] and not_entry(entries[0][0])
    return list(entries[0]) if nested else list(entries)


def not_entry(value: Any) -> bool:
    """Return whether a value is no name of an entry."""
    return not isinstance(value, bytes)
