"""Which learners predict numbers and which predict labels: what their losses say.

Other libraries want it said in the class: a regressor, or a classifier. A learner whose loss can be
chosen is both.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.errors import BadExample, Diverged
from noregret.linear.learner import all_learners

if TYPE_CHECKING:
    from noregret.linear.learner import Learner

# What a loss that can be chosen is where it is not chosen, by whether outcomes are labels.
CHOSEN = {
    False: ("square", "absolute", "epsilon-insensitive"),
    True: ("logistic", "hinge", "mistake"),
}
# What to try where steps overshoot.
CURES: tuple[dict[str, Any], ...] = ({"step": "implicit"}, {"loss": "huber"})
SUFFIXES = {False: "Regressor", True: "Classifier"}


class Kind(NamedTuple):
    """A learner as a regressor or as a classifier.

    Parameters
    ----------
    name
        What other libraries know it by, such as ``PerceptronClassifier``.
    learner
        Its class here.
    labels
        Whether it predicts labels.
    params
        The parameters whose usual values differ from the learner's own: a loss of the other kind,
        and steps that would overshoot on columns that nobody has scaled.
    """

    name: str
    learner: type[Learner]
    labels: bool
    params: dict[str, Any]

    @property
    def signature(self) -> inspect.Signature:
        """The learner's parameters, with their usual values as this kind."""
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
            Where its loss is for outcomes of the other kind.
        """
        made = self.learner(**{**self.params, **params})
        if predicts(made) is not self.labels:
            loss = made.engine.loss.name
            wants = "labels" if self.labels else "numbers"
            raise ValueError(f"{self.name} predicts {wants}, and the {loss} loss is not for them")
        return made


def predicts(learner: Learner) -> bool | None:
    """Whether a learner predicts labels (True) or numbers (False); None for neither."""
    loss = learner.engine.loss
    return None if loss.name == "linear" else bool(loss.labels)


def kinds_of(learner: type[Learner]) -> list[Kind]:
    """Return a learner as a regressor, as a classifier, or as both."""
    found = []
    for labels, suffix in SUFFIXES.items():
        for params in ({}, *chosen(learner, labels)):
            try:
                fits = predicts(learner(**params)) is labels
            except ValueError:
                continue
            if fits:
                kind = Kind(learner.__name__ + suffix, learner, labels, params)
                found.append(kind._replace(params=params | cure(kind)))
                break
    return found


def cure(kind: Kind) -> dict[str, Any]:
    """Return what keeps steps on columns that nobody has scaled from overshooting.

    Nothing, where they do not: else implicit steps, or a loss of bounded slope.
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
    """Whether a fresh learner diverges on a column that is not scaled."""
    signs = np.where(np.arange(60) % 2, 1.0, -1.0)
    try:
        learner.learn_many(100 * signs[:, None], signs)
    except Diverged:
        return True
    except BadExample:
        pass
    return False


def chosen(learner: type[Learner], labels: bool) -> Iterator[dict[str, Any]]:
    """Yield parameters to try for outcomes of a kind, where a learner's loss can be chosen."""
    known = inspect.signature(learner).parameters
    for loss in CHOSEN[labels] if "loss" in known else ():
        yield {"loss": loss}
        if "radius" in known:  # some losses are for bounded weights alone
            yield {"loss": loss, "radius": 10.0}


def all_kinds() -> dict[str, Kind]:
    """Return every learner as what it can be, by the name of the class.

    >>> [name for name in all_kinds() if name.startswith("P")]
    ['PassiveAggressiveClassifier', 'PassiveAggressiveRegressor', 'PerceptronClassifier']
    """
    found = [kind for learner in all_learners().values() for kind in kinds_of(learner)]
    return {kind.name: kind for kind in sorted(found)}
