"""A game of a batch method: read all examples, then fit the method to them.

game = play(Ridge(penalty=1.0), X, y)
game.certificate()
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.batch.intake import Intake
from noregret.errors import NoRegretError
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.limits import MAX_VALUE
from noregret.proof.certificates.certifiable import Certifiable
from noregret.proof.record.ledger import MEMORY, Keep, Ledger
from noregret.proof.record.parts_digest import MAX_PARTS, Part, PartsDigest

if TYPE_CHECKING:
    from noregret.batch.evidence import BatchEvidence
    from noregret.batch.method import Batch, Solution
    from noregret.hindsight.rows import Rows
    from noregret.linear.learner import Measurement

Floats = NDArray[np.float64]
# The name of the constant feature in certificates.
CONSTANT = "(intercept)"


class BatchGame(Certifiable):
    """A batch method, the examples it is fitted to, and the result. Made by ``play``.

    Parameters
    ----------
    method
        The method to fit.
    keep, memory, progress
        As in ``noregret.play``.
    predictions
        Must be false: a batch method predicts nothing before it has seen all examples.
    """

    # Whether its sums are those of several games whose data cannot be read as one stream.
    merged = False

    def __init__(
        self,
        method: Batch,
        *,
        keep: Keep = "auto",
        memory: int = MEMORY,
        predictions: bool = False,
        progress: bool | None = None,
    ) -> None:
        if predictions:
            raise ValueError(
                f"{method.name} is fitted to all examples at once, without predictions on the way:"
                " fit it, then predict_many(X)"
            )
        super().__init__()
        self.method = self.learner = method
        keep = method._keep if keep == "auto" else keep
        fixed = method._new_fixed()
        self.intake = Intake(fixed, keep=keep, memory=memory, progress=progress)
        self._solution: Solution | None = None

    # Reading examples.

    def play(self, stream: Any, outcomes: Any = None, *, target: str | None = None) -> BatchGame:
        """Read more examples, and fit the method to all of the game."""
        self.take(stream, outcomes, target=target)
        if self.rounds:
            assert self.solution is not None
            self.method._adopt(self)
        return self

    def take(self, stream: Any, outcomes: Any = None, *, target: str | None = None) -> None:
        """Read more examples; the method is fitted on request."""
        self._solution = None
        self.answers.clear()
        self.intake.learner.rest()
        self.intake.play(stream, outcomes, target=target)

    @property
    def solution(self) -> Solution:
        """The result of the method on the examples."""
        if self._solution is None:
            found = self.method._solve(self.evidence({}, USUAL))
            if not np.isfinite(found.weights).all():
                raise NoRegretError(
                    f"{self.method.name} found no finite weights", "scale the examples"
                )
            self._solution = found
        return self._solution

    def found(self, solution: Solution) -> None:
        """Set a result that was found on the same examples before."""
        self._solution = solution

    def restated(self, witness: Mapping[str, float]) -> BatchGame | None:
        """Return this game with the weights of a certificate instead of those found."""
        from noregret.batch.method import Solution

        names, found = self.feature_names, self.solution
        if not self.method._stands_by(found) or set(witness) != set(names):
            return None
        weights = np.array([witness[name] for name in names], dtype=np.float64)
        if not np.abs(weights).max(initial=0.0) < MAX_VALUE:
            return None
        other = copy.copy(self)
        other._solution, other.answers = Solution(weights, found.numbers, found.arrays), {}
        return other

    def from_sums(self) -> BatchGame | None:
        """Return this game as if sums over its rows were all that is left."""
        from noregret.batch.summed import Summed
        from noregret.batch.sums import are_kept, sums_of

        if not isinstance(self.method, Summed) or not are_kept(self):
            return None
        other, other.intake = copy.copy(self), copy.copy(self.intake)
        other.intake.ledger = books = copy.copy(self.ledger)
        books.sums, books.pages, books.held, other.answers = sums_of(self), None, None, {}
        found = self.method._solve(other.evidence({}, USUAL))
        other._solution = replace(found, weights=self.solution.weights)
        return other

    def loss_by_sums(self) -> float:
        """Return what weights found from sums over the rows alone pay, where these are certified.

        A share of the best weights may be missing in any case, as gradient descent stops there.
        """
        from noregret.batch.least_squares import WEIGHT_TOLERANCE

        evidence = self.evidence({}, USUAL)
        least = evidence.loss + WEIGHT_TOLERANCE**2 * evidence.nothing
        summed = self.from_sums()
        if summed is None:
            return least
        try:
            found = self.method._solve(summed.evidence({}, USUAL))
            summed.found(found)
            summed.certificate()
        except NoRegretError:
            return least
        other = copy.copy(self)
        other._solution, other.answers = found, {}
        return max(least, other.loss)

    def hold(self, rows: Rows) -> None:
        """Use rows that others hold, in place of the sums."""
        self.ledger.held, self.ledger.sums, self._solution = rows, None, None
        self.answers.clear()

    # The figures.

    @property
    def ledger(self) -> Ledger:
        """The examples collected."""
        return self.intake.ledger

    @property
    def rounds(self) -> int:
        """The number of examples."""
        return self.intake.rounds

    @property
    def loss(self) -> float:
        """The loss of the fitted method on the examples."""
        return self.evidence({}, USUAL).loss

    @property
    def mistakes(self) -> int:
        """The number of examples that it gets wrong."""
        return self.evidence({}, USUAL).mistakes

    @property
    def counted_mistakes(self) -> int | None:
        """The mistakes, if outcomes are labels."""
        return self.mistakes if self.intake.learner.engine.loss.labels else None

    @property
    def measured(self) -> dict[str, Measurement]:
        """Measured values of the theorems' assumptions."""
        return self.intake.measured

    @property
    def loss_name(self) -> str:
        """The name of the loss."""
        return self.intake.loss_name

    @property
    def width(self) -> int:
        """The number of features seen."""
        return self.intake.width

    @property
    def digest(self) -> str:
        """A digest of the data: the same numbers give the same digest, whatever their source."""
        return self.intake.digest

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the data, if it was merged from several; else none."""
        digest = self.ledger.digest
        return digest.parts if isinstance(digest, PartsDigest) else ()

    @property
    def transforms(self) -> tuple[str, ...]:
        """Transforms that the stream applied to the data."""
        return self.intake.transforms

    @property
    def target(self) -> str | None:
        """The column that held the outcomes."""
        return self.intake.target

    @property
    def skipped(self) -> list[NoRegretError]:
        """The rows that were left out."""
        return self.intake.skipped

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, that of the constant first, if there is one."""
        names = self.intake.feature_names
        return [CONSTANT, *names] if self.method.intercept else names

    # The proof.

    def check(self) -> None:
        """Raise an error if the record of the game is incomplete."""
        self.intake.check()
        if self.merged:
            raise NoRegretError(
                f"this {self.method.name} was merged from several, whose data do not read as one"
                " stream: their features come in another order, or they were read or scaled in"
                " another way",
                "ask each for its certificate before merging, or fit one to all the data",
            )
        if len(self.parts) > MAX_PARTS:
            raise NoRegretError(
                f"this {self.method.name} was merged from {len(self.parts):,} parts, and a"
                f" certificate has at most {MAX_PARTS:,}",
                "use larger parts",
            )

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> BatchEvidence:
        """Return the examples, for the method and its theorems."""
        from noregret.batch.evidence import BatchEvidence

        return BatchEvidence(self, given, limits, self.answers if answers is None else answers)

    def __repr__(self) -> str:
        return f"<BatchGame of {self.method!r}: {self.rounds} examples>"
