"""Blend of portfolios: start with the same wealth in each of several strategies, and never move it.

    w = Σ_k v_k w_k,    v_k ∝ wealth of strategy k

The strategies are equal shares, buy and hold, exponentiated gradient with four rates, and the
online Newton step with the published parameters and with those of its theorem: some do well if
prices swing, others if they keep rising. There is nothing to choose.

Promise. Wealth is the mean of the strategies' wealth, and a mean of K numbers is at least the
largest divided by K: its log-wealth is below that of the best strategy by at most ln K = ln 8,
for any relatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret.base.registry import register
from noregret.errors import BadExample
from noregret.portfolios.evidence import PortfolioEvidence
from noregret.portfolios.strategies.buy_and_hold import BuyAndHold
from noregret.portfolios.strategies.eg_portfolio import EgPortfolio
from noregret.portfolios.strategies.ons_portfolio import OnsPortfolio
from noregret.portfolios.strategies.uniform_rebalanced import UniformRebalanced
from noregret.portfolios.strategy import NO_COSTS, Floats, Strategy
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

RATES = (0.01, 0.05, 0.2, 1.0)
# The parameters of the online Newton step for which its theorem holds if no asset grows more than
# four times as much as the portfolio in a round.
PROVEN = {"rate": 0.5, "ridge": 16.0, "damping": 1.0}


def strategies() -> dict[str, Strategy]:
    """Return the strategies that are blended, before their first round."""
    return {
        "uniform-rebalanced": UniformRebalanced(),
        "buy-and-hold": BuyAndHold(),
        **{f"eg-portfolio {rate:g}": EgPortfolio(rate) for rate in RATES},
        "ons-portfolio": OnsPortfolio(),
        "ons-portfolio, proven": OnsPortfolio(**PROVEN),
    }


def behind(evidence: PortfolioEvidence) -> float:
    """Return the log-wealth of the best strategy minus that of the blend."""
    return float(evidence.player._behind)


@register
class BlendPortfolio(Strategy):
    """Divide wealth among strategies, each of which divides its part among the assets.

    Parameters
    ----------
    cost
        The transaction cost as a fraction of all that is traded, from 0 to below 1. What one
        strategy sells and another buys is not traded.

    Examples
    --------
    >>> strategy = BlendPortfolio()
    >>> strategy.learn_many([[1.2, 1.0], [1.1, 1.0]] * 20)
    >>> max(strategy.parts, key=strategy.parts.get)
    'buy-and-hold'

    References
    ----------
    T. M. Cover and E. Ordentlich, "Universal portfolios with side information", 1996.
    """

    name = "blend-portfolio"
    theorems = (
        Theorem(
            name="blend-portfolio",
            quantity="regret to the best member",
            formula=r"\max_k \ln S_T^{(k)} - \ln S_T \le \ln K",
            plain="log-wealth regret against the best of K strategies <= ln(K)",
            where="$K$ is the number of strategies, and $S_T^{(k)}$ the wealth of one of them",
            assumptions=(
                Structural("none on the data; the comparison is with the strategies blended"),
                NO_COSTS,
            ),
            bound=lambda e: math.log(len(e.player._members)) + e.player.rounding,
            measured=behind,
            about="the log-wealth of the best strategy minus that of the blend",
            source="a mean is at least its largest part",
        ),
    )

    def __init__(self, cost: float = 0.0) -> None:
        super().__init__(cost)
        self._members = strategies()
        # The log-wealth of each strategy minus that of the blend without costs.
        self._logs = np.zeros(len(self._members))

    @property
    def parts(self) -> dict[str, float]:
        """The part of the wealth in each strategy."""
        return dict(zip(self._members, self._parts().tolist(), strict=True))

    @property
    def rounding(self) -> float:
        """A bound on the rounding errors in the wealth of the strategies."""
        return 1e-12 * (1 + self._played)

    @property
    def _behind(self) -> float:
        """The log-wealth of the best strategy minus that of the blend."""
        return float(self._logs.max())

    def _parts(self) -> Floats:
        parts = np.exp(self._logs - self._logs.max())
        return np.asarray(parts / parts.sum())

    def _begin(self, assets: int) -> None:
        """Start with the same wealth in each strategy."""
        for member in self._members.values():
            member._meet(assets)

    def _shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of its own array."""
        return {"logs": (len(self._members),)}

    def _divide(self) -> Floats:
        """Return the shares of all strategies together."""
        parts = self._parts()
        held = [member._shares for member in self._members.values()]
        found = np.asarray(sum(p * shares for p, shares in zip(parts, held, strict=True)))
        return np.asarray(found / found.sum())

    def _update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Let each strategy play the round."""
        for k, member in enumerate(self._members.values()):
            if self._logs[k] == -math.inf:
                continue
            before = member.log_wealth
            try:
                member._round(relatives)
                self._logs[k] += (member.log_wealth - before) - log_gain
            except BadExample:  # all that it held is lost
                self._logs[k] = -math.inf

    def bound_so_far(self) -> float | None:
        """Return the bound of the theorem, which does not grow."""
        return None if self.cost else math.log(len(self._members))

    # The state: its own, and those of the strategies.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        arrays, numbers, names = super().get_state()
        for k, member in enumerate(self._members.values()):
            theirs, counts, _ = member.get_state()
            arrays |= {f"{k}/{key}": array for key, array in theirs.items()}
            numbers |= {f"{k}/{key}": value for key, value in counts.items()}
        return arrays, numbers, names

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        made = strategies()
        rest_arrays, rest_numbers = dict(arrays), dict(numbers)
        for k, member in enumerate(made.values()):
            theirs, counts = (taken(rest, f"{k}/") for rest in (rest_arrays, rest_numbers))
            member.set_state(theirs, counts, [])
        super().set_state(rest_arrays, rest_numbers, names)
        self._members = made

    def _check_state(self) -> None:
        """Raise ValueError if no strategy has wealth."""
        if not np.isfinite(self._logs.max()):
            raise ValueError("logs: the largest should be finite")


def taken(rest: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Remove the items whose names begin with a prefix, and return them without it."""
    keys = [key for key in rest if key.startswith(prefix)]
    return {key.removeprefix(prefix): rest.pop(key) for key in keys}
