"""Lines whose outcome comes later, in a line of the same id, in bounded memory."""

from __future__ import annotations

import json
from typing import Any

from noregret.errors import BadExample

# Lines, and bytes of them, that may wait. The oldest are forgotten first.
MAX_WAITING, MAX_BYTES = 100_000, 1 << 28
# Characters of an id that a message shows.
MAX_SHOWN = 40


class Waiting:
    """Lines that wait for their outcome, by id.

    Parameters
    ----------
    id
        The field that holds the id.
    target
        The field that holds the outcome.
    """

    def __init__(self, id: str, target: str) -> None:
        self.id, self.target = id, target
        self.lines: dict[str, str] = {}  # as JSON, the oldest first
        self.size = 0

    def key_of(self, example: dict[str, Any]) -> str | None:
        """Return the id of a line as JSON; None if it has none."""
        found = example.get(self.id)
        if found is None:
            # An object has been flattened.
            inner = next((name for name in example if name.startswith(f"{self.id}.")), None)
            if inner is None:
                return None
            found = {inner.removeprefix(f"{self.id}."): example[inner]}
        if not isinstance(found, str | int) or isinstance(found, bool):
            raise BadExample(
                f"field {self.id!r} is {str(found)[:MAX_SHOWN]}: an id is text or a whole number"
            )
        return json.dumps(found)

    def joined(self, key: str, example: dict[str, Any]) -> dict[str, Any] | None:
        """Return the line that waits for an outcome, with this outcome; None if there is none."""
        text = self.lines.get(key)
        if text is None and not example.keys() - {self.id, self.target}:
            raise BadExample(
                f"no line with {self.id} {key[:MAX_SHOWN]} waits for its outcome: it has come"
                f" before, or more than {MAX_WAITING:,} lines ago, or not at all"
            )
        return None if text is None else json.loads(text) | {self.target: example[self.target]}

    def add(self, key: str, example: dict[str, Any]) -> None:
        """Let a line wait; it replaces one of the same id."""
        self.remove(key)
        self.lines[key] = json.dumps(example)
        self.size += len(self.lines[key])
        while len(self.lines) > MAX_WAITING or self.size > MAX_BYTES:
            self.remove(next(iter(self.lines)))

    def remove(self, key: str) -> None:
        """Forget a line, if it waits."""
        self.size -= len(self.lines.pop(key, ""))
