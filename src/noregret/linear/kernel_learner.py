"""The base of the kernel learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.linear.engine.kernel_machine import KernelMachine
from noregret.linear.learner import Floats, Learner

if TYPE_CHECKING:
    from noregret.proof.theorems.kernel_evidence import KernelEvidence


class KernelLearner(Learner):
    """A function Σ c_j k(s_j, ·) of some of the examples, its support vectors.

    ``weights`` is its gradient at x = 0, which determines it for the linear kernel only.
    """

    engine: KernelMachine

    @property
    def support_vectors(self) -> Floats:
        """The support vectors, one per row, in the order of ``features``."""
        return self._entry.undisturbed(lambda: self.engine.support()[0])

    @property
    def coefficients(self) -> Floats:
        """The coefficient of each support vector."""
        return self._entry.undisturbed(lambda: self.engine.support()[1])

    @property
    def norm(self) -> float:
        """The norm of the function in the kernel's space."""
        return self._entry.undisturbed(self.engine.norm)

    @property
    def removed(self) -> int:
        """The number of support vectors removed because of the budget."""
        return self.engine.removed

    def _evidence_kind(self) -> type[KernelEvidence]:
        """Return the evidence for its theorems."""
        from noregret.proof.theorems.kernel_evidence import KernelEvidence

        return KernelEvidence
