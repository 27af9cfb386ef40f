"""Kafka topics, read through librdkafka; a group keeps what was acknowledged."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from noregret.service.sources.source import (
    Address,
    Disconnected,
    Message,
    client_of,
    register,
)

# Seconds for a call.
TIMEOUT = 10.0
Part = tuple[str, int]
# Of librdkafka, which would write to the terminal: calls raise their errors.
SILENT = logging.getLogger("noregret.kafka")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


@register("kafka")
class Kafka:
    """Topics of Kafka.

    Parameters
    ----------
    address
        The address; parameters with a dot are properties of librdkafka, such as
        ``security.protocol=SSL``.
    """

    def __init__(self, address: Address) -> None:
        known = [name for name in address.options if "." in name]
        self.address = address
        self.client = client_of(address, "confluent_kafka", "confluent-kafka", "kafka", *known)
        self.consumer: Any = None
        self.producer: Any = None

    def open(self) -> None:
        """Connect, and continue in all partitions where the group has left off."""
        self.close()
        self.unfinished: dict[Part, set[int]] = {}
        self.next: dict[Part, int] = {}
        common = {"bootstrap.servers": self.address.hosts, **self.address.options}
        try:
            self.consumer = self.client.Consumer(
                {
                    "group.id": self.address.group,
                    "enable.auto.commit": False,
                    "auto.offset.reset": "earliest",
                    **common,
                },
                logger=SILENT,
            )
            topics = [self.consumer.list_topics(each, TIMEOUT) for each in self.address.topics]
            self.cluster = topics[0].cluster_id
            # A store has one process, so that no group need share out the partitions.
            self.consumer.assign(
                [
                    self.client.TopicPartition(name, part, self.client.OFFSET_STORED)
                    for found in topics
                    for name, topic in found.topics.items()
                    for part in topic.partitions
                ]
            )
            if self.address.output or self.address.dead:
                self.producer = self.client.Producer(
                    {"enable.idempotence": True, **common}, logger=SILENT
                )
        except self.client.KafkaException as error:
            raise self._lost(error) from None

    def receive(self, most: int, seconds: float) -> list[Message]:
        """Return the messages that are there."""
        try:
            received = self.consumer.consume(most, seconds)
        except (self.client.KafkaException, RuntimeError) as error:
            raise self._lost(error) from None
        found = []
        for each in received:
            if each.error() is not None:
                raise self._lost(each.error())
            part, offset = (each.topic(), each.partition()), each.offset()
            self.unfinished.setdefault(part, set()).add(offset)
            self.next[part] = offset + 1
            position = f"kafka:{self.cluster}:{part[0]}:{part[1]}:{offset}"
            found.append(Message(part[0], position, each.value() or b"", (part, offset)))
        return found

    def finish(self, messages: Iterable[Message]) -> None:
        """Commit, in each partition, the offset before which all messages are finished."""
        changed = set[Part]()
        for message in messages:
            part, offset = message.handle
            if offset in self.unfinished.get(part, ()):
                self.unfinished[part].discard(offset)
                changed.add(part)
        offsets = [
            self.client.TopicPartition(*part, min(self.unfinished[part], default=self.next[part]))
            for part in changed
        ]
        try:
            for each in (
                self.consumer.commit(offsets=offsets, asynchronous=False) if offsets else ()
            ):
                if each.error is not None:
                    raise self._lost(each.error)
        except self.client.KafkaException as error:
            raise self._lost(error) from None

    def send(self, topic: str, messages: Iterable[tuple[str, bytes]]) -> None:
        """Produce messages, and wait until they are delivered."""
        failures: list[Any] = []

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                failures.append(error)

        try:
            for key, body in messages:
                while True:
                    try:
                        self.producer.produce(topic, body, key, on_delivery=delivered)
                        break
                    except BufferError:  # its queue is full
                        self.producer.poll(0.1)
            left = self.producer.flush(TIMEOUT)
        except self.client.KafkaException as error:
            raise self._lost(error) from None
        if failures or left:
            raise self._lost(failures[0] if failures else f"{left} messages were not delivered")

    def close(self) -> None:
        """Disconnect."""
        if self.consumer is not None:
            with suppress(Exception):
                self.consumer.close()
        self.consumer = self.producer = None

    def _lost(self, error: Any) -> Disconnected:
        return Disconnected(f"Kafka cannot be used ({error})")
