"""Learning from experts: masters that combine forecasts, by class or by name.

``masters`` has one file per algorithm, ``engine`` the compiled round; ``ensemble`` combines
learners and functions as experts.
"""

from typing import Any

from noregret.base.families import Front

_front = Front(
    "experts",
    Experts="noregret.experts.ensemble",
    Master="noregret.experts.master",
    expert_loss="noregret.base.expert_losses",
)
make = _front.make


def __getattr__(name: str) -> Any:
    return _front.fetch(name)


def __dir__() -> list[str]:
    return _front.names()
