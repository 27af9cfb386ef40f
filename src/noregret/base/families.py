"""The six families of algorithms, discovered by the files of their packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

# The package of each family, in the order of lookup; one file per algorithm.
FAMILIES = {
    "learners": "noregret.learners",
    "experts": "noregret.experts.masters",
    "bandits": "noregret.bandits.policies",
    "portfolios": "noregret.portfolios.strategies",
    "batch": "noregret.batch.methods",
    "filters": "noregret.filters.algorithms",
}


@cache
def modules_of(family: str) -> tuple[str, ...]:
    """Return the modules of a family's algorithms."""
    package = import_module(FAMILIES[family])
    return tuple(f"{package.__name__}.{module.name}" for module in iter_modules(package.__path__))


def class_name(name: str) -> str:
    """Return the class name of an algorithm, from its name or its file's."""
    return "".join(word.capitalize() for word in name.replace("_", "-").split("-"))


def homes(family: str) -> dict[str, str]:
    """Return the module of each class of a family, by class name."""
    return {class_name(module.rpartition(".")[2]): module for module in modules_of(family)}


def fetched(family: str, name: str) -> Any:
    """Return a class of a family by its name, or None."""
    home = homes(family).get(name) if name[:1].isupper() else None
    return None if home is None else getattr(import_module(home), name)


class Front:
    """The namespace of a family's package, with lazy imports.

    Parameters
    ----------
    family
        The family.
    **others
        Names besides the algorithms, each with its module.
    """

    def __init__(self, family: str, **others: str) -> None:
        self.family, self.others = family, others

    def names(self) -> list[str]:
        """Return all names."""
        return sorted([*self.others, *homes(self.family), "make"])

    def fetch(self, name: str) -> Any:
        """Import and return the object of a name."""
        if name == "__all__":
            return self.names()
        if name in self.others:
            return getattr(import_module(self.others[name]), name)
        found = fetched(self.family, name)
        if found is None:
            raise AttributeError(f"module 'noregret.{self.family}' has no attribute {name!r}")
        return found

    def make(self, name: str, **params: Any) -> Any:
        """Build an algorithm of the family by name."""
        from noregret.base.registry import built, find

        return built(find(name, self.family), params)
