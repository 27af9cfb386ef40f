"""A tiny player of tables: it forecasts the mean of the advice of those who are awake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadExample
from noregret.hindsight import Answer, Limits
from noregret.proof.game.table_player import TablePlayer
from noregret.proof.record.table import Table
from noregret.proof.theorems.assumptions import Finding, Shown, Structural
from noregret.proof.theorems.table_evidence import TableEvidence
from noregret.proof.theorems.theorem import Theorem

Floats = NDArray[np.float64]


class SteadyEvidence(TableEvidence):
    def completed(self) -> tuple[Floats, Floats]:
        X, y = self.table.whole()
        y = np.zeros(len(X)) if y is None else y
        return np.where(np.isnan(X), np.nanmean(X, axis=1, keepdims=True), X), y

    def usual(self) -> Answer:
        def ask() -> Answer:
            X, y = self.completed()
            losses = ((X - y[:, None]) ** 2).sum(axis=0)
            best = int(np.argmin(losses))
            witness = np.eye(self.width)[best]
            return Answer("the best expert", losses[best], losses[best], witness, exact=True)

        return self.once("best", ask)

    def paid_by(self, witness: Mapping[str, float], comparator: str) -> tuple[float, float] | None:
        if set(witness) != set(self.names):
            return None
        X, y = self.completed()
        loss = float(((X @ np.array([witness[n] for n in self.names]) - y) ** 2).sum())
        return loss, 1e-12 * loss

    def is_within(self, witness: Mapping[str, float], comparator: str) -> bool:
        return sorted(witness.values()) == [0.0] * (self.width - 1) + [1.0]


def in_range(evidence: SteadyEvidence) -> Finding:
    top = max(float(np.nanmax(np.abs(X))) for X, _ in evidence.table.blocks())
    return Finding("advice <= 1", 1.0, top, top <= 1.0)


class Steady(TablePlayer):
    """It forecasts the mean of the advice.

    Parameters
    ----------
    high
        What the mean is cut to.
    """

    name = "steady"
    family = "experts"
    theorems: ClassVar[tuple[Theorem, ...]] = (
        Theorem(
            "steady",
            "regret",
            r"L_A - L_i \le 4 T",
            "regret <= 4 T",
            (Structural("$T > 0$"), Shown("advice is at most 1", in_range)),
            bound=lambda evidence: 4.0 * evidence.rounds,
        ),
    )

    def __init__(self, high: float = 1.0) -> None:
        self.high = high
        self.rounds_played, self.paid = 0, 0.0
        self.losses, self.seen_names = np.zeros(0), list[str]()
        self.calls = 0

    loss_name = "square"
    mistakes = None

    @property
    def rounds(self) -> int:
        return self.rounds_played

    @property
    def total_loss(self) -> float:
        return self.paid

    @property
    def width(self) -> int:
        return len(self.losses)

    def check_names(self, names: list[str]) -> None:
        if self.seen_names and names != self.seen_names:
            raise BadExample(f"other columns than before: {', '.join(names)}")
        self.seen_names = list(names)

    def play_block(self, X: Floats, y: Floats | None, predictions: Floats | None) -> None:
        assert X.flags.c_contiguous
        assert X.dtype == np.float64
        self.calls += 1
        if not self.width:
            self.losses = np.zeros(X.shape[1])
        good = np.isfinite(np.nansum(X, axis=1))
        stop = len(X) if good.all() else int(np.argmin(good))
        if stop:
            means = np.minimum(np.nanmean(X[:stop], axis=1), self.high)
            outcomes = np.zeros(stop) if y is None else y[:stop]
            if predictions is not None:
                predictions[:stop] = means
            full = np.where(np.isnan(X[:stop]), means[:, None], X[:stop])
            self.losses += ((full - outcomes[:, None]) ** 2).sum(axis=0)
            self.paid += float(((means - outcomes) ** 2).sum())
            self.rounds_played += stop
        if stop < len(X):
            number = self.rounds_played + 1
            raise BadExample(f"round {number}: column is infinite", round=number)

    def regret_so_far(self) -> float:
        return self.paid - float(self.losses.min())

    def bound_so_far(self) -> float:
        return 4.0 * self.rounds_played

    def evidence(
        self, table: Table, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any]
    ) -> TableEvidence:
        return SteadyEvidence(self, table, given, limits, answers)

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        numbers = {"rounds": self.rounds_played, "paid": self.paid}
        return {"losses": self.losses.copy()}, numbers, self.seen_names

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        self.losses = np.array(arrays["losses"])
        self.rounds_played, self.paid = numbers["rounds"], numbers["paid"]
        self.seen_names = list(names)
