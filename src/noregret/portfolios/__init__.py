"""Portfolios: strategies that divide wealth among assets, by class or by name.

``strategies`` has one file per algorithm; ``strategy`` counts wealth and costs for them.
"""

from typing import Any

from noregret.base.families import Front

_front = Front("portfolios", Strategy="noregret.portfolios.strategy")
make = _front.make


def __getattr__(name: str) -> Any:
    return _front.fetch(name)


def __dir__() -> list[str]:
    return _front.names()
