"""Make the estimator classes from the registry of learners."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from noregret.checks import bound
from noregret.linear.regressor_or_classifier import Kind, all_kinds, find_kind
from noregret.sklearn.classifier import OnlineClassifier
from noregret.sklearn.estimator import Online
from noregret.sklearn.pages import page
from noregret.sklearn.regressor import OnlineRegressor
from noregret.sklearn.several_classes import SeveralClasses
from noregret.sklearn.traits import Traits

BASES: dict[bool, type[Online]] = {False: OnlineRegressor, True: OnlineClassifier}
# Parameters of an estimator besides those of its learner.
OWN: dict[str, tuple[Any, str]] = {
    "fit_intercept": (True, "bool"),
    "intercept_scaling": (1.0, "float"),
    "max_iter": (10, "int"),
    "shuffle": (True, "bool"),
    "average": (False, "bool"),
    "class_weight": (None, "dict[Any, float] | str | None"),
    "binarize": (0.0, "float | None"),
    "warm_start": (False, "bool"),
    "random_state": (None, "Any"),
}
# Defaults for rows in any order, several times each: a table may be sorted, rows to predict do not
# follow it, and trees learn rows by heart that come ten times.
IN_ANY_ORDER = {"recent": False, "members": "linear"}


@cache
def estimator(name: str) -> type[Online] | None:
    """Return the estimator of that name, made from its learner; None if there is none."""
    kind = find_kind(name)
    return None if kind is None else made(Traits(in_any_order(kind)))


def in_any_order(kind: Kind) -> Kind:
    """Return a kind with the defaults for rows in any order."""
    known = kind.signature.parameters
    return kind._replace(
        params=kind.params | {name: v for name, v in IN_ANY_ORDER.items() if name in known}
    )


@cache
def names() -> list[str]:
    """Return the names of all estimators."""
    return sorted(all_kinds())


def made(traits: Traits) -> type[Online]:
    """Make the estimator of a learner."""
    name, signature = traits.kind.name, signature_of(traits)

    def __init__(self: Any, *args: Any, **params: Any) -> None:  # noqa: N807
        given = bound(name, signature, (self, *args), params)
        for each, value in list(given.arguments.items())[1:]:
            setattr(self, each, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    members = {
        "__init__": __init__,
        "__module__": "noregret.sklearn",
        "__doc__": page(traits, signature),
        "traits": traits,
    }
    base = SeveralClasses if traits.several else BASES[traits.labels]
    return type(name, (base,), members)


def signature_of(traits: Traits) -> inspect.Signature:
    """Return the signature of an estimator: the learner's parameters, then its own, by keyword."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    learners = [
        known.replace(kind=by_name, default=traits.kind.params.get(name, known.default))
        for name, known in traits.parameters.items()
    ]
    own = [
        inspect.Parameter(name, by_name, default=default, annotation=annotation)
        for name, (default, annotation) in OWN.items()
        if offered(name, traits)
    ]
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Signature([self, *learners, *own])


def offered(name: str, traits: Traits) -> bool:
    """Return whether a parameter applies to a learner."""
    if name in ("fit_intercept", "intercept_scaling"):
        return not traits.has_intercept
    if name == "average":
        return traits.can_average
    if name == "class_weight":
        return traits.labels and traits.weighs
    if name == "binarize":
        return traits.only_booleans
    return True
