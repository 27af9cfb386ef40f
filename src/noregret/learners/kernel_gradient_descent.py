"""Gradient descent in the space of a kernel, within a budget.

    f ← project( f − η_t · loss'(f(x), y) · k(x, ·) )

Every example with a nonzero slope becomes a support vector. At the budget, the support vector that
the others approximate best is projected on them and removed, which changes f by e.

Promise. At a constant η, against every u (of the ball, if any), with norms in the kernel's space,
the regret is at most

    ‖u‖²/(2η) + (η/2)·Σ‖g‖² + (1/(2η))·Σ(‖e‖² − 2⟨e, f⟩ + 2‖e‖‖u‖),

where f is the function before the removal. The last sum is the measured cost of the budget.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.checks import positive
from noregret.linear.engine.kernel_machine import KernelMachine
from noregret.linear.kernel_learner import KernelLearner
from noregret.proof.theorems import fixed_rate_bound as linearised
from noregret.proof.theorems.assumptions import CONVEX, Structural
from noregret.proof.theorems.kernel_assumptions import NEAR
from noregret.proof.theorems.theorem import Theorem, loss_name

if TYPE_CHECKING:
    from noregret.proof.theorems.kernel_evidence import KernelEvidence


def promise(evidence: KernelEvidence) -> float:
    """Return the bound for comparators of the largest norm."""
    radius, params = linearised.radius_of(evidence), evidence.params
    without = linearised.promise(params, radius, evidence.figure("gradient_squares"))
    rate = params["rate"] / math.sqrt(params["horizon"] or 1)
    cost = evidence.figure("exchanged") + 2 * radius * evidence.figure("moved")
    return float(without + cost / (2 * rate))


@register
class KernelGradientDescent(KernelLearner):
    """Gradient descent on any convex loss in the space of a kernel, unconstrained or in a ball.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``.
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``sqrt`` (α/√t) or ``horizon`` (α/√T).
    horizon
        T, the number of rounds, for the horizon schedule.
    radius
        U, above 0: the radius of the ball, in the norm of the kernel's space. If None, the function
        is unconstrained.
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
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    >>> learner = KernelGradientDescent(width=0.5, rate=0.3)
    >>> for t in range(600):
    ...     x = (t * 7 % 60) / 10
    ...     learner.learn_one({"x": x}, abs(x - 3))
    >>> round(learner.predict_one({"x": 1.0}), 1), round(learner.predict_one({"x": 3.0}), 1)
    (2.0, 0.1)

    References
    ----------
    J. Kivinen, A. J. Smola and R. C. Williamson, "Online learning with kernels", 2004.
    M. Zinkevich, 2003.
    """

    name = "kernel-gradient-descent"
    theorems = (
        Theorem(
            name="kernel-gradient-descent",
            quantity="regret",
            formula=(
                r"L_A - L_u \le \frac{\|u\|^2}{2\eta} + \frac\eta2 \sum_t \|g_t\|^2"
                r" + \frac{1}{2\eta} \sum_t \big( \|e_t\|^2 - 2\langle e_t, f_t \rangle"
                r" + 2\|e_t\|\|u\| \big)"
            ),
            plain=(
                "regret against u <= ‖u‖²/(2 rate) + (rate/2) Σ ‖gradient‖²"
                " + Σ (‖e‖² − 2⟨e, f⟩ + 2‖e‖‖u‖)/(2 rate)"
            ),
            where=(
                r"norms are those of the kernel's space; $e_t$ is the change of $f_t$, the function"
                r" after the step and before the projection, by the removal of a support vector"
            ),
            assumptions=(
                Structural(
                    r"a constant $\eta$ from 0, on a ball or unconstrained; for every $u$ in the"
                    r" domain. Without a `radius`, $\|u\|$ is at most the norm of the final"
                    " function, or the radius passed to the certificate"
                ),
                NEAR,
                CONVEX,
            ),
            bound=promise,
            best=lambda e: e.best_in_ball(linearised.radius_of(e)),
            covers=lambda p: p["schedule"] != "sqrt" and loss_name(p) != "mistake",
            needs_rows=True,
            asks="radius=1.0",
            source="Zinkevich, 2003; Kivinen, Smola and Williamson, 2004",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        radius: float | None = None,
        kernel: str = "rbf",
        width: float = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        budget: int = 256,
        loss_parameter: float | None = None,
    ) -> None:
        positive("rate", rate)
        super().__init__(
            KernelMachine(
                loss,
                rate,
                schedule,
                horizon,
                radius,
                loss_parameter,
                kernel,
                width,
                degree,
                offset,
                budget,
            )
        )
        self.loss, self.rate, self.schedule, self.horizon = loss, rate, schedule, horizon
        self.radius, self.kernel, self.width = radius, kernel, width
        self.degree, self.offset, self.budget = degree, offset, budget
        self.loss_parameter = loss_parameter
