"""Evidence for theorems about experts: the record of a finished game."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.base.expert_losses import expert_loss
from noregret.experts.master import at_the_best
from noregret.hindsight.expert_losses import Doubts, Totals, doubts_of, expert_losses
from noregret.hindsight.experts import BEST, DEGREE, MIXTURES, best_convex, best_expert, known_as
from noregret.hindsight.proofs.answer import Answer
from noregret.hindsight.proofs.rounding import two_sum
from noregret.hindsight.solvers.triangular import compensated, joined
from noregret.hindsight.switches import Sequences, best_sequences
from noregret.limits import MAX_EXPERT_LOSS, UNIT
from noregret.proof.theorems.table_evidence import TableEvidence

if TYPE_CHECKING:
    from noregret.experts.master import Master

Floats = NDArray[np.float64]
# The default of the largest number of switches of a sequence of experts.
DEFAULT_SWITCHES = 20
SEQUENCES = "sequences of experts with at most {} switches"


class ExpertEvidence(TableEvidence):
    """A game over experts; an expert asleep counts as repeating the mixture."""

    told: ClassVar[tuple[str, ...]] = ("switches",)
    player: Master

    # Rows, with the mixture filled in for experts asleep.

    def blocks(self) -> Iterator[tuple[Floats, Floats | None]]:
        """Yield advice and outcomes, or losses alone, without gaps."""
        fresh: Master | None = self.fresh() if self.player._round.naps else None
        for X, y in self.table.blocks():
            if fresh is None:
                yield X, y
                continue
            said = np.empty(len(X))
            fresh.play_block(X, y, said)
            yield np.where(np.isnan(X), said[:, None], X), y

    def fresh(self) -> Master:
        """Return the master before its first round, with the names of the experts."""
        made: Master = self.player.clone()
        if self.player._round.experts:
            made.check_names(self.player.names)
        return made

    def losses(self) -> Iterator[Floats]:
        """Yield the losses of each expert; one asleep has the loss of the mixture."""
        if not self.is_drawn or not self.player._round.naps:
            for X, y in self.blocks():
                yield X if y is None else self.value(X, y[:, None])
            return
        fresh = self.fresh()
        for X, y in self.table.blocks():
            used = np.empty(X.shape)
            fresh.play_block(X, y, None, used)
            paid = X if y is None else self.value(X, y[:, None])
            own = np.where(used > 0, used * paid, 0.0).sum(axis=1)
            yield np.where(np.isnan(X), own[:, None], paid)

    @property
    def is_drawn(self) -> bool:
        """True if the loss is the mean of the losses, not the loss of the mean."""
        return bool(self.player._round.pays_expected)

    @property
    def loss_function(self) -> Any:
        """The loss as functions of arrays; None if the rows are losses."""
        if self.player._round.from_losses:
            return None
        cost = self.player._round.cost
        takes = cost.parameter if cost.name == "quantile" else None
        own = type(cost).__name__ == "PythonLoss"
        return expert_loss(cost if own else cost.name, takes)

    def value(self, x: Floats, y: Floats) -> Floats:
        """Return the losses of forecasts."""
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(self.loss_function.value(x, y), MAX_EXPERT_LOSS))

    @property
    def doubts(self) -> Doubts:
        """The number of rounding errors in ``losses``, which are computed unless they were given.

        If experts are drawn, the loss of one asleep is a mean over all others.
        """
        of_itself, of_one = doubts_of(self.loss_function)
        return of_itself + (self.width + 2) * bool(
            self.is_drawn and self.player._round.naps
        ), of_one

    # The best in hindsight.

    def totals(self) -> Totals:
        """Return the cumulative loss of each expert."""
        return self.once("totals", lambda: expert_losses(self.losses, doubts=self.doubts))

    def regrets(self) -> Floats:
        """Return the regret to each expert in this game."""
        return np.asarray(self.loss - self.totals().values)

    def usual(self) -> Answer:
        """Return the best expert; with ``gradient``, the best mixture of experts."""
        return self.best_mixture() if self.player._round.linearised else self.best()

    def best(self) -> Answer:
        """Return the best expert."""
        return self.once("best", lambda: best_expert(self.losses, doubts=self.doubts))

    def best_mixture(self) -> Answer:
        """Return the best fixed weights."""
        if self.player._round.from_losses:
            return self.once("mixture", lambda: best_convex(self.losses))
        return self.once(
            "mixture",
            lambda: best_convex(self.blocks, self.loss_function, limits=self.limits),
        )

    def sequences(self) -> Sequences:
        """Return the best sequences of experts with few switches."""
        given = self.given.get("switches")
        most = DEFAULT_SWITCHES if given is None else given
        if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most <= 1000:
            raise ValueError(f"switches must be a whole number from 0 to 1000: got {given!r}")
        most = min(most, self.rounds - 1)
        return self.once(
            ("sequences", most), lambda: best_sequences(self.losses, most, doubts=self.doubts)
        )

    def best_sequence(self, switches: int) -> Answer:
        """Return the best sequence of experts with a number of switches."""
        words = SEQUENCES.format(switches)
        found = self.sequences()
        stays = [*found.stays(switches), (self.rounds + 1, -1)]
        self.answers[("segments", words)] = {
            f"rounds {first} to {after - 1}: {self.names[expert]}": float(after - first)
            for (first, expert), (after, _) in pairwise(stays)
        }
        return replace(found.answer(switches), comparator=words)

    def at_the_best(self, price: Floats | float) -> float:
        """Return the bound on the regret, from the bounds for each expert.

        Against a mixture it is the mean of these under the same weights, so at most the largest;
        the best mixture itself need not be unique.
        """
        prices = np.broadcast_to(np.asarray(price, dtype=np.float64), (self.width,))
        if self.player._round.linearised:
            return float(prices.max())
        return at_the_best(prices, self.regrets())

    # The witness of a certificate.

    def witness_of(self, answer: Answer) -> dict[str, float]:
        """Return the best expert or weights, or the segments of the best sequence, by name."""
        segments = self.answers.get(("segments", answer.comparator))
        if segments is not None:
            return dict(segments)
        return super().witness_of(answer)

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, float] | None:
        """Return the loss of a witness, and a bound on its rounding error."""
        if comparator.startswith("sequences"):
            found = self.segments_of(witness)
            return None if found is None else self.paid_by_segments(found)
        if set(witness) != set(self.names):
            return None
        weights = np.array([witness[name] for name in self.names], dtype=np.float64)
        if comparator == MIXTURES and not self.player._round.from_losses:
            return self.paid_by_mixture(weights)
        return summed(
            np.where(weights > 0, block * weights, 0.0).sum(axis=1) for block in self.losses()
        )

    def paid_by_mixture(self, weights: Floats) -> tuple[float, float]:
        """Return the loss of the mixture with these weights, divided by their sum.

        That sum is 1 up to the last digits, which matter for large forecasts. So a loss that
        depends only on the residual is computed from Σ q (x − y), as in hindsight.
        """
        name, parameter = known_as(self.loss_function, None)
        if name not in (*DEGREE, "percentage"):
            return summed(self.value(X @ weights, np.asarray(y)) for X, y in self.blocks())
        cost = expert_loss("absolute" if name == "percentage" else name, parameter)
        with np.errstate(all="ignore"):  # any weights may be stated
            shares, room, costs = weights / added(weights), 0.0, []
        for X, y in self.blocks():
            assert y is not None
            with np.errstate(all="ignore"):
                said, off = residuals_of(X, y, weights, shares)
                unit = np.abs(y) if name == "percentage" else np.ones(len(y))
                said, off, none = said / unit, off / unit, np.zeros(len(y))
                each = np.minimum(cost.value(said, none), MAX_EXPERT_LOSS)
                ends = (np.abs(cost.value(said + d, none) - each) for d in (off, -off))
                room += added(np.maximum(*ends))
            costs.append(each)
        paid, rounding = summed(costs)
        return paid, rounding + room

    def segments_of(self, witness: Mapping[str, float]) -> list[tuple[int, int, int]] | None:
        """Parse the segments of a sequence; None if rounds or experts do not match."""
        found, at = [], 0
        for text, length in witness.items():
            head, _, name = text.partition(": ")
            if name not in self.names or length != int(length) or length < 1:
                return None
            if head != f"rounds {at + 1} to {at + int(length)}":
                return None
            found.append((at, at + int(length), self.names.index(name)))
            at += int(length)
        return found if at == self.rounds else None

    def paid_by_segments(self, segments: list[tuple[int, int, int]]) -> tuple[float, float]:
        """Return the loss of a sequence of experts, and a bound on its rounding error."""
        paid, size, at = [], 0.0, 0
        for block in self.losses():
            for first, last, expert in segments:
                part = block[max(0, first - at) : max(0, last - at), expert]
                paid.append(added(part))
                size += added(np.abs(part))
            at += len(block)
        return math.fsum(paid), 1e-12 * size

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        """Return whether a witness is one expert, weights, or a sequence with few switches."""
        if comparator.startswith("sequences"):
            found = self.segments_of(witness)
            most = [
                k for k in range(len(found or ()) - 1, 1001) if comparator == SEQUENCES.format(k)
            ]
            return found is not None and bool(most)
        weights = np.array(list(witness.values()), dtype=np.float64)
        if comparator == BEST:
            return sorted(weights)[-1:] == [1.0] and float(np.abs(weights).sum()) == 1.0
        return bool((weights >= 0.0).all()) and abs(added(weights) - 1) <= 1e-9


def residuals_of(X: Floats, y: Floats, weights: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return Σ q (x − y), and bounds on its errors, in twice the digits where nothing overflows.

    Huge errors of experts may cancel, so that rounded products would hide what is left.
    """
    away, lost = two_sum(X, -y[:, None])
    parts = compensated(np.hstack([away, lost]), np.tile(weights, 2), np.zeros(len(y)))
    found, doubt = (each / added(weights) for each in joined([parts], 2 * len(weights)))
    doubt = doubt + 8 * UNIT * np.abs(found)
    said = away @ shares
    off = (len(shares) + 8) * UNIT * (np.abs(away) @ np.abs(shares))
    sharp = np.isfinite(found) & (doubt <= off)
    return np.where(sharp, found, said), np.where(sharp, doubt, off)


def summed(blocks: Iterable[Floats]) -> tuple[float, float]:
    """Return the sum of all losses, and a bound on its rounding error."""
    paid, size = 0.0, 0.0
    for each in blocks:
        paid, size = paid + added(each), size + added(np.abs(each))
    return paid, 1e-12 * size


def added(numbers: Floats) -> float:
    """Return the sum of numbers; infinity if it overflows."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.inf
