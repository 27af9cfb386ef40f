"""Every event of a broker is learned exactly once, whatever is killed in between."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.errors import NoRegretError, WrongUsage
from noregret.service import Service
from noregret.service.sources import Consumer, Disconnected, Message, source_of
from noregret.service.sources.source import address_of as parsed
from tests.service.sources.brokers import BROKERS, address_of, running
from tests.thorough import THOROUGH, sized

KILLS = sized(1, full=40)


def with_brokers(*quick: str) -> pytest.MarkDecorator:
    """Try a law on all brokers in a thorough run, else on some."""
    return pytest.mark.parametrize("broker", BROKERS if THOROUGH else quick, indirect=True)


@pytest.fixture
def broker(request: Any, tmp_path: Path) -> Iterator[Any]:
    with running(request.param, tmp_path / "broker") as found:
        yield found


def encoded(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def row(k: int) -> dict[str, float]:
    return {"a": k % 7 / 7, "b": k % 11 / 11}


def wait_for(condition: Any, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@with_brokers("kafka")
def test_events_are_answered_in_order_and_published(broker: Any, tmp_path: Path) -> None:
    """Predictions are those of a learner that plays the same events."""
    plain, expected = nr.Nlms(), list[float]()
    count = 60
    for k in range(count):
        expected.append(plain.predict_one(row(k)))
        plain.learn_one(row(k), k % 3)
    bodies = [encoded(id=f"e{k}", x=row(k), y=k % 3) for k in range(count)]
    broker.publish("orders", bodies + bodies[:20])  # at least once
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        with Consumer(service, address_of(broker, "orders", "&batch=16")) as consumer:
            wait_for(lambda: consumer.metrics()["answered"] >= count + 20)
        found = service.metrics()
        assert (found["labels"], found["repeated"]) == (count, 20)
        assert dumps(service.learner) == dumps(plain)
    told = {each["id"]: each["prediction"] for each in map(json.loads, broker.read("predictions"))}
    assert told == {f"e{k}": value for k, value in enumerate(expected)}


@with_brokers("redis")
def test_late_early_and_missing_labels_and_poison_never_block(broker: Any, tmp_path: Path) -> None:
    orders = [encoded(id=f"e{k}", x=row(k)) for k in range(30)]
    labels = [encoded(id=f"e{k}", y=k % 3) for k in range(30) if k != 7]
    poison = {
        b"\xff not JSON": "not JSON",
        b"[1, 2]": "not a JSON object",
        b'{"id": "both", "x": {"a": 1, "a": 2}}': "'a' comes twice",
        b"{}": "neither an example nor a label",
        encoded(id="odd", z=1): "has a field 'z'",
        encoded(id="inf", x={"a": "@"}).replace(b'"@"', b"1e999"): "finite numbers",
        encoded(id="e0", x={"a": 17}): "was used for another request",
        encoded(id="e1", y=77): "was labelled",
        encoded(id="text", x={"a": 1}, y="no number"): "an outcome is a number",
        encoded(id="called", x={"y": 1}): "called like the outcome",
        encoded(id="never predicted", y=1.0): "no prediction has the id",
    }
    broker.publish("labels", labels)  # before what they are labels of
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        with Consumer(service, address_of(broker, more="&patience=60")) as consumer:
            wait_for(lambda: consumer.metrics()["waiting"] == 29)
            broker.publish("orders", orders)
            wait_for(lambda: service.metrics()["labels"] == 29)
            consumer.address = replace(consumer.address, patience=0.0)
            broker.publish("orders", [*poison])
            broker.publish("orders", [encoded(x=row(1), y=2), encoded(x=row(2))])
            wait_for(lambda: consumer.metrics()["refused"] == len(poison))
            wait_for(lambda: service.metrics()["predictions"] == 32)
            found = consumer.metrics()
            assert found["early"] == 30
            for why in poison.values():
                assert [error for _, _, error in found["refusals"] if why in error], why
        assert (service.metrics()["labels"], service.pending) == (30, 2)
    dead = [json.loads(each) for each in broker.read("refused")]
    assert {each["message"].encode() for each in dead} >= {each for each in poison if each[0] < 128}
    assert all(each["status"] >= 400 and each["topic"] for each in dead)


@with_brokers("nats")
def test_an_event_without_id_is_known_by_its_position(broker: Any, tmp_path: Path) -> None:
    """The service is closed before the events are acknowledged, and gets them again."""
    broker.publish("orders", [encoded(x=row(k), y=k) for k in range(10)])
    address = address_of(broker, "orders", "&batch=10")
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        consumer = Consumer(service, address)
        consumer.source.finish = lost  # type: ignore[method-assign]
        consumer.run(until=lambda: consumer.metrics()["lost"] > 0)
        assert service.labels > 0
        consumer.source.close()
    with Service(None, tmp_path / "s.db") as service:
        with Consumer(service, address) as again:
            wait_for(lambda: again.metrics()["answered"] >= 10)
        assert (service.labels, service.metrics()["predictions"]) == (10, 10)
    assert len({json.loads(each)["id"] for each in broker.read("predictions")}) == 10


def lost(messages: Any) -> None:
    raise Disconnected("lost")


SERVED = """
import sys
import noregret as nr
from noregret.service import Service
from noregret.service.sources import Consumer
store, address = sys.argv[1:]
with Service(nr.Nlms(), store, snapshot_every=25) as service:
    Consumer(service, address).run()
