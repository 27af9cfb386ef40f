"""The result of a portfolio strategy as JSON; numbers that are NaN or infinite become null."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from noregret.app.report.run.json import plain

if TYPE_CHECKING:
    from noregret.app.results.portfolio import Outcome


def as_dict(outcome: Outcome) -> dict[str, Any]:
    """Return the result as a dictionary for JSON; a wealth that overflows is null."""
    promise = outcome.certificate.theorem
    found: dict[str, Any] = {
        "learner": {"name": outcome.name, "params": outcome.params},
        "data": {
            "sources": list(outcome.sources),
            "transforms": list(outcome.transforms),
            "rounds": outcome.rounds,
            "assets": outcome.assets,
            "digest": outcome.certificate.data.digest,
        },
        "log_wealth": outcome.log_wealth,
        "wealth": wealth(outcome.log_wealth),
        "best_asset": None
        if outcome.asset is None
        else {
            "name": outcome.asset,
            "log_wealth": outcome.asset_log_wealth,
            "wealth": wealth(outcome.asset_log_wealth),
        },
        "uniform_rebalanced": {"log_wealth": outcome.uniform, "wealth": wealth(outcome.uniform)},
        "best_rebalanced": {
            "log_wealth": -outcome.rebalanced.loss,
            "after_costs": outcome.best_shares,
            "gap": outcome.rebalanced.gap,
            "wealth": wealth(-outcome.rebalanced.loss),
            "shares": dict(outcome.heaviest),
        },
        "regret": {
            "against": outcome.certificate.hindsight.comparator,
            "lower": outcome.certificate.regret.lower,
            "upper": outcome.certificate.regret.upper,
        },
        "theorem": None
        if promise is None
        else {
            "name": promise.name,
            "bound": promise.bound,
            "measured": promise.measured,
            "holds": promise.holds,
        },
        "note": outcome.note or None,
        "seconds": outcome.seconds,
        "outputs": dict(outcome.outputs),
        "version": outcome.version,
    }
    return cast("dict[str, Any]", plain(found))


def wealth(log_wealth: float) -> float | None:
    """Return the wealth; None if it overflows."""
    return math.exp(log_wealth) if log_wealth < 709 else None
