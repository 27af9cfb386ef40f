"""Make the classes for River from the registry of learners."""

from __future__ import annotations

import inspect
from inspect import Parameter, Signature
from typing import Any

from noregret.checks import bound
from noregret.linear.class_learner import ClassLearner
from noregret.linear.regressor_or_classifier import Kind
from noregret.proof.theorems.averaging import averaged
from noregret.river.classifier import Classifier
from noregret.river.regressor import Regressor
from noregret.river.several_classes import SeveralClasses
from noregret.river.two_or_several import TwoOrSeveral

# Parameters of all estimators besides those of the learner; the first needs weights.
ADDED = {"averaged": False, "intercept": True, "certified": False}
AVERAGED = """averaged
    Whether to predict with the mean of the weights of all rounds so far.
"""
DOC = """{summary}

The learner ``noregret.{learner}`` as a River {role}.

Parameters
----------
{parameters}{averaged}intercept
    Whether to add a constant feature of value 1; a number sets its value: with a larger one, its
    weight is learned faster.
certified
    Whether to keep the rows that ``certificate()`` needs.

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
    base: type[Any] = Classifier if kind.labels else Regressor
    if issubclass(kind.learner, ClassLearner):
        base = SeveralClasses
    elif kind.several is not None:
        base = TwoOrSeveral
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
    """Return an ``__init__`` with the learner's parameters and those of all estimators."""
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
    """Return the names of the added parameters that the learner does not have itself."""
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
    """Return the docstring: that of the learner, and an example."""
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
