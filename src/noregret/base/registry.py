"""The registry: algorithms by family and name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from noregret.base.families import FAMILIES, class_name, modules_of
from noregret.checks import hint, unknown_parameter

if TYPE_CHECKING:
    from noregret.base.algorithm import Named

_registered: dict[str, dict[str, type[Named]]] = {family: {} for family in FAMILIES}
K = TypeVar("K", bound="type[Named]")


def register(kind: K) -> K:
    """Register a class under its ``name``, as a decorator."""
    known = _registered[in_family(kind.family)]
    if kind.name in known:
        raise ValueError(f"two {kind.family} are called {kind.name!r}")
    expected = class_name(kind.name)
    if kind.__name__ != expected:
        raise ValueError(f"the class of {kind.name!r} must be called {expected}")
    known[kind.name] = kind
    return kind


def in_family(family: str) -> str:
    """Return the name of a family, or raise ValueError."""
    if family not in FAMILIES:
        raise ValueError(f"unknown family {family!r}: {hint(family, FAMILIES)}")
    return family


def all_of(family: str) -> dict[str, type[Named]]:
    """Return every class of a family by name, in alphabetical order."""
    for module in modules_of(in_family(family)):
        import_module(module)
    return dict(sorted(_registered[family].items()))


def all_algorithms() -> list[type[Named]]:
    """Return every class of every family, in the order of the families and of their names."""
    return [kind for family in FAMILIES for kind in all_of(family).values()]


def families_with(name: str) -> list[str]:
    """Return the families that have an algorithm of this name."""
    return [family for family in FAMILIES if name in all_of(family)]


def find(name: str, family: str | None = None) -> type[Any]:
    """Return the class of this name; the error for an unknown name suggests the nearest.

    If several families have the name, the first one is used unless the family is given.
    """
    families = list(FAMILIES) if family is None else [in_family(family)]
    for each in families:
        if name not in _registered[each]:
            module = f"{FAMILIES[each]}.{name.replace('-', '_')}"
            if module in modules_of(each):  # import only its file
                import_module(module)
        if name in _registered[each]:
            return _registered[each][name]
    known: dict[str, type[Named]] = {}
    for each in reversed(families):
        known |= all_of(each)
    if name not in known:
        elsewhere = families_with(name)
        if elsewhere:
            batch = "batch methods, which are fitted in Python by fit(X, y)"
            others = batch if elsewhere[0] == "batch" else elsewhere[0]
            raise ValueError(
                f"{name!r} is not one of the {family}, but of the {others}:"
                f" ‘noregret learners {name}’ explains it"
            )
        raise ValueError(f"unknown learner {name!r}: {hint(name, sorted(known))}")
    return known[name]


def make(name: str, **params: Any) -> Any:
    """Build a learner, or an algorithm of another family, by name.

    >>> import noregret
    >>> noregret.make("widrow-hoff", rate=0.2)
    WidrowHoff(rate=0.2)
    """
    return built(find(name), params)


def built_again(kind: type[Named], params: Mapping[str, Any]) -> Any:
    """Build an instance from the parameters in a file, perhaps of an earlier version."""
    return built(kind, {**kind._earlier, **params})


def built(kind: type[Named], params: Mapping[str, Any]) -> Any:
    """Build an instance; the error for an unknown parameter suggests the nearest."""
    known = inspect.signature(kind).parameters
    for given in params:
        if given not in known:
            raise ValueError(unknown_parameter(kind.name, given, list(known)))
    return kind(**params)
