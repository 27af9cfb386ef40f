"""What a theorem may look at when a game is over: the figures, the rows, and hindsight."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret import hindsight
from noregret.core.recorder import Recorder
from noregret.errors import NoRegretError
from noregret.hindsight import Answer, Limits, Margin, Rows
from noregret.hindsight.losses import as_labels, losses_of
from noregret.hindsight.rounding import total, upward
from noregret.hindsight.rows import score_error
from noregret.hindsight.rules import best_conjunction, best_disjunction

if TYPE_CHECKING:
    from noregret.record.ledger import Ledger

Floats = NDArray[np.float64]
A = TypeVar("A")


class Evidence:
    """A game as a theorem sees it.

    Parameters
    ----------
    ledger
        What was collected.
    given
        What the theorem was told besides: a radius, a confidence.
    limits
        How hard hindsight tries.
    answers
        Where hindsight keeps its answers.
    """

    def __init__(
        self,
        ledger: Ledger,
        given: Mapping[str, Any],
        limits: Limits,
        answers: dict[Any, Any],
    ) -> None:
        self.ledger, self.given, self.limits, self.answers = ledger, given, limits, answers
        self.learner = ledger.learner
        self.params: Mapping[str, Any] = self.learner.params

    # The figures.

    @property
    def rounds(self) -> int:
        """T."""
        return self.learner.rounds - self.ledger.before

    @property
    def rounds_before(self) -> int:
        """How many rounds the learner had learned from before the game."""
        return self.ledger.before

    @property
    def features(self) -> int:
        """n: those seen, or as many as the learner was told of."""
        return max(self.learner.engine.size, self.params.get("dimension") or 0)

    @property
    def loss(self) -> float:
        """The learner's cumulative loss."""
        return self.learner.total_loss - self.ledger.loss_before

    @property
    def mistakes(self) -> int:
        """The learner's mistakes."""
        return self.learner.mistakes - self.ledger.mistakes_before

    @property
    def gradient_squares(self) -> float:
        """Σ‖g_t‖²."""
        return self.ledger.recorder.sum_of_squared_gradients

    def largest(self, measure: str) -> float:
        """Return the largest value of a measurement."""
        if measure == "loss":
            return max(0.0, self.ledger.recorder.largest_loss)
        return self.learner.measured[measure].largest

    def first_over(self, measure: str, limit: float) -> int | None:
        """Return the first round in which a measurement exceeded a limit."""
        for number, watched in enumerate(self.ledger.watched):
            if watched == (measure, limit):
                return self.ledger.recorder.first_violation(number)
        if self.ledger.pages is None or self.ledger.before:
            return None
        again = self.learner.clone()
        recorder = Recorder(again.engine, lambda words, rows: None)
        number = recorder.watch(measure, limit)
        again.record(recorder)
        self.replay(again.learn_many)
        return recorder.first_violation(number)

    # Rows.

    @property
    def rows_at_hand(self) -> Rows | None:
        """All rows, where they were kept."""
        return self.once("rows", lambda: self.ledger.rows(self.features))

    @property
    def rows(self) -> Rows:
        """All rows; with as many columns as the learner was told of."""
        rows = self.rows_at_hand
        if rows is None:
            raise NoRegretError(f"{self.ledger.missing}: play with keep='rows'")
        return rows

    def replay(self, act: Callable[[Any, Floats], Any]) -> list[Any]:
        """Do something with every block of rows, in the order in which they were played."""
        if self.ledger.pages is None:
            raise NoRegretError(f"{self.ledger.missing}: play with keep='rows'")
        width = self.learner.engine.size
        from noregret.hindsight.blocks import padded

        return [act(padded(X, width), y) for X, y in self.ledger.pages.blocks()]

    @property
    def late_features(self) -> int:
        """How many features joined after the first round, though nobody said how many to expect."""
        first = self.ledger.first_features or 0
        if self.params.get("dimension") is not None:
            return max(0, self.learner.engine.size - int(self.params["dimension"]))
        return self.learner.engine.size - first

    @property
    def first_late_round(self) -> int | None:
        """The round in which the first of them joined."""
        if not self.late_features or self.ledger.pages is None:
            return None
        first = int(self.params.get("dimension") or self.ledger.first_features or 0)
        t = 0
        for X, y in self.ledger.pages.blocks():
            if X.shape[1] > first:
                late = X[:, first:]
                some = np.flatnonzero(np.asarray(abs(late).sum(axis=1)).ravel())
                if len(some):
                    return t + int(some[0]) + 1
            t += len(y)
        return None

    # Hindsight, each question asked once.

    def usual(self) -> Answer:
        """Return the best fixed predictor of the learner's own domain, for its own loss."""
        told, radius = self.given.get("radius"), self.params.get("radius")
        if self.learner.engine.loss.name == "mistake":
            return self.separator()
        if told is not None:
            return self.best_in_ball(float(told))
        if "weight" in self.params and self.params.get("regulariser") != "euclidean":
            return self.best_in_simplex(self.params["weight"])
        if radius is not None:
            box = self.params.get("domain") == "box"
            return self.best_in_box(radius) if box else self.best_in_ball(float(radius))
        if self.learner.engine.loss.name == "square":
            return self.best_linear()
        return self.best_in_ball(float(np.linalg.norm(self.learner.engine.weights())) or 1.0)

    def separator(self) -> Answer:
        """Return the predictor of the largest margin, or else the best found, by its mistakes."""
        margin = self.margin()
        u = margin.witness if margin.separable else self.mistake_bound().witness
        labels = as_labels(self.rows.outcomes)
        missed = float(np.count_nonzero(labels * self.rows.scores(u) <= 0))
        least = 1.0 if margin.separable is False else 0.0
        return Answer("all linear predictors", missed, min(least, missed), u)

    def best_in_box(self, radius: float) -> Answer:
        """Return a predictor with every weight at most the radius, and what none can beat.

        The interval is wide: the lower end is that of the ball around the box.
        """
        around = self.best_in_ball(radius * float(np.sqrt(self.features)))
        clipped = np.clip(around.witness, -radius, radius)
        attained = self.loss_of(clipped)
        return Answer(f"box of half-width {radius:g}", attained, around.lower, clipped)

    def loss_of(self, u: Floats) -> float:
        """Return the loss of a fixed predictor over the rows, rounding errors added."""
        losses = losses_of(self.learner.engine.loss, self.rows.outcomes)
        values = losses.value_above(self.rows.scores(u), score_error(self.rows, u))
        return upward(total(values))

    def once(self, key: Any, ask: Callable[[], A]) -> A:
        """Return the answer to a question, from memory if it was asked before."""
        key = (key, self.limits)
        if key not in self.answers:
            self.answers[key] = ask()
        answer: A = self.answers[key]
        return answer

    def best_linear(self) -> Answer:
        """Return the best of all linear predictors, square loss."""
        sums, rows = self.ledger.sums, self.rows_at_hand
        if sums is not None:
            return self.once("linear", lambda: sums.best(rows))
        return self.once("linear", lambda: hindsight.best_linear(self.rows))

    def best_ridge(self, penalty: float, scale: float) -> Answer:
        """Return min over u of  scale · L(u) + penalty · ‖u‖²,  square loss."""
        sums, rows = self.ledger.sums, self.rows_at_hand
        key = ("ridge", penalty, scale)
        if sums is not None:
            return self.once(key, lambda: sums.ridge(penalty, scale, rows))
        return self.once(key, lambda: hindsight.best_ridge(self.rows, penalty, scale))

    def best_in_ball(self, radius: float) -> Answer:
        """Return the best predictor of norm at most the radius, for the learner's loss."""
        sums, loss = self.ledger.sums, self.learner.engine.loss
        key = ("ball", radius)
        if sums is not None:
            return self.once(key, lambda: sums.ball(radius, self.rows_at_hand))
        return self.once(
            key, lambda: hindsight.best_in_ball(self.rows, loss, radius, limits=self.limits)
        )

    def best_in_simplex(
        self, weight: float | None, entropy: float = 0.0, scale: float = 1.0
    ) -> Answer:
        """Return min over u in the simplex, or its signed form, of  scale · L + entropy · KL."""
        sums, loss = self.ledger.sums, self.learner.engine.loss
        key = ("simplex", weight, entropy, scale)
        if sums is not None and sums.features == self.features:
            rows = self.rows_at_hand
            return self.once(
                key,
                lambda: sums.simplex(
                    entropy=entropy, scale=scale, weight=weight, rows=rows, limits=self.limits
                ),
            )
        return self.once(
            key,
            lambda: hindsight.best_in_simplex(
                self.rows, loss, entropy=entropy, scale=scale, weight=weight, limits=self.limits
            ),
        )

    def best_penalised(self, penalty: float) -> Answer:
        """Return min over u of  L(u) + penalty · ‖u‖²,  for the learner's loss."""
        loss = self.learner.engine.loss
        return self.once(
            ("penalised", penalty),
            lambda: hindsight.best_penalised(self.rows, loss, penalty, limits=self.limits),
        )

    def margin(self) -> Margin:
        """Return the largest margin γ of a predictor of norm 1."""
        return self.once("margin", lambda: hindsight.largest_margin(self.rows, limits=self.limits))

    def margin_of_weights(self, weight: float | None) -> Margin:
        """Return the largest margin δ of weights of sum 1, or of their signed form."""
        return self.once(
            ("margin of weights", weight),
            lambda: hindsight.largest_margin_of_weights(
                self.rows, weight=weight, limits=self.limits
            ),
        )

    def mistake_bound(self) -> Answer:
        """Return the smallest bound over u that the perceptron has on any data."""
        return self.once(
            "mistake bound", lambda: hindsight.best_mistake_bound(self.rows, limits=self.limits)
        )

    def best_disjunction(self) -> Answer:
        """Return an OR of few features that fits the labels, or nearly."""
        return self.once("disjunction", lambda: best_disjunction(self.rows))

    def best_conjunction(self) -> Answer:
        """Return the AND of literals that fits the labels, or nearly."""
        return self.once("conjunction", lambda: best_conjunction(self.rows))

    def first_round(self, fails: Callable[[Rows], bool]) -> int | None:
        """Return the length of the shortest beginning that fails, where a longer one fails too."""
        low, high = 0, self.rounds
        until = time.monotonic() + self.limits.seconds
        while high - low > 1:
            if time.monotonic() > until:
                return None
            middle = (low + high) // 2
            low, high = (low, middle) if fails(self.beginning(middle)) else (middle, high)
        return high

    def beginning(self, rounds: int) -> Rows:
        """Return the first rounds."""
        rows = self.rows

        def source() -> Iterator[tuple[Any, Floats]]:
            left = rounds
            for X, y in rows.blocks():
                if left <= 0:
                    break
                yield X[:left], y[:left]
                left -= len(y)

        return Rows(source=source, features=rows.shape[1])
