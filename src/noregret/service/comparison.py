"""Which of two models is better, judged while both play: safe to look at after every event.

Two gamblers bet on the differences of losses, δ = champion's − challenger's, cut at ±c. The first
bets that the challenger is better: its wealth is Π(1 + λ δ/c), with λ from 0 to ½ chosen before δ
is known. If the challenger is in truth never better in conditional mean, the wealth exceeds 1/α at
any time with a probability of at most α (Ville's inequality). The second bets the opposite.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Comparison(NamedTuple):
    """A challenger beside the model that serves.

    Parameters
    ----------
    bound
        c, above 0: larger differences of losses count as ±c.
    rounds
        The labels of events that both predicted.
    champion, challenger
        Their losses.
    drift, squares
        Sums of δ/c and of its squares.
    better, worse
        The logarithms of the wealths of the two gamblers.
    best, worst
        The largest that these have been.
    """

    bound: float = 1.0
    rounds: int = 0
    champion: float = 0.0
    challenger: float = 0.0
    drift: float = 0.0
    squares: float = 0.0
    better: float = 0.0
    worse: float = 0.0
    best: float = 0.0
    worst: float = 0.0

    def after(self, champion: float, challenger: float) -> Comparison:
        """Return the comparison after another label, given the losses of both.

        Examples
        --------
        >>> state = Comparison()
        >>> for _ in range(100):
        ...     state = state.after(0.5, 0.25)
        >>> state.found()["p_better"] < 0.001, state.found()["p_worse"]
        (True, 1.0)
        """
        step = max(-1.0, min(1.0, (champion - challenger) / self.bound))
        bet = self.drift / (self.squares + 1)  # from the past alone
        better = self.better + math.log1p(max(0.0, min(0.5, bet)) * step)
        worse = self.worse + math.log1p(max(0.0, min(0.5, -bet)) * -step)
        return Comparison(
            self.bound,
            self.rounds + 1,
            self.champion + champion,
            self.challenger + challenger,
            self.drift + step,
            self.squares + step * step,
            better,
            worse,
            max(self.best, better),
            max(self.worst, worse),
        )

    def found(self) -> dict[str, Any]:
        """Return the result: mean losses, and the p-values of both claims, valid at any time."""
        rounds = self.rounds or math.nan
        return {
            "rounds": self.rounds,
            "champion": self.champion / rounds,
            "challenger": self.challenger / rounds,
            "p_better": math.exp(-self.best),
            "p_worse": math.exp(-self.worst),
            "bound": self.bound,
        }
