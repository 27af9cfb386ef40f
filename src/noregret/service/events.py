"""Events of a service: predictions that were served, and their labels."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Event(NamedTuple):
    """A prediction that was served, and its label if it came.

    Parameters
    ----------
    seq, entry, id, time
        Its number among the predictions, that among all entries of the journal, its name, and the
        time of the prediction.
    example
        The features.
    made
        The number of labels that its model had learned when it predicted.
    score, prediction, chances
        The score that was served, the prediction, and the probability of each label.
    at_once
        Whether the label came with the request.
    key
        The key of its model, None for the model without one.
    scores
        The scores of the classes, if there are several.
    outcome, learned, labelled, loss
        The label, its number in the order of learning (0 if it has not come), its time, and the
        loss of the served score.
    round
        The number of the label among those of its model.
    note
        What its model needs to learn the label if it comes late, if anything.
    """

    seq: int
    entry: int
    id: str
    time: float
    example: Any
    made: int
    score: float
    prediction: Any
    chances: list[tuple[Any, float]] | None = None
    at_once: bool = False
    key: str | None = None
    scores: list[tuple[Any, float]] | None = None
    outcome: Any = None
    learned: int = 0
    labelled: float = 0.0
    loss: float = 0.0
    round: int = 0
    note: bytes = b""

    @property
    def delay(self) -> int:
        """The labels that its model learned between the prediction and this one."""
        return self.round - 1 - self.made

    @property
    def x(self) -> str:
        """The features as JSON."""
        return as_json(self.example)

    @property
    def y(self) -> str | None:
        """The label as JSON, None if it has not come."""
        return as_json(self.outcome) if self.learned else None


class Totals(NamedTuple):
    """Sums over a journal.

    Parameters
    ----------
    entry, predictions, labels
        The number of entries, and of these the predictions and the labels.
    loss
        The loss of the predictions as served.
    late, delay
        The labels that came after others had been learned, and how many these were in all.
    time
        The time of the last entry.
    """

    entry: int = 0
    predictions: int = 0
    labels: int = 0
    loss: float = 0.0
    late: int = 0
    delay: int = 0
    time: float = 0.0


# Precedes the note of a prediction; JSON has no such byte.
NOTE = b"\0"
# Made once: ``json.dumps`` makes one per call, which takes as long as the text of an example.
ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False)


def as_json(value: Any) -> str:
    """Return a value as JSON; equal values give equal text."""
    return ENCODER.encode(value)
