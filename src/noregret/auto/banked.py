"""The part of a learner with a bank that tells what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.linear.learner import Learner

if TYPE_CHECKING:
    from noregret.auto.bank import Bank
    from noregret.auto.class_bank import ClassBank
    from noregret.auto.findings import Member


class Banked(Learner):
    """A learner whose engine is a bank of members."""

    engine: Bank | ClassBank
    _for_classes = "auto-classes"

    @property
    def members(self) -> list[Member]:
        """The learners of the bank: name, kind, weight and cumulative loss of each."""
        from noregret.auto.findings import members_of

        return self._entry.undisturbed(lambda: members_of(self.engine))

    @property
    def history(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """About a hundred rounds, and the weights of all learners after each, one row per round."""
        return self._entry.undisturbed(self.engine.history)

    @property
    def _caveat(self) -> str | None:
        """A caveat for predicting many rows without learning from them."""
        from noregret.auto.findings import caveat_of

        return self._entry.undisturbed(lambda: caveat_of(self.engine))

    def findings(self, features: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the findings as plain values; names of features may be passed."""
        from noregret.auto.findings import findings_of

        return self._entry.undisturbed(lambda: findings_of(self.engine, self._named(features)))

    def describe(self, features: Sequence[str] | None = None) -> str:
        """Return the findings as text: the best learners, drift, which features matter."""
        from noregret.auto.findings import words_of

        return self._entry.undisturbed(lambda: words_of(self.engine, self._named(features)))

    def _named(self, features: Sequence[str] | None) -> Callable[[int], str]:
        """Return a function from positions to names: of millions of features, few are named."""
        known = self.engine.size
        if features is not None and len(features) != known:
            raise ValueError(f"expected {known} names of features: got {len(features)}")
        names = features or self._entry.known.names
        return names.__getitem__ if names else str
