"""Scoring new data with an ensemble: its members predict, and its master mixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.run import predictions
from noregret.app.commands.run.scoring import ScoredBlock
from noregret.errors import BadExample, NoRegretError
from noregret.experts.members import LearningMember
from noregret.proof.game.play_blocks import numbers_of, score_block
from noregret.streams.block import Fault

if TYPE_CHECKING:
    from noregret.experts.ensemble import Experts
    from noregret.linear.learner import Learner
    from noregret.streams.block import Block
    from noregret.streams.options import Options
    from noregret.streams.stream import Reading

Floats = NDArray[np.float64]


def widest_of(experts: Experts) -> Learner:
    """Return the learner that knows all features; the others know the first of them."""
    learners = [member.who for member in experts.members.values()]
    names = [learner.get_state()[2] for learner in learners]
    longest = max(names, key=len)
    for name, known in zip(experts.members, names, strict=True):
        if known != longest[: len(known)]:
            raise NoRegretError(
                f"{name} has learned other features, or in another order, than the others",
                "predict in Python: noregret.load(…).predict_one(x)",
            )
    widest: Learner = learners[names.index(longest)]
    return widest


def ensemble_blocks(experts: Experts, reading: Reading) -> Iterator[ScoredBlock]:
    """Yield the forecasts for the rows of each block."""
    for block in reading:
        found, faults = forecasts_of(experts, reading, block)
        rows = np.column_stack([numbers_of(block, 0), found])[~np.isnan(found)]
        faults = sorted([*faults, *block.faults], key=lambda fault: fault.row)
        read = len(block) + len(block.faults)
        yield ScoredBlock(rows, None, read, [fault.error for fault in faults])


def forecasts_of(experts: Experts, reading: Reading, block: Block) -> tuple[Floats, list[Fault]]:
    """Return the forecasts for a block, NaN for rows that are left out, and why."""
    advice = np.full((len(block), len(experts.members)), np.nan)
    faults: dict[int, Fault] = {}
    for k, member in enumerate(experts.members.values()):
        assert isinstance(member, LearningMember)
        if member.retired is None:
            scores, refused = score_block(member.who, reading, block)
            said = np.asarray(member.translated(scores), dtype=np.float64)
            advice[:, k] = np.where(np.isnan(scores), np.nan, said)
            faults |= {fault.row: fault for fault in refused}
    found = np.full(len(block), np.nan)
    for row in range(len(block)):
        try:
            found[row] = experts.master.predict_one(advice[row])
            faults.pop(row, None)  # some members can predict it
        except BadExample as error:
            faults.setdefault(row, Fault(row, error.at(block.place_of(row))))
    return found, list(faults.values())


def tables_of(experts: Experts, block: ScoredBlock, options: Options) -> Iterator[Any]:
    """Yield an Arrow table of predictions: numbers, or classes and the chance of the positive one.

    Classes are written as the data of the model name them.
    """
    import pyarrow as pa

    numbers, found = block.rows.T
    columns: dict[str, Any] = {"row": numbers.astype(np.int64)}
    if experts.master._round.cost.name not in ("log", "zero-one"):
        yield pa.table(columns | {"prediction": found})
        return
    learner = next(m.who for m in experts.members.values() if m.who.engine.loss.labels)
    # A score above 0 is a positive label.
    said = np.column_stack([numbers, found - 0.5, np.full(len(found), np.nan)])
    for table in predictions.tables(iter([said]), None, learner, options, False):
        columns["prediction"] = table["prediction"]
    if experts.master._round.cost.name == "log":
        columns["probability"] = found
    yield pa.table(columns)
