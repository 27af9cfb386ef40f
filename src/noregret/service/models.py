"""The models of a service: one without a key, one for each key, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict

from noregret.base.compiled.losses import Loss
from noregret.base.model_file import dumps, loads
from noregret.linear.learner import Learner
from noregret.service.journal import Journal
from noregret.service.scoring import begun

# The key under which the journal has the model without one.
NO_KEY = ""
# Before and after the name of a challenger, in the keys of its models; no key begins with it.
MARK = "\x1f"
# The model that was trained before, if the journal began with one.
START = f"{MARK}start"


class Models:
    """Learners by key. The least recently used ones are in the journal only.

    Parameters
    ----------
    fresh
        The learner, which each key starts with a copy of.
    journal
        Holds the models that are not in memory.
    resident
        The number of learners to hold in memory.
    loss
        The loss, if it is written in Python.
    name
        The name of a challenger.
    """

    def __init__(
        self,
        fresh: Learner,
        journal: Journal,
        resident: int,
        loss: Loss | None = None,
        name: str | None = None,
    ) -> None:
        self.prefix = "" if name is None else f"{MARK}{name}{MARK}"
        self.fresh, self.journal, self.resident, self.loss = fresh, journal, resident, loss
        self.live: OrderedDict[str, Learner] = OrderedDict()
        self.changed: set[str] = set()  # since they were written
        self.written: dict[str, int] = {}  # labels in all when one in memory was written

    def get(self, key: str | None) -> Learner:
        """Return the learner of a key to predict with; that of an unknown key is the first."""
        return self._found(NO_KEY if key is None else key) or self.fresh

    def to_learn(self, key: str | None) -> Learner:
        """Return the learner of a key, which is about to change."""
        name = NO_KEY if key is None else key
        found = self._found(name)
        if found is None:
            found = self.live[name] = begun(self.fresh)
        self.changed.add(name)
        return found

    def position(self, key: str | None) -> int:
        """Return how many labels had been learned in all when the model of a key was written."""
        name = NO_KEY if key is None else key
        self._found(name)
        return self.written.get(name, 0)

    def _found(self, name: str) -> Learner | None:
        learner = self.live.get(name)
        if learner is not None:
            self.live.move_to_end(name)
            return learner
        kept = self.journal.model(self.prefix + name)
        if kept is None:
            return None
        found: Learner = loads(kept[1], self.journal.path, self.loss)
        self.live[name], self.written[name] = found, kept[0]
        return found

    def trim(self, learned: int) -> None:
        """Leave the least recently used learners to the journal, in the open transaction."""
        while len(self.live) > self.resident:
            name, learner = self.live.popitem(last=False)
            if name in self.changed:
                self.journal.keep_model(self.prefix + name, learned, dumps(learner))
                self.changed.discard(name)
            self.written.pop(name, None)

    def save(self, learned: int) -> None:
        """Write all models that changed, in the open transaction."""
        for name in sorted(self.changed):
            self.journal.keep_model(self.prefix + name, learned, dumps(self.live[name]))
            self.written[name] = learned
        self.changed.clear()
