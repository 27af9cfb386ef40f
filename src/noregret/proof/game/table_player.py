"""Algorithms that play the rows of a table: masters, policies and strategies."""

from __future__ import annotations

from typing import Any

from noregret.base.algorithm import Named


class TablePlayer(Named):
    """An algorithm whose rounds are rows of losses, rewards, relatives or advice."""

    def _new_game(self, **options: Any) -> Any:
        """Return a game for it to play in; the options are those of ``noregret.play``."""
        from noregret.proof.game.table_game import TableGame

        return TableGame(self, **options)

    def _check_width(self, width: int) -> None:
        """Check the number of columns of a table without names, and set what depends on it."""
