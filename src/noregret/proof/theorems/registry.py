"""Every theorem by name: those of the registered algorithms, and those about many learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noregret.base.registry import all_algorithms, find
from noregret.checks import hint
from noregret.proof.theorems import averaging, delay
from noregret.proof.theorems.shards import shard_theorems

if TYPE_CHECKING:
    from noregret.proof.theorems.theorem import Theorem

general_theorems = (*averaging.theorems, *delay.theorems)


def all_theorems() -> dict[str, tuple[Theorem, type[Any] | None]]:
    """Return every theorem by name, with its learner; None if it is about many."""
    found: dict[str, tuple[Theorem, type[Any] | None]] = {}
    for kind in all_algorithms():
        for theorem in (*kind.theorems, *shard_theorems(kind)):
            if theorem.name in found:
                raise ValueError(f"two theorems are called {theorem.name!r}")
            found[theorem.name] = (theorem, kind)
    found |= {theorem.name: (theorem, None) for theorem in general_theorems}
    return dict(sorted(found.items()))


def theorems_of(learner: str, family: str) -> dict[str, Theorem]:
    """Return the theorems about a learner, by name; for an unknown one, the general ones."""
    try:
        kind = find(learner, family)
        own = (*kind.theorems, *shard_theorems(kind))
    except ValueError:
        own = ()
    return {theorem.name: theorem for theorem in (*own, *general_theorems)}


def find_theorem(name: str) -> tuple[Theorem, type[Any] | None]:
    """Return the theorem of that name, with its learner; the error of a wrong one lists some."""
    known = all_theorems()
    if name not in known:
        raise ValueError(f"unknown theorem {name!r}: {hint(name, known)}")
    return known[name]
