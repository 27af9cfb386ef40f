"""The figures and the rows of a finished game."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.positions import Positions
from noregret.errors import NoRegretError
from noregret.hindsight import Limits, Rows
from noregret.hindsight.proofs.deadline import expired
from noregret.hindsight.proofs.rounding import growth
from noregret.linear.engine.recorder import Recorder
from noregret.proof.theorems.base_evidence import BaseEvidence

if TYPE_CHECKING:
    from noregret.proof.record.ledger import Ledger

Floats = NDArray[np.float64]
# Rounds of the first prefix that is tried.
BEGINNING = 256


class Facts(BaseEvidence):
    """The figures and the rows of a game.

    Parameters
    ----------
    ledger
        The ledger.
    given, limits, answers
        As in ``BaseEvidence``.
    names
        The names of the features as users know them; the learner's own if None.
    """

    def __init__(
        self,
        ledger: Ledger,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(given, limits, answers)
        self.ledger = ledger
        ledger.check()
        self.learner = ledger.learner
        self.params: Mapping[str, Any] = self.learner.params
        self.late_updates, self.first_delayed = ledger.delay, ledger.first_delayed
        books = ledger.books
        self.names: Sequence[str] = names or books.names or Positions(books.features)

    # The figures.

    @property
    def rounds(self) -> int:
        """T."""
        return self.ledger.books.rounds - self.ledger.before

    @property
    def rounds_before(self) -> int:
        """The number of rounds learned before the game."""
        return self.ledger.before

    @property
    def features(self) -> int:
        """n: the features seen, or the number that the learner was given."""
        return max(self.ledger.books.features, self.params.get("dimension") or 0)

    @property
    def loss(self) -> float:
        """The learner's cumulative loss."""
        return self.ledger.books.loss - self.ledger.loss_before

    @property
    def mistakes(self) -> int:
        """The learner's mistakes."""
        return self.ledger.books.mistakes - self.ledger.mistakes_before

    @property
    def gradient_squares(self) -> float:
        """Σ‖g_t‖²."""
        return self.ledger.books.gradient_squares

    @property
    def rounding(self) -> float:
        """A bound on the rounding error of the learner's loss, to first order.

        A score w·x has the error γ(n) ‖w‖‖x‖, and the loss its slope times that. With ‖g‖ for the
        slope times ‖x‖, Cauchy's inequality bounds the sum over the rounds. The weights are the
        last ones.
        """
        gradients = math.sqrt(self.rounds) * math.sqrt(self.gradient_squares)
        return growth(self.features) * self.norm * gradients

    def account(self, name: str) -> Floats:
        """Return an account of the learner for its theorems, at the end of the game."""
        return self.ledger.books.accounts[name]

    def steepest(self) -> tuple[float, int | None]:
        """Return the largest slope, and the first round in which one was above the limit."""
        first = int(self.account("first_steep")[0])
        return float(self.account("steepest")[0]), first or None

    @property
    def norm(self) -> float:
        """The norm of the last weights; 1 if they are zero."""
        # Six digits, so that it can be written down exactly.
        return float(f"{self.ledger.books.norm:.6g}") or 1.0

    @property
    def loss_name(self) -> str:
        """The name of the loss; empty for a custom loss."""
        loss = self.learner.engine.loss
        return loss.name if type(loss) is Loss else ""

    @property
    def averaged_loss(self) -> float:
        """The loss of the rounds whose weights are averaged."""
        return self.loss

    @property
    def averaged_rounds(self) -> int:
        """The number of rounds whose weights are averaged."""
        return self.rounds

    def largest(self, measure: str) -> float:
        """Return the largest value of a measurement."""
        if measure == "loss":
            return max(0.0, self.ledger.books.largest_loss)
        return self.ledger.books.measured[measure].largest

    def first_over(self, measure: str, limit: float) -> int | None:
        """Return the first round in which a measurement exceeded a limit."""
        for number, watched in enumerate(self.ledger.watched):
            if watched == (measure, limit):
                found = self.ledger.recorder.first_violation(number)
                return None if found is None else found - self.ledger.before
        if self.ledger.pages is None or self.ledger.before:
            return None
        again = self.learner.clone()
        recorder = Recorder(again.engine, lambda words, rows: None)
        number = recorder.watch(measure, limit)
        again._entry.record(recorder)
        self.replay(again.learn_many)
        return recorder.first_violation(number)

    # Rows.

    @property
    def rows_at_hand(self) -> Rows | None:
        """All rows, if stored."""
        return self.once("rows", lambda: self.ledger.rows(self.features))

    @property
    def rows(self) -> Rows:
        """All rows, with the number of columns that the learner was given."""
        rows = self.rows_at_hand
        if rows is None:
            raise NoRegretError(self.ledger.missing, "play with keep='rows'")
        return rows

    def replay(self, act: Callable[[Any, Floats], Any]) -> list[Any]:
        """Call a function with every block of rows, in order."""
        if self.ledger.pages is None:
            raise NoRegretError(self.ledger.missing, "play with keep='rows'")
        width = self.ledger.books.features
        from noregret.hindsight.blocks import padded

        return [act(padded(X, width), y) for X, y in self.ledger.pages.blocks()]

    @property
    def late_features(self) -> int:
        """The number of features that joined after the first round without being announced."""
        return max(0, self.ledger.books.features - self.ledger.recorder.expected)

    @property
    def first_late_round(self) -> int | None:
        """The round in which the first of them joined."""
        late = self.ledger.recorder.first_late
        return None if late is None else late - self.ledger.before

    def first_round(self, fails: Callable[[Rows], bool], rows: Rows | None = None) -> int | None:
        """Return the length of the shortest prefix that fails, or None if none does.

        Every longer prefix must fail too. Short ones are tried first, as most failures are early.
        """
        low, high = 0, min(self.rounds, BEGINNING)
        while not fails(self.beginning(high, rows)):
            if high == self.rounds or expired():
                return None
            low, high = high, min(self.rounds, 4 * high)
        while high - low > 1 and not expired():
            middle = (low + high) // 2
            low, high = (low, middle) if fails(self.beginning(middle, rows)) else (middle, high)
        return high

    def beginning(self, rounds: int, rows: Rows | None = None) -> Rows:
        """Return a prefix of all rows, or of those given."""
        rows = self.rows if rows is None else rows

        def source() -> Iterator[tuple[Any, Floats]]:
            left = rounds
            for X, y in rows.blocks():
                if left <= 0:
                    break
                yield X[:left], y[:left]
                left -= len(y)

        return Rows(source=source, features=rows.shape[1])
