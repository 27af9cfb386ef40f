"""Learners as regressors and classifiers, by their losses.

Other libraries have separate classes for the two. A learner with a choice of losses is both.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.base.families import fetched
from noregret.base.registry import find
from noregret.errors import BadExample, Diverged
from noregret.linear.learner import all_learners

if TYPE_CHECKING:
    from noregret.linear.class_learner import ClassLearner
    from noregret.linear.learner import Learner

# The default loss of a learner with a choice of losses, by whether outcomes are labels.
DEFAULT_LOSS = {
    False: ("square", "absolute", "epsilon-insensitive"),
    True: ("logistic", "hinge", "mistake"),
}
# Parameters to try if steps overshoot.
CURES: tuple[dict[str, Any], ...] = ({"step": "implicit"}, {"loss": "huber"})
SUFFIXES = {False: "Regressor", True: "Classifier"}


class Kind(NamedTuple):
    """A learner as a regressor or as a classifier.

    Parameters
    ----------
    name
        Its name in other libraries, such as ``PerceptronClassifier``.
    learner
        Its class.
    labels
        If True, it predicts labels.
    params
        Defaults that differ from the learner's: a loss of the other kind, and steps that do not
        overshoot on unscaled columns.
    several
        The learner for more than two classes, if it is another one.
    """

    name: str
    learner: type[Learner]
    labels: bool
    params: dict[str, Any]
    several: type[ClassLearner] | None = None

    @property
    def signature(self) -> inspect.Signature:
        """The learner's parameters, with their defaults as this kind."""
        own = inspect.signature(self.learner)
        return own.replace(
            parameters=[
                parameter.replace(default=self.params.get(name, parameter.default))
                for name, parameter in own.parameters.items()
            ]
        )

    def make(self, **params: Any) -> Learner:
        """Build the learner.

        Raises
        ------
        ValueError
            If its loss is for outcomes of the other kind.
        """
        made = self.learner(**{**self.params, **params})
        if predicts(made) is not self.labels:
            loss = made.engine.loss.name
            wants = "labels" if self.labels else "numbers"
            raise ValueError(f"{self.name} predicts {wants}, and the {loss} loss is not for them")
        return made

    def make_several(self, **params: Any) -> ClassLearner:
        """Build the learner for more than two classes.

        Raises
        ------
        ValueError
            If a parameter that it does not have is not at its default.
        """
        assert self.several is not None
        known, own = inspect.signature(self.several).parameters, self.signature.parameters
        for name, value in params.items():
            if name not in known and value != own[name].default:
                raise ValueError(
                    f"{self.name} with more than two classes has no {name}: leave it at"
                    f" {own[name].default!r}"
                )
        return self.several(**{name: params[name] for name in known if name in params})


def predicts(learner: Learner) -> bool | None:
    """Return whether a learner predicts labels (True) or numbers (False), or None for neither."""
    loss = learner.engine.loss
    return None if loss.name == "linear" else bool(loss.labels)


def kinds_of(learner: type[Learner]) -> list[Kind]:
    """Return a learner as a regressor, as a classifier, or as both.

    Empty if it is part of the classifier of another learner.
    """
    found: list[Kind] = []
    if learner._for_classes == learner.name:
        return found
    for labels, suffix in SUFFIXES.items():
        for params in ({}, *chosen(learner, labels)):
            try:
                fits = predicts(learner(**params)) is labels
            except ValueError:
                continue
            if fits:
                kind = Kind(learner.__name__ + suffix, learner, labels, params)
                if labels and learner._for_classes is not None:
                    kind = kind._replace(several=find(learner._for_classes))
                found.append(kind._replace(params=params | cure(kind)))
                break
    return found


def cure(kind: Kind) -> dict[str, Any]:
    """Return parameters with which steps on unscaled columns do not overshoot.

    Empty if they do not anyway; else implicit steps, or a loss of bounded slope.
    """
    known = inspect.signature(kind.learner).parameters.keys()
    for params in ({}, *CURES):
        try:
            if params.keys() <= known and not overshoots(kind.make(**params)):
                return params
        except ValueError:
            continue
    return {}


def overshoots(learner: Learner) -> bool:
    """Return whether an untrained learner diverges on an unscaled column."""
    signs = np.where(np.arange(60) % 2, 1.0, -1.0)
    try:
        learner.learn_many(100 * signs[:, None], signs)
    except Diverged:
        return True
    except BadExample:
        pass
    return False


def chosen(learner: type[Learner], labels: bool) -> Iterator[dict[str, Any]]:
    """Yield parameters to try for outcomes of a kind, if a learner has a choice of losses."""
    known = inspect.signature(learner).parameters
    for loss in DEFAULT_LOSS[labels] if "loss" in known else ():
        yield {"loss": loss}
        if "radius" in known:  # some losses need bounded weights
            yield {"loss": loss, "radius": 10.0}


def find_kind(name: str) -> Kind | None:
    """Return the regressor or classifier of that name, or None."""
    for suffix in SUFFIXES.values():
        if name.endswith(suffix):
            learner = fetched("learners", name.removesuffix(suffix))
            known = all_learners().values() if learner is None else (learner,)
            for kind in (kind for one in known for kind in kinds_of(one) if kind.name == name):
                return kind
    return None


def all_kinds() -> dict[str, Kind]:
    """Return every learner as a regressor, a classifier or both, by class name.

    >>> [name for name in all_kinds() if name.startswith("P")]
    ['PassiveAggressiveClassifier', 'PassiveAggressiveRegressor', 'PerceptronClassifier']
    """
    found = [kind for learner in all_learners().values() for kind in kinds_of(learner)]
    return {kind.name: kind for kind in sorted(found)}
