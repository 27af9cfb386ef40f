"""The evidence of a finished game for theorems: its facts, and the best in hindsight."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret import hindsight
from noregret.base.compiled.losses import Loss
from noregret.base.positions import Positions
from noregret.checks import positive
from noregret.errors import NoRegretError
from noregret.hindsight.columns import Columns, without_empty_columns
from noregret.hindsight.losses import Losses, as_labels, losses_of
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.levelling import levelled
from noregret.hindsight.proofs.rounding import total, upward
from noregret.hindsight.proofs.witness import (
    REACH,
    Paid,
    highest_paid,
    is_proven,
    is_within,
    lowest_by_tangent,
    mistakes_at_most,
    paid_by,
)
from noregret.hindsight.rows import Rows, score_error
from noregret.hindsight.solvers.curvature import MAX_DENSE
from noregret.hindsight.solvers.square import SUMS_GAP, LeastSquares
from noregret.limits import MAX_PARAMETER, UNDERFLOW
from noregret.proof.theorems.facts import Facts

if TYPE_CHECKING:
    from noregret.hindsight import Margin
    from noregret.hindsight.solvers.priced import Prices

Found = TypeVar("Found", "Answer", "Margin")

# Largest penalty in hindsight, below the largest parameter.
MAX_PENALTY = 0.1 * MAX_PARAMETER
Floats = NDArray[np.float64]

# The norm of comparators for learners that have no weights to compare with.
WEIGHTLESS_RADIUS = 10.0


class Evidence(Facts):
    """A game as a theorem sees it."""

    told: ClassVar[tuple[str, ...]] = ("chance", "largest_loss", "radius")

    def usual(self) -> Answer:
        """Return the best fixed predictor of the learner's own domain, for its own loss."""
        if self.loss_name == "mistake":
            return self.separator()
        if "weight" in self.params and self.params.get("regulariser") != "euclidean":
            return self.best_in_simplex(self.params["weight"])
        radius = self.params.get("radius")
        if radius is not None:
            box = self.params.get("domain") == "box"
            return self.best_in_box(radius) if box else self.best_in_ball(float(radius))
        told = self.given.get("radius")
        if told is not None:
            return self.best_in_ball(positive("radius", told))
        if self.loss_name == "square":
            return self.best_linear()
        return self.as_long_as_the_last()

    @property
    def comparable_norm(self) -> float:
        """The norm of the last weights, for a ball of comparators."""
        if not self.norm < MAX_PARAMETER:
            raise NoRegretError(
                f"the last weights have the norm {self.norm:.3g}: too large for a certificate",
                "scale the columns to similar sizes",
            )
        return self.norm

    def as_long_as_the_last(self) -> Answer:
        """Return the best predictor whose norm is at most that of the last weights, if any."""
        if self.learner._weightless:
            return self.best_in_ball(WEIGHTLESS_RADIUS)
        found = self.best_in_ball(self.comparable_norm)
        return replace(found, comparator=f"{found.comparator}, as long as the last weights")

    def separator(self) -> Answer:
        """Return the predictor of the largest margin, or else the best found, by its mistakes."""
        if self.inseparable_after() is None and self.margin().separable:
            return self.fewest([self.margin().witness], "all linear predictors", 0.0)
        tried = [self.mistake_bound().witness, self.least_squares_of_labels()]
        least = 0.0 if self.inseparable_after() is None else 1.0
        return self.fewest(tried, "all linear predictors, best found", least)

    def fewest(self, tried: list[Floats], words: str, least: float) -> Answer:
        """Return the predictor with the fewest mistakes of those tried."""
        counts = [float(mistakes_at_most(self.rows, u)) for u in tried]
        best = int(np.argmin(counts))
        return Answer(words, counts[best], min(least, counts[best]), tried[best])

    def least_squares_of_labels(self) -> Floats:
        """Return the least-squares weights for the labels: no proof, but often few mistakes."""
        features = self.rows.shape[1]
        if features > MAX_DENSE:
            return np.zeros(features)
        sums, labels, at = LeastSquares(features), as_labels(self.rows.outcomes), 0
        for X, y in self.rows.blocks():
            sums.add(X, labels[at : at + len(y)])
            at += len(y)
        penalty = min(1e-9 * (1 + float(np.trace(sums.gram))), MAX_PENALTY)
        return self.once("labels", lambda: sums.ridge(penalty).witness)

    def inseparable_after(self) -> int | None:
        """Return the first round after which no predictor separates the labels, if proven."""
        # Many prefixes are tried, and those near the right one take long.
        limits = replace(self.limits, seconds=self.limits.seconds / 10)
        return self.once(
            "inseparable",
            lambda: self.first_round(
                lambda rows: hindsight.largest_margin(rows, limits=limits).separable is False,
                self.used[0],
            ),
        )

    @property
    def used(self) -> tuple[Rows, Columns]:
        """The rows without most columns that never occurred, and which they have."""
        return self.once("used columns", lambda: without_empty_columns(self.rows))

    def searched(self, find: Callable[[Rows], Found]) -> Found:
        """Return what is found on the columns that occur, with weights for all columns."""
        rows, columns = self.used
        found = find(rows)
        if rows is self.rows:
            return found
        witness = np.zeros(self.rows.shape[1])
        witness[columns] = found.witness
        return replace(found, witness=witness)

    def best_in_box(self, radius: float) -> Answer:
        """Return the best predictor with every weight at most the radius."""
        loss = self.learner.engine.loss
        return self.once(
            ("box", radius),
            lambda: hindsight.best_in_box(self.rows, loss, radius, limits=self.limits),
        )

    def loss_of(self, u: Floats) -> float:
        """Return the loss of a fixed predictor over the rows, rounding errors added."""
        losses = losses_of(self.learner.engine.loss, self.rows.outcomes)
        values = losses.value_above(self.rows.scores(u), score_error(self.rows, u))
        return upward(total(values))

    def best_linear(self) -> Answer:
        """Return the best of all linear predictors, square loss."""
        sums, rows = self.ledger.sums, self.rows_at_hand
        if sums is not None:
            return self.once("linear", lambda: sums.best(rows))
        return self.once("linear", lambda: hindsight.best_linear(self.rows, limits=self.limits))

    @property
    def energy(self) -> float | None:
        """The sum of the outcomes' squares, for the square loss."""
        sums = self.ledger.sums
        if sums is not None:
            return sums.energy
        if self.learner.engine.loss.name != "square":
            return None
        return self.once("energy", lambda: float(np.square(self.rows.outcomes).sum()))

    def lost_by_sums(self, best: Answer) -> str | None:
        """Return what sums over the rows cannot give, if only these were kept; None if nothing."""
        sums = self.ledger.sums
        if sums is None or self.rows_at_hand is not None:
            return None
        weights = self.weights_of(self.witness_of(best))
        assert weights is not None
        known = sums.know_loss_of(weights[: sums.features])
        if known and best.gap <= max(SUMS_GAP, 2 * self.limits.tolerance) * best.loss + UNDERFLOW:
            return None
        return (
            "have too few digits left for the loss of the best predictor: it is tiny compared with"
            " the squares of the outcomes or of the columns, which are far from zero, nearly"
            " dependent or fit without error"
        )

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
            rows = self.rows_at_hand
            return self.once(key, lambda: sums.ball(radius, rows))

        def find(rows: Rows) -> Answer:
            last, at = np.asarray(self.learner.weights), self.used[1]
            known = at < len(last)
            start = np.where(known, last[np.where(known, at, 0)], 0.0) if len(last) else None
            return hindsight.best_in_ball(rows, loss, radius, limits=self.limits, start=start)

        return self.once(key, lambda: self.searched(find))

    def best_in_simplex(
        self, weight: float | None, entropy: float = 0.0, scale: float = 1.0
    ) -> Answer:
        """Return min over u in the simplex, or its signed form, of  scale · L + entropy · KL."""
        sums, loss = self.ledger.sums, self.learner.engine.loss
        key = ("simplex", weight, entropy, scale)
        # Stored rows are summed again: a search that rounding ends early is reproducible only
        # from the same sums.
        if sums is not None and self.rows_at_hand is None:
            if sums.features < self.features:  # columns that never occurred are zero
                sums = LeastSquares(self.features).merge(sums)
            return self.once(
                key,
                lambda: sums.simplex(
                    entropy=entropy, scale=scale, weight=weight, limits=self.limits
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
            lambda: self.searched(
                lambda rows: hindsight.best_penalised(rows, loss, penalty, limits=self.limits)
            ),
        )

    def best_priced(self, prices: Prices, bends: Prices) -> Floats:
        """Return a u that nearly minimises  L(u) + Σ prices(u),  for the learner's loss.

        The search starts at the last weights, which the learner kept in its accounts.
        """
        from noregret.hindsight.solvers.priced import best_priced

        loss, start = self.learner.engine.loss, self.account("weights")
        return self.once(
            "priced", lambda: best_priced(self.rows, loss, prices, bends, start, self.limits)
        )

    def margin(self) -> Margin:
        """Return the largest margin γ of a predictor of norm 1."""
        return self.once(
            "margin",
            lambda: self.searched(lambda rows: hindsight.largest_margin(rows, limits=self.limits)),
        )

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
        # Any u is valid, so the best is not needed; a replay must find nearly the same.
        limits = replace(self.limits, tolerance=5 * self.limits.tolerance)
        return self.once(
            "mistake bound",
            lambda: self.searched(lambda rows: hindsight.best_mistake_bound(rows, limits=limits)),
        )

    def best_disjunction(self) -> Answer:
        """Return an OR of few features that fits the labels, or nearly."""
        return self.once("disjunction", lambda: hindsight.best_disjunction(self.rows))

    def best_conjunction(self) -> Answer:
        """Return the AND of literals that fits the labels, or nearly."""
        return self.once("conjunction", lambda: hindsight.best_conjunction(self.rows))

    # The witness of a certificate.

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Name the weights of the best fixed predictor."""
        weights, signed = answer.witness, self.params.get("weight")
        if len(weights) >= 2 * self.features and signed is not None:  # parts for U x and −U x
            n = len(weights) // 2
            weights = signed * (weights[:n] - weights[n:])
        numbers = np.asarray(weights)[: len(self.names)]
        if not isinstance(self.names, Positions):
            return dict(zip(self.names, numbers.tolist(), strict=True))
        # Only columns that occur: there may be millions of others.
        at = np.flatnonzero(self.occurring() | (numbers != 0))
        return dict(zip(self.names.names_of(at.tolist()), numbers[at].tolist(), strict=True))

    def occurring(self) -> NDArray[np.bool_]:
        """Return which columns are not zero in all rows."""
        sums, rows, count = self.ledger.sums, self.rows_at_hand, len(self.names)
        if rows is not None:
            squares = self.once("squares", lambda: rows.column_squares(np.ones(rows.shape[0])))
        else:
            squares = np.zeros(0) if sums is None else np.diag(sums.gram)
        return np.pad(squares > 0, (0, max(0, count - len(squares))))[:count]

    def weights_of(self, witness: Mapping[str, float]) -> Floats | None:
        """Return the weights of a witness; None if it is about other features.

        Columns that do not occur need not be named.
        """
        names = self.names
        if not isinstance(names, Positions):
            if set(witness) != set(names):
                return None
            return np.array([witness[name] for name in names], dtype=np.float64)
        places = [names.at(name) for name in witness]
        at = np.array([place for place in places if place is not None], dtype=np.intp)
        left_out = self.occurring()
        left_out[at] = False
        if len(at) < len(places) or left_out.any():
            return None
        weights = np.zeros(len(names))
        weights[at] = list(witness.values())
        return weights

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness has these features and belongs to its class."""
        unseen = self.features - len(self.names)
        known = self.weights_of(witness) is not None
        return known and is_within(
            witness, comparator, unseen, signed=self.params.get("form") == "balanced"
        )

    def is_proven(self, stated: str, found: str) -> bool:
        """Return whether a result for one class of predictors also holds for the stated class."""
        return is_proven(stated, found)

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> Paid | None:
        """Return the loss of a witness, from the rows alone; None if it has other features."""
        weights = self.weights_of(witness)
        if weights is None:
            return None
        rows = self.ledger.rows()
        assert rows is not None
        return paid_by(weights, comparator, rows, self.learner.engine.loss)

    def highest_paid(self, witness: Mapping[str, float]) -> float:
        """Return the loss of a witness, square loss, plus the rounding that a solver adds."""
        weights = self.weights_of(witness)
        if weights is None or self.loss_name != "square":
            return -math.inf
        return highest_paid(widened(weights, self.rows), self.rows)

    def lowest_at(self, witness: Mapping[str, float], comparator: str) -> float:
        """Return a lower bound of the loss of a class by the lines at weights.

        It is about as high as a search that ended there can prove.
        """
        found = self.searched_at(witness)
        if found is None:
            return -math.inf
        weights, rows, losses = found
        with np.errstate(all="ignore"):
            slopes = losses.slope(rows.scores(weights))
            lower = levelled(rows, losses, comparator, weights, slopes)
        reach = REACH.fullmatch(comparator) if self.loss_name == "square" else None
        if reach is not None:
            lower = max(lower, lowest_by_tangent(weights, float(reach[1]), rows))
        return lower

    def searched_at(self, witness: Mapping[str, float]) -> tuple[Floats, Rows, Losses] | None:
        """Return weights, and the rows and losses of their search; None if that is of others."""
        weights, loss = self.weights_of(witness), self.learner.engine.loss
        if weights is None or self.loss_name == "mistake" or type(loss) is not Loss:
            return None
        rows = self.rows
        return widened(weights, rows), rows, losses_of(loss, rows.outcomes)


def widened(weights: Floats, rows: Rows) -> Floats:
    """Return the weights of all columns: those that never occurred have none."""
    return np.pad(weights, (0, rows.shape[1] - len(weights)))
