"""The interface to a message broker, and the registry of the kinds of brokers by scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from noregret.errors import WrongUsage
from noregret.service.errors import ServiceError

# Messages answered in one transaction.
BATCH = 1000
# Seconds that a label may wait for its prediction.
PATIENCE = 60.0
GROUP = "noregret"


class Disconnected(ServiceError):
    """Raised if the broker cannot be reached, or refuses a call: connect again."""

    status = 503


class Message(NamedTuple):
    """A message of a topic.

    Parameters
    ----------
    topic
        The subject, stream or topic.
    position
        Its place, unique and the same whenever it is delivered again.
    body
        The contents.
    handle
        Identifies it to the source.
    fault
        Why there are no contents; empty if there are.
    """

    topic: str
    position: str
    body: bytes
    handle: Any = None
    fault: str = ""


@dataclass
class Address:
    """The address of a source, in parts.

    Parameters
    ----------
    scheme, hosts
        The kind of broker, and its hosts with ports, and user and password if there are any.
    topics
        The subjects, streams or topics to read.
    group
        The name under which the broker keeps what was acknowledged.
    output, dead
        Where predictions, and refused messages, are published; None for nowhere.
    batch
        The number of messages to answer in one transaction at most.
    patience
        Seconds that a label may wait for its prediction.
    options
        Other parameters of the address, for the source.
    """

    scheme: str
    hosts: str
    topics: tuple[str, ...]
    group: str
    output: str | None
    dead: str | None
    batch: int
    patience: float
    options: dict[str, str]

    @property
    def shown(self) -> str:
        """The address without password."""
        hosts = self.hosts.rpartition("@")[2]
        return f"{self.scheme}://{hosts}/{','.join(self.topics)}"


class Source(Protocol):
    """A connection to a broker. All calls come from one thread.

    Every method but ``close`` may raise Disconnected; the source is then opened again, and the
    broker must deliver again whatever was not finished.
    """

    def open(self) -> None:
        """Connect; close an earlier connection."""

    def receive(self, most: int, seconds: float) -> list[Message]:
        """Return up to about ``most`` messages; wait so long for the first one."""

    def finish(self, messages: Iterable[Message]) -> None:
        """Acknowledge messages: they need not be delivered again."""

    def send(self, topic: str, messages: Iterable[tuple[str, bytes]]) -> None:
        """Publish messages, each with a key that repeated ones share, and wait until done."""

    def close(self) -> None:
        """Disconnect."""


Kind = Callable[[Address], Source]
T = TypeVar("T", bound=Kind)
KINDS: dict[str, Kind] = {}


def register(*schemes: str) -> Callable[[T], T]:
    """Register a kind of source under the schemes of its addresses."""

    def registered(kind: T) -> T:
        KINDS.update(dict.fromkeys(schemes, kind))
        return kind

    return registered


def kinds() -> dict[str, Kind]:
    """Return all kinds of sources by scheme: each module of this package may register some."""
    package = __name__.rpartition(".")[0]
    for found in iter_modules(import_module(package).__path__):
        import_module(f"{package}.{found.name}")
    return KINDS


def source_of(text: str) -> tuple[Source, Address]:
    """Return the source of an address, not connected yet, and the address in parts.

    Raises
    ------
    WrongUsage
        If the address is invalid, or the client of its broker is not installed.
    """
    address = address_of(text)
    return kinds()[address.scheme](address), address


def address_of(text: str) -> Address:
    """Return an address in parts, or raise WrongUsage.

    Examples
    --------
    >>> found = address_of("redis://:secret@db:6379/orders,labels?output=predictions")
    >>> found.topics, found.output, found.shown
    (('orders', 'labels'), 'predictions', 'redis://db:6379/orders,labels')
    """
    form = "nats://HOST:PORT/TOPIC[,TOPIC…][?output=TOPIC&dead=TOPIC]"
    found = urlsplit(text)
    if found.scheme not in (known := kinds()):
        raise WrongUsage(
            f"a source begins with {', '.join(f'{each}://' for each in sorted(known))}:"
            f" got {found.scheme or text!r}",
            f"write {form}",
        )
    topics = tuple(filter(None, unquote(found.path.lstrip("/")).split(",")))
    where = f"source {found.scheme}://{found.netloc.rpartition('@')[2]}"
    if not found.netloc or not topics:
        raise WrongUsage(f"{where} names no {'topic' if found.netloc else 'host'}", f"write {form}")
    given = dict(parse_qsl(found.query, keep_blank_values=True))
    batch, patience = given.pop("batch", str(BATCH)), given.pop("patience", str(PATIENCE))
    if not batch.isdecimal() or not 1 <= int(batch) <= 100_000:
        raise WrongUsage(f"{where}: batch is a number from 1 to 100,000: got {batch!r}")
    try:
        seconds = float(patience)
        if not 0 <= seconds < float("inf"):
            raise ValueError
    except ValueError:
        raise WrongUsage(f"{where}: patience is a number of seconds: got {patience!r}") from None
    own = {name: given.pop(name, None) or None for name in ("output", "dead")}
    group = given.pop("group", GROUP)
    if set(topics) & set(filter(None, own.values())):
        raise WrongUsage(f"{where} would read what it publishes", "publish to another topic")
    return Address(
        found.scheme, found.netloc, topics, group, own["output"], own["dead"], int(batch), seconds,
        given,
    )  # fmt: skip


def refuse_options(address: Address, *known: str) -> None:
    """Raise WrongUsage if an address has parameters that its source does not know."""
    if odd := sorted(set(address.options) - set(known)):
        named = ", ".join(("output", "dead", "group", "batch", "patience", *known))
        raise WrongUsage(f"{address.shown}: there is no parameter {odd[0]!r}", f"known: {named}")


def client_of(address: Address, module: str, package: str, extra: str, *options: str) -> Any:
    """Return the module of a broker's client, after the options of an address were checked.

    Parameters
    ----------
    address
        The address.
    module, package, extra
        The module, the package that has it, and the extra that installs it.
    *options
        The parameters that the source knows.
    """
    try:
        client = import_module(module)
    except ImportError:
        raise WrongUsage(
            f"the package {package} is not installed",
            f"pip install 'noregret[{extra}]', or pip install '.[{extra}]' in a clone",
        ) from None
    refuse_options(address, *options)
    return client
