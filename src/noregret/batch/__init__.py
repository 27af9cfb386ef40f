"""Batch learning: methods that are fitted to all examples at once, by class or by name.

``methods`` has one file per algorithm; ``method`` is the base of all.
"""

from typing import Any

from noregret.base.families import Front

_front = Front("batch", Batch="noregret.batch.method")
make = _front.make


def __getattr__(name: str) -> Any:
    return _front.fetch(name)


def __dir__() -> list[str]:
    return _front.names()
