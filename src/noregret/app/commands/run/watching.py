"""Statistics of predictions and outcomes during a run, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.run.measuring import (
    ClassMeasures,
    LabelMeasures,
    Measuring,
    NumberMeasures,
)
from noregret.app.results.run import Calibration, Constant, Histogram, Measures, Outlook
from noregret.base.numbers import known

if TYPE_CHECKING:
    from noregret.base.compiled.losses import Loss
    from noregret.streams.block import Block

Floats = NDArray[np.float64]

# Fine bins of a histogram that widens as it must, and bins of those shown.
FINE, SHOWN, GRID, BINS = 1024, 41, 64, 10
# The share of values that a histogram shows in full; the rest is in its first and last bin.
SHARE = 0.995
# Rows taken into account at a time: as many whatever blocks they come in, so that the figures of a
# run do not depend on those.
CHUNK = 4_096
# The constants tried for losses of labels: beyond, a logistic loss is nothing or everything.
WIDEST = 40.0


class Widening:
    """Counts of values around a centre, in bins that double their width when one falls outside."""

    def __init__(self, centre: float, reach: float, bins: int, axes: int) -> None:
        self.centre, self.reach, self.bins = centre, reach, bins
        self.counts = np.zeros((bins,) * axes, dtype=np.int64)

    def widen(self, largest: float) -> None:
        """Make room for values that far from the centre."""
        while self.reach < largest < math.inf:
            for axis in range(self.counts.ndim):
                pairs = np.moveaxis(self.counts, axis, 0)
                merged = pairs[0::2] + pairs[1::2]
                quarter = self.bins // 4
                wider = np.zeros_like(pairs)
                wider[quarter : quarter + len(merged)] = merged
                self.counts = np.moveaxis(wider, 0, axis)
            self.reach *= 2

    def places(self, values: Floats) -> NDArray[np.int64]:
        """Return the bins of values; those outside are in the outermost."""
        at = (values - self.centre) * (self.bins / (2 * self.reach)) + self.bins / 2
        return np.clip(at, 0, self.bins - 1).astype(np.int64)

    @property
    def edges(self) -> Floats:
        """The edges of the bins."""
        return self.centre + np.linspace(-self.reach, self.reach, self.bins + 1)


class Watching:
    """Outcomes for the best constant, and predictions with outcomes for the report.

    Parameters
    ----------
    loss
        The loss of predictions.
    several
        Whether outcomes are the numbers of several classes.
    charts
        Whether to collect the figures for charts of a report.
    """

    def __init__(self, loss: Loss, several: bool = False, charts: bool = True) -> None:
        self.loss, self.several, self.charts = loss, several, charts
        self.measures: Measuring = NumberMeasures()
        if several or loss.labels:
            self.measures = ClassMeasures() if several else LabelMeasures()
        # Outcomes, predictions, importances, and the previous outcomes of groups.
        self.waiting = np.empty((4, 0))
        self.grouped = False  # whether there are groups
        self.scored = False  # whether there are predictions
        self.whole = True  # whether measures are those of all rows
        self.shift: float | None = None
        self.settled = self.sum = self.squares = 0.0
        self.positives = 0
        self.residuals: Widening | None = None
        self.spread: Widening | None = None
        self.bins = np.zeros((3, BINS))  # rows, positive ones, sum of the probabilities

    def note(
        self,
        y: Floats,
        scores: Floats | None,
        importances: Floats | None,
        before: Floats | None = None,
    ) -> None:
        """Take rows into account, in full chunks; the rest waits.

        ``before`` are the previous outcomes in the groups of rows, NaN for none.
        """
        self.positives += int(np.count_nonzero(y > 0))
        self.scored = self.scored or scores is not None
        self.grouped = self.grouped or before is not None
        new = np.empty((4, len(y)))
        new[0], new[1] = y, np.nan if scores is None else scores
        new[2] = 1.0 if importances is None else importances
        new[3] = np.nan if before is None else before
        columns = np.concatenate([self.waiting, new], axis=1)
        whole = columns.shape[1] - columns.shape[1] % CHUNK
        for start in range(0, whole, CHUNK):
            self.take(*columns[:, start : start + CHUNK])
        self.waiting = columns[:, whole:].copy()

    def note_initial(self, block: Block, kept: NDArray[np.bool_] | None) -> None:
        """Take into account the errors of initial predictions, which outcomes are less by."""
        if isinstance(self.measures, NumberMeasures):
            used = block.labelled if kept is None else block.labelled & kept
            importances = np.ones(len(block)) if block.importances is None else block.importances
            self.measures.has_initial |= block.bases is not None
            self.measures.add_initial(block.y[used], importances[used])

    def flush(self) -> None:
        """Take the remaining rows into account."""
        if self.waiting.shape[1]:
            self.take(*self.waiting)
            self.waiting = self.waiting[:, :0]

    @property
    def weight(self) -> float:
        """The sum of the importances."""
        return self.settled + float(self.waiting[2].sum())

    @property
    def right(self) -> float | None:
        """The share of rows whose class was predicted, of several classes."""
        if not isinstance(self.measures, ClassMeasures):
            return None
        waiting = self.waiting[0] == self.waiting[1]
        right, rows = int(self.measures.right.sum()), int(self.measures.rows.sum())
        return (right + int(waiting.sum())) / max(1, rows + len(waiting))

    def take(self, y: Floats, scores: Floats, importances: Floats, before: Floats) -> None:
        """Take a chunk of rows into account."""
        if self.loss.labels and not self.several:
            y = np.where(y > 0, 1.0, -1.0)
        if self.scored or self.several:
            self.measures.take(y, scores, importances, before if self.grouped else None)
        if self.shift is None:
            self.shift = float(y[0])
        off = y - self.shift
        weighted = importances * off
        self.settled += float(importances.sum())
        with np.errstate(over="ignore"):
            self.sum += float(weighted.sum())
            self.squares += float((weighted * off).sum())  # no BLAS: it would take another core
        if not self.scored or not self.charts or self.several:
            return
        if self.loss.labels:
            self.note_labels(y, scores)
        else:
            self.note_numbers(y, scores)

    def note_labels(self, y: Floats, scores: Floats) -> None:
        """Count how sure the predictions were."""
        truth = (y > 0).astype(int)
        if self.loss.name == "logistic":
            chance = np.exp(-np.logaddexp(0.0, -scores))
            at = np.minimum((chance * BINS).astype(int), BINS - 1)
            self.bins[0] += np.bincount(at, minlength=BINS)
            self.bins[1] += np.bincount(at, weights=truth, minlength=BINS)
            self.bins[2] += np.bincount(at, weights=chance, minlength=BINS)

    def note_numbers(self, y: Floats, scores: Floats) -> None:
        """Count errors, and predictions against outcomes."""
        left = y - scores
        if self.residuals is None or self.spread is None:
            centre = float(np.median(y))
            reach = float(np.abs(y - centre).max()) or 1.0
            self.residuals = Widening(0.0, max(reach, 1e-9), FINE, 1)
            self.spread = Widening(centre, reach, GRID, 2)
        self.residuals.widen(float(np.quantile(np.abs(left), SHARE)))
        np.add.at(self.residuals.counts, self.residuals.places(left), 1)
        self.spread.widen(float(np.abs(y - self.spread.centre).max()))
        np.add.at(self.spread.counts, (self.spread.places(y), self.spread.places(scores)), 1)

    # Results.

    def constant(self) -> Constant | None:
        """Return the best constant prediction, for losses where the sums tell it."""
        self.flush()
        if self.shift is None or self.weight <= 0:
            return None
        if isinstance(self.measures, ClassMeasures):
            if self.loss.name != "softmax":
                return None
            return Constant(math.nan, self.measures.best_constant)
        mean = self.shift + self.sum / self.weight
        if self.loss.name == "square":
            loss = self.squares - self.sum * (self.sum / self.weight)
            return Constant(mean, max(0.0, loss)) if math.isfinite(loss) else None
        if self.loss.labels:
            return best_of_labels(
                self.loss, self.weight * (1 + mean) / 2, self.weight * (1 - mean) / 2
            )
        return None

    def measured(self, names: list[Any]) -> Measures:
        """Return the measures, with the names of classes in their order."""
        self.flush()
        if not self.scored or not self.whole:
            return Measures()
        spread = None
        if self.weight > 0 and not self.loss.labels:
            spread = known(self.squares - self.sum * (self.sum / self.weight))
        return self.measures.found(names, spread)

    def outlook(self) -> Outlook:
        """Return a summary of predictions against outcomes."""
        self.flush()
        if self.several:
            return Outlook()
        if isinstance(self.measures, LabelMeasures):
            rows = self.bins[0]
            calibration = None
            if rows.sum():
                full = rows > 0
                calibration = Calibration(
                    self.bins[2][full] / rows[full],
                    self.bins[1][full] / rows[full],
                    rows[full].astype(np.int64),
                )
            (right, raised), (missed, found) = self.measures.confusion.tolist()
            return Outlook(calibration=calibration, confusion=((right, raised), (missed, found)))
        if self.residuals is None or self.spread is None:
            return Outlook()
        counts, edges = self.spread.counts, self.spread.edges
        full = np.flatnonzero(counts.sum(axis=1))
        first, last = int(full[0]), int(full[-1]) + 1
        grid = counts[first:last, first:last].copy()  # predictions beyond count with the outermost
        grid[:, 0] += counts[first:last, :first].sum(axis=1)
        grid[:, -1] += counts[first:last, last:].sum(axis=1)
        return Outlook(shown(self.residuals), grid, float(edges[first]), float(edges[last]))

    def get_state(self) -> tuple[dict[str, Floats], dict[str, Any]]:
        """Return the state: arrays, and values for JSON."""
        kept: dict[str, Any] = {
            "shift": self.shift,
            "scored": self.scored,
            "sums": [self.settled.hex(), self.sum.hex(), self.squares.hex()],
            "positives": self.positives,
            "bins": self.bins.tolist(),
        }
        measured, kept["measures"] = self.measures.get_state()
        if not self.whole:
            kept["measures"] = None
            if isinstance(self.measures, LabelMeasures):
                kept["confusion"] = self.measures.confusion.tolist()
        for name in ("residuals", "spread"):
            wide: Widening | None = getattr(self, name)
            kept[name] = None if wide is None else [wide.centre, wide.reach, wide.counts.tolist()]
        columns = 3 if (self.waiting[2] != 1).any() else 2 if self.scored else 1
        waiting = np.ascontiguousarray(self.waiting[:columns].T)
        return {"waiting": waiting} | {f"measures.{k}": v for k, v in measured.items()}, kept

    def set_state(self, arrays: dict[str, Floats], kept: dict[str, Any]) -> None:
        """Restore the state."""
        self.shift, self.positives = kept["shift"], kept["positives"]
        self.scored = kept["scored"]
        self.waiting = np.ones((4, len(arrays["waiting"])))
        self.waiting[: arrays["waiting"].shape[1]] = arrays["waiting"].T
        self.settled, self.sum, self.squares = map(float.fromhex, kept["sums"])
        self.bins = np.array(kept["bins"])
        measured = {k.removeprefix("measures."): v for k, v in arrays.items() if k != "waiting"}
        self.whole = kept.get("measures") is not None  # else from 0.1.0, which measured less
        if self.whole:
            self.measures.set_state(measured, kept["measures"])
        elif isinstance(self.measures, LabelMeasures):
            self.measures.confusion = np.array(kept["confusion"], dtype=np.int64)
        for name, bins, axes in (("residuals", FINE, 1), ("spread", GRID, 2)):
            if kept[name] is not None:
                centre, reach, counts = kept[name]
                wide = Widening(centre, reach, bins, axes)
                counted = np.array(counts, dtype=np.int64)
                if counted.shape != wide.counts.shape or (counted < 0).any():
                    raise ValueError(f"{name}: not the counts of a histogram")
                wide.counts = counted
                setattr(self, name, wide)


def best_of_outcomes(loss: Loss, outcomes: Floats) -> Constant | None:
    """Return the constant with the least loss for some outcomes, if the loss has a minimum."""
    from noregret.hindsight.losses import losses_of

    if loss.name == "linear" or not len(outcomes):
        return None
    losses = losses_of(loss, outcomes)

    def cost(score: float) -> float:
        return float(losses.value(np.full(len(outcomes), score)).sum())

    found = minimiser(cost, float(outcomes.min()), float(outcomes.max()), 80)
    return Constant(found, cost(found))


def best_of_labels(loss: Loss, positive: float, negative: float) -> Constant:
    """Return the constant score with the least loss for given counts of both labels."""

    def cost(score: float) -> float:
        return positive * loss.value(score, 1.0) + negative * loss.value(score, -1.0)

    found = min((minimiser(cost, -WIDEST, WIDEST, 200), -1.0, 0.0, 1.0), key=cost)
    return Constant(found, cost(found))


def minimiser(cost: Callable[[float], float], low: float, high: float, steps: int) -> float:
    """Return the minimiser of a convex function in a range, by ternary search."""
    for _ in range(steps):
        third = (high - low) / 3
        if cost(low + third) <= cost(high - third):
            high -= third
        else:
            low += third
    return 0.5 * (low + high)


def shown(fine: Widening) -> Histogram:
    """Return a histogram of the values that matter, the few beyond in its outermost bins."""
    total = np.cumsum(fine.counts)
    if not total[-1]:
        return Histogram(np.array([-1.0, 1.0]), np.zeros(1, dtype=np.int64))
    rest = (1 - SHARE) / 2 * total[-1]
    first, last = int(np.searchsorted(total, rest)), int(np.searchsorted(total, total[-1] - rest))
    half = max(fine.bins // 2 - first, last + 1 - fine.bins // 2, SHOWN // 2 + 1)
    half = min(half, fine.bins // 2)
    edges = fine.edges[fine.bins // 2 - half : fine.bins // 2 + half + 1]
    counts = fine.counts[fine.bins // 2 - half : fine.bins // 2 + half].copy()
    counts[0] += fine.counts[: fine.bins // 2 - half].sum()
    counts[-1] += fine.counts[fine.bins // 2 + half :].sum()
    group = max(1, math.ceil(len(counts) / SHOWN))
    starts = np.arange(0, len(counts), group)
    return Histogram(
        np.append(edges[starts], edges[-1]), np.add.reduceat(counts, starts).astype(np.int64)
    )
