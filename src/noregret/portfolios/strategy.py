"""The base class of strategies, which choose shares and learn from price relatives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.checks import not_negative
from noregret.errors import BadExample, NoRegretError
from noregret.portfolios.costs import left_after
from noregret.portfolios.relatives import first_fault, one_row
from noregret.portfolios.state import restore, state_of
from noregret.proof.game.table_player import TablePlayer
from noregret.proof.theorems.assumptions import Chosen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from noregret.hindsight import Limits
    from noregret.portfolios.evidence import PortfolioEvidence
    from noregret.proof.record.table import Table

Floats = NDArray[np.float64]
# Gains outside this range, or much smaller than a relative, are computed with logarithms.
MIN_PLAIN_GAIN, MAX_PLAIN_GAIN = 1e-200, 1e200
# The logarithm of the largest ratio of an asset's gain to the portfolio's; larger ones are clipped.
MAX_LOG_RATIO = 690.0
MAX_FLOAT, LOG_MAX_FLOAT = 1.7976931348623157e308, 709.78

NO_COSTS = Chosen(
    "trading costs nothing", "trading costs = 0", lambda e: e.params["cost"], 0.0, strict=False
)


class Strategy(TablePlayer):
    """Divide wealth among assets before each round.

    A strategy defines its initial state (``_begin``), the next shares (``_divide``) and the update
    after a round (``_update``). ``_shapes`` names its arrays, which are attributes with an
    underscore before the name, and are saved in files.

    Parameters
    ----------
    cost
        The transaction cost as a fraction of all that is sold and bought, from 0 to below 1
        (see ``noregret.portfolios.costs``).
    """

    family = "portfolios"
    loss_name = "log-wealth"
    mistakes: None = None
    _unrecorded = ("play_block", "set_state")

    def __init__(self, cost: float = 0.0) -> None:
        if not_negative("cost", cost) >= 1:
            raise ValueError(f"cost must be a number from 0 to below 1: got {cost!r}")
        self.cost = cost
        self._played = 0
        self._sum = self._rest = (
            0.0  # the loss in two parts; the second is the rounding error of the first
        )
        self.width = 0
        self.names: list[str] | None = None
        self._shares = self._drifted = np.empty(0)
        self._diary: list[Floats] | None = None

    # What an algorithm defines.

    def _begin(self, assets: int) -> None:
        """Set the initial state for a number of assets."""

    def _divide(self) -> Floats:
        """Return the shares for the next round: a new array that sums to 1."""
        raise NotImplementedError

    def _log_shares(self) -> Floats:
        """Return the logarithms of the shares, also of shares that underflow."""
        return np.asarray(np.log(self._shares))

    def _update(self, relatives: Floats, ratios: Floats, log_gain: float) -> None:
        """Learn from a round: its relatives, and their ratios to the portfolio's gain."""

    # Dividing and learning.

    def weights(self, assets: int | None = None) -> Floats:
        """Return the share of each asset for the next round.

        Parameters
        ----------
        assets
            The number of assets, needed before the first round.
        """
        if self.width:
            if assets not in (None, self.width):
                raise NoRegretError(f"there are {self.width} assets, not {assets}")
            return self._shares.copy()
        if assets is None:
            raise NoRegretError(
                "the number of assets is not known yet", "pass it: weights(assets=3)"
            )
        fresh = self.clone()
        fresh._meet(assets)
        return fresh._shares

    def allocation(self) -> dict[str, float]:
        """Return the share of each asset for the next round, by name."""
        return dict(zip(self.assets, self._shares.tolist(), strict=True))

    def learn(self, relatives: Any) -> None:
        """Learn from one round.

        Parameters
        ----------
        relatives
            Each asset's price divided by its previous price: a dict by name, or an array.
        """
        try:
            row, names = one_row(relatives, self.names)
        except BadExample as error:
            error.at(round=self._played + 1)
            raise
        if names is not None:
            self.check_names(names)
        self.play_block(row[None, :])

    learn_one = learn

    def learn_many(self, table: Any) -> None:
        """Learn from many rounds, in order: an array, a data frame or a list of dicts.

        If a row is rejected, those before it have been learned, it and those after it have not.
        """
        from noregret.proof.game.table_rows import table_blocks

        for block in table_blocks(table, None, None, self.names):
            X, names = block.X, block.names
            if names is not None:
                order = self.names or names
                if names != order and sorted(names) == sorted(order):
                    X = X[:, [names.index(name) for name in order]]
                    names = order
                self.check_names(names)
            self.play_block(np.ascontiguousarray(X))
            if block.fault is not None:
                raise block.fault.at(round=self._played + 1)

    def play_block(
        self,
        X: Floats,
        y: Floats | None = None,
        predictions: Floats | None = None,
        weights: Floats | None = None,
    ) -> None:
        """Play rounds in order.

        Parameters
        ----------
        X
            The relatives, one row per round.
        y
            Must be None: portfolios have no outcomes.
        predictions
            Filled with the factor by which wealth changed in each round, after costs.
        weights
            Filled with the shares held in each round.
        """
        if y is not None:
            raise NoRegretError("relatives have no outcomes", "play(strategy, relatives)")
        if not len(X):
            return
        self._meet(X.shape[1])
        fault = first_fault(X, self.assets)
        for k in range(len(X) if fault is None else fault[0]):
            held = self._shares
            # A copy, because on some processors products depend on the alignment of the row.
            gained = self._round(X[k].copy())
            if predictions is not None:
                predictions[k] = gained
            if weights is not None:
                weights[k] = held
            if self._diary is not None:
                self._diary.append(held)
        if fault is not None:
            raise fault[1].at(round=self._played + 1)

    def _round(self, x: Floats) -> float:
        """Play one round; return the factor by which wealth changed."""
        shares = self._shares
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            gain = float(shares @ x)
            if MIN_PLAIN_GAIN < gain < MAX_PLAIN_GAIN and x.max() < MAX_PLAIN_GAIN * gain:
                log_gain, ratios = math.log(gain), x / gain
                drifted = shares * ratios
            else:
                log_gain, ratios, drifted = gained_by_logs(self._log_shares(), x)
                gain = math.exp(log_gain) if log_gain < LOG_MAX_FLOAT else MAX_FLOAT
            if log_gain == -math.inf:
                raise self._ruin(x)
            left = 1.0
            if self.cost:
                left = left_after(self._drifted, shares, self.cost) if self._played else 1.0
                self._drifted = drifted / drifted.sum()
            self._pay(-log_gain - math.log(left))
            self._update(x, ratios, log_gain)
            self._played += 1
            self._shares = self._divide()
        return min(left * gain, MAX_FLOAT)

    def _pay(self, loss: float) -> None:
        """Add to the loss, and the rounding error to its second part."""
        added = self._sum + loss
        larger, smaller = (self._sum, loss) if abs(self._sum) >= abs(loss) else (loss, self._sum)
        self._rest += (larger - added) + smaller
        self._sum = added

    def _ruin(self, x: Floats) -> BadExample:
        held = [name for name, share in zip(self.assets, self._shares, strict=True) if share > 0]
        what = f"{held[0]!r}" if len(held) == 1 else f"{len(held)} assets, {held[0]!r} first"
        return BadExample(
            f"all wealth is in {what}, whose relative is 0: nothing would be left, and the"
            " logarithm of 0 is infinite",
            round=self._played + 1,
            feature=held[0],
        )

    def _meet(self, assets: int) -> None:
        """Set the number of assets, or check that it is the same."""
        if assets < 1:
            raise BadExample("there are no assets")
        if self.width == assets:
            return
        if self.width:
            raise BadExample(f"{assets} assets, but there were {self.width} before")
        if self.names is not None and len(self.names) != assets:
            raise BadExample(f"{assets} assets, but {len(self.names)} names")
        self.width = assets
        self._begin(assets)
        self._shares = self._divide()
        self._drifted = self._shares

    def check_names(self, names: Sequence[str]) -> None:
        """Set the names of the assets, or check that they are the same."""
        if self.names is None and not self._played:
            if len(set(names)) != len(names):
                raise BadExample("two assets have the same name")
            if self.width and len(names) != self.width:
                raise BadExample(f"{len(names)} assets, but there were {self.width} before")
            self.names = list(names)
        elif list(names) != self.assets:
            raise BadExample(
                f"the assets are {', '.join(self.assets[:5])}{' …' if self.width > 5 else ''}: got"
                f" {', '.join(map(str, names[:5]))}{' …' if len(names) > 5 else ''}"
            )

    # Figures.

    @property
    def assets(self) -> list[str]:
        """The names of the assets; "0", "1", … if they have none."""
        return self.names or [str(k) for k in range(self.width)]

    @property
    def rounds(self) -> int:
        """The number of rounds learned."""
        return self._played

    @property
    def total_loss(self) -> float:
        """Minus the logarithm of wealth, which starts at 1."""
        return self._sum + self._rest

    @property
    def log_wealth(self) -> float:
        """The logarithm of wealth."""
        return -self.total_loss

    @property
    def wealth(self) -> float:
        """Wealth from an initial 1; infinite if it overflows."""
        return math.exp(self.log_wealth) if self.log_wealth < 709.0 else math.inf

    def regret_so_far(self) -> float | None:
        """Return the regret, if it is cheap to compute; None against rebalanced portfolios."""
        return None

    def bound_so_far(self) -> float | None:
        """Return the bound of the rounds so far, if it is cheap to compute."""
        return None

    def evidence(
        self,
        table: Table,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
    ) -> PortfolioEvidence:
        """Return the evidence of a game for its theorems."""
        from noregret.portfolios.evidence import PortfolioEvidence

        return PortfolioEvidence(self, table, given, limits, answers)

    def keep_diary(self) -> list[Floats]:
        """Record the shares held in each round from now on; return the list."""
        self._diary = []
        return self._diary

    # Files.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        return state_of(self)

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        restore(self, arrays, numbers, names)

    def _shapes(self, assets: int) -> dict[str, tuple[int, ...]]:
        """Return the names and shapes of the arrays of the algorithm."""
        return {}

    def _check_state(self) -> None:
        """Raise ValueError if the arrays of a file are invalid."""

    def _numbers(self) -> dict[str, Any]:
        """Return the numbers of a model file."""
        return {
            "rounds": self._played,
            "width": self.width,
            "named": self.names is not None,
            "loss_sum": self._sum,
            "total_rest": self._rest,
        }

    def _take_numbers(self, numbers: dict[str, Any]) -> None:
        """Restore the numbers of a model file."""
        self._played = numbers["rounds"]
        self._sum, self._rest = numbers["loss_sum"], numbers["total_rest"]


def gained_by_logs(log_shares: Floats, x: Floats) -> tuple[float, Floats, Floats]:
    """Return the logarithm of shares·x, x divided by shares·x, and the shares after the round.

    For shares and products that overflow or underflow.
    """
    logs = np.log(x)
    parts = log_shares + logs
    largest = float(parts.max())
    if largest == -math.inf:
        return largest, np.zeros_like(x), np.zeros_like(x)
    log_gain = largest + math.log(float(np.exp(parts - largest).sum()))
    return log_gain, np.exp(np.minimum(logs - log_gain, MAX_LOG_RATIO)), np.exp(parts - log_gain)
