"""Follow the leader over experts: use the best one so far. A warning.

Against losses (1/2, 0), then (0, 1), (1, 0), (0, 1), … the leader changes in every round and loses
1 each time, while each expert loses half of that. ``ada-hedge`` avoids this: it follows the leader
as long as that is safe.
"""

from __future__ import annotations

from typing import Any

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.weigher import Exponential
from noregret.base.registry import register
from noregret.experts.master import Master, checked_prior
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem


@register
class FollowTheLeader(Master):
    """Put all weight on the expert with the smallest loss, divided by the prior among ties.

    Parameters
    ----------
    loss
        The loss of a forecast: ``square``, ``absolute``, ``zero-one``, ``log``, ``quantile``,
        ``percentage``, or a custom loss. Without advice, losses are given.
    loss_parameter
        The quantile, for ``quantile``.
    prior
        The weights of tied leaders; by default equal.

    Examples
    --------
    It loses 1 in every round but the first, and the better expert half of that:

    >>> master = FollowTheLeader()
    >>> master.learn_many([[0.5, 0.0]] + [[0.0, 1.0], [1.0, 0.0]] * 50)
    >>> master.total_loss, float(master.expert_losses.min())
    (100.25, 50.0)

    References
    ----------
    N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and games", 2006, section 4.3.
    """

    name = "follow-the-leader"
    theorems = (
        Theorem(
            name="ftl-experts-fails",
            quantity="regret",
            formula=r"L_A - \min_i L_i \ge \frac{T}{2} - 1",
            plain="regret >= T/2 - 1 on a sequence of T rounds: no promise",
            where="$T$ is the number of rounds",
            assumptions=(
                Structural(
                    r"losses $(\frac12,0), (0,1), (1,0), (0,1), \dots$: a sequence on which the"
                    r" regret is linear; no bound below that holds"
                ),
            ),
            source="Cesa-Bianchi and Lugosi, 2006",
            warning=True,
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        loss_parameter: float | None = None,
        prior: Any = None,
    ) -> None:
        super().__init__(Exponential(1.0, "leaders", checked_prior(prior)), loss, loss_parameter)
        self.loss, self.loss_parameter, self.prior = loss, loss_parameter, prior
