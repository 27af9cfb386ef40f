"""Classes for River, made from what the registry knows of a learner."""

from __future__ import annotations

import inspect
from inspect import Parameter, Signature
from typing import Any

from noregret.checks import bound
from noregret.linear.regressor_or_classifier import Kind
from noregret.proof.theorems.averaging import averaged
from noregret.river.classifier import Classifier
from noregret.river.regressor import Regressor

# What every estimator has besides its learner's own parameters, the first only for weights.
ADDED = {"averaged": False, "intercept": True, "certified": False}
AVERAGED = """averaged
    Whether to predict with the mean of the weights of all rounds so far.
"""
DOC = """{summary}

The learner ``noregret.{learner}`` as a River {role}.

Parameters
----------
{parameters}{averaged}intercept
    Whether there is a weight that goes with no feature; a number for a constant feature of that
    size instead of 1, which is learned faster the larger it is.
certified
    Whether to keep what ``certificate()`` needs: the rows that were learned from.

Examples
--------
>>> from noregret import river
>>> model = river.{name}()
>>> model.learn_one({{"sun": 1.0}}, {outcome})
>>> model.learner.rounds
1
"""


def estimator(kind: Kind) -> type[Any]:
    """Make the class of a learner as a regressor or classifier."""
    base = Classifier if kind.labels else Regressor
    return type(
        kind.name,
        (base,),
        {
            "__doc__": described(kind),
            "__init__": initialiser(kind),
            "__module__": "noregret.river",
            "kind": kind,
        },
    )


def initialiser(kind: Kind) -> Any:
    """Return an ``__init__`` that takes the learner's parameters and those that all have."""
    own = kind.signature.parameters.values()
    named = [each.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for each in own]
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=ADDED[name]) for name in added_to(kind)
    ]
    itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    signature = Signature([itself, *named, *added])

    def __init__(*args: Any, **given: Any) -> None:  # noqa: N807
        itself, *values = bound(kind.name, signature, args, given).arguments.items()
        itself[1]._begin(dict(values))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def added_to(kind: Kind) -> list[str]:
    """Return the names of the parameters that a learner has none of its own for."""
    taken = set(kind.signature.parameters)
    if not can_average(kind):
        taken.add("averaged")
    return [name for name in ADDED if name not in taken]


def can_average(kind: Kind) -> bool:
    """Return whether a learner predicts with its weights, so that their mean is meaningful."""
    try:
        averaged(kind.make())
    except ValueError:
        return False
    return True


def described(kind: Kind) -> str:
    """Return the docstring: the learner's own words, and an example."""
    summary, _, rest = inspect.cleandoc(kind.learner.__doc__ or "").partition("\n\n")
    _, _, parameters = rest.partition("Parameters\n----------\n")
    parameters = parameters.partition("\n\n")[0]
    return DOC.format(
        summary=summary,
        learner=kind.learner.__name__,
        role="classifier" if kind.labels else "regressor",
        parameters=f"{parameters}\n" if parameters else "",
        averaged=AVERAGED if "averaged" in added_to(kind) else "",
        name=kind.name,
        outcome="True" if kind.labels else "1.0",
    )
