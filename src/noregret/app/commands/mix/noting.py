"""The record of a mix in progress, for files, charts and hindsight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.mix.store import Store
from noregret.app.commands.outputs import Outputs
from noregret.app.commands.run.spool import Numbers
from noregret.app.results.mix_history import Watching
from noregret.base.expert_losses import ExpertLoss

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Rows that were played.

    ``numbers`` are their row numbers in the data, ``groups`` the series they belong to; ``X`` and
    ``y`` hold forecasts and outcomes, ``predictions`` the combined forecasts. ``weights`` are those
    of the experts (None if not needed), and ``at`` the round numbers within each series (None if
    there is only one series). ``batches`` are the numbers of the rows' batches, if there are any.
    """

    numbers: Floats
    groups: NDArray[np.int64]
    X: Floats
    y: Floats
    predictions: Floats
    weights: Floats | None = None
    at: NDArray[np.int64] | None = None
    batches: NDArray[np.int64] | None = None

    def only(self, which: NDArray[np.bool_]) -> Rows:
        """Return some of the rows."""
        if which.all():
            return self
        found: tuple[Any, ...] = tuple(None if each is None else each[which] for each in self)
        return Rows(*found)


class Notes:
    """The record of every row.

    Parameters
    ----------
    outputs
        The files to write.
    cost
        The loss of forecasts.
    expected
        Whether the loss of the mixture is the weighted mean of its experts' losses.
    averaged
        Whether the average is one of the experts; otherwise its loss is recorded here.
    grouped
        Whether there are several series.
    stored
        Whether their rows are kept, for hindsight.
    watch
        Whether to record losses and weights over time, for charts.
    """

    def __init__(
        self,
        outputs: Outputs,
        cost: ExpertLoss,
        *,
        expected: bool,
        averaged: bool,
        grouped: bool,
        stored: bool,
        watch: bool,
    ) -> None:
        self.outputs, self.cost = outputs, cost
        self.expected, self.averaged, self.grouped = expected, averaged, grouped
        self.stored, self.watch = stored, watch
        self.predicted = self.weighed = Numbers(3)
        self.watching: Watching | None = None
        self.store = Store()
        self.average = 0.0  # loss of the average, if it is not an expert
        # Loss of the mixture in the rounds where each expert has no forecast; None if unknown.
        self.asleep: Floats | None = np.zeros(1)
        self.forecasts = np.zeros(1, dtype=np.int64)  # of each expert, those set aside too
        self.open_rows = 0  # rows whose outcome is not known yet

    @property
    def needs_weights(self) -> bool:
        """True if the weights of every round are needed."""
        return self.outputs.weights is not None or self.watch

    def begin(self, experts: int) -> None:
        """Allocate the records for a number of experts."""
        if self.outputs.predictions is not None:
            self.predicted = Numbers(4)
        if self.outputs.weights is not None:
            self.weighed = Numbers(2 + experts)
        if self.watch:
            self.watching = Watching(experts, self.grouped)

    def note(self, rows: Rows) -> None:
        """Record rows that were played."""
        groups = rows.groups.astype(np.float64)
        if self.outputs.predictions is not None:
            self.predicted.add(rows.numbers, groups, rows.predictions, rows.y)
        if self.outputs.weights is not None:
            assert rows.weights is not None
            self.weighed.add(rows.numbers, groups, rows.weights)
        known = ~np.isnan(rows.y)
        self.open_rows += int(np.count_nonzero(~known))
        if known.any():
            self.note_learned(rows.only(known))

    def note_learned(self, rows: Rows) -> None:
        """Record rows that were learned from."""
        with np.errstate(all="ignore"):
            if not self.averaged:
                self.average += float(self.cost.value(average_of(rows.X), rows.y).sum())
            self.note_losses(rows)
            self.note_asleep(rows)
        self.forecasts = self.forecasts + np.count_nonzero(~np.isnan(rows.X), axis=0)
        if self.stored:
            self.store.add(rows)

    def note_asleep(self, rows: Rows) -> None:
        """Add the loss of the mixture in rounds where experts have no forecast."""
        asleep = np.isnan(rows.X)
        if self.asleep is None or not asleep.any():
            return
        # An expert asleep has the loss of the mixture as it learned, not as it forecast batches.
        if (self.expected and rows.weights is None) or rows.batches is not None:
            self.asleep = None
        else:
            self.asleep = self.asleep + np.where(asleep, self.paid(rows)[:, None], 0.0).sum(axis=0)

    def paid(self, rows: Rows, each: Floats | None = None) -> Floats:
        """Return the loss of the mixture in every round."""
        if not self.expected or rows.weights is None:
            return self.cost.value(rows.predictions, rows.y)
        each = self.cost.value(rows.X, rows.y[:, None]) if each is None else each
        found: Floats = np.where(rows.weights > 0, rows.weights * each, 0.0).sum(axis=1)
        return found

    def note_losses(self, rows: Rows) -> None:
        """Record the losses of rounds, for the charts."""
        if self.watching is None or rows.weights is None:
            return
        each = self.cost.value(rows.X, rows.y[:, None])
        own = self.paid(rows, each)
        each = np.where(np.isnan(rows.X), own[:, None], each)
        self.watching.note(own, each, rows.weights, rows.at)


def median_of(X: Floats) -> Floats:
    """Return the median of the available forecasts in every row.

    >>> median_of(np.array([[9.0, np.nan, 1.0, 2.0], [1.0, np.nan, 4.0, np.nan]])).tolist()
    [2.0, 2.5]
    """
    ordered = np.sort(X, axis=1)  # NaN come last
    last = np.maximum(0, np.count_nonzero(~np.isnan(X), axis=1) - 1)
    middle = np.column_stack([last // 2, (last + 1) // 2])
    found: Floats = np.take_along_axis(ordered, middle, axis=1).mean(axis=1)
    return found


def average_of(X: Floats) -> Floats:
    """Return the average of the available forecasts in every row.

    >>> average_of(np.array([[1.0, np.nan], [1.0, 4.0]])).tolist()
    [1.0, 2.5]
    """
    asleep = np.isnan(X)
    awake = np.maximum(1, X.shape[1] - np.count_nonzero(asleep, axis=1))
    found: Floats = np.where(asleep, 0.0, X).sum(axis=1) / awake
    return found
