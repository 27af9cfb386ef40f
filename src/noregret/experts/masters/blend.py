"""Blend: combine single experts and mixtures of them, without parameters to choose.

    first   ML-Poly, AdaHedge and BOA each mix the experts with gradients, to approach the best
            fixed weights
    then    AdaHedge, cautious at first, weighs every expert, these three mixtures and the average
            by their losses
    last    as far as that has lost too much more than the average, it returns to the average

Mixing with gradients gains much if experts complement each other, and loses a little if none is
better than their average. Blend is nearly as good as the best mixture and as any single expert.
The average has most of the prior. It is that of the experts, weighted by their prior, but for those
named average, median and corrected, which ``noregret mix`` derives from the others.

An absurd forecast, such as one with a misplaced decimal point, is set aside in its round: its
expert counts as asleep. In the place of an absurd outcome, the median of the forecasts is learned;
the outcome counts in all losses (see ``noregret.base.plausible``).

Promises. That of AdaHedge for each expert, with a prior of 0.47/n for it, 0.03, 0.05 and 0.15 for
the mixtures and 0.3 for the average; to which is added what the mixture lost more than the expert,
if it did, where a forecast was set aside or the mixture returned to the average. And for convex
losses, the loss is at most 1.008 times that of the average, plus 1 % of its loss in the first ten
rounds, plus what it lost beyond these in the few rounds in which the outcome was not foreseen (see
``noregret.experts.engine.budget``).

AdaHedge as published starts by following the leader, which costs a few rounds: with little to gain
and few rounds, that is what made mixtures worse than the average. So its rate starts lower here
(see ``Cautious`` in ``noregret.base.compiled.weigher``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.second_order_weights import Bernstein, Polynomial
from noregret.base.compiled.weigher import MEAN_LOSSES, Cautious, Exponential
from noregret.base.expert_losses import expert_loss
from noregret.base.plausible import Plausible
from noregret.base.registry import register
from noregret.checks import state_arrays
from noregret.errors import ModelFileError, NoRegretError
from noregret.experts.assumptions import MIXED
from noregret.experts.engine.budget import Budget, averages, charge
from noregret.experts.engine.round import ExpertRound
from noregret.experts.master import Master, checked_prior, promise
from noregret.experts.rows import as_row
from noregret.limits import MAX_EXPERT_LOSS
from noregret.proof.theorems.theorem import Theorem

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# The mixtures and the average, which come before the experts, and the prior of each.
MIXTURES = ("ml-poly", "ada-hedge", "boa")
BEFORE = (*MIXTURES, "average")
M = len(BEFORE)
SHARES = (0.03, 0.05, 0.15, 0.3)
# An average of probabilities, one of which is 0 and wrong, must have little weight.
LOG_SHARES = (0.2, 0.2, 0.01, 0.01)
# Experts derived from others, which are not part of the average.
DERIVED = frozenset(("average", "median", "corrected"))
UNGUARDED = ("log", "zero-one")
# Losses for which another number can take the place of an absurd outcome.
MEASURED = ("square", "absolute", "quantile")
# Rows that each of the three plays before the next does: few enough to stay in the cache.
ROWS_PER_BLOCK = 2048


@register
class Blend(Master):
    """AdaHedge over the experts, their average, and their mixtures by ML-Poly, AdaHedge and BOA.

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
    _rule_since = "0.2.0"
    _weigher: Cautious
    theorems = (
        Theorem(
            name="blend",
            quantity="regret",
            formula=(
                r"L_A - L_i \le \left(1 + \frac{\ln(n/0.47)}{\ln(n+4)}\right)"
                r" \left( \tfrac12\sqrt{\ln(n+4) \sum_t s_t^2}"
                r" + S\big(\tfrac23\ln(n+4)+1\big) \right)"
                r" + 4R\,\frac{\ln(n/0.47)}{\ln(n+4)} + A_i"
            ),
            plain=(
                "regret to i <= (1 + ln(n/0.47)/ln(n+4)) (sqrt(Σ s_t² ln(n+4))/2"
                " + S (2/3 ln(n+4) + 1)) + 4 R ln(n/0.47)/ln(n+4) + A_i"
            ),
            where=(
                "$i$ is any expert and $n$ the number of experts; 0.47 is 0.58 for the log loss,"
                " whose average has a prior of 0.01; $s_t$ is the spread of the"
                " losses in round $t$, of the experts, the average and the three mixtures, and $S$"
                " the largest $s_t$; $R$ is the mean loss of the mixture above the best of these in"
                " a round, the largest such mean over the first rounds; $A_i$ is what the mixture"
                " lost more than $i$ in rounds in which the forecast of $i$ was absurd and set"
                " aside, in rounds with an absurd outcome (where $s_t$ is about the median of the"
                " forecasts in its place) beyond what it would have with that median, and more"
                " than without returning to the average, or 0 if that is negative"
            ),
            assumptions=(MIXED,),
            bound=promise,
            source="de Rooij, van Erven, Grünwald and Koolen, 2014, with a prior",
        ),
        Theorem(
            name="blend-average",
            quantity="loss",
            formula=r"L_A \le 1.008\,L_{\mathrm{average}} + 0.01\,L_{\mathrm{average},10} + j",
            plain="loss <= 1.008 times the loss of the average + 1 % of that in 10 rounds + j",
            where=(
                "$L_{\\mathrm{average},10}$ is the loss of the average in the first ten rounds; $j$"
                " is the sum of what single rounds lost beyond these, among the rounds in which"
                " the outcome was farther from the average than 1.25 times its largest error, or"
                " outside the range of all outcomes before by more than a fifth of it, or for"
                " other losses than the square loss the slope of the loss between the average and"
                " the mixture was more than 1.25 times as large as in all rounds before, or the"
                " outcome was absurd; it is 0 if there are none, for the absolute and quantile"
                " losses but for absurd outcomes, and ln 2 for the log loss; the average is that of"
                " the experts awake, by their prior; losses below 0 count as 0 in the added terms"
            ),
            assumptions=(MIXED,),
            bound=lambda evidence: float(evidence.player._budget.limit),
            covers=lambda params: expert_loss(params["loss"], params["loss_parameter"]).convex,
            beside=True,
            source="noregret.experts.engine.budget",
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
            for weigher in (Polynomial(self._shares), self._hedging, Bernstein(self._shares))
        ]
        # Forecasts of other losses are probabilities or labels, where no number is absurd.
        self._guarded = kind.name not in UNGUARDED
        self._guard, self._set_aside = Plausible(), np.zeros(0)
        self._convex, self._cost, self._budget = kind.convex, kind, Budget(loss, loss_parameter)
        self._own = LOG_SHARES if kind.name == "log" else SHARES
        self._rest = 1 - sum(self._own)  # the prior of all experts together
        super().__init__(Cautious(), loss, loss_parameter)
        self._round.before = BEFORE
        self.loss, self.loss_parameter, self.prior = loss, loss_parameter, prior

    # The experts come after the mixtures.

    def _begin(self, n: int) -> None:
        """Start with n experts."""
        shares = self._shares or [1 / n] * n
        self._weigher.given_prior = [*self._own, *(self._rest * share for share in shares)]
        for mixture in self._mixtures:
            mixture.begin(n)
        self._round.begin(n + M)
        self._guard, self._set_aside, self._budget = Plausible(n), np.zeros(n), self._new_budget()
        self._weigher.rate = math.log(n + M)
        self._hedging.rate = math.log(max(2, n))

    @property
    def width(self) -> int:
        """The number of experts; 0 before the first round."""
        return max(0, super().width - M)

    @property
    def total_loss(self) -> float:
        """Cumulative loss."""
        return super().total_loss + self._budget.moved

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
        weigher, log_n = self._weigher, self._weigher.rate
        half = weigher.spreads * math.sqrt(log_n) / 2 + self._round.widest * (2 / 3 * log_n + 1)
        start, share = MEAN_LOSSES * weigher.typical_loss, self._log_prior / log_n
        return np.asarray(half + share * (half + start) + np.maximum(0.0, self._set_aside))

    @property
    def parts(self) -> dict[str, float]:
        """The weight of each mixture in the next round, and of the single experts together."""
        held = self._held()
        return dict(zip(BEFORE, held[:M].tolist(), strict=True)) | {
            "experts": float(held[M:].sum())
        }

    def _new_budget(self) -> Budget:
        """Return a budget of which nothing is spent."""
        return Budget(self.loss, self.loss_parameter)

    def _held(self, awake: Any = None, trust: float | None = None) -> Floats:
        """Return the weights of the mixtures, the average and the experts in the next round.

        How far the mixture is trusted depends on the forecasts: by default as in the latest round.
        """
        held = self._round.current_weights(awake)
        if trust is None:
            trust = self._budget.trust if self._convex else 1.0
        if trust < 1:
            held = trust * held
            held[M - 1] += 1 - trust
        return held

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
        absurd, wrong = self._absurd(X, y)
        forecasts, X = X, X if absurd is None else np.where(absurd, np.nan, X)
        y, told = self._learned(X, y, wrong)
        table = np.empty((rows, n + M))
        table[:, M:] = X
        used = [None if weights is None else np.empty((rows, n)) for _ in self._mixtures]
        for k, mixture in enumerate(self._mixtures):
            mixture.experts = self._round.experts
            made = np.empty(rows)
            mixture.play_rows(X, y, made, used[k])
            table[:, k] = made
        table[:, M - 1] = average = averages(X, *self._average_shares(n))
        held = None if weights is None else np.empty((rows, n + M))
        said = np.empty(rows)
        self._round.play_rows(table, y, said, held)
        trust = moved = None
        if self._convex:
            trust, moved = self._budget.spend(said, average, y, told)
        self._count(absurd, forecasts, X, y, told, said, moved)
        if predictions is not None:
            predictions[:] = said
        if weights is not None and held is not None:
            if trust is not None:
                held *= trust[:, None]
                held[:, M - 1] += 1 - trust
            weights[:] = held[:, M:]
            for k, own in enumerate((*used, self._average_weights(X))):
                weights += held[:, k : k + 1] * own

    def _average_shares(self, n: int) -> tuple[Floats, Floats]:
        """Return the weights of the experts in the average, without and with those derived."""
        prior = np.asarray(self._shares or np.ones(n), dtype=np.float64)
        if len(prior) != n:  # experts were added
            prior = np.exp(-self._log_prior)
        return (prior if self._derived is None else np.where(self._derived, 0.0, prior)), prior

    @property
    def _derived(self) -> Flags | None:
        """Which experts are derived from the others; None if none is."""
        if DERIVED.isdisjoint(self._round.experts):
            return None
        return np.array([name in DERIVED for name in self._round.experts])

    def _average_weights(self, X: Floats) -> Floats:
        """Return the weights of the experts in the average, in each row; 0 if asleep."""
        own, every = (np.where(np.isnan(X), 0.0, each) for each in self._average_shares(X.shape[1]))
        found = np.where(own.any(axis=1, keepdims=True), own, every)
        total = found.sum(axis=1, keepdims=True)
        return np.asarray(found / np.where(total > 0, total, 1.0))

    def _absurd(self, X: Floats, y: Floats | None) -> tuple[Flags | None, Flags | None]:
        """Return which forecasts of a block are absurd, and which outcomes; None if none is."""
        if y is None or not self._guarded:
            return None, None
        found, wrong = self._guard.judge(X, y, derived=self._derived)
        measured = self._cost.name in MEASURED
        return (
            found if found.any() else None,
            wrong if measured and wrong.any() else None,
        )

    def _learned(
        self, X: Floats, y: Floats | None, wrong: Flags | None
    ) -> tuple[Floats | None, Floats | None]:
        """Return the outcomes to learn from, and those told; None if they are the same.

        The median of the forecasts takes the place of an absurd outcome.
        """
        if wrong is None or y is None:
            return y, None
        learned = y.copy()
        learned[wrong] = np.nanmedian(X[wrong], axis=1)
        return learned, y

    def _count(
        self,
        absurd: Flags | None,
        forecasts: Floats,
        X: Floats,
        y: Floats | None,
        told: Floats | None,
        said: Floats,
        moved: Floats | None,
    ) -> None:
        """Add up what the mixture lost more than forecasts set aside, and by returning."""
        if moved is None and absurd is None:
            return
        extra, cost = None, self._cost.value
        true = y if told is None else told
        if told is not None and y is not None and moved is not None:
            extra = np.full(X.shape, np.nan)
            at = np.flatnonzero(y != told)
            own, others = (
                np.minimum(cost(each, told[at, None]), MAX_EXPERT_LOSS) - cost(each, y[at, None])
                for each in (said[at, None], X[at])
            )
            extra[at] = moved[at, None] + own - others
        if absurd is not None and true is not None:
            rows, columns = np.nonzero(absurd)
            extra = np.full(X.shape, np.nan) if extra is None else extra
            with np.errstate(over="ignore"):
                paid = np.minimum(cost(forecasts[rows, columns], true[rows]), MAX_EXPERT_LOSS)
            extra[rows, columns] = cost(said[rows], true[rows]) - paid
        charge(self._set_aside, X, np.zeros(len(X)) if moved is None else moved, extra)

    def learn_one(self, advice: Any, y: float) -> None:
        """Learn from a round: the forecast of each expert, and the outcome."""
        outcome = np.array([self._round.outcome_of(y)])
        self.play_block(as_row(self, advice)[None], outcome, None)

    def learn_losses(self, losses: Any) -> None:
        """Learn from the loss of each expert in a round; NaN for one asleep."""
        self.play_block(as_row(self, losses)[None], None, None)

    def predict_one(self, advice: Any) -> float:
        """Return the forecast for a round from those of the experts, without learning."""
        _, mixed, average = self._forecasts(advice)
        return self._budget.moved_to(mixed, average) if self._convex else mixed

    def weights_for(self, advice: Any) -> Floats:
        """Return the weights with which these forecasts would be combined."""
        row, mixed, average = self._forecasts(advice)
        awake = ~np.isnan(row)
        trust = self._budget.trust_in(mixed, average) if self._convex else 1.0
        return self._weights(None if awake.all() else awake, trust)

    def _forecasts(self, advice: Any) -> tuple[Floats, float, float]:
        """Return the forecasts of a round that are not absurd, their mixture and their average."""
        row = as_row(self, advice)
        if self._guarded:
            told = self._guard.absurd(row[None], np.array([math.nan]), False, self._derived)
            row = np.where(told[0], math.nan, row)
        said = [mixture.predict(row) for mixture in self._mixtures]
        average = averages(row[None], *self._average_shares(len(row)))[0]
        return row, self._round.predict(np.concatenate([said, [average], row])), average

    def _weights(self, awake: Any = None, trust: float | None = None) -> Floats:
        """Return the total weight of each expert in the next round, including the mixtures."""
        if not self.width:
            return np.zeros(0)
        flags = None if awake is None else np.concatenate([np.ones(M, bool), awake])
        held = self._held(flags, trust)
        found: Floats = held[M:].copy()
        for k, mixture in enumerate(self._mixtures):
            found += held[k] * mixture.current_weights(awake)
        row = np.where(np.ones(self.width, bool) if awake is None else awake, 0.0, math.nan)
        return np.asarray(found + held[M - 1] * self._average_weights(row[None])[0])

    def _join(self, name: str | None, share: float) -> None:
        """Add an expert while running."""
        for mixture in self._mixtures:
            mixture.join(None, share)
        self._round.join(name, share * self._rest)
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
        numbers |= {f"budget/{key}": value for key, value in self._budget.get_state().items()}
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
        if not {"budget/low", "guard/aside"} <= numbers.keys():
            raise ModelFileError(
                "a blend of an earlier version: its weights followed another rule",
                (
                    "train a new one",
                    "for the mixture of a service: retire it with the version that wrote it and mix"
                    " the models anew, or if it has served, begin a new store",
                ),
            )
        for name, mixture in zip(MIXTURES, self._mixtures, strict=True):
            mixture.set_state(own(arrays, name), own(numbers, name), names)
        super().set_state(own(arrays), own(numbers), [])
        n = self._mixtures[0].width
        if super().width != (n + M if n or super().width else 0):
            raise ValueError("the mixtures are of other experts")
        if any(mixture.rounds != self.rounds for mixture in self._mixtures):
            raise ValueError("the mixtures have played other rounds")
        guarding, guard, budget = own(arrays, "guard"), Plausible(n), self._new_budget()
        aside = guarding.pop("set_aside", None)
        state_arrays({"set_aside": aside}, {"set_aside": n})
        guard.set_state(guarding, own(numbers, "guard"), n)
        budget.set_state(own(numbers, "budget"))
        self._guard, self._set_aside, self._budget = guard, np.array(aside), budget
        self._round.experts = list(names)


def outcomes_aside(player: object) -> int:
    """Return the number of absurd outcomes in whose place the median of forecasts was learned."""
    if not isinstance(player, Blend) or player._cost.name not in MEASURED:
        return 0
    return int(player._guard.numbers["aside"])


def own(things: dict[str, Any], name: str | None = None) -> dict[str, Any]:
    """Return the items of a mixture without their prefix, or those of no mixture."""
    if name is None:
        return {key: thing for key, thing in things.items() if "/" not in key}
    prefix = f"{name}/"
    return {k.removeprefix(prefix): thing for k, thing in things.items() if k.startswith(prefix)}
