"""Masters that weigh experts by regrets and their squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.second_order_weights import Bernstein, Grid, Polynomial, Scaled
from noregret.experts.master import Master, checked_prior

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence


class SecondOrder(Master):
    """A master without a rate to choose or a range to know."""

    _weighing: type[Bernstein | Grid | Polynomial]
    _weigher: Scaled

    def __init__(
        self,
        loss: str | Loss = "square",
        loss_parameter: float | None = None,
        gradient: bool = True,
        prior: Any = None,
    ) -> None:
        super().__init__(self._weighing(checked_prior(prior)), loss, loss_parameter, gradient)
        self.loss, self.loss_parameter, self.gradient = loss, loss_parameter, gradient
        self.prior = prior

    @property
    def price(self) -> NDArray[np.float64]:
        """The bound on the regret to each expert."""
        return np.asarray(self._weigher.bounds())


def promise(evidence: ExpertEvidence) -> float:
    """Return the bound on the regret to the best expert."""
    player = evidence.player
    assert isinstance(player, SecondOrder)
    return evidence.at_the_best(player.price)
