"""Real brokers on free ports of this machine, each with a client to publish and to read."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

TOPICS = ("orders", "labels", "predictions", "refused")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def program(name: str) -> str:
    """Return the path of a server, which may be in the environment of this Python."""
    places = [os.environ.get("PATH", ""), *(str(Path(p) / "bin") for p in (sys.prefix,))]
    places += [str(Path(entry).parents[2] / "bin") for entry in sys.path if "packages" in entry]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


class Server:
    """A server that may be killed and started again with the same data."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command(), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.02)

    def kill(self) -> None:
        """Kill it with signal 9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()


class NatsServer(Server):
    """JetStream, with one stream for all topics."""

    scheme, options = "nats", "&redeliver=1"

    def command(self) -> list[str]:
        data = str(self.folder / "nats")
        return [program("nats-server"), "-js", "-sd", data, "-a", "127.0.0.1", "-p", str(self.port)]

    def start(self) -> None:
        pytest.importorskip("nats", reason="nats-py is not installed")
        super().start()

        async def add(streams: Any) -> None:
            await streams.add_stream(name="SHOP", subjects=[*TOPICS[:2]])
            await streams.add_stream(name="OUT", subjects=[*TOPICS[2:]])

        self.with_streams(add)

    def with_streams(self, act: Callable[[Any], Any]) -> Any:
        import nats

        async def done() -> Any:
            connection = await nats.connect(
                f"nats://127.0.0.1:{self.port}", allow_reconnect=False, connect_timeout=30
            )
            try:
                return await act(connection.jetstream())
            finally:
                await connection.close()

        return asyncio.run(done())

    def publish(self, topic: str, bodies: list[bytes]) -> None:
        async def act(streams: Any) -> None:
            for body in bodies:
                await streams.publish(topic, body)

        self.with_streams(act)

    def read(self, topic: str) -> list[bytes]:
        async def act(streams: Any) -> list[bytes]:
            # One by one: a pull ends by a time-out, which a busy machine takes for the end.
            name = await streams.find_stream_name_by_subject(topic)
            state = (await streams.stream_info(name)).state
            every = range(max(1, state.first_seq), state.last_seq + 1)
            found = [await streams.get_msg(name, seq) for seq in every]
            return [each.data or b"" for each in found if each.subject == topic]

        return list(self.with_streams(act))

    def unfinished(self) -> int:
        """Return the number of events that were not acknowledged."""

        async def act(streams: Any) -> int:
            found = await streams.consumer_info("SHOP", "noregret")
            return int(found.num_pending + found.num_ack_pending)

        return int(self.with_streams(act))


class RedisServer(Server):
    """Redis that writes every command to disk before it answers."""

    scheme, options = "redis", ""

    def command(self) -> list[str]:
        return [
            program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--dir",
            str(self.folder), "--appendonly", "yes", "--appendfsync", "always", "--save", "",
        ]  # fmt: skip

    def start(self) -> None:
        self.client = pytest.importorskip("redis", reason="redis is not installed")
        super().start()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                self.connection().ping()
                return
            except self.client.exceptions.ConnectionError:  # it still loads
                time.sleep(0.02)

    def connection(self) -> Any:
        return self.client.Redis(port=self.port)

    def publish(self, topic: str, bodies: list[bytes]) -> None:
        with self.connection() as connection:
            for body in bodies:
                connection.xadd(topic, {"data": body})

    def read(self, topic: str) -> list[bytes]:
        with self.connection() as connection:
            return [fields[b"data"] for _, fields in connection.xrange(topic)]

    def unfinished(self) -> int:
        with self.connection() as connection:
            groups = [group for topic in TOPICS[:2] for group in connection.xinfo_groups(topic)]
        return sum(group["pending"] + group["lag"] for group in groups)


class KafkaMock:
    """The mock cluster of librdkafka, in this process: it cannot be killed."""

    scheme, options = "kafka", ""

    def __init__(self, folder: Path) -> None:
        self.client = pytest.importorskip(
            "confluent_kafka", reason="confluent-kafka is not installed"
        )
        self.producer = self.client.Producer({"test.mock.num.brokers": 1, "log_level": 0})
        broker = next(iter(self.producer.list_topics(timeout=10).brokers.values()))
        self.port = broker.port
        for topic in TOPICS:  # this creates it
            self.producer.list_topics(topic, timeout=10)

    def publish(self, topic: str, bodies: list[bytes]) -> None:
        for body in bodies:
            self.producer.produce(topic, body, partition=0)
        assert self.producer.flush(20) == 0

    def read(self, topic: str) -> list[bytes]:
        reader = self.client.Consumer(
            {"bootstrap.servers": f"127.0.0.1:{self.port}", "group.id": os.urandom(4).hex(),
             "enable.partition.eof": True}
        )  # fmt: skip
        try:
            reader.assign([self.client.TopicPartition(topic, k, 0) for k in range(4)])
            found: list[bytes] = []
            ends = 0
            while ends < 4:
                for each in reader.consume(1000, 0.2):
                    if each.error() is None:
                        found.append(each.value())
                    else:
                        ends += 1
            return found
        finally:
            reader.close()

    def unfinished(self) -> int:
        reader = self.client.Consumer(
            {"bootstrap.servers": f"127.0.0.1:{self.port}", "group.id": "noregret"}
        )
        try:
            parts = [self.client.TopicPartition(t, k) for t in TOPICS[:2] for k in range(4)]
            found = [
                (*reader.get_watermark_offsets(part, timeout=10), part.offset)
                for part in reader.committed(parts, timeout=10)
            ]
            return sum(end - max(start, done) for start, end, done in found)
        finally:
            reader.close()

    def kill(self) -> None:
        """Do nothing: it ends with its producer."""


BROKERS: dict[str, Any] = {"nats": NatsServer, "redis": RedisServer, "kafka": KafkaMock}


@contextmanager
def running(name: str, folder: Path) -> Iterator[Any]:
    """Run a broker."""
    folder.mkdir(exist_ok=True)
    broker = BROKERS[name](folder)
    try:
        yield broker
    finally:
        broker.kill()


def address_of(broker: Any, topics: str = "orders,labels", more: str = "") -> str:
    outputs = "output=predictions&dead=refused"
    return f"{broker.scheme}://127.0.0.1:{broker.port}/{topics}?{outputs}{broker.options}{more}"
