"""Passive-aggressive learning.

Do nothing while the example has margin 1; otherwise take the smallest step that gives it one:

    w ← w + τ y x,   τ = hinge/‖x‖²                      (pa)
                     τ = min(C, hinge/‖x‖²)              (pa-i)
                     τ = hinge/(‖x‖² + 1/(2C))           (pa-ii)

These are the exact (implicit) steps on the hinge loss, with rate ∞ and C, and on its square, with
rate C. For regression the margin is a tube of half-width ε around the outcome.
"""

from __future__ import annotations

import math

from noregret.checks import one_of, positive
from noregret.core.additive import Additive
from noregret.learner import Learner
from noregret.registry import register

FORMS = ("pa", "pa-i", "pa-ii")
LOSSES = ("hinge", "epsilon-insensitive")


@register
class PassiveAggressive(Learner):
    """Classification with a margin, or regression in a tube, by the smallest sufficient step.

    Parameters
    ----------
    form
        ``pa``, ``pa-i`` (steps at most C) or ``pa-ii`` (steps shrunk by 1/(2C)).
    aggressiveness
        C, above 0, for ``pa-i`` and ``pa-ii``: the smaller, the more noise it forgives.
    loss
        ``hinge`` for labels, ``epsilon-insensitive`` for numbers.
    epsilon
        ε, at least 0: half the width of the tube around the outcome, for regression.

    Examples
    --------
    >>> learner = PassiveAggressive()
    >>> learner.learn_one([3.0, 4.0], 1)
    >>> learner.decision_one([3.0, 4.0])
    1.0

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz and Y. Singer, "Online passive-aggressive
    algorithms", 2006.
    """

    name = "passive-aggressive"

    def __init__(
        self,
        form: str = "pa-i",
        aggressiveness: float = 1.0,
        loss: str = "hinge",
        epsilon: float = 0.1,
    ) -> None:
        one_of("form", form, FORMS)
        one_of("loss", loss, LOSSES)
        positive("aggressiveness", aggressiveness)
        if epsilon != 0:
            positive("epsilon", epsilon)
        super().__init__(
            Additive(
                f"squared-{loss}" if form == "pa-ii" else loss,
                rate=math.inf if form == "pa" else aggressiveness,
                step="implicit",
                loss_parameter=None if loss == "hinge" else epsilon,
            )
        )
        self.form, self.aggressiveness, self.loss, self.epsilon = (
            form,
            aggressiveness,
            loss,
            epsilon,
        )
