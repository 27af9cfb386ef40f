"""The game of a run with one learner per group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from noregret.proof.game.game import Game
from noregret.proof.game.grouping import Grouping

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run
    from noregret.scale.spread_groups import SpreadGrouping


def opened(run: Run, columns: Sequence[str]) -> tuple[Grouping | SpreadGrouping, Game]:
    """Return the learners of the groups, and a game that records their rows if that is wanted."""
    if run.pool is not None:
        from noregret.scale.spread_groups import SpreadGrouping

        wanted = run.outputs.model is not None, run.outputs.predictions is not None
        spread = SpreadGrouping(run.learner, columns, run.pool, run.folder, *wanted)
        return spread, Game(run.learner, keep="nothing", progress=False)
    grouping = Grouping(run.learner, columns)
    if not run.hindsight:
        return grouping, Game(run.learner, keep="nothing", progress=False)
    from noregret.proof.game.group_game import GroupGame

    return grouping, GroupGame(grouping, progress=False)
