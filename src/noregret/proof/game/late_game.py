"""A game whose outcomes come late: the loss is that of the predictions as they were served."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from noregret.errors import BadExample
from noregret.proof.game.game import Game
from noregret.proof.game.served_loss import (
    LateClasses,
    Score,
    is_wrong,
    known_classes,
    learn_late,
    noted,
    served_loss,
)
from noregret.streams.options import Options

# The prefix under which certificates name the field that joins predictions and outcomes.
JOINED_BY = "labels-by="
# The same for the number of late predictions before members are weighted by what they said.
WEIGHED_AFTER = "weighed-as-served-after="
# Ends the list of the options with which raw rows were prepared; what was detected follows.
RAW = "raw-rows"
FIELD = "id"


class LateEvent(NamedTuple):
    """A prediction (``x``), the outcome of an earlier one (``y``), or both at once.

    Parameters
    ----------
    id
        The name of the prediction; None if its outcome comes with it.
    x
        The example; None if it came before.
    y
        The outcome; None if it is still to come.
    """

    id: str | None
    x: dict[str, Any] | None = None
    y: Any = None


class LateGame(Game):
    """A game in which other outcomes may be learned between a prediction and its own.

    Gradient descent steps by the gradients of the weights that predicted, and members of ``auto``
    are weighted by what they said then; other learners learn as if the outcome had come in time.
    In each case the loss is that of the served prediction; ``LateClasses`` counts those of several
    classes. An outcome that is learned before any other pays as in any game.

    Parameters
    ----------
    learner
        The learner.
    field
        The field that joins predictions and outcomes in a file of the events.
    plain
        The number of late predictions, the first ones, whose outcomes members of ``auto`` learned
        as if they had come in time; None for all. Earlier versions of services did so.
    """

    def __init__(self, learner: Any, field: str = FIELD, plain: int | None = 0) -> None:
        super().__init__(learner, keep="rows", progress=False)
        self.plain = plain
        self.field, self.paid, self.wrong = field, 0.0, 0
        self.joined = False  # whether an event had an id
        self.largest = -math.inf
        self.classes = LateClasses(self.learner.engine.loss.name, known_classes(learner))

    def play_events(self, events: Iterable[LateEvent]) -> LateGame:
        """Play predictions and outcomes in the order in which they came."""
        learner, ledger = self.learner, self.ledger
        waiting: dict[str | None, tuple[Any, Score, int, bytes]] = {}
        plain = math.inf if self.plain is None else self.plain
        with self.recorded():
            for name, given, y in events:
                x: Any = given
                if not isinstance(name, str | int | None):
                    raise BadExample(f"the id {name!r} is neither text nor a whole number")
                self.joined = self.joined or name is not None
                if y is None:
                    score, note = noted(learner, x)
                    waiting[name] = (x, score, learner.rounds, note if plain <= 0 else b"")
                    plain -= 1
                    continue
                if name in waiting:
                    x, score, made, note = waiting.pop(name)
                elif name is None or x:
                    score, made, note = learner.decision_one(x), learner.rounds, b""
                else:
                    raise BadExample(f"no prediction has the id {name!r}, or it had its outcome")
                late, before = learner.rounds - made, (learner.total_loss, learner.mistakes)
                if late:
                    learn_late(learner, x, y, score, note)
                else:
                    learner.learn_one(x, y)
                ledger.delay += late
                if late and ledger.first_delayed is None:
                    ledger.first_delayed = learner.rounds - ledger.before
                self._pay(score, y, before, late > 0)
        return self

    def _pay(self, score: Score, y: Any, before: tuple[float, int], late: bool) -> None:
        """Count the loss of a prediction as it was served; ``before`` are the sums without it."""
        learner = self.learner
        if isinstance(score, dict):
            self.paid += self.classes.join(y)
        if not late:
            paid, wrong = learner.total_loss - before[0], learner.mistakes - before[1]
        else:
            wrong = is_wrong(learner, score, y)
            if isinstance(score, dict):
                paid = self.classes.pay(score, y)
            else:
                paid = served_loss(learner, score, y)
        self.paid += paid
        self.wrong += wrong
        self.largest = max(self.largest, paid)

    def _settle(self) -> None:
        """Complete the record with the losses of the predictions as served."""
        super()._settle()
        if self.delayed:
            guess = self.classes.guess if self.classes.guesses else -math.inf
            ledger = self.ledger
            ledger.books = ledger.books._replace(
                loss=ledger.loss_before + self.paid,
                mistakes=ledger.mistakes_before + self.wrong,
                largest_loss=max(self.largest, guess),
            )

    @property
    def delayed(self) -> bool:
        """True if some outcome came late."""
        return self.ledger.delay > 0

    @property
    def transforms(self) -> tuple[str, ...]:
        """The transforms of the data, and how outcomes are joined to predictions and learned."""
        found = (*with_raw(self.learner, super().transforms), f"{JOINED_BY}{self.field}")
        if self.plain is None or not self.learner.engine.weighs_late:
            return found
        return (*found, f"{WEIGHED_AFTER}{self.plain}")


def with_raw(learner: Any, transforms: tuple[str, ...]) -> tuple[str, ...]:
    """Return transforms with the options for raw rows first, and apart from what was detected.

    A replay begins with the options alone, and detects the rest at the same rows again.
    """
    prepare = learner._entry.prepare
    if prepare is None:
        return transforms
    given = prepare.options.transforms()
    return (*given, RAW, *(text for text in transforms if text not in given))


def take_raw(learner: Any, transforms: Sequence[str]) -> None:
    """Let a new learner prepare raw rows as transforms say, if they do."""
    if RAW not in transforms:
        return
    from noregret.streams.preparing import OF_VALUES, begun

    given = transforms[: transforms.index(RAW)]
    if odd := [text for text in given if text.partition("=")[0] not in OF_VALUES]:
        raise ValueError(f"{odd[0]!r} is not an option about the values of rows")
    learner._entry.prepare = begun(Options.of(given))


def plain_of(transforms: Sequence[str]) -> int | None:
    """Return the number of late predictions before members are weighted by what they said."""
    found = [text for text in transforms if text.startswith(WEIGHED_AFTER)]
    if not found:
        return None
    text = found[0].removeprefix(WEIGHED_AFTER)
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise ValueError(f"{found[0]!r}: this is no number of predictions")
    return int(text)


def field_of(transforms: Sequence[str]) -> str | None:
    """Return the field that joins predictions and outcomes; None if all came at once."""
    found = [text for text in transforms if text.startswith(JOINED_BY)]
    return found[0].removeprefix(JOINED_BY) if found else None


def events_of(paths: Sequence[str | Path], field: str, target: str) -> Iterator[LateEvent]:
    """Yield the events of files in JSON lines: a line without the target is a prediction."""
    from noregret.streams.json_lines import GivenTwice, object_of

    for path in paths:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    found = json.loads(line.decode(), object_pairs_hook=object_of)
                    if not isinstance(found, dict):
                        raise ValueError
                except GivenTwice as twice:
                    what = f"the field {twice.name[:40]!r} is given twice"
                    raise BadExample(what, file=path, line=number) from None
                except UnicodeDecodeError as error:
                    what = f"byte {error.start + 1} is not UTF-8 text"
                    raise BadExample(what, file=path, line=number) from None
                except (ValueError, RecursionError):
                    raise BadExample("not a JSON object", file=path, line=number) from None
                name, y = found.pop(field, None), found.pop(target, None)
                if name is None and y is None:
                    what = f"a line without {field!r} and {target!r}"
                    cure = "name the outcome: --target"
                    raise BadExample(what, cure, file=path, line=number)
                yield LateEvent(name, found, y)
