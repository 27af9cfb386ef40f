"""Sums that determine the square loss of every linear predictor.

The Gram matrix Σ x xᵀ, the moment Σ y x and the energy Σ y² of T rows fit in memory for any T (n up
to about 2,000). They are built from blocks with one matrix product each, and sums of two parts add
up. They lose digits compared with the rows: L(w) = energy − 2 moment·w + wᵀ Gram w is a small
difference of large numbers if w predicts well. The interval of an answer is wider for it, unless
the rows are available for a second pass.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret.hindsight.blocks import pieces, products
from noregret.hindsight.proofs.answer import EXACT_GAP, USUAL, Answer, Limits
from noregret.hindsight.proofs.rounding import Floats, growth, two_sum, upward
from noregret.hindsight.rows import Rows
from noregret.hindsight.solvers import quadratic as solve
from noregret.hindsight.solvers.curvature import Factored
from noregret.hindsight.solvers.tangent import OnRows, Quadratic, SquareLoss, Tangent
from noregret.hindsight.sums import add_carefully, depth_of, mirrored
from noregret.limits import SMALLEST, UNDERFLOW

# The relative gap up to which sums without rows are worth a certificate.
SUMS_GAP = 1e-6
# The sums within Σ z zᵀ for z = (y, x).
PLACES: dict[str, Any] = {
    "gram": np.s_[1:, 1:],
    "moment": np.s_[0, 1:],
    "energy": np.s_[0, 0],
}


class LeastSquares:
    """Sums over a stream of rows, and the predictors that minimise the square loss on them.

    The methods take the rows too, if they can be read again, for a sharper answer.

    Parameters
    ----------
    features
        n, the initial number of columns; wider rows add columns.

    Examples
    --------
    >>> sums = LeastSquares(2)
    >>> sums.add([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 2.0, 3.0]).best().witness.round(6)
    array([1., 1.])
    """

    def __init__(self, features: int = 0) -> None:
        self.rounds = 0
        self.depth = 0  # most rows in one product
        # Σ z zᵀ for z = (y, x), valid on and above the diagonal, and what rounding took.
        self.high = np.zeros((1 + features, 1 + features))
        self.low = np.zeros_like(self.high)

    @property
    def features(self) -> int:
        """The number of columns so far."""
        return len(self.high) - 1

    @property
    def whole(self) -> Floats:
        """Σ z zᵀ for z = (y, x)."""
        return mirrored(self.high + self.low)

    @property
    def gram(self) -> Floats:
        """Σ x xᵀ."""
        return self.whole[1:, 1:]

    @property
    def moment(self) -> Floats:
        """Σ y x."""
        return np.asarray(self.high[0, 1:] + self.low[0, 1:])

    @property
    def energy(self) -> float:
        """Σ y²."""
        return float(self.high[0, 0] + self.low[0, 0])

    @property
    def lost(self) -> float:
        """A bound on the underflow in each of the sums and in their use."""
        return (self.rounds + 4 * self.features + 8) * SMALLEST if self.rounds else 0.0

    def add(self, X: Any, y: Any) -> LeastSquares:
        """Add rows."""
        for block, outcomes in pieces(X, y):
            part = np.zeros((1 + block.shape[1], 1 + block.shape[1]))
            part[0, 1:], part[0, 0] = block.T @ outcomes, outcomes @ outcomes
            for product in products(block):
                part[1:, 1:] = product
                self.add_part(part)
                part[0] = 0.0
            self.rounds += len(outcomes)
            self.depth = max(self.depth, len(outcomes))
        return self

    def add_product(self, product: Floats, rows: int) -> LeastSquares:
        """Add rows by Σ z zᵀ for z = (y, x), in the layout of ``add_outer_products``."""
        self.add_part(product)
        self.depth = max(self.depth, depth_of(rows))
        self.rounds += rows
        return self

    def add_part(self, part: Floats) -> None:
        """Add a part of Σ z zᵀ, with compensation."""
        missing = len(part) - len(self.high)
        if missing > 0:
            self.high, self.low = np.pad(self.high, (0, missing)), np.pad(self.low, (0, missing))
        elif missing < 0:
            part = np.pad(part, (0, -missing))
        add_carefully(self.high, self.low, part)

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return arrays and numbers from which the same sums continue to the bit."""
        arrays: dict[str, Floats] = {}
        for part in ("high", "low"):
            whole = mirrored(getattr(self, part))
            for name, where in PLACES.items():
                arrays[f"{name}.{part}"] = whole[where].reshape(-1)
        return arrays, {"features": self.features, "rounds": self.rounds, "depth": self.depth}

    @classmethod
    def from_state(cls, arrays: dict[str, Floats], numbers: dict[str, Any]) -> LeastSquares:
        """Return sums that continue from a state."""
        made = cls(numbers["features"])
        for part in ("high", "low"):
            whole = getattr(made, part)
            for name, where in PLACES.items():
                whole[where] = arrays[f"{name}.{part}"].reshape(whole[where].shape)
        made.rounds, made.depth = numbers["rounds"], numbers["depth"]
        if numbers.get("waiting") is not None:  # products that 0.1.0 had not added yet
            made.add_part(arrays["waiting"].reshape(numbers["waiting"], -1))
            made.depth = max(made.depth, numbers["waiting_depth"])
        return made

    @classmethod
    def from_sums(
        cls, gram: Floats, moment: Floats, energy: Any, rounds: int, depth: int
    ) -> LeastSquares:
        """Return sums computed elsewhere, with at most this many additions in a row."""
        made = cls(len(moment))
        for name, part in (("gram", gram), ("moment", moment), ("energy", energy)):
            made.high[PLACES[name]] = part
        made.rounds, made.depth = rounds, depth
        return made

    def merge(self, other: LeastSquares) -> LeastSquares:
        """Add other sums."""
        self.add_part(other.high)
        self.add_part(other.low)
        self.rounds += other.rounds
        self.depth = max(self.depth, other.depth)
        return self

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient of the loss at w."""
        return 2 * (self.gram @ w - self.moment)

    def tangent(self, w: Floats) -> Tangent:
        """Return the loss and its gradient at w, with bounds on their rounding errors.

        Every sum has an error of at most γ times the sum of absolute values, which Cauchy's
        inequality bounds by the columns' norms, plus the underflow of each product.
        """
        gram, moment, energy = self.gram, self.moment, self.energy
        error = growth(self.depth + 2 * additions_of(self.features) + 8)
        lost = self.lost
        norms = np.sqrt(np.diag(gram) + lost) * (1 + error)
        size = upward((math.sqrt(energy + lost) + float(norms @ np.abs(w))) * (1 + 2 * error))
        image = sums_of(gram * w)
        loss = energy - 2 * float(sums_of(moment * w)) + float(sums_of(image * w))
        # Add the underflow of every number in the sums.
        times = 1 + float(np.abs(w).sum())
        off = upward(2 * error * size * size + 2 * lost * times * times)
        gradient = 2 * (image - moment)
        low, high = (loss - off, loss + off) if math.isfinite(loss) else (-math.inf, math.inf)
        return Tangent(low, high, gradient, 2 * error * size * norms + 4 * lost * times)

    def know_loss_of(self, w: Floats) -> bool:
        """Return whether the sums give the loss at w as accurately as the rows."""
        low, high, *_ = self.tangent(w)
        return high - low <= EXACT_GAP * high + UNDERFLOW

    def quadratic(self, rows: Rows | None = None) -> Quadratic:
        """Return the loss as a quadratic function, evaluated on the rows if given."""
        gram = self.gram
        error = growth(self.depth + 4)
        loss: SquareLoss = self if rows is None else OnRows(rows)
        return Quadratic(self.features, loss, Factored(gram), gram, error, rows, self.lost)

    def best(self, rows: Rows | None = None) -> Answer:
        """Return the best of all linear predictors; of several, one of small norm."""
        return solve.best_linear(self.quadratic(rows))

    def ridge(self, penalty: float, scale: float = 1.0, rows: Rows | None = None) -> Answer:
        """Return the minimiser of  scale · L(u) + penalty · ‖u‖²."""
        return solve.best_ridge(self.quadratic(rows), penalty, scale)

    def ball(self, radius: float, rows: Rows | None = None) -> Answer:
        """Return the best predictor of norm at most the radius."""
        return solve.best_in_ball(self.quadratic(rows), radius)

    def simplex(
        self,
        *,
        entropy: float = 0.0,
        scale: float = 1.0,
        weight: float | None = None,
        rows: Rows | None = None,
        limits: Limits = USUAL,
    ) -> Answer:
        """Return the weighting that minimises  scale · L(u) + entropy · KL(u ‖ uniform)."""
        return solve.best_in_simplex(self.quadratic(rows), entropy, scale, weight, limits)


def sums_of(products: Floats) -> Floats:
    """Return sums along the last axis, in parts, so that few additions follow each other."""
    count = products.shape[-1]
    side = math.isqrt(max(0, count - 1)) + 1
    missing = [(0, 0)] * (products.ndim - 1) + [(0, side * side - count)]
    parts = np.pad(products, missing).reshape(*products.shape[:-1], side, side)
    return np.asarray(parts.sum(axis=-1).sum(axis=-1))


def additions_of(count: int) -> int:
    """Return the most additions in a row, with the product before them, in such a sum."""
    return 2 * (math.isqrt(max(0, count - 1)) + 1) + 1


class Sum:
    """A compensated running sum of arrays; a larger array makes it grow."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.high, self.low = np.zeros(shape), np.zeros(shape)

    def add(self, part: Any) -> None:
        """Add an array."""
        short = np.subtract(np.shape(part), self.high.shape)
        if short.any():
            part = np.pad(part, [(0, max(0, -s)) for s in short])
            wider = [(0, max(0, s)) for s in short]
            self.high, self.low = np.pad(self.high, wider), np.pad(self.low, wider)
        self.high, lost = two_sum(self.high, part)
        self.low += lost

    @property
    def value(self) -> Floats:
        """The sum."""
        return np.asarray(self.high + self.low)
