"""Off-policy evaluation: estimate a policy's reward from logged decisions and propensities.

With w = π(arm)/p(arm), the target's probability of the logged arm divided by the logged propensity,
and a model m of the rewards that has seen only earlier rounds,

    plain             mean of  w r
    self-normalised   Σ w r / Σ w
    doubly robust     mean of  Σ_a π(a) m(a) + w (r − m(arm))

The plain estimate is unbiased if the propensities are correct. The self-normalised one has less
variance and a small bias in small logs. The doubly robust one is unbiased if the propensities are
correct, whatever the model, and consistent if the model is, whatever the propensities.

All of them need a log in which every arm that the target takes had a positive probability. So a
target that takes an arm that never occurs is rejected, and so is one that deviates from the log in
a round with propensity 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.bandits.drawing import Floats
from noregret.bandits.log import Decision, Log
from noregret.bandits.models import Model, model_of
from noregret.bandits.policy import Policy
from noregret.checks import positive
from noregret.errors import NoRegretError

# Probabilities up to this count as 0, and a propensity this close to 1 as deterministic.
MAX_NEGLIGIBLE_CHANCE = 1e-9


@dataclass(frozen=True)
class Estimate:
    """An estimate of the mean reward per round.

    Parameters
    ----------
    value
        The estimate.
    error
        Its standard error.
    low, high
        The ends of its confidence interval, assuming a normally distributed estimate.
    """

    value: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.error:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class OffPolicy:
    """The mean reward of a policy per round, estimated in three ways.

    Parameters
    ----------
    plain, self_normalised, doubly_robust
        The estimates.
    rounds
        The number of decisions.
    effective
        The effective sample size, (Σw)²/Σw²: how many rounds played by the target itself the log
        is worth.
    largest_weight
        The largest w.
    clipped
        The number of weights reduced to ``clip``; if any, the estimates are biased, the plain one
        downward for rewards above 0.
    """

    plain: Estimate
    self_normalised: Estimate
    doubly_robust: Estimate
    rounds: int
    effective: float
    largest_weight: float
    clipped: int

    def __str__(self) -> str:
        return "\n".join(
            [
                f"plain            {self.plain}",
                f"self-normalised  {self.self_normalised}",
                f"doubly robust    {self.doubly_robust}",
                f"{self.rounds} rounds, effective sample size {self.effective:.0f}; largest weight"
                f" {self.largest_weight:.3g}",
            ]
        )


def off_policy(
    log: Log | Iterable[Any],
    target: Any,
    *,
    model: Any = "means",
    clip: float | None = None,
    level: float = 0.95,
) -> OffPolicy:
    """Estimate the mean reward that a policy would have had in the rounds of a log.

    Parameters
    ----------
    log
        The decisions.
    target
        The policy to evaluate: an arm that it always takes, a dict of probabilities by arm, a
        ``Policy`` with its present probabilities, or a function of a round's context that returns
        one of these. Every arm that it takes must occur in the log, and where the propensity is 1
        it must take the arm of the log.
    model
        The model of the rewards for the doubly robust estimate: ``means`` of each arm so far, a
        learner or a scikit-learn estimator with ``partial_fit`` (a copy for each arm learns the
        rewards from the contexts, which are dicts of features), or a function of the context and
        the arm. A classifier predicts the expected reward under its probabilities.
    clip
        The largest weight, above 0; larger ones are reduced to it, which lowers the variance and
        adds a bias. By default there is no limit.
    level
        The confidence level, between 0 and 1.

    Examples
    --------
    >>> from noregret.bandits import Exp3, Log, off_policy
    >>> policy = Exp3(arms=["red", "blue"], seed=3)
    >>> policy.log = Log()
    >>> for _ in range(2000):
    ...     arm = policy.choose()
    ...     policy.learn(arm, 0.6 if arm == "blue" else 0.5)
    >>> found = off_policy(policy.log, "red")
    >>> abs(found.doubly_robust.value - 0.5) < 0.01
    True
    """
    decisions = list(log)
    if not decisions:
        raise NoRegretError("the log is empty")
    limit = math.inf if clip is None else positive("clip", clip)
    z = normal_quantile(positive("level", level, below=1))
    chances = Chances(target, list(dict.fromkeys(str(d.arm) for d in decisions)))
    taken = [chances.of(d) for d in decisions]
    check_chance(decisions, taken)
    weights, rewards, robust = (np.empty(len(decisions)) for _ in range(3))
    rewards_model: Model = model_of(model)
    for t, (d, arms) in enumerate(zip(decisions, taken, strict=True)):
        arm = str(d.arm)
        weights[t] = min(arms.get(arm, 0.0) / d.propensity, limit)
        rewards[t] = d.reward
        guess = sum(p * rewards_model.guess(name, d.context) for name, p in arms.items() if p)
        robust[t] = guess + weights[t] * (d.reward - rewards_model.guess(arm, d.context))
        if not np.isfinite(robust[t]):
            raise NoRegretError(
                f"the model of rewards predicts no finite number for arm {arm!r}",
                "use another model",
                round=t + 1,
            )
        rewards_model.learn(arm, d.reward, d.context)
    squares = float(weights @ weights)
    cut = int(np.count_nonzero(weights >= limit)) if clip is not None else 0
    return OffPolicy(
        mean_of(weights * rewards, z),
        ratio_of(weights, rewards, z),
        mean_of(robust, z),
        len(decisions),
        float(weights.sum()) ** 2 / squares if squares else 0.0,
        float(weights.max()),
        cut,
    )


class Chances:
    """The probabilities of a target, which may depend on the context.

    Parameters
    ----------
    target
        As for ``off_policy``.
    known
        The arms that occur in the log.
    """

    def __init__(self, target: Any, known: list[str]) -> None:
        self.rule: Callable[[Any], Any] | None = None
        self.fixed: dict[str, float] = {}
        self.known = known
        if callable(target) and not isinstance(target, Policy):
            self.rule = target
        else:
            self.fixed = chances_of(target)
            self.check(self.fixed)

    def of(self, decision: Decision) -> dict[str, float]:
        """Return the probability of each arm in a round."""
        if self.rule is None:
            return self.fixed
        chances = chances_of(self.rule(decision.context))
        self.check(chances, f"round {decision.round}: ")
        return chances

    def check(self, chances: dict[str, float], where: str = "") -> None:
        """Reject arms that never occur in the log."""
        for arm, chance in chances.items():
            if arm not in self.known and chance > MAX_NEGLIGIBLE_CHANCE:
                from noregret.streams.columns import listed

                raise ValueError(
                    f"{where}the target takes arm {arm!r}, which never occurs in the log: nothing"
                    f" can be estimated for it. The arms of the log are {listed(self.known)}"
                )


def check_chance(decisions: list[Decision], taken: list[dict[str, float]]) -> None:
    """Reject a target that deviates from the log in rounds with propensity 1."""
    certain = [(d, arms) for d, arms in zip(decisions, taken, strict=True) if is_sure(d.propensity)]
    deviations = sum(not is_sure(arms.get(str(d.arm), 0.0)) for d, arms in certain)
    if deviations:
        raise NoRegretError(
            f"{len(certain):,} of the {len(decisions):,} rounds of the log are deterministic"
            f" (propensity 1), and in {deviations:,} of those the target may take another arm,"
            " whose reward is unknown",
            "log with a policy that draws at random, such as exp3 or thompson",
        )


def is_sure(chance: float) -> bool:
    """Return whether a probability is 1 up to rounding."""
    return chance >= 1 - MAX_NEGLIGIBLE_CHANCE


def chances_of(target: Any) -> dict[str, float]:
    """Return the probabilities of arms, by name."""
    if isinstance(target, Policy):
        return dict(zip(target.names, target.propensities().tolist(), strict=True))
    if isinstance(target, str | int | np.integer) and not isinstance(target, bool):
        return {str(target): 1.0}
    if not isinstance(target, Mapping):
        raise ValueError(
            "a policy to evaluate is an arm, a dict of probabilities, a Policy, or a function: got"
            f" {target!r}"
        )
    chances = {str(arm): float(chance) for arm, chance in target.items()}
    wrong = any(not chance >= 0 for chance in chances.values())
    if wrong or abs(math.fsum(chances.values()) - 1) > 1e-6:
        raise ValueError(f"probabilities must be 0 or above, with sum 1: got {target!r}")
    return chances


def mean_of(values: Floats, z: float) -> Estimate:
    """Return the mean with its standard error."""
    value = math.fsum(values) / len(values)
    spread = float(values.std(ddof=1)) if len(values) > 1 else math.inf
    return estimate(value, spread / math.sqrt(len(values)), z)


def ratio_of(weights: Floats, rewards: Floats, z: float) -> Estimate:
    """Return the weighted mean, with the standard error of its linearisation."""
    total = math.fsum(weights)
    if not total:
        return estimate(math.nan, math.inf, z)
    value = math.fsum(weights * rewards) / total
    off = weights * (rewards - value)
    return estimate(value, math.sqrt(float(off @ off)) / total, z)


def estimate(value: float, error: float, z: float) -> Estimate:
    """Return an estimate with its interval."""
    return Estimate(value, error, value - z * error, value + z * error)


def normal_quantile(level: float) -> float:
    """Return the half-width of an interval of that level, in standard errors."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + level / 2)
