"""A game of a filter: two signals, as arrays or as two columns of a table.

game = play(Nlms(taps=64), x, d)
game.certificate()
"""

from __future__ import annotations

from typing import Any

from noregret.errors import BadExample
from noregret.filters.signals import is_signal, pair
from noregret.proof.game.table_game import TableGame
from noregret.proof.game.table_rows import TableBlock


class FilterGame(TableGame):
    """A filter and the signals it played. Made by ``play``.

    Parameters
    ----------
    player
        The filter.
    **options
        As in ``TableGame``.
    """

    def play(self, stream: Any, outcomes: Any = None, *, target: str | None = None) -> FilterGame:
        """Play more samples: x and d, or a table of one column as for ``TableGame.play``."""
        if is_signal(stream):
            if outcomes is None:
                raise BadExample("there is nothing to predict", "play(filter, x, d)")
            x, d = pair(stream, outcomes, self.player.rounds)
            stream, outcomes = x[:, None], d
        super().play(stream, outcomes, target=target)
        return self

    def learn_one(self, x: Any, y: Any = None) -> None:
        """Learn from one sample of both signals, while the game is being recorded."""
        self.learn_many([x], [y])

    def learn_many(self, X: Any, y: Any = None) -> None:
        """Learn from two signals, while the game is being recorded."""
        heard, wanted = pair(X, y, self.player.rounds)
        self.play_block(TableBlock(heard[:, None], wanted))
