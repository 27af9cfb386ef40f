"""Bandits: policies, by class or by name, that pull one arm per round and see only its reward.

``policies`` has one file per algorithm; ``log`` keeps decisions, and ``estimating`` evaluates other
policies on them.
"""

from typing import Any

from noregret.base.families import Front

_front = Front(
    "bandits",
    Estimate="noregret.bandits.estimating",
    Log="noregret.bandits.log",
    Policy="noregret.bandits.policy",
    off_policy="noregret.bandits.estimating",
    ucb1_bound="noregret.bandits.policies.ucb1",
)
make = _front.make


def __getattr__(name: str) -> Any:
    return _front.fetch(name)


def __dir__() -> list[str]:
    return _front.names()
