"""Real streams for River: polls with their average, and flights that were late or not."""

from __future__ import annotations

import csv
from itertools import islice
from typing import Any

from river.preprocessing import StandardScaler

from noregret import data

Examples = list[tuple[dict[str, Any], Any]]


def approval(rows: int = 1001) -> Examples:
    """Return what five pollsters said, and what the average of many polls was; raw."""
    with data.path("approval").open(encoding="utf-8") as file:
        table = list(islice(csv.DictReader(file), rows))
    examples = [{name: float(value) for name, value in row.items()} for row in table]
    return [(x, x.pop("five_thirty_eight")) for x in examples]


def flights(rows: int = 1000) -> Examples:
    """Return what was known of flights before they landed, and whether they were late."""
    numbers = ("hour of day", "distance", "departure delay")
    return [
        ({name: x[name] for name in numbers}, delay > 0)
        for x, delay in islice(data.flights(), rows)
    ]


def scaled(examples: Examples) -> Examples:
    """Return examples as River's scaler makes them on the way."""
    scaler, found = StandardScaler(), []
    for x, y in examples:
        scaler.learn_one(x)
        found.append((scaler.transform_one(x), y))
    return found


def played(model: Any, examples: Examples) -> list[Any]:
    """Return the predictions of a model that learns on the way."""
    said = []
    for x, y in examples:
        said.append(model.predict_one(x))
        model.learn_one(x, y)
    return said


def chances(model: Any, examples: Examples) -> list[float]:
    """Return the probabilities of True of a model that learns on the way; ½ where it has none."""
    said = []
    for x, y in examples:
        said.append(model.predict_proba_one(x).get(True, 0.5))
        model.learn_one(x, y)
    return said
