"""The base class of masters, which combine the forecasts of experts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.machine import Inside
from noregret.base.compiled.weigher import MIN_PRIOR, Weigher
from noregret.base.expert_losses import expert_loss
from noregret.checks import truth
from noregret.errors import BadExample, NoRegretError
from noregret.experts.engine.round import RoundCalls
from noregret.experts.rows import as_row
from noregret.limits import MAX_EXPERT_LOSS, MAX_VALUE
from noregret.proof.game.table_player import TablePlayer

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence
    from noregret.hindsight import Limits
    from noregret.proof.record.table import Table

Floats = NDArray[np.float64]


class Master(RoundCalls, TablePlayer):
    """Weigh experts by their losses, and combine their forecasts.

    Experts are columns of a table, keys of a dict, or learners (see ``Experts``). With advice,
    ``predict_one`` combines the forecasts and ``learn_one`` learns from the outcome. Without
    advice, ``weights`` are an allocation and ``learn_losses`` learns from the loss of each expert.
    An expert may sleep in any round: NaN, None, or a missing key.
    """

    family: ClassVar[str] = "experts"
    _unrecorded = ("add_expert", "learn_losses", "play_block", "set_state")
    # The rate, if it is the same in all rounds.
    _rate_in_use: float = math.nan

    def __init__(
        self,
        weigher: Weigher,
        loss: Any = "square",
        loss_parameter: float | None = None,
        gradient: bool = False,
        manner: str | None = None,
        **how: Any,
    ) -> None:
        convex = expert_loss(loss, loss_parameter).convex
        if truth("gradient", gradient) and not convex:
            raise ValueError(f"the {loss} loss has no gradient to follow: gradient=False")
        if manner is None:
            manner = "mean" if convex else "expect"
        if gradient and manner != "mean":
            raise ValueError("gradient=True goes with play='mixture'")
        RoundCalls.__init__(self, weigher, loss, loss_parameter, gradient, manner, **how)

    @property
    def _weigher(self) -> Weigher:
        """The weigher: the rule that turns losses into weights."""
        return self._round.weigher

    def _begin(self, n: int) -> None:
        """Start with n experts."""
        self._round.begin(n)
        self._settle_rate(n)

    def _settle_rate(self, n: int) -> None:
        """Choose what depends on the number of experts."""

    # Figures.

    @property
    def width(self) -> int:
        """The number of experts; 0 before the first round."""
        return self._round.width

    @property
    def rounds(self) -> int:
        """The number of rounds learned."""
        return self._round.rounds

    @property
    def total_loss(self) -> float:
        """Cumulative loss; the expected loss if experts are drawn."""
        return self._round.total_loss

    @property
    def drawn_loss(self) -> float:
        """Cumulative loss of the experts drawn, if experts are drawn."""
        return self._round.drawn_loss

    @property
    def expert_losses(self) -> Floats:
        """Cumulative loss of each expert; an expert asleep is charged the mixture's loss."""
        return self.total_loss - self.regrets

    @property
    def regrets(self) -> Floats:
        """Regret to each expert: loss of the mixture minus that of the expert."""
        return self._round.regrets

    @property
    def rounds_awake(self) -> NDArray[np.int64]:
        """The number of rounds in which each expert was awake."""
        return self._round.rounds_awake

    def weights(self, awake: Any = None) -> Floats:
        """Return the weights of the next round in the order of ``names``.

        Parameters
        ----------
        awake
            One truth value per expert, if some sleep.
        """
        if awake is None:
            return self._weights()
        flags = np.asarray(awake, dtype=bool)
        if flags.shape != (self.width,) or not flags.any():
            raise ValueError(
                f"awake must be {self.width} truth values, at least one of them true: got {awake!r}"
            )
        return self._weights(None if flags.all() else flags)

    def weights_for(self, advice: Any) -> Floats:
        """Return the weights with which these forecasts would be combined."""
        return self.weights(~np.isnan(as_row(self, advice)))

    def _weights(self, awake: Any = None) -> Floats:
        """Return the weights of the next round, among all experts or those awake."""
        return self._round.current_weights(awake)

    @property
    def names(self) -> list[str]:
        """The names of the experts; "0", "1", … if they have none."""
        return list(self._round.experts) or [str(k) for k in range(self.width)]

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        if self._round.from_losses:
            return "given"
        cost = self._round.cost.name
        return f"expected {cost}" if self._round.pays_expected else cost

    @property
    def mistakes(self) -> float | None:
        """The number of mistakes, for masters that vote."""
        return None

    # Learning.

    def learn_many(self, X: Any, y: Any = None) -> None:
        """Learn from many rounds: a table of advice with its outcomes, or a table of losses.

        Parameters
        ----------
        X
            A 2-d array, a data frame, or a list of rows or dicts; NaN for experts that sleep.
        y
            One outcome per row; None if the table has losses.
        """
        with Inside():  # a fork during an import would leave the child waiting for its end
            from noregret.proof.game.table_rows import table_blocks

        for block in table_blocks(X, y, None, self._round.experts or None):
            if block.names is not None:
                self.check_names(block.names)
            self.play_block(self._arranged(block), block.y, None)
            if block.fault is not None:
                raise block.fault.at(round=self.rounds + 1)

    def _arranged(self, block: Any) -> Floats:
        """Return the columns of a block in the order of the experts."""
        if block.names is None or list(block.names) == self.names:
            return np.ascontiguousarray(block.X, dtype=np.float64)
        order = [list(block.names).index(name) for name in self.names]
        return np.ascontiguousarray(block.X[:, order], dtype=np.float64)

    def play_block(
        self, X: Floats, y: Floats | None, predictions: Floats | None, weights: Floats | None = None
    ) -> None:
        """Learn from the rows of a block in order, and store forecasts and weights.

        Parameters
        ----------
        X
            One row per round, one column per expert.
        y
            The outcomes; None if the rows are losses.
        predictions
            Filled with the forecast of each round; if the rows are losses, with the loss paid.
        weights
            Filled with the weights of each round; 0 for experts asleep.
        """
        if not len(X):
            return
        self._check_block(X)
        self._round.play_rows(
            np.ascontiguousarray(X, dtype=np.float64),
            None if y is None else np.ascontiguousarray(y, dtype=np.float64),
            predictions,
            weights,
        )

    def _forecast_rows(self, X: Floats, predictions: Floats, weights: Floats | None = None) -> None:
        """Fill in the forecast of each row without learning; a row that is refused keeps NaN.

        ``weights``, if not None, are filled in too.
        """
        for row, each in enumerate(X):
            try:
                predictions[row] = self.predict_one(each)
            except BadExample:
                continue
            if weights is not None:
                awake = ~np.isnan(each)
                weights[row] = self.weights_for(each) if self.width else awake / awake.sum()

    def _losses_of(self, X: Floats, y: Floats, said: Floats, weights: Floats | None) -> Floats:
        """Return the losses of forecasts; if experts are drawn, the mean loss under the weights."""
        cost = self._round.cost
        of = expert_loss(
            cost if type(cost).__name__ == "PythonLoss" else cost.name,
            cost.parameter if cost.name == "quantile" else None,
        )
        with np.errstate(all="ignore"):
            if not self._round.pays_expected or weights is None:
                return np.asarray(np.minimum(of.value(said, y), MAX_EXPERT_LOSS))
            each = np.minimum(of.value(X, y[:, None]), MAX_EXPERT_LOSS)
            return np.asarray(np.where(weights > 0, weights * each, 0.0).sum(axis=1))

    def _check_block(self, X: Floats) -> None:
        """Check the width of a block; the first sets the number of experts."""
        if not self.rounds and X.shape[1] != self.width:
            if not X.shape[1]:
                raise BadExample("there are no experts to learn from", round=1)
            self._begin(X.shape[1])
            self._round.experts = []
        if X.shape[1] != self.width:
            raise BadExample(
                f"{X.shape[1]} columns for {self.width} experts", round=self.rounds + 1
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Set the names of the experts, or check that they are the same."""
        if not self.rounds:
            if len(set(names)) < len(names):
                raise BadExample(f"two experts have the same name: {', '.join(names)}")
            self._begin(len(names))
            self._round.experts = list(names)
        elif sorted(names) != sorted(self.names):
            raise BadExample(
                f"the experts are {', '.join(self.names)}: got {', '.join(names)}",
                round=self.rounds + 1,
            )

    def add_expert(self, name: str | None = None, share: float | None = None) -> None:
        """Add an expert while running; it counts as asleep until now.

        Parameters
        ----------
        name
            Its name, if the experts have names.
        share
            Its part of the prior, between 0 and 1; by default an equal part.
        """
        if not self.rounds:
            raise NoRegretError(
                "the experts are not known before the first round", "learn a round first"
            )
        if bool(self._round.experts) != (name is not None):
            raise ValueError(
                "the experts have names: give one"
                if self._round.experts
                else "the experts have no names"
            )
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of an expert is text: got {name!r}")
        if name in self._round.experts:
            raise ValueError(f"there is an expert {name!r} already")
        if not self._round.may_sleep:
            raise NoRegretError(
                f"the theorem of {self.name} needs all experts from the first round"
            )
        part = 1 / (self.width + 1) if share is None else share
        if not 0 < part < 1:
            raise ValueError(f"share must be a number between 0 and 1: got {share!r}")
        self._join(name, part)

    def _join(self, name: str | None, share: float) -> None:
        """Add an expert while running."""
        self._round.join(name, share)

    # Regret and bound.

    @property
    def price(self) -> Floats | None:
        """The bound on the regret to each expert so far; None if not known during the game."""
        return None

    def regret_so_far(self) -> float | None:
        """Return the regret so far: the loss minus that of the best expert."""
        return float(self.regrets.max()) if self.width and self.rounds else None

    def bound_so_far(self) -> float | None:
        """Return the bound on the regret so far; None if there is none, or assumptions failed."""
        price = self.price if self.width and self.rounds and self._as_assumed else None
        return None if price is None else at_the_best(price, self.regrets)

    @property
    def _as_assumed(self) -> bool:
        """True if the assumptions checked during the game have held so far."""
        return not (self._round.first_outside or self._round.first_wide)

    def evidence(
        self, table: Table, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any]
    ) -> ExpertEvidence:
        """Return the evidence of a game for its theorems."""
        from noregret.experts.evidence import ExpertEvidence

        return ExpertEvidence(self, table, given, limits, answers)

    # Files, copies and pickles.

    __reduce__ = TablePlayer.__reduce__  # the compiled base class has none that works

    @property
    def _log_prior(self) -> Floats:
        """ln(1/prior) of each expert."""
        return self._round.log_prior

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        return self._round.get_state()

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        self._round.set_state(arrays, numbers, names)


def promise(evidence: ExpertEvidence) -> float:
    """Return the bound on the regret to the best expert, from the master's ``price``."""
    price = evidence.player.price
    assert price is not None
    return evidence.at_the_best(price)


def at_the_best(price: Floats, regrets: Floats) -> float:
    """Return the bound on the regret to the best expert, from the bounds for each expert.

    L ≤ min_i (L_i + price_i), and L_i is the mixture's loss minus the regret to i.
    """
    return float(np.min(price - regrets) + np.max(regrets))


def checked_prior(prior: Any) -> list[float] | None:
    """Return prior weights that sum to 1, or raise ValueError."""
    if prior is None:
        return None
    try:
        listed = isinstance(prior, Sequence | np.ndarray) and not isinstance(prior, str | bytes)
        weights = [float(weight) for weight in prior]
        good = listed and bool(weights) and all(math.isfinite(w) and w > 0 for w in weights)
        good = good and not any(isinstance(weight, bool) for weight in prior)
    except (OverflowError, TypeError, ValueError):
        good = False
    if not good:
        raise ValueError(f"prior must be positive numbers, one per expert: got {prior!r}")
    largest = max(weights)
    shares = [weight / largest for weight in weights]
    total = math.fsum(shares)
    if min(shares) / total < MIN_PRIOR:
        raise ValueError(
            f"prior weights are too far apart: none may be below {MIN_PRIOR:g} of the total"
        )
    return [share / total for share in shares]


def range_of(low: Any, high: Any, *, squared: bool = False) -> float:
    """Return the width of a range, or raise ValueError; optionally if its square overflows."""
    good = all(isinstance(end, Real) and not isinstance(end, bool) for end in (low, high))
    width = float(high) - float(low) if good else math.nan
    if not 0 < width < math.inf:
        raise ValueError(
            f"low and high must be the ends of a finite range: got {low!r} and {high!r}"
        )
    if squared and not 1 / MAX_VALUE < width < MAX_VALUE:
        raise ValueError(
            f"the square of the range {width:g} overflows or underflows: scale the data"
        )
    return width
