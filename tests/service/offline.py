"""The model of a journal, computed without a service: its events played one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from noregret.service.journal import Journal


def offline(learner: Any, journal: Journal, key: str | None = None) -> Any:
    """Return an untrained ``auto`` after all events of a journal.

    The notes of predictions are those of its own, and equal to those in the journal.
    """
    notes: dict[int, bytes] = {}
    for event, starts, ends in journal.played():
        if event.key != key:
            continue
        x: Any = event.example
        if starts and not ends:
            found, notes[event.entry] = learner._entry.decide_noting(x)
            served = event.score if event.scores is None else [score for _, score in event.scores]
            assert np.array_equal(found, served)
            assert notes[event.entry] == event.note
        if ends and event.delay:
            learner._entry.learn_late(x, event.outcome, event.score, notes.pop(event.entry))
        elif ends:
            learner.learn_one(x, event.outcome)
    return learner
