"""A game of online-to-batch: one pass of a learner, and the evidence for its theorems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.batch.evidence import BatchEvidence
from noregret.batch.game import BatchGame
from noregret.hindsight import Limits, Rows
from noregret.hindsight.blocks import padded, row_slice
from noregret.hindsight.proofs.answer import USUAL
from noregret.proof.game.game import Game
from noregret.proof.theorems.averaging import averaged
from noregret.proof.theorems.evidence import Evidence

if TYPE_CHECKING:
    from noregret.batch.method import Solution
    from noregret.batch.methods.online_to_batch import OnlineToBatch
    from noregret.linear.learner import Learner

Floats = NDArray[np.float64]


class Pass:
    """One pass of a learner over rows, in two halves.

    Parameters
    ----------
    learner
        An untrained learner.
    rows
        The rows, in order.
    cut
        The number of rows of the first half.
    """

    def __init__(self, learner: Learner, rows: Rows, cut: int) -> None:
        self.game = Game(learner, keep="rows", progress=False)
        self.cut, self.rounds = cut, rows.shape[0]
        self.game.play(between(rows, 0, cut))
        self.sum_before, self.paid_before = cut * padded_weights(learner, rows), paid(learner)
        self.game.play(between(rows, cut, self.rounds))

    @property
    def last(self) -> Floats:
        """The final weights; for an averaged learner, the mean of the weights used."""
        return self.game.learner.weights

    @property
    def mean(self) -> Floats:
        """The mean of the weights used in the second half, of an averaged learner."""
        if not self.cut:
            return self.last
        return (self.rounds * self.last - self.sum_before) / (self.rounds - self.cut)

    @property
    def loss(self) -> float:
        """The loss in the second half."""
        return float(np.sum(paid(self.game.learner) - self.paid_before))


def paid(learner: Learner) -> Floats:
    """Return the loss so far in two parts, the sum and its rounding error.

    So the difference for the second half is accurate, however large the loss of the first.
    """
    _, numbers, _ = learner.get_state()
    return np.array([numbers["loss_sum"], numbers["loss_rest"]])


def padded_weights(learner: Learner, rows: Rows) -> Floats:
    """Return the weights of all features, including those that the learner has not seen."""
    return np.pad(learner.weights, (0, rows.shape[1] - learner.engine.size))


def between(rows: Rows, start: int, stop: int) -> Iterator[tuple[Any, Floats]]:
    """Yield the blocks of a range of rows, all with the full width."""
    at = 0
    for X, y in rows.blocks():
        part = slice(max(start - at, 0), min(stop - at, len(y)))
        if part.start < part.stop:
            yield padded(row_slice(X, part), rows.shape[1]), y[part]
        at += len(y)


def shuffled(rows: Rows, seed: int) -> Rows:
    """Return rows in a random order."""
    order = np.random.default_rng(seed).permutation(rows.shape[0])
    table = rows.pick(np.ones(len(order), dtype=bool))
    return Rows(table[order], rows.outcomes[order])


class OnlineGame(BatchGame):
    """A game of online-to-batch, with the pass of its learner."""

    method: OnlineToBatch
    passed: Pass

    @property
    def solution(self) -> Solution:
        """The result of the pass."""
        if self._solution is None:
            rows = BatchEvidence(self, {}, USUAL, {}).rows
            self.passed = self.method._one_pass(rows)
            self._solution = self.method._taken(self.passed)
        return self._solution

    def evidence(
        self, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any] | None = None
    ) -> Any:
        """Return the evidence of the pass for its theorems."""
        assert self.solution is not None
        return OnlineEvidence(self, given, limits, self.answers if answers is None else answers)


class OnlineEvidence(Evidence):
    """The pass of a learner as its own theorems need it, and the rounds that are averaged."""

    def __init__(
        self, game: OnlineGame, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any]
    ) -> None:
        super().__init__(game.passed.game.ledger, given, limits, answers, game.feature_names)
        self.game, self.passed = game, game.passed

    @property
    def averaged_loss(self) -> float:
        """The loss of the rounds whose weights are averaged."""
        return self.passed.loss

    @property
    def averaged_rounds(self) -> int:
        """The number of rounds whose weights are averaged."""
        return self.passed.rounds - self.passed.cut


def ready_to_pass(learner: Learner, averages: bool) -> Learner:
    """Return an untrained copy of a learner, averaged if requested."""
    return averaged(learner) if averages else learner.clone()
