"""Every learner by name. A learner's file registers it; everything else looks here."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from noregret.learner import Learner
    from noregret.theorem import Theorem

_learners: dict[str, type[Learner]] = {}
L = TypeVar("L", bound="type[Learner]")


def register(learner: L) -> L:
    """Class decorator: make a learner known by its ``name``."""
    if learner.name in _learners:
        raise ValueError(f"two learners are called {learner.name!r}")
    expected = "".join(word.capitalize() for word in learner.name.split("-"))
    if learner.__name__ != expected:
        raise ValueError(f"the class of {learner.name!r} must be called {expected}")
    _learners[learner.name] = learner
    return learner


def all_learners() -> dict[str, type[Learner]]:
    """Return every learner class by name, in alphabetical order."""
    package = importlib.import_module("noregret.learners")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"noregret.learners.{module.name}")
    return dict(sorted(_learners.items()))


def find(name: str) -> type[Learner]:
    """Return the learner class of that name; the error of a wrong one lists the nearest."""
    if name not in _learners and name.replace("-", "_").isidentifier():
        with suppress(ModuleNotFoundError):  # its file alone, where there is one
            importlib.import_module(f"noregret.learners.{name.replace('-', '_')}")
    if name in _learners:
        return _learners[name]
    known = all_learners()
    if name not in known:
        raise ValueError(f"unknown learner {name!r}: {_hint(name, known)}")
    return known[name]


def general_theorems() -> tuple[Theorem, ...]:
    """Return the theorems that hold for many learners."""
    from noregret.averaging import theorems

    return theorems


def all_theorems() -> dict[str, tuple[Theorem, type[Learner] | None]]:
    """Return every theorem by name, with its learner; None where it is about many."""
    found: dict[str, tuple[Theorem, type[Learner] | None]] = {}
    for learner in all_learners().values():
        for theorem in learner.theorems:
            if theorem.name in found:
                raise ValueError(f"two theorems are called {theorem.name!r}")
            found[theorem.name] = (theorem, learner)
    found |= {theorem.name: (theorem, None) for theorem in general_theorems()}
    return dict(sorted(found.items()))


def find_theorem(name: str) -> tuple[Theorem, type[Learner] | None]:
    """Return the theorem of that name, with its learner; the error of a wrong one lists some."""
    known = all_theorems()
    if name not in known:
        raise ValueError(f"unknown theorem {name!r}: {_hint(name, known)}")
    return known[name]


def _hint(wrong: str, known: Iterable[str]) -> str:
    if near := difflib.get_close_matches(wrong, list(known)):
        return f"did you mean {' or '.join(near)}?"
    return f"choose one of {', '.join(known)}" if list(known) else "it takes none"


def make(name: str, **params: Any) -> Learner:
    """Build a learner by name.

    >>> import noregret
    >>> noregret.make("widrow-hoff", rate=0.2)
    WidrowHoff(rate=0.2)
    """
    learner = find(name)
    known = inspect.signature(learner).parameters
    for given in params:
        if given not in known:
            raise ValueError(f"{name} has no parameter {given!r}: {_hint(given, known)}")
    return learner(**params)
