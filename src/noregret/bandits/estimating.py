"""What another policy would have earned, from a log of decisions with their propensities.

With w = π(arm)/p(arm), the target's chance of the logged arm over the logged propensity, and a
model m of the rewards that has seen the rounds before only,

    plain             mean of  w r
    self-normalised   Σ w r / Σ w
    doubly robust     mean of  Σ_a π(a) m(a) + w (r − m(arm))

The plain estimate is right on average if the propensities are. The self-normalised one varies less
and is a little off in small logs. The doubly robust one is right on average if the propensities
are, whatever the model, and in the long run also if the model is, whatever the propensities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.bandits.drawing import Floats
from noregret.bandits.log import Log
from noregret.bandits.models import Model, model_of
from noregret.bandits.policy import Policy
from noregret.checks import positive
from noregret.errors import NoRegretError


@dataclass(frozen=True)
class Estimate:
    """An estimate of the mean reward of a round.

    Parameters
    ----------
    value
        The estimate.
    error
        Its standard error.
    low, high
        The ends of its confidence interval, which takes the estimate for normally distributed.
    """

    value: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.error:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True)
class OffPolicy:
    """What a policy would have earned in a round, estimated in three ways.

    Parameters
    ----------
    plain, self_normalised, doubly_robust
        The estimates.
    rounds
        How many decisions there were.
    effective
        How many rounds of the target's own would tell as much: (Σw)²/Σw².
    largest_weight
        The largest w.
    clipped
        How many weights were cut down to ``clip``; if any, the plain estimate leans down for
        rewards above 0, and no estimate is right on average.
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
                f"{self.rounds} rounds, worth {self.effective:.0f} of its own; largest weight"
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
    """Estimate what a policy would have earned in the rounds of a log.

    Parameters
    ----------
    log
        The decisions.
    target
        The policy to judge: an arm that it always takes, a dict of chances by arm, a ``Policy``
        with the chances it has now, or a function of a round's context that returns one of these.
    model
        Of the rewards, for the doubly robust estimate: ``means`` of every arm so far, a learner (a
        copy for each arm learns the rewards from the contexts, which are dicts of features), or a
        function of the context and the arm.
    clip
        The largest weight, above 0; larger ones are cut down to it. That steadies the estimates
        and makes them lean. None cuts nothing.
    level
        Of confidence, between 0 and 1.

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
        raise NoRegretError("the log is empty, so there is nothing to go by")
    most = math.inf if clip is None else positive("clip", clip)
    z = normal_quantile(positive("level", level, below=1))
    chances = Chances(target)
    weights, rewards, robust = (np.empty(len(decisions)) for _ in range(3))
    believed: Model = model_of(model)
    for t, d in enumerate(decisions):
        arms = chances.of(d.context)
        weights[t] = min(arms.get(d.arm, 0.0) / d.propensity, most)
        rewards[t] = d.reward
        guess = sum(p * believed.guess(arm, d.context) for arm, p in arms.items() if p)
        robust[t] = guess + weights[t] * (d.reward - believed.guess(d.arm, d.context))
        believed.learn(d.arm, d.reward, d.context)
    squares = float(weights @ weights)
    cut = int(np.count_nonzero(weights >= most)) if clip is not None else 0
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
    """The chances of a target, which may depend on the context.

    Parameters
    ----------
    target
        As for ``off_policy``.
    """

    def __init__(self, target: Any) -> None:
        self.rule: Callable[[Any], Any] | None = None
        self.fixed: dict[str, float] = {}
        if callable(target) and not isinstance(target, Policy):
            self.rule = target
        else:
            self.fixed = chances_of(target)

    def of(self, context: Any) -> dict[str, float]:
        """Return the chance of each arm in a round."""
        return self.fixed if self.rule is None else chances_of(self.rule(context))


def chances_of(target: Any) -> dict[str, float]:
    """Return the chances of arms, by name."""
    if isinstance(target, Policy):
        return dict(zip(target.names, target.propensities().tolist(), strict=True))
    if isinstance(target, str | int | np.integer) and not isinstance(target, bool):
        return {str(target): 1.0}
    if not isinstance(target, Mapping):
        raise ValueError(
            "a policy to judge is an arm, a dict of chances, a Policy, or a function:"
            f" got {target!r}"
        )
    chances = {str(arm): float(chance) for arm, chance in target.items()}
    wrong = any(not chance >= 0 for chance in chances.values())
    if wrong or abs(math.fsum(chances.values()) - 1) > 1e-6:
        raise ValueError(f"chances are 0 or above and have the sum 1: got {target!r}")
    return chances


def mean_of(values: Floats, z: float) -> Estimate:
    """Return the mean with its standard error."""
    value = math.fsum(values) / len(values)
    spread = float(values.std(ddof=1)) if len(values) > 1 else math.inf
    return estimate(value, spread / math.sqrt(len(values)), z)


def ratio_of(weights: Floats, rewards: Floats, z: float) -> Estimate:
    """Return the weighted mean, with the standard error that its linear part has."""
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
    """Return how many standard errors an interval of that level reaches to either side."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + level / 2)
