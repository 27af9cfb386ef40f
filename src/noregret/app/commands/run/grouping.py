"""One learner per group of rows, in one pass: ``noregret run --group COLUMN``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample, NoRegretError
from noregret.linear import learn_many
from noregret.linear.groups import Groups, rows_by_key
from noregret.proof.game.play_blocks import Played
from noregret.streams.block import Block, Fault, until, without
from noregret.streams.stream import example_of

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]


class Grouping:
    """The learners of all groups, and what they came to together.

    Parameters
    ----------
    learner
        The learner that every group starts with.
    column
        The column that names the group of each row; the first of those that are passed on.
    """

    def __init__(self, learner: Learner, column: str) -> None:
        self.groups, self.column = Groups(learner), column
        self.rounds = self.mistakes = 0
        self.loss = 0.0

    def play(
        self, reading: Reading, blocks: Iterable[Block], observe: Callable[[Block, Played], None]
    ) -> None:
        """Predict and learn the rows of some blocks, each by the learner of its group.

        If a learner refuses a row and that ends the pass, other groups may have learned later rows
        of its block, which are observed too.
        """
        stops = reading.options.on_error == "stop"
        for found in blocks:
            keys, block = self.keys_of(found)
            if stops and block.faults:
                block = until(block, block.faults[0].row, block.faults[:1])
                keys = keys[: len(block)]
            names = reading.feature_names(reading.features)
            rows = [example_of(block, row, names) for row in range(len(block))]
            scores, refused = np.full(len(block), np.nan), list[Fault]()
            for key, where in rows_by_key(keys):
                with self.groups.using(key) as learner:
                    refused += self.play_rows(learner, block, rows, where, scores)
            faults = sorted([*block.faults, *refused], key=lambda fault: fault.row)
            ends = faults[0].error if faults and stops else None
            told = [error for _, error in faults] if refused or not stops else []
            observe(block, Played(~np.isnan(scores), told, scores, None, ends))
            if ends is not None:
                raise ends

    def keys_of(self, block: Block) -> tuple[list[Any], Block]:
        """Return the group of each row, and a block in which rows without one are faults."""
        keys = [json.loads(tag)[0] for tag in block.tags or []]
        what = f"column {self.column!r} is empty or no name: every row needs its group"
        bad = {
            row: BadExample(what, feature=self.column)
            for row, key in enumerate(keys)
            if key == "" or not isinstance(key, str | int) or isinstance(key, bool)
        }
        if not bad:
            return keys, block
        return [key for row, key in enumerate(keys) if row not in bad], without(block, bad)

    def play_rows(
        self,
        learner: Learner,
        block: Block,
        rows: list[dict[str, float]],
        where: NDArray[np.int64],
        scores: Floats,
    ) -> list[Fault]:
        """Play the rows of one group, and predict those without an outcome; return refused ones."""
        before = learner.rounds, learner.total_loss, learner.mistakes
        faults: list[Fault] = []
        left = where
        while len(left):
            # Rows with an outcome are learned together, others predicted one by one.
            labelled = block.labelled[left]
            part = left[: int(np.argmin(np.append(labelled, False)))] if labelled[0] else left[:1]
            done, made = 0, np.full(len(part), np.nan)
            try:
                if labelled[0]:
                    done = learner.rounds
                    learn_many.play(learner._entry, [rows[r] for r in part], block.y[part], made)
                else:
                    made[0] = learner._entry.decide(rows[part[0]])
                used = len(part)
            except NoRegretError as error:
                used = learner.rounds - done + 1 if labelled[0] else 1
                row = int(part[min(used, len(part)) - 1])
                faults.append(Fault(row, error.at(block.place_of(row)).with_traceback(None)))
            scores[part] = made
            left = left[used:]
        if block.booleans and learner.rounds > before[0]:
            learner._entry.note_booleans()
        self.rounds += learner.rounds - before[0]
        self.loss += learner.total_loss - before[1]
        self.mistakes += learner.mistakes - before[2]
        return faults
