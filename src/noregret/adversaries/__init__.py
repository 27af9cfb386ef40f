"""Adversaries: streams that see what the learner will say before they choose the outcome.

Each is a generator over (x, y) that holds the learner it plays against, so that ``noregret.play``
shows it the current weights in every round. Against masters over experts, x is their advice; those
that yield no outcomes yield rows of losses.

>>> from noregret import WidrowHoff, play
>>> from noregret.adversaries import sign_flip
>>> learner = WidrowHoff(rate=0.1)
>>> game = play(learner, sign_flip(learner, rounds=2000))
>>> print(f"{game.certificate().theorem.tightness:.3f} of the bound")
0.997 of the bound

A new adversary is a new file here: a generator under ``@adversary``, with the attacks that show
what it can do. They are found by walking; ``table`` plays them all. A file must not be called like
its generator, or the one would hide the other.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

Rounds = Iterator[Any]  # (x, y), or a row of losses
F = TypeVar("F", bound=Callable[..., Rounds])


@dataclass(frozen=True)
class Attack:
    """An adversary set on a theorem.

    Parameters
    ----------
    theorem
        The name of the theorem.
    params
        The parameters of the learner that answers for it.
    options
        The adversary's own arguments.
    remark
        A comment on the result, in a sentence.
    """

    theorem: str
    params: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""


@dataclass(frozen=True)
class Adversary:
    """A generator of rounds and what it is good at.

    Parameters
    ----------
    name
        The name of the function, in kebab case.
    play
        Returns the rounds against a learner.
    attacks
        The theorems it attacks, each with a learner and options for which it is strong.
    """

    name: str
    play: Callable[..., Rounds]
    attacks: tuple[Attack, ...]

    @property
    def about(self) -> str:
        """A one-line description."""
        return (self.play.__doc__ or "").strip().split("\n")[0]

    @property
    def theorems(self) -> tuple[str, ...]:
        """The names of the theorems it attacks."""
        return tuple(dict.fromkeys(attack.theorem for attack in self.attacks))


_adversaries: dict[str, Adversary] = {}


def adversary(*attacks: Attack) -> Callable[[F], F]:
    """Make a generator known as an adversary, with its attacks."""

    def register(play: F) -> F:
        name = play.__name__.replace("_", "-")
        if name in _adversaries:
            raise ValueError(f"two adversaries are called {name!r}")
        _adversaries[name] = Adversary(name, play, attacks)
        return play

    return register


def all_adversaries() -> dict[str, Adversary]:
    """Return every adversary by name, in alphabetical order."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_adversaries.items()))


def __getattr__(name: str) -> Callable[..., Rounds]:
    if not name.startswith("_"):
        for found in all_adversaries().values():
            if found.play.__name__ == name:
                return found.play
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(found.play.__name__ for found in all_adversaries().values())]


__all__ = ["Adversary", "Attack", "adversary", "all_adversaries"]
