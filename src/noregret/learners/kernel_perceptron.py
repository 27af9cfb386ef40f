"""The kernel perceptron, within a budget.

After a mistake, add the example with its label:

    if y f(x) ≤ 0:   f ← f + y k(x, ·)

At the budget, the support vector that the others approximate best is projected on them and
removed, which changes f by e.

Promise. With norms in the kernel's space and R = max √k(x, x), if nothing was removed: at most
(R/γ)² mistakes if some v of norm 1 has y v(x) ≥ γ, and on any data, for every u of hinge loss H, at
most ((‖u‖R + √(‖u‖²R² + 4H))/2)². With removals, for every u there are at most
H + ‖u‖(‖f‖ + Σ‖e‖) mistakes, where f is the final function: Σ‖e‖ is the cost of the budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.errors import NoRegretError
from noregret.linear.engine.kernel_machine import KernelMachine
from noregret.linear.kernel_learner import KernelLearner
from noregret.proof.theorems.assumptions import Shown, Structural, separable
from noregret.proof.theorems.kernel_assumptions import COMPLETE, NEAR
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.kernel_evidence import KernelEvidence

# Examples with a smaller k(x, x) are treated as zero.
MIN_KERNEL = 1e-100


def reach(evidence: KernelEvidence) -> float:
    """Return R = max √k(x, x)."""
    found = evidence.figure("reach")
    if 0 < found < MIN_KERNEL:
        raise NoRegretError(
            f"the examples (√k(x, x) up to {found:g}) are too small for a bound", "scale them"
        )
    return found


def by_margin(evidence: KernelEvidence) -> float:
    """Return (R/γ)² for the largest margin γ that is proven."""
    return (reach(evidence) / evidence.margin().lower) ** 2


def on_any_data(evidence: KernelEvidence) -> float:
    """Return the smallest bound found over all u."""
    reach(evidence)
    return evidence.mistake_bound().loss


def with_removals(evidence: KernelEvidence) -> float:
    """Return the smallest H(u) + ‖u‖(‖f‖ + Σ‖e‖) found over all u."""
    reach(evidence)
    return evidence.budget_bound().loss


@register
class KernelPerceptron(KernelLearner):
    """Binary classification by the perceptron in the space of a kernel.

    Parameters
    ----------
    kernel
        ``rbf``, exp(−‖x−z‖²/(2 width²)); ``polynomial``, (x·z + offset)^degree; or ``linear``, x·z.
    width
        Length scale of ``rbf``, above 0.
    degree
        Degree of ``polynomial``, 1 to 20.
    offset
        Offset of ``polynomial``, at least 0: the weight of the lower powers.
    budget
        Maximum number of support vectors, 1 to 1024. A round costs the budget times the number of
        features; an update at the budget costs its square on top.

    Examples
    --------
    No straight line separates these:

    >>> learner = KernelPerceptron(width=0.5)
    >>> corners = [([0.0, 0.0], -1), ([1.0, 1.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], 1)]
    >>> for x, y in corners * 10:
    ...     learner.learn_one(x, y)
    >>> [learner.predict_one(x) for x, _ in corners], learner.mistakes
    ([-1, -1, 1, 1], 4)

    References
    ----------
    M. A. Aizerman, E. M. Braverman and L. I. Rozonoer, 1964. Y. Freund and R. E. Schapire, "Large
    margin classification using the perceptron algorithm", 1999. Budgets by projection: F. Orabona,
    J. Keshet and B. Caputo, "Bounded kernel-based online learning", 2009.
    """

    name = "kernel-perceptron"
    theorems = (
        Theorem(
            name="kernel-perceptron",
            quantity="mistakes",
            formula=r"M \le (R/\gamma)^2",
            plain="mistakes <= (R/γ)²",
            where=r"norms are those of the kernel's space: $R = \max_t \sqrt{k(x_t, x_t)}$",
            assumptions=(
                COMPLETE,
                NEAR,
                Shown(
                    r"some $v$ of norm 1 has $y_t v(x_t) \ge \gamma > 0$ in every round; the"
                    r" largest such $\gamma$ is found in hindsight",
                    separable,
                ),
            ),
            bound=by_margin,
            needs_rows=True,
            source="Novikoff, 1962; Freund and Schapire, 1999",
        ),
        Theorem(
            name="kernel-perceptron-any-data",
            quantity="mistakes",
            formula=r"M \le \min_u \left(\frac{\|u\|R + \sqrt{\|u\|^2R^2 + 4H_u}}{2}\right)^2",
            plain="mistakes <= min over u of  ((‖u‖R + √(‖u‖²R² + 4 H(u)))/2)²",
            where=(
                r"norms are those of the kernel's space: $R = \max_t \sqrt{k(x_t, x_t)}$;"
                r" $H_u = \sum_t \max(0, 1 - y_t u(x_t))$"
            ),
            assumptions=(
                COMPLETE,
                NEAR,
                Structural("any $u$ is valid; the best found is reported"),
            ),
            bound=on_any_data,
            needs_rows=True,
            source="Freund and Schapire, 1999; Shalev-Shwartz, 2012",
        ),
        Theorem(
            name="kernel-perceptron-budget",
            quantity="mistakes",
            formula=r"M \le \min_u \left[ H_u + \|u\| \Big( \|f_T\| + \sum_t \|e_t\| \Big) \right]",
            plain="mistakes <= min over u of  H(u) + ‖u‖ (‖f‖ + Σ ‖e‖)",
            where=(
                r"$f_T$ is the final function, $e_t$ its change by the removal of a support vector,"
                r" and $H_u = \sum_t \max(0, 1 - y_t u(x_t))$"
            ),
            assumptions=(
                NEAR,
                Structural("any $u$ is valid; the best found is reported"),
            ),
            bound=with_removals,
            needs_rows=True,
            source="as Novikoff, 1962, with removals",
        ),
    )

    def __init__(
        self,
        kernel: str = "rbf",
        width: float = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        budget: int = 256,
    ) -> None:
        super().__init__(
            KernelMachine(
                "mistake",
                1.0,
                kernel=kernel,
                width=width,
                degree=degree,
                offset=offset,
                budget=budget,
            )
        )
        self.kernel, self.width, self.degree = kernel, width, degree
        self.offset, self.budget = offset, budget
