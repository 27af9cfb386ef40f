"""Predictions whose outcomes come later: the loss is that of the prediction as it was given."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.proof.game.served_loss import LateClasses, served_loss
from noregret.streams.waiting_lines import MAX_WAITING

if TYPE_CHECKING:
    from noregret.base.compiled.losses import Loss
    from noregret.linear.learner import Learner
    from noregret.proof.game.play_blocks import Played
    from noregret.streams.block import Block

Floats = NDArray[np.float64]


class Given(NamedTuple):
    """A prediction as it was given; of several classes with its chance and all scores.

    ``made`` is the number of outcomes that had been learned.
    """

    score: float
    chance: float = 0.0
    scores: dict[Any, float] | None = None
    made: int = 0


class Served:
    """The predictions that were given to lines without an outcome, by id, and the total loss.

    Parameters
    ----------
    columns
        The number of columns that name the group of a row, the first of those passed on.
    """

    def __init__(self, columns: int = 0) -> None:
        self.columns = columns
        self.given: dict[str, Given] = {}  # the oldest first
        self.joined = 0  # lines whose outcome came
        self.loss = 0.0  # of numbers and two classes
        # Losses of predictions as given, minus those when they were learned, by group.
        self.more: defaultdict[Any, float] = defaultdict(float)
        # Classes and the number of outcomes learned, by group.
        self.late: dict[Any, LateClasses] = {}
        self.learned: defaultdict[Any, int] = defaultdict(int)

    def replace(
        self, learner: Learner, block: Block, played: Played
    ) -> tuple[Floats, Floats | None]:
        """Return scores and chances, with those given before where the outcome came later."""
        assert played.scores is not None
        assert block.keys is not None
        scores, chances = played.scores.copy(), None
        if played.chances is not None:
            chances = np.zeros(len(block))
            chances[slice(None) if played.kept is None else played.kept] = played.chances
        for row, key in enumerate(block.keys):
            score = float(scores[row])
            if np.isnan(score):  # refused
                continue
            group = self.group_of(block, row)
            if not np.isnan(block.y[row]):
                self.learn(learner, block, row, group)
            if key is None:  # an ordinary row
                continue
            if np.isnan(block.y[row]):
                self.given.pop(key, None)
                by_class = None if played.late is None else played.late.scores[row]
                chance = 0.0 if chances is None else float(chances[row])
                self.given[key] = Given(score, chance, by_class, self.learned[group])
                if len(self.given) > MAX_WAITING:
                    del self.given[next(iter(self.given))]
            elif key in self.given:
                found = self.given.pop(key)
                scores[row] = found.score
                if chances is not None:
                    chances[row] = found.chance
                self.more[group] += self.difference(learner, block, played, row, found)
                self.joined += 1
        if chances is not None and played.kept is not None:
            chances = chances[played.kept]
        return scores, chances

    def learn(self, learner: Learner, block: Block, row: int, group: Any) -> None:
        """Count an outcome that was learned, and its class."""
        self.learned[group] += 1
        if block.classes is not None:
            late = self.late.setdefault(group, LateClasses(learner.engine.loss.name))
            self.more[group] += late.join(block.classes[int(block.y[row])])

    def difference(
        self, learner: Learner, block: Block, played: Played, row: int, given: Given
    ) -> float:
        """Return how much larger the loss of a prediction was than when it was learned."""
        y = float(block.y[row])
        if played.late is not None and given.scores is not None:
            group, now = self.group_of(block, row), played.late.losses[row]
            if self.learned[group] == given.made + 1:  # no other outcome came between
                return 0.0
            return self.late[group].pay(given.scores, (block.classes or [])[int(y)]) - now
        assert played.scores is not None
        now = served_loss(learner, float(played.scores[row]), y)
        return served_loss(learner, given.score, y) - now

    def group_of(self, block: Block, row: int) -> Any:
        """Return the group of a row, as groups are named; None without groups."""
        if not self.columns or block.tags is None:
            return None
        values = json.loads(block.tags[row])[: self.columns]
        return values[0] if self.columns == 1 else tuple(values)

    def count(self, loss: Loss, scores: Floats, y: Floats) -> None:
        """Add the losses of rows with an outcome."""
        if loss.labels:
            y = np.where(y > 0, 1.0, -1.0)
        for score, outcome in zip(scores.tolist(), y.tolist(), strict=True):
            self.loss += loss.value(score, outcome)
