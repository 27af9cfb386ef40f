"""Follow the leader: play the best point so far. A warning.

    w ← argmin over the domain of  Σ g_s·w,   g_s the gradients of the losses seen

On the ball the leader is −U·G/‖G‖ for the sum G of the gradients, on the box the corner opposite
to their signs. It is the obvious strategy, and it can fail in every round: on [−1,1] against the
losses θ/2, −θ, θ, −θ, … it loses 1 per round, and the fixed point 0 loses nothing. ``ftrl`` is the
remedy.
"""

from __future__ import annotations

import math

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.checks import one_of, positive
from noregret.linear.engine.additive import Lazy, Leader
from noregret.linear.engine.engine import Engine
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem


@register
class FollowTheLeader(Learner):
    """Play the best point in hindsight of the linearised losses so far.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``, linearised where the prediction was made; by default
        ``linear``: the outcome is the slope.
    domain
        ``ball`` (‖w‖₂ ≤ U) or ``box`` (every |w_i| ≤ U).
    radius
        U, above 0: the radius of the ball, or half the width of the box.
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    It loses 1 in every round but the first; θ = 0 loses nothing:

    >>> learner = FollowTheLeader()
    >>> for slope in [0.5] + [-1.0, 1.0] * 50:
    ...     learner.learn_one([1.0], slope)
    >>> learner.total_loss
    100.0

    References
    ----------
    S. Shalev-Shwartz, "Online learning and online convex optimization", 2012, example 2.2.
    """

    name = "follow-the-leader"
    theorems = (
        Theorem(
            name="ftl-fails",
            quantity="regret",
            formula=r"L_A - L_0 = T - 1",
            plain="regret = T - 1 on some sequence of T rounds: no bound",
            assumptions=(
                Structural(
                    r"$\theta \in [-1,1]$, losses $\theta/2, -\theta, \theta, -\theta, \dots$:"
                    r" a sequence on which the regret is linear; no bound below that holds"
                ),
            ),
            source="Shalev-Shwartz, 2012",
            warning=True,
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "linear",
        domain: str = "ball",
        radius: float = 1.0,
        loss_parameter: float | None = None,
    ) -> None:
        one_of("domain", domain, ("ball", "box"))
        engine: Engine
        if domain == "ball":
            positive("radius", radius)
            engine = Lazy(loss, math.inf, radius=radius, loss_parameter=loss_parameter)
        else:
            engine = Leader(loss, radius, loss_parameter=loss_parameter)
        super().__init__(engine)
        self.loss, self.domain, self.radius = loss, domain, radius
        self.loss_parameter = loss_parameter
