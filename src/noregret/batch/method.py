"""The base class of batch methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.algorithm import Named
from noregret.batch import state
from noregret.batch.intake import FixedPredictor
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from noregret.batch.evidence import BatchEvidence
    from noregret.batch.game import BatchGame
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.record.ledger import Keep

Floats = NDArray[np.float64]
B = TypeVar("B", bound="Batch")


@dataclass(frozen=True)
class Solution:
    """The result of a method.

    Parameters
    ----------
    weights
        One a feature, that of the constant first where there is one.
    numbers, arrays
        What else is worth keeping, by name; files hold them.
    """

    weights: Floats
    numbers: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


class Batch(Named):
    """A predictor that is fitted to all examples at once.

    A method derives from this, stores its parameters under their own names, and says in ``solve``
    how weights are found. What it promises is in its theorems, as with learners.
    """

    family: ClassVar[str] = "batch"
    # What a prediction costs; it says what outcomes are, numbers or labels.
    loss_name: ClassVar[str] = "square"
    # What is kept of the examples until it is fitted: rows, or for the square loss ``auto``.
    keep: ClassVar[Keep] = "rows"
    # Whether the weights are proven to be good whoever found them, so that a certificate is
    # confirmed for the weights that it states.
    proven_by_weights: ClassVar[bool] = True
    # Whether rows begin with a constant; a parameter of some methods.
    intercept: bool = False

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all examples."""
        self.game: BatchGame | None = None
        self.fixed = self.new_fixed()
        self._kept: Solution | None = None

    def new_fixed(self) -> FixedPredictor:
        """Return who takes examples in."""
        return FixedPredictor(self.loss_name, self.intercept)

    # What a method says for itself.

    def solve(self, examples: BatchEvidence) -> Solution:
        """Find the weights; ``examples`` has the rows, or sums, and what hindsight knows."""
        raise NotImplementedError

    def check_found(self, found: Solution) -> None:
        """Raise ValueError where what a file says was found makes no sense."""

    def stands_by(self, found: Solution) -> bool:
        """Return whether the certificate depends on the weights only, however they were found."""
        return self.proven_by_weights

    # Fitting.

    def new_game(self, **options: Any) -> BatchGame:
        """Return a game that takes examples in and fits this method to them, from scratch."""
        from noregret.batch.game import BatchGame

        return BatchGame(self, **options)

    def fit(self: B, X: Any, y: Any = None, *, target: str | None = None) -> B:
        """Fit it to these examples and no others; return it.

        Parameters
        ----------
        X
            What ``noregret.play`` takes: a table (an array, a SciPy sparse matrix, a data frame, a
            list of dicts), pairs (x, y), the path of a file, or a stream.
        y
            One outcome a row, for a table.
        target
            The column that holds the outcomes, for a data frame or a file.

        Notes
        -----
        Where an example is refused, nothing changes: it is fitted as it was before.
        """
        game = self.new_game(progress=False)
        if not game.play(X, y, target=target).rounds:
            raise NoRegretError(f"there are no examples to fit {self.name} to")
        return self

    def adopt(self, game: BatchGame) -> None:
        """Take over what came of a game."""
        self.game, self.fixed, self._kept = game, game.intake.learner, None

    @property
    def solution(self) -> Solution:
        """The result."""
        if self._kept is None:
            if self.game is None:
                raise NoRegretError(f"{self.name} is not fitted yet", "fit(X, y) does that")
            self._kept = self.game.solution
            self.fixed.give(self._kept.weights)
        return self._kept

    # What it has learned.

    @property
    def rounds(self) -> int:
        """Number of examples it was fitted to."""
        return self.fixed.rounds

    @property
    def features(self) -> list[str]:
        """The names of the features; columns of arrays are called "0", "1", …."""
        return self.fixed.features

    @property
    def weights(self) -> Floats:
        """The weights in the order of ``features``."""
        return self.solution.weights[int(self.intercept) :].copy()

    @property
    def constant(self) -> float:
        """The weight of the constant feature; 0 without an intercept."""
        return float(self.solution.weights[0]) if self.intercept else 0.0

    def ready(self) -> FixedPredictor:
        """Return who predicts, with the weights that were found."""
        assert self.solution is not None
        return self.fixed

    def predictor(self) -> FixedPredictor:
        """Return the weights as a learner that predicts with them and learns nothing."""
        assert self.weights is not None  # refused by methods that have none
        return self.ready()

    # Predicting.

    def decision_one(self, x: Any) -> float:
        """Return the score w·x; a classifier's label is its sign."""
        return self.ready().decision_one(x)

    def predict_one(self, x: Any) -> Any:
        """Predict the outcome of one example."""
        return self.ready().predict_one(x)

    def decision_many(self, X: Any) -> Any:
        """Return the score w·x of every row, for a data frame as a series of its own library."""
        return self.ready().decision_many(X)

    def predict_many(self, X: Any) -> Any:
        """Predict the outcome of every row, for a data frame as a series of its own library."""
        return self.ready().predict_many(X)

    def to_onnx(self, path: str | Path | None = None, dtype: str = "float64") -> Any:
        """Return the weights for other runtimes, as ``noregret.Learner.to_onnx`` does."""
        from noregret.linear.onnx import to_onnx

        return to_onnx(self, self.predictor(), path, dtype)

    # What is proven of it.

    def certificate(self, theorem: str | None = None, **given: Any) -> Certificate:
        """State what it pays on the examples, how near to the best that is, and what was promised.

        Parameters
        ----------
        theorem
            Which promise to look at; the first whose assumptions held, if not given.
        **given
            What a theorem is told besides; ``limits`` says how hard to search in hindsight.
        """
        if self.game is None:
            why = "it is not fitted yet" if self._kept is None else state.NOT_AT_HAND
            raise NoRegretError(f"{self.name} has nothing to certify: {why}")
        return self.game.certificate(theorem, **given)

    # Copies and files.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return all that it has learned."""
        return state.state_of(self)

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Go on from a state; raise ValueError where it makes no sense."""
        state.restore(self, arrays, numbers, names)