"""


@with_brokers("redis")
def test_every_event_is_learned_once_though_server_and_service_are_killed(
    broker: Any, tmp_path: Path
) -> None:
    """A producer repeats what was not acknowledged, so that events also come several times."""
    store, address, draw = tmp_path / "s.db", address_of(broker), random.Random(3)
    total, sent, ended = 100 * KILLS, list[int](), threading.Event()

    def produce() -> None:
        k = 0
        while k < total:
            some = range(k, min(k + 10, total))
            try:
                broker.publish("orders", [encoded(id=f"e{n}", x=row(n)) for n in some])
                broker.publish("labels", [encoded(id=f"e{n}", y=n % 5) for n in some])
                k = some.stop
                sent.append(k)
            except Exception:  # the server was killed: again
                time.sleep(0.1)
        ended.set()

    producer = threading.Thread(target=produce, daemon=True)
    producer.start()

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", SERVED, store, address])

    process = start()
    for _ in range(KILLS):
        wait_for(store.exists)
        time.sleep(draw.uniform(*sized((0.0, 0.2), full=(0.3, 1.2))))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if broker.scheme != "kafka":
            broker.kill()
            time.sleep(draw.uniform(0, 0.3))
        process = start()
        if broker.scheme != "kafka":
            time.sleep(draw.uniform(0, sized(0.2, full=0.6)))
            broker.start()
    producer.join(120)
    assert ended.is_set()
    process.kill()
    process.wait()
    with Service(nr.Nlms(), store) as service:
        with Consumer(service, address) as consumer:
            wait_for(lambda: service.labels == total)
            wait_for(lambda: consumer.metrics()["waiting"] == 0)
            # What was learned before the last kill but not published is delivered once more.
            wait_for(lambda: broker.unfinished() == 0)
        plain, seen = nr.Nlms(), list[str]()
        for event in service.journal.learned():
            plain.learn_one(json.loads(event.x), json.loads(event.y or ""))
            seen.append(event.id)
        assert sorted(seen) == sorted(f"e{k}" for k in range(total))
        assert dumps(service.learner) == dumps(plain)
    told = [json.loads(each)["id"] for each in broker.read("predictions")]
    assert set(told) == set(seen)
    if broker.scheme == "nats":  # the server drops repeated ones by their message ids
        assert len(told) == total
    assert broker.read("refused") == []


def test_what_is_delivered_again_after_it_was_finished_counts_once(tmp_path: Path) -> None:
    """A server may deliver a message again just before its acknowledgement comes."""
    body = encoded(id="never predicted", y=1.0)
    messages = [Message("labels", "redis:labels:1", body, k) for k in range(2)]
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        consumer = Consumer(service, "redis://localhost/labels?patience=0")
        finished: list[Message] = []
        consumer.source.finish = finished.extend  # type: ignore[method-assign, assignment]
        consumer.connected = True
        for message in messages:
            consumer.source.receive = lambda most, seconds, found=message: [found]  # type: ignore[misc, method-assign]
            consumer.step()
        found = consumer.metrics()
    assert (found["received"], found["early"], found["refused"]) == (1, 1, 1)
    assert finished == messages  # both are acknowledged


def test_a_lost_connection_is_made_again_and_told(tmp_path: Path) -> None:
    lines: list[str] = []
    with running("redis", tmp_path / "broker") as broker:
        broker.publish("orders", [encoded(id="one", x=row(1))])
        service = Service(nr.Nlms(), tmp_path / "s.db")
        address = address_of(broker, "orders").replace("//", "//default:@")
        with service, Consumer(service, address, tell=lines.append) as consumer:
            wait_for(lambda: consumer.metrics()["answered"] == 1)
            broker.kill()
            wait_for(lambda: consumer.metrics()["lost"] == 1 and not consumer.connected)
            broker.start()
            broker.publish("orders", [encoded(id="two", x=row(2))])
            wait_for(lambda: consumer.metrics()["answered"] == 2)
    assert "will try again" in lines[0]
    assert lines[1].endswith("connected again")
    assert "default" not in "".join(lines)


def test_a_service_that_stops_acknowledges_nothing(tmp_path: Path) -> None:
    with running("redis", tmp_path / "broker") as broker:
        broker.publish("orders", [encoded(id="one", x=row(1))])
        service = Service(nr.Nlms(), tmp_path / "s.db")
        service.journal.close()  # the next commit fails
        with Consumer(service, address_of(broker, "orders")) as consumer:
            wait_for(lambda: consumer.error is not None)
        assert "could not be written" in str(consumer.error)
        with (
            Service(None, tmp_path / "s.db") as again,
            Consumer(again, address_of(broker, "orders")),
        ):
            wait_for(lambda: again.metrics()["predictions"] == 1)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("shop.csv", "a source begins with kafka://, nats://"),
        ("amqp://localhost/orders", "got 'amqp'"),
        ("redis:///orders", "names no host"),
        ("redis://localhost:6379", "names no topic"),
        ("redis://localhost/orders?output=orders", "would read what it publishes"),
        ("redis://localhost/orders?batch=0", "batch is a number"),
        ("redis://localhost/orders?patience=long", "patience is a number"),
        ("redis://localhost/orders?db=one", "db is the number"),
        ("redis://u:secret@localhost/orders?colour=red", "no parameter 'colour'"),
        ("nats://localhost/orders?redeliver=soon", "redeliver is a number"),
        ("kafka://localhost/orders?group_id=a", "no parameter 'group_id'"),
    ],
)
def test_a_wrong_address_is_refused_with_a_cure(address: str, why: str) -> None:
    with pytest.raises(WrongUsage, match=why.replace("?", r"\?")) as found:
        source_of(address)
    assert isinstance(found.value, NoRegretError)
    assert "secret" not in str(found.value)


def test_addresses_in_parts() -> None:
    found = parsed("kafka://a:1,b:2/orders?security.protocol=SSL&batch=5&group=g")
    assert (found.hosts, found.batch, found.group) == ("a:1,b:2", 5, "g")
    assert found.options == {"security.protocol": "SSL"}
