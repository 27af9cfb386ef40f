"""The sources of served models: a thread for each, and their figures for Prometheus."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping

from noregret.app.commands.serve.exposition import head, labels
from noregret.service.service import Service
from noregret.service.sources import Consumer

FIGURES = (
    ("source_received_total", "counter", "Messages received, each once per delivery.", "received"),
    ("source_answered_total", "counter", "Messages answered and acknowledged.", "answered"),
    ("source_refused_total", "counter", "Messages refused.", "refused"),
    ("source_waiting", "gauge", "Labels that wait for their prediction.", "waiting"),
    ("source_lost_total", "counter", "Connections lost.", "lost"),
    ("source_connected", "gauge", "1 if the broker is connected.", "connected"),
)
Feeds = list[tuple[str, Consumer]]


def feeds_of(
    services: Mapping[str, Service],
    sources: Mapping[str, Iterable[str]],
    targets: Mapping[str, str],
) -> Feeds:
    """Return a consumer for each source of each model; they are not started yet."""
    return [
        (name, Consumer(services[name], address, targets.get(name, "y"), tell))
        for name, addresses in sources.items()
        for address in addresses
    ]


def tell(line: str) -> None:
    """Print a line on stderr."""
    print(f"source {line}", file=sys.stderr, flush=True)


def source_lines(feeds: Feeds) -> Iterator[str]:
    """Yield the lines of all sources in the text format of Prometheus."""
    found = [(name, feed.address.shown, feed.metrics()) for name, feed in feeds]
    for figure, kind, words, key in FIGURES if found else ():
        yield from head(figure, kind, words)
        for name, address, metrics in found:
            shown = labels(model=name, source=address)
            yield f"noregret_{figure}{shown} {int(metrics[key])}"
