"""Blend: combine single experts and two mixtures of them, without parameters to choose.

    first   ML-Poly and AdaHedge each mix the experts with gradients, to approach the best fixed
            weights
    then    AdaHedge weighs every expert and these two mixtures by their losses

Mixing with gradients gains much if experts complement each other, and loses a little if none is
better than their average. Blend is nearly as good as the better mixture and as any single expert:
with the average as an expert, it is never much worse than that.

An absurd forecast, such as one with a misplaced decimal point, is set aside in its round: its
expert counts as asleep (see ``noregret.base.plausible``).

Promise. That of AdaHedge for each expert, with a prior of 0.6/n for it and 0.2 for each mixture; to
which is added what the mixture lost more than it, if it did, in the rounds in which its forecast
was set aside.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.second_order_weights import Polynomial
from noregret.base.compiled.weigher import Exponential
from noregret.base.expert_losses import expert_loss
from noregret.base.plausible import Plausible
from noregret.base.registry import register
from noregret.checks import state_arrays
from noregret.errors import NoRegretError
from noregret.experts.assumptions import MIXED
from noregret.experts.engine.round import ExpertRound
from noregret.experts.master import Master, checked_prior, promise
from noregret.experts.rows import as_row
from noregret.limits import MAX_EXPERT_LOSS
from noregret.proof.theorems.theorem import Theorem

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# The mixtures, which come before the experts, and the prior of each.
MIXTURES, SHARE = ("ml-poly", "ada-hedge"), 0.2
M = len(MIXTURES)
UNGUARDED = ("log", "zero-one")
# Rows that each of the three plays before the next does: few enough to stay in the cache.
ROWS_PER_BLOCK = 2048


@register
class Blend(Master):
    """AdaHedge over the experts, ML-Poly's mixture of them and AdaHedge's.

    Parameters
    ----------
    loss
        The loss of a forecast: ``square``, ``absolute``, ``zero-one``, ``log``, ``quantile``,
        ``percentage``, or a custom loss. Without advice, losses are given.
    loss_parameter
        The quantile, for ``quantile``.
    prior
        Weights before the first round, one per expert; by default equal.

    Examples
    --------
    Neither expert is good, but their mixture is:

    >>> master = Blend()
    >>> for t in range(100):
    ...     master.learn_one({"low": t - 1.0, "high": t + 3.0}, float(t))
    >>> master.weights().round(2).tolist()
    [0.75, 0.25]

    References
    ----------
    S. de Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen, "Follow the leader if you can, hedge
    if you must", 2014. P. Gaillard, G. Stoltz and T. van Erven, "A second-order bound with excess
    losses", 2014.
    """

    name = "blend"
    _weigher: Exponential
    theorems = (
        Theorem(
            name="blend",
            quantity="regret",
            formula=(
                r"L_A - L_i \le \left(1 + \frac{\ln(n/0.6)}{\ln(n+2)}\right)"
                r" \left( \tfrac12\sqrt{\ln(n+2) \sum_t s_t^2}"
                r" + S\big(\tfrac23\ln(n+2)+1\big) \right) + A_i"
            ),
            plain=(
                "regret to i <= (1 + ln(n/0.6)/ln(n+2)) (sqrt(Σ s_t² ln(n+2))/2"
                " + S (2/3 ln(n+2) + 1)) + A_i"
            ),
            where=(
                "$i$ is any expert and $n$ the number of experts; $s_t$ is the spread of the"
                " losses in round $t$, of the experts and the two mixtures, and $S$ the largest"
                " $s_t$; $A_i$ is what the mixture lost more than $i$ in rounds in which the"
                " forecast of $i$ was absurd and set aside, or 0 if that is negative"
            ),
            assumptions=(MIXED,),
            bound=promise,
            source="de Rooij, van Erven, Grünwald and Koolen, 2014, with a prior",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        loss_parameter: float | None = None,
        prior: Any = None,
    ) -> None:
        kind = expert_loss(loss, loss_parameter)
        self._shares = checked_prior(prior)
        # Slopes of the log loss are infinite at 0 and 1; it needs no gradient, being exp-concave.
        gradient, manner = kind.convex and kind.name != "log", "mean" if kind.convex else "expect"
        self._hedging = Exponential(1.0, "adaptive", self._shares)
        self._mixtures = [
            ExpertRound(weigher, loss, loss_parameter, gradient, manner)
            for weigher in (Polynomial(self._shares), self._hedging)
        ]
        # Forecasts of other losses are probabilities or labels, where no number is absurd.
        self._guarded = kind.name not in UNGUARDED
        self._guard, self._set_aside = Plausible(), np.zeros(0)
        super().__init__(Exponential(1.0, "adaptive"), loss, loss_parameter)
        self._round.before = MIXTURES
        self.loss, self.loss_parameter, self.prior = loss, loss_parameter, prior

    # The experts come after the mixtures.

    def _begin(self, n: int) -> None:
        """Start with n experts."""
        shares = self._shares or [1 / n] * n
        self._weigher.given_prior = [SHARE] * M + [(1 - M * SHARE) * share for share in shares]
        for mixture in self._mixtures:
            mixture.begin(n)
        self._round.begin(n + M)
        self._guard, self._set_aside = Plausible(n), np.zeros(n)
        self._weigher.rate = math.log(n + M)
        self._hedging.rate = math.log(max(2, n))

    @property
    def width(self) -> int:
        """The number of experts; 0 before the first round."""
        return max(0, super().width - M)

    @property
    def regrets(self) -> Floats:
        """Regret to each expert: loss of the mixture minus that of the expert."""
        return np.asarray(super().regrets[M:] + self._set_aside)

    @property
    def rounds_awake(self) -> NDArray[np.int64]:
        """The number of rounds in which each expert was awake."""
        return super().rounds_awake[M:]

    @property
    def _log_prior(self) -> Floats:
        """ln(1/prior) of each expert."""
        return super()._log_prior[M:]

    @property
    def price(self) -> Floats:
        """The bound on the regret to each expert."""
        log_n = self._weigher.rate
        half = self._weigher.spreads * math.sqrt(log_n) / 2 + self._round.widest * (
            2 / 3 * log_n + 1
        )
        return np.asarray((1 + self._log_prior / log_n) * half + np.maximum(0.0, self._set_aside))

    @property
    def parts(self) -> dict[str, float]:
        """The weight of each mixture in the next round, and of the single experts together."""
        held = self._round.current_weights()
        return dict(zip(MIXTURES, held[:M].tolist(), strict=True)) | {
            "experts": float(held[M:].sum())
        }

    # Playing.

    def play_block(
        self, X: Floats, y: Floats | None, predictions: Floats | None, weights: Floats | None = None
    ) -> None:
        """Learn from the rows of a block in order, and store forecasts and weights."""
        if not len(X):
            return
        self._check_block(X)
        X = np.ascontiguousarray(X, dtype=np.float64)
        y = None if y is None else np.ascontiguousarray(y, dtype=np.float64)
        for start in range(0, len(X), ROWS_PER_BLOCK):
            self._play_part(slice(start, start + ROWS_PER_BLOCK), X, y, predictions, weights)

    def _play_part(self, part: slice, *block: Floats | None) -> None:
        """Play some rows of a block: all of them, or those before one that is rejected."""
        X, y, predictions, weights = (None if one is None else one[part] for one in block)
        assert X is not None
        before = self.get_state()
        try:
            self._play(X, y, predictions, weights)
        except BaseException as error:
            self.set_state(*before)
            # If a row is rejected, all three play exactly the rows before it.
            if not isinstance(error, NoRegretError) or len(X) == 1:
                raise
            half = len(X) // 2
            for half_of_it in (slice(0, half), slice(half, len(X))):
                self._play_part(half_of_it, X, y, predictions, weights)

    def _play(
        self, X: Floats, y: Floats | None, predictions: Floats | None, weights: Floats | None
    ) -> None:
        rows, n = X.shape
        absurd = self._absurd(X, y)
        forecasts, X = X, X if absurd is None else np.where(absurd, np.nan, X)
        said = predictions
        if absurd is not None and said is None:
            said = np.empty(rows)
        table = np.empty((rows, n + M))
        table[:, M:] = X
        used = [None if weights is None else np.empty((rows, n)) for _ in self._mixtures]
        for k, mixture in enumerate(self._mixtures):
            mixture.experts = self._round.experts
            made = np.empty(rows)
            mixture.play_rows(X, y, made, used[k])
            table[:, k] = made
        held = None if weights is None else np.empty((rows, n + M))
        self._round.play_rows(table, y, said, held)
        if absurd is not None and said is not None and y is not None:
            self._count(absurd, forecasts, y, said)
        if weights is not None and held is not None:
            weights[:] = held[:, M:]
            for k, own in enumerate(used):
                weights += held[:, k : k + 1] * own

    def _absurd(self, X: Floats, y: Floats | None) -> Flags | None:
        """Return which forecasts of a block are absurd; None if there are none."""
        if y is None or not self._guarded:
            return None
        found = self._guard.absurd(X, y)
        return found if found.any() else None

    def _count(self, absurd: Flags, X: Floats, y: Floats, said: Floats) -> None:
        """Add up what the mixture lost more than forecasts that were set aside."""
        rows, columns = np.nonzero(absurd)
        cost = expert_loss(self.loss, self.loss_parameter)
        with np.errstate(over="ignore"):
            paid = np.minimum(cost.value(X[rows, columns], y[rows]), MAX_EXPERT_LOSS)
        np.add.at(self._set_aside, columns, cost.value(said[rows], y[rows]) - paid)

    def learn_one(self, advice: Any, y: float) -> None:
        """Learn from a round: the forecast of each expert, and the outcome."""
        outcome = np.array([self._round.outcome_of(y)])
        self.play_block(as_row(self, advice)[None], outcome, None)

    def learn_losses(self, losses: Any) -> None:
        """Learn from the loss of each expert in a round; NaN for one asleep."""
        self.play_block(as_row(self, losses)[None], None, None)

    def predict_one(self, advice: Any) -> float:
        """Return the forecast for a round from those of the experts, without learning."""
        row = as_row(self, advice)
        if self._guarded:
            absurd = self._guard.absurd(row[None], np.array([math.nan]), learn=False)[0]
            row = np.where(absurd, math.nan, row)
        said = [mixture.predict(row) for mixture in self._mixtures]
        return self._round.predict(np.concatenate([said, row]))

    def _weights(self, awake: Any = None) -> Floats:
        """Return the total weight of each expert in the next round, including the mixtures."""
        if not self.width:
            return np.zeros(0)
        flags = None if awake is None else np.concatenate([np.ones(M, bool), awake])
        held = self._round.current_weights(flags)
        found: Floats = held[M:].copy()
        for k, mixture in enumerate(self._mixtures):
            found += held[k] * mixture.current_weights(awake)
        return found

    def _join(self, name: str | None, share: float) -> None:
        """Add an expert while running."""
        for mixture in self._mixtures:
            mixture.join(None, share)
        self._round.join(name, share * (1 - M * SHARE))
        self._guard.join()
        self._set_aside = np.append(self._set_aside, 0.0)

    # The state.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        arrays, numbers, names = super().get_state()
        for name, mixture in zip(MIXTURES, self._mixtures, strict=True):
            own, counts, _ = mixture.get_state()
            arrays |= {f"{name}/{key}": array for key, array in own.items()}
            numbers |= {f"{name}/{key}": value for key, value in counts.items()}
        own_arrays, counts = self._guard.get_state()
        own_arrays["set_aside"] = self._set_aside.copy()
        arrays |= {f"guard/{key}": array for key, array in own_arrays.items()}
        numbers |= {f"guard/{key}": value for key, value in counts.items()}
        return arrays, numbers, names

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError, without a change, if it is invalid."""
        before = self.get_state()
        try:
            self._take(arrays, numbers, names)
        except ValueError:
            self._take(*before)
            raise

    def _take(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        for name, mixture in zip(MIXTURES, self._mixtures, strict=True):
            mixture.set_state(own(arrays, name), own(numbers, name), names)
        super().set_state(own(arrays), own(numbers), [])
        n = self._mixtures[0].width
        if super().width != (n + M if n or super().width else 0):
            raise ValueError("the mixtures are of other experts")
        if any(mixture.rounds != self.rounds for mixture in self._mixtures):
            raise ValueError("the mixtures have played other rounds")
        # Models written before there was a guard have no state of it.
        guarding, counts = own(arrays, "guard"), own(numbers, "guard")
        guard, aside = Plausible(n), np.zeros(n)
        if guarding or counts:
            aside = guarding.pop("set_aside", None)
            state_arrays({"set_aside": aside}, {"set_aside": n})
            guard.set_state(guarding, counts, n)
        self._guard, self._set_aside = guard, np.array(aside)
        self._round.experts = list(names)


def own(things: dict[str, Any], name: str | None = None) -> dict[str, Any]:
    """Return the items of a mixture without their prefix, or those of no mixture."""
    if name is None:
        return {key: thing for key, thing in things.items() if "/" not in key}
    prefix = f"{name}/"
    return {k.removeprefix(prefix): thing for k, thing in things.items() if k.startswith(prefix)}
