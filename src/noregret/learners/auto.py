"""Auto."""

from __future__ import annotations

from noregret.core.bank import Bank
from noregret.learner import Learner
from noregret.registry import register


@register
class Auto(Learner):
    """No choice."""

    name = "auto"
    engine: Bank

    def __init__(
        self,
        loss: str = "square",
        loss_parameter: float | None = None,
        recent: bool = True,
        delay: int = 0,
    ) -> None:
        super().__init__(Bank(loss, loss_parameter, recent, delay))
        self.loss, self.loss_parameter, self.recent, self.delay = (
            loss,
            loss_parameter,
            recent,
            delay,
        )
