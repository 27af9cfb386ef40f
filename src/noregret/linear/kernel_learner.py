"""What the learners of a kernel's space share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.linear.engine.kernel_machine import KernelMachine
from noregret.linear.learner import Floats, Learner

if TYPE_CHECKING:
    from noregret.proof.theorems.kernel_evidence import KernelEvidence


class KernelLearner(Learner):
    """A function Σ c_j k(s_j, ·) of some of the examples, its support vectors.

    ``weights`` is its slope at x = 0: of the linear kernel all there is, of others not.
    """

    engine: KernelMachine

    @property
    def support_vectors(self) -> Floats:
        """The examples that it keeps, a row each, in the order of ``features``."""
        return self._entry.undisturbed(lambda: self.engine.support()[0])

    @property
    def coefficients(self) -> Floats:
        """The coefficient of each of them."""
        return self._entry.undisturbed(lambda: self.engine.support()[1])

    @property
    def norm(self) -> float:
        """The norm of its function in the kernel's space."""
        return self._entry.undisturbed(self.engine.norm)

    @property
    def removed(self) -> int:
        """How often a support vector had to go, as the budget was full."""
        return self.engine.removed

    def _evidence_kind(self) -> type[KernelEvidence]:
        """Return what its theorems look at."""
        from noregret.proof.theorems.kernel_evidence import KernelEvidence

        return KernelEvidence
