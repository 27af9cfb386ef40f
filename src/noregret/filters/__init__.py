"""Adaptive filters, which predict one signal from a window of another, by class or by name.

``algorithms`` has one file per algorithm, ``engine`` the compiled window and steps.
"""

from typing import Any

from noregret.base.families import Front

_front = Front("filters", Filter="noregret.filters.filter")
make = _front.make


def __getattr__(name: str) -> Any:
    return _front.fetch(name)


def __dir__() -> list[str]:
    return _front.names()
