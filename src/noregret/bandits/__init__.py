"""Bandits: policies that pull one arm a round and see its reward alone, by class or by name."""

from typing import Any

from noregret.families import Front

_front = Front("bandits", Policy="noregret.bandits.policy")
make = _front.make


def __getattr__(name: str) -> Any:
    return _front.fetch(name)


def __dir__() -> list[str]:
    return _front.names()
