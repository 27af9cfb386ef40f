"""Follow the regularised leader (FTRL): the leader, stabilised by a regulariser.

    w ← argmin over the domain of  η · Σ g_s·w + regulariser(w)

The Euclidean regulariser ½‖w‖² gives w = −η·G, projected on the ball, if any; G is the sum of the
gradients. The entropic one gives w_i ∝ exp(−η·G_i) on the simplex, or its signed form of total
weight U.

Promise. For every u, with gradients g_t of the losses:
regret(u) ≤ ‖u‖²/(2η) + (η/2)·Σ‖g_t‖².
"""

from __future__ import annotations

from typing import Any

from noregret.base.compiled.losses import Loss
from noregret.base.registry import register
from noregret.checks import one_of, positive
from noregret.linear.engine.additive import Lazy
from noregret.linear.engine.engine import Engine
from noregret.linear.engine.multiplicative import Multiplicative
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import CONVEX, Structural
from noregret.proof.theorems.fixed_rate_bound import promise, radius_of, so_far
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem, loss_name

REGULARISERS = ("euclidean", "entropic")


def tuned(radius: float, lipschitz: float, horizon: int) -> dict[str, Any]:
    """Return the rate for comparators up to ``radius`` and gradients up to ``lipschitz``."""
    rate = positive("radius", radius) / positive("lipschitz", lipschitz)
    return {"rate": rate, "schedule": "horizon", "horizon": horizon, "radius": radius}


@register
class Ftrl(Learner):
    """Follow the regularised leader of the linearised losses.

    Parameters
    ----------
    loss
        Any loss of ``gradient-descent``, linearised where the prediction was made.
    rate
        Above 0: η of the constant schedule, α of α/√t and α/√T.
    schedule
        ``constant``, ``horizon`` (α/√T), or for the Euclidean regulariser ``sqrt`` (α/√t).
    horizon
        T, the number of rounds, for the horizon schedule.
    regulariser
        ``euclidean`` or ``entropic``.
    radius
        U, above 0: keep ‖w‖₂ ≤ U (Euclidean). If None, the weights are unconstrained.
    weight
        U, above 0, for entropic weights of either sign with Σ|w_i| ≤ U. If None, the simplex.
    dimension
        n of the entropic form if known beforehand, as in ``exponentiated-gradient``.
    loss_parameter
        Parameter of the loss, as in ``gradient-descent``.

    Examples
    --------
    ``follow-the-leader`` loses 100 here:

    >>> learner = Ftrl(loss="linear", rate=1.0, schedule="horizon", horizon=101, radius=1.0)
    >>> for slope in [0.5] + [-1.0, 1.0] * 50:
    ...     learner.learn_one([1.0], slope)
    >>> learner.total_loss < 6
    True

    References
    ----------
    S. Shalev-Shwartz, "Online learning and online convex optimization", 2012.
    """

    name = "ftrl"
    theorems = (
        Theorem(
            name="ftrl",
            quantity="regret",
            formula=r"L_A - L_u \le \frac{\|u\|^2}{2\eta} + \frac\eta2 \sum_t \|g_t\|^2",
            plain="regret against u <= ‖u‖²/(2 rate) + (rate/2) Σ ‖gradient‖²",
            assumptions=(
                Structural(
                    r"Euclidean regulariser, $\eta$ constant or $\alpha/\sqrt T$; for every $u$ in"
                    r" the domain. Without a `radius`, $\|u\|$ is at most the norm of the final"
                    " weights, or the radius passed to the certificate"
                ),
                Structural(r"$g_t$ is the gradient of the loss at $w_t$"),
                CONVEX,
            ),
            bound=lambda e: promise(e.params, radius_of(e), e.gradient_squares),
            best=lambda e: e.best_in_ball(radius_of(e)),
            so_far=so_far,
            covers=lambda p: (
                p["regulariser"] == "euclidean"
                and p["schedule"] != "sqrt"
                and loss_name(p) != "mistake"
            ),
            tune=tuned,
            tuning=(
                r"$\|u\| \le U$, $\|g_t\| \le L$: $\eta = U/(L\sqrt T)$ gives $U L \sqrt T$;"
                r" `schedule=horizon`, `rate` $= U/L$"
            ),
            asks="radius=1.0",
            over_shards=ADDED_UP,
            source="Shalev-Shwartz, 2012",
        ),
    )

    def __init__(
        self,
        loss: str | Loss = "square",
        rate: float = 0.1,
        schedule: str = "constant",
        horizon: int | None = None,
        regulariser: str = "euclidean",
        radius: float | None = None,
        weight: float | None = None,
        dimension: int | None = None,
        loss_parameter: float | None = None,
    ) -> None:
        positive("rate", rate)
        one_of("regulariser", regulariser, REGULARISERS)
        engine: Engine
        if regulariser == "euclidean":
            if weight is not None or dimension is not None:
                raise ValueError("weight and dimension go with regulariser='entropic'")
            engine = Lazy(loss, rate, schedule, horizon, radius, loss_parameter=loss_parameter)
        else:
            if radius is not None:
                raise ValueError("radius goes with regulariser='euclidean'; weight with 'entropic'")
            if schedule == "sqrt":
                raise ValueError(
                    "schedule='sqrt' would change every entropic weight in every round:"
                    " use schedule='horizon', or exponentiated-gradient"
                )
            # At a fixed rate the leader's weights are those of exponentiated gradient.
            engine = Multiplicative(
                loss,
                rate,
                schedule,
                horizon,
                weight=1.0 if weight is None else weight,
                mirrored=weight is not None,
                dimension=dimension,
                loss_parameter=loss_parameter,
            )
        super().__init__(engine)
        self.loss, self.rate, self.schedule, self.horizon = loss, rate, schedule, horizon
        self.regulariser, self.radius, self.weight = regulariser, radius, weight
        self.dimension, self.loss_parameter = dimension, loss_parameter
