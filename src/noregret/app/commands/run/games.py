"""The game of a run with one learner per group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from noregret.proof.game.game import Game
from noregret.proof.game.grouping import Grouping

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run


def opened(run: Run, columns: Sequence[str]) -> tuple[Grouping, Game]:
    """Return the learners of the groups, and a game that records their rows if that is wanted."""
    if run.pool is None:
        grouping = Grouping(run.learner, columns)
    else:
        from noregret.scale.spread_groups import SpreadGrouping

        # A certificate needs to know the features of each model.
        wanted = run.outputs.model is not None or run.hindsight, run.outputs.predictions is not None
        grouping = spread = SpreadGrouping(run.learner, columns, run.pool, run.folder, *wanted)
        spread.told = run.tell_share
    if not run.hindsight:
        return grouping, Game(run.learner, keep="nothing", progress=False)
    from noregret.proof.game.group_game import GroupGame

    return grouping, GroupGame(grouping, progress=False)
