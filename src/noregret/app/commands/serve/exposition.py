"""The metrics of a server in the text format of Prometheus.

One line per metric. A client library would be more code than this file, and would duplicate counts
that the journal already has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4"
# Name, type, help text, and key in Service.metrics().
FIGURES = (
    ("predictions_total", "counter", "Predictions served.", "predictions"),
    ("labels_total", "counter", "Labels learned.", "labels"),
    ("pending", "gauge", "Predictions that still wait for their label.", "pending"),
    ("loss_total", "counter", "Total loss of served predictions.", "loss"),
    (
        "late_labels_total",
        "counter",
        "Labels that arrived after another label was learned since their prediction.",
        "late_labels",
    ),
    (
        "delay_total",
        "counter",
        "Total number of labels learned between each prediction and its own label.",
        "delay",
    ),
    ("repeated_total", "counter", "Repeated requests.", "repeated"),
)


def exposition(
    models: Mapping[str, Mapping[str, Any]], counts: Mapping[tuple[str, int], int]
) -> str:
    """Return all metrics as text."""
    return "\n".join(lines(models, counts)) + "\n"


def lines(
    models: Mapping[str, Mapping[str, Any]], counts: Mapping[tuple[str, int], int]
) -> Iterator[str]:
    """Yield the lines of each metric: its description, then its value for each model."""
    for name, kind, words, key in FIGURES:
        yield from head(name, kind, words)
        for model, found in models.items():
            yield f"noregret_{name}{labels(model=model)} {found[key]}"
    judged = {model: found["mistakes"] for model, found in models.items() if "mistakes" in found}
    if judged:
        yield from head("mistakes_total", "counter", "Served predictions of the wrong label.")
    for model, count in judged.items():
        yield f"noregret_mistakes_total{labels(model=model)} {count}"
    yield from head("refused_total", "counter", "Requests refused, by reason.")
    for model, found in models.items():
        for why, count in found["refused"].items():
            yield f"noregret_refused_total{labels(model=model, reason=why)} {count}"
    yield from head("requests_total", "counter", "Requests answered since the start, by status.")
    for (action, status), count in sorted(counts.items()):
        yield f"noregret_requests_total{labels(action=action, status=str(status))} {count}"


def head(name: str, kind: str, words: str) -> Iterator[str]:
    """Yield the HELP and TYPE lines of a metric."""
    yield f"# HELP noregret_{name} {words}"
    yield f"# TYPE noregret_{name} {kind}"


def labels(**given: str) -> str:
    """Return labels with their values, quoted."""
    quoted = {
        name: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for name, value in given.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in quoted.items()) + "}"
