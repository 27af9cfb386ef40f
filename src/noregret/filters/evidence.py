"""Evidence for theorems about filters: the record of a finished game."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import make_loss
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.rounding import growth, norm
from noregret.hindsight.proofs.witness import Paid, is_proven, is_within, paid_by
from noregret.hindsight.sliding import Windows, correlated, norms
from noregret.proof.theorems.table_evidence import TableEvidence

if TYPE_CHECKING:
    from noregret.filters.filter import Filter
    from noregret.hindsight import LeastSquares, Rows

Floats = NDArray[np.float64]


class FilterEvidence(TableEvidence):
    """A game of a filter, compared with fixed filters with as many taps."""

    told: ClassVar[tuple[str, ...]] = ()
    player: Filter

    @property
    def taps(self) -> int:
        """The number of weights of a filter."""
        return self.player.taps

    @property
    def lags(self) -> list[str]:
        """The names of the weights: their lags in samples."""
        return [str(lag) for lag in range(self.taps)]

    def signals(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the input and the signal to predict, block by block."""
        for X, y in self.table.blocks():
            assert y is not None
            yield X[:, 0], y

    @property
    def rows(self) -> Rows:
        """The windows as rows."""
        return self.once("rows", lambda: Windows(self.signals, self.taps))

    @property
    def sums(self) -> LeastSquares:
        """The sums over all windows."""
        return self.once("sums", lambda: correlated(self.signals(), self.taps))

    @property
    def scaled_loss(self) -> float | None:
        """The sum of squared errors, each with its factor in the filter's theorem."""
        return None if self.rounds_before else self.player._core.scaled_loss

    @property
    def rounding(self) -> float:
        """Rounding error of the filter's loss, to first order.

        The error of w·x is at most γ(taps) ‖w‖‖x‖, that of the squared error 2 |error| times that.
        """
        score = growth(self.taps) * norm(self.player.weights) * self.largest("norm")
        return 2 * score * math.sqrt(self.rounds) * math.sqrt(self.loss)

    @property
    def energy(self) -> float | None:
        """The sum of the outcomes' squares."""
        return self.sums.energy

    def usual(self) -> Answer:
        """Return the best fixed filter."""
        return self.once("best", lambda: self.sums.best(self.rows))

    def best_in_ball(self, radius: float) -> Answer:
        """Return the best fixed filter of norm at most the radius."""
        return self.once(("ball", radius), lambda: self.sums.ball(radius, self.rows))

    def best_ridge(self, penalty: float, scale: float) -> Answer:
        """Return the minimiser of  scale · L(u) + penalty · ‖u‖²."""
        return self.once(
            ("ridge", penalty, scale), lambda: self.sums.ridge(penalty, scale, self.rows)
        )

    def largest(self, measure: str) -> float:
        """Return the largest norm of a window."""
        assert measure == "norm", measure
        return self.once(measure, lambda: max(float(n.max()) for n in self.norms()))

    def first_over(self, measure: str, limit: float) -> int | None:
        """Return the first sample whose window has a larger norm."""
        before = 0
        for sizes in self.norms():
            over = sizes > limit
            if over.any():
                return before + int(np.argmax(over)) + 1
            before += len(sizes)
        return None

    def norms(self) -> Iterator[Floats]:
        """Yield the norms of the windows."""
        return norms((x for x, _ in self.signals()), self.taps)

    # Witnesses.

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Return the weights of the best filter by lag."""
        weights = np.asarray(answer.witness, dtype=np.float64).tolist()
        return dict(zip(self.lags, weights, strict=True))

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return the loss of a filter on the signals; None if it has other taps."""
        if set(witness) != set(self.lags):
            return None
        weights = np.array([witness[lag] for lag in self.lags])
        return paid_by(weights, comparator, self.rows, make_loss("square"))

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness belongs to the stated class."""
        return set(witness) == set(self.lags) and is_within(witness, comparator)

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class applies to the stated one."""
        return is_proven(stated, found)
