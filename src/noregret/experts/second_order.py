"""Masters that weigh experts by regrets and their squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.weigher import Scaled
from noregret.experts.master import Master

if TYPE_CHECKING:
    from noregret.experts.evidence import ExpertEvidence


class SecondOrder(Master):
    """A master without a rate to choose or a range to know."""

    _weigher: Scaled

    @property
    def price(self) -> NDArray[np.float64]:
        """The bound on the regret to each expert."""
        return np.asarray(self._weigher.bounds())


def promise(evidence: ExpertEvidence) -> float:
    """Return the bound on the regret to the best expert."""
    player = evidence.player
    assert isinstance(player, SecondOrder)
    return evidence.at_the_best(player.price)
