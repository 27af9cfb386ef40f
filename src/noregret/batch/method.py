"""The base class of batch methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.algorithm import Named
from noregret.base.packing import of_prefix, with_prefix
from noregret.errors import NoRegretError
from noregret.linear.fixed_predictor import FixedPredictor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from noregret.batch.evidence import BatchEvidence
    from noregret.batch.game import BatchGame
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.record.ledger import Keep

Floats = NDArray[np.float64]
B = TypeVar("B", bound="Batch")
NOT_AT_HAND = (
    "a copy or a file does not include the examples: ask for the certificate where it was fitted,"
    " or fit it again"
)
# The prefixes of two parts of a model file: the reader of the examples, and the result.
EXAMPLES, FOUND = "scribe.", "found."


@dataclass(frozen=True)
class Solution:
    """The result of a method.

    Parameters
    ----------
    weights
        One per feature, that of the constant first, if there is one.
    numbers, arrays
        Further results by name, which are saved in files.
    """

    weights: Floats
    numbers: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


class Batch(Named):
    """A predictor that is fitted to all examples at once.

    A method derives from this, stores its parameters under their own names, and finds the weights
    in ``_solve``. It has theorems like learners.
    """

    family: ClassVar[str] = "batch"
    # The loss, which determines whether outcomes are numbers or labels.
    loss_name: ClassVar[str] = "square"
    # What is kept of the examples: rows, or for the square loss ``auto``.
    _keep: Keep = "rows"
    # Whether the theorem holds for weights however they were found, so that a certificate is
    # verified with the weights that it states.
    _proven_by_weights: ClassVar[bool] = True
    # Whether rows begin with a constant feature; a parameter of some methods.
    intercept: bool = False

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """Forget all examples."""
        self.game: BatchGame | None = None
        self._fixed = self._new_fixed()
        self._kept: Solution | None = None

    def _new_fixed(self) -> FixedPredictor:
        """Return the predictor that reads the examples."""
        return FixedPredictor(self.loss_name, self.intercept)

    # What a method defines.

    def _solve(self, examples: BatchEvidence) -> Solution:
        """Find the weights; ``examples`` has the rows or sums, and the best in hindsight."""
        raise NotImplementedError

    def _check_found(self, found: Solution) -> None:
        """Raise ValueError if the result in a file is invalid."""

    def _stands_by(self, found: Solution) -> bool:
        """Return whether the certificate depends on the weights only, however they were found."""
        return self._proven_by_weights

    # Fitting.

    def _new_game(self, **options: Any) -> BatchGame:
        """Return a game that reads examples and fits this method to them, from scratch."""
        from noregret.batch.game import BatchGame

        return BatchGame(self, **options)

    def fit(self: B, X: Any, y: Any = None, *, target: str | None = None) -> B:
        """Fit the method to these examples only; return it.

        Parameters
        ----------
        X
            What ``noregret.play`` takes: a table (an array, a SciPy sparse matrix, a data frame, a
            list of dicts), pairs (x, y), the path of a file, or a stream.
        y
            One outcome per row, for a table.
        target
            The column that holds the outcomes, for a data frame or a file.

        Notes
        -----
        If an example is rejected, nothing changes.
        """
        game = self._new_game(progress=False)
        if not game.play(X, y, target=target).rounds:
            raise NoRegretError(f"there are no examples to fit {self.name} to")
        return self

    def _adopt(self, game: BatchGame) -> None:
        """Use the result of a game."""
        self.game, self._fixed, self._kept = game, game.intake.learner, None

    @property
    def solution(self) -> Solution:
        """The weights and further results."""
        if self._kept is None:
            if self.game is None:
                raise NoRegretError(f"{self.name} is not fitted yet", "call fit(X, y)")
            self._kept = self.game.solution
            self._fixed.give(self._kept.weights)
        return self._kept

    # Results.

    @property
    def rounds(self) -> int:
        """The number of examples it was fitted to."""
        return self._fixed.rounds

    @property
    def features(self) -> list[str]:
        """The names of the features; columns of arrays are called "0", "1", …."""
        return self._fixed.features

    @property
    def weights(self) -> Floats:
        """The weights in the order of ``features``."""
        return self.solution.weights[int(self.intercept) :].copy()

    @property
    def constant(self) -> float:
        """The weight of the constant feature; 0 without an intercept."""
        return float(self.solution.weights[0]) if self.intercept else 0.0

    def _ready(self) -> FixedPredictor:
        """Return the predictor with the weights that were found."""
        assert self.solution is not None
        return self._fixed

    def _predictor(self) -> FixedPredictor:
        """Return the weights as a learner that predicts and does not learn."""
        assert self.weights is not None  # raises an error for methods without weights
        return self._ready()

    # Predicting.

    def decision_one(self, x: Any) -> float:
        """Return the score w·x; a classifier's label is its sign."""
        return self._ready().decision_one(x)

    def predict_one(self, x: Any) -> Any:
        """Predict the outcome of one example."""
        return self._ready().predict_one(x)

    def decision_many(self, X: Any) -> Any:
        """Return the score w·x of each row; for a data frame, a series of its library."""
        return self._ready().decision_many(X)

    def predict_many(self, X: Any) -> Any:
        """Predict the outcome of each row; for a data frame, a series of its library."""
        return self._ready().predict_many(X)

    def to_onnx(self, path: str | Path | None = None, dtype: str = "float64") -> Any:
        """Return the weights as an ONNX model, like ``noregret.Learner.to_onnx``."""
        from noregret.linear.onnx import to_onnx

        return to_onnx(self, self._predictor(), path, dtype)

    # The certificate.

    def certificate(self, theorem: str | None = None, **given: Any) -> Certificate:
        """Return a certificate: the loss on the examples, the best in hindsight, and the theorem.

        Parameters
        ----------
        theorem
            The name of the theorem; by default the first whose assumptions hold.
        **given
            Further values that a theorem needs; ``limits`` limits the search in hindsight.
        """
        if self.game is None:
            why = "it is not fitted yet" if self._kept is None else NOT_AT_HAND
            raise NoRegretError(f"{self.name} has nothing to certify: {why}")
        return self.game.certificate(theorem, **given)

    # Copies and files.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        found = self.solution if self.rounds > 0 else None
        kept, numbers, names = self._fixed.get_state()
        arrays: dict[str, Any] = with_prefix(EXAMPLES, kept)
        numbers = with_prefix(EXAMPLES, numbers)
        if found is not None:
            arrays |= {"weights": found.weights} | with_prefix(FOUND, found.arrays)
            numbers |= with_prefix(FOUND, found.numbers)
        return arrays, numbers, names

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        fixed = self._new_fixed()
        fixed.set_state(of_prefix(EXAMPLES, arrays), of_prefix(EXAMPLES, numbers), names)
        found = None
        if fixed.rounds:
            weights = np.array(arrays["weights"], dtype=np.float64)
            if weights.shape != (fixed.engine.size + self.intercept,):
                raise ValueError(f"expected {fixed.engine.size + self.intercept} weights")
            if not np.isfinite(weights).all():
                raise ValueError("a weight is not finite")
            found = Solution(weights, of_prefix(FOUND, numbers), of_prefix(FOUND, arrays))
            self._check_found(found)
            fixed.give(weights)
        self.game, self._fixed, self._kept = None, fixed, found
