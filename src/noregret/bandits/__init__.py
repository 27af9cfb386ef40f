"""Bandits: policies that pull one arm a round and see its reward alone, by class or by name.

``policies`` has one file per algorithm; ``log`` and ``estimating`` are for decisions that were
logged, and for policies evaluated on them.
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
