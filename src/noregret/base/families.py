"""The six families of algorithms, each found by the files of its package."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

# The package of every family: one file an algorithm, in the order in which names are looked up.
FAMILIES = {
    "learners": "noregret.learners",
    "experts": "noregret.experts.masters",
    "bandits": "noregret.bandits.policies",
    "portfolios": "noregret.portfolios.strategies",
    "batch": "noregret.batch.methods",
    "filters": "noregret.filters.algorithms",
}


def modules_of(family: str) -> list[str]:
    """Return the modules of a family's algorithms."""
    package = import_module(FAMILIES[family])
    return [f"{package.__name__}.{module.name}" for module in iter_modules(package.__path__)]


def class_name(name: str) -> str:
    """Return what the class of an algorithm must be called, from its name or its file's."""
    return "".join(word.capitalize() for word in name.replace("_", "-").split("-"))


def homes(family: str) -> dict[str, str]:
    """Return the module of every class of a family, by the name of the class."""
    return {class_name(module.rpartition(".")[2]): module for module in modules_of(family)}


def fetched(family: str, name: str) -> Any:
    """Return a class of a family by its name; None where there is none of that name."""
    home = homes(family).get(name) if name[:1].isupper() else None
    return None if home is None else getattr(import_module(home), name)


class Front:
    """The front page of a family's package: what it offers, fetched when it is asked for.

    Parameters
    ----------
    family
        The family.
    **others
        What it offers besides its algorithms, with the module in which each is.
    """

    def __init__(self, family: str, **others: str) -> None:
        self.family, self.others = family, others

    def names(self) -> list[str]:
        """Return all that is offered."""
        return sorted([*self.others, *homes(self.family), "make"])

    def fetch(self, name: str) -> Any:
        """Return what is offered under a name."""
        if name == "__all__":
            return self.names()
        if name in self.others:
            return getattr(import_module(self.others[name]), name)
        found = fetched(self.family, name)
        if found is None:
            raise AttributeError(f"module 'noregret.{self.family}' has no attribute {name!r}")
        return found

    def make(self, name: str, **params: Any) -> Any:
        """Build one of the family by name."""
        from noregret.base.registry import built, find

        return built(find(name, self.family), params)
