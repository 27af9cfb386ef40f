"""Familiar measures of predictions during a run, in bounded memory.

Rows come in chunks of one size, whatever blocks they were read in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.results.run import ClassCount, Initial, Measures, Previous
from noregret.base.numbers import known
from noregret.linear.learner import is_of_classes
from noregret.streams.class_labels import as_written

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.streams.options import Options

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
# Scores are binned by magnitude, from 2^-OCTAVES to 2^OCTAVES, for the AUC.
OCTAVES, BINS_PER_OCTAVE = 10, 256
SIDE = 2 * OCTAVES * BINS_PER_OCTAVE  # bins of positive scores; as many of negative ones
DROPPED_BITS, FIRST_BIN = 44, (1023 - OCTAVES) * BINS_PER_OCTAVE
# Classes that have a row and a column of their own in the confusion matrix; the rest share one.
MAX_CONFUSED = 50


class NumberMeasures:
    """Errors of predicted numbers, and of the previous value as a prediction."""

    def __init__(self) -> None:
        # Weights, absolute errors and squared errors: of predictions, of the previous value, and of
        # predictions in the rows that have a previous value.
        self.sums = np.zeros((3, 3))
        self.last: float | None = None
        # The same of initial predictions alone, if rows have some.
        self.initial, self.has_initial = np.zeros(3), False

    def take(
        self, y: Floats, scores: Floats, importances: Floats, before: Floats | None = None
    ) -> None:
        """Take rows into account; ``before`` are the previous outcomes, if not those of rows."""
        if not len(y):
            return
        before = outcomes_before(y, self.last) if before is None else before
        there = ~np.isnan(before)
        with np.errstate(over="ignore", invalid="ignore"):
            errors = y - scores
            self.add(0, errors, importances)
            self.add(1, (y - before)[there], importances[there])
            self.add(2, errors[there], importances[there])
        self.last = float(y[-1])

    def add(self, of: int, errors: Floats, importances: Floats) -> None:
        """Add up errors."""
        errors = np.abs(errors)
        sizes = importances * errors
        self.sums[of] += importances.sum(), sizes.sum(), (sizes * errors).sum()

    def add_initial(self, errors: Floats, importances: Floats) -> None:
        """Add up errors of initial predictions, row by row: the same whatever the blocks are."""
        errors = np.abs(errors)
        with np.errstate(over="ignore", invalid="ignore"):
            new = [importances, importances * errors, importances * errors * errors]
            rows = np.column_stack([self.initial, np.array(new)])
            self.initial = np.cumsum(rows, axis=1)[:, -1]

    def found(self, names: list[Any], spread: float | None) -> Measures:
        """Return the measures; ``spread`` is the total squared error of the best constant."""
        (rmse, mae), before, mine = map(means, self.sums)
        initial = Initial(*means(self.initial)) if self.has_initial else Initial()
        explained = None
        if spread is not None and spread > 0:
            explained = known(1 - float(self.sums[0, 2]) / spread)
        return Measures(
            rmse=rmse,
            mae=mae,
            explained=explained,
            previous=Previous(*before, mine_rmse=mine[0], mine_mae=mine[1]),
            initial=initial,
        )

    def get_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the state: arrays, and values for JSON."""
        arrays: dict[str, NDArray[Any]] = {"sums": self.sums}
        if self.has_initial or self.initial.any():
            arrays["initial"] = self.initial
        return arrays, {"last": self.last, "has_initial": self.has_initial}

    def set_state(self, arrays: dict[str, NDArray[Any]], kept: dict[str, Any]) -> None:
        """Restore the state."""
        self.sums, self.last = fitting(arrays["sums"], self.sums), kept["last"]
        self.initial = fitting(arrays.get("initial", self.initial), self.initial)
        self.has_initial = bool(kept.get("has_initial", False))


def means(sums: Floats) -> tuple[float | None, float | None]:
    """Return the root mean squared error and the mean absolute error."""
    weight, sizes, squares = sums.tolist()
    if weight <= 0:
        return None, None
    return known(math.sqrt(squares / weight)), known(sizes / weight)


class LabelMeasures:
    """Right and wrong labels, −1 and +1, the AUC, and the previous label as a prediction."""

    def __init__(self) -> None:
        self.confusion = np.zeros((2, 2), dtype=np.int64)
        self.bins = np.zeros((2, 2 * SIDE + 1), dtype=np.int64)
        self.against_previous = np.zeros(3, dtype=np.int64)
        self.last: int | None = None

    def take(
        self, y: Floats, scores: Floats, importances: Floats, before: Floats | None = None
    ) -> None:
        """Take rows into account; importances do not count here."""
        from noregret.base.mistakes import are_mistakes  # for two classes only

        truth = (y > 0).astype(np.int64)
        said = np.where(are_mistakes(y, scores), 1 - truth, truth)
        self.confusion += np.bincount(2 * truth + said, minlength=4).reshape(2, 2)
        wide = self.bins.shape[1]
        self.bins += np.bincount(wide * truth + bins_of(scores), minlength=2 * wide).reshape(2, -1)
        earlier = outcomes_before(truth, self.last) if before is None else signs_of(before)
        self.against_previous += counts_against(truth, said, earlier)
        self.last = int(truth[-1]) if len(truth) else self.last

    def found(self, names: list[Any], spread: float | None) -> Measures:
        """Return the measures; ``names`` are those of the negative and the positive class."""
        negative, positive = self.bins
        pairs = int(negative.sum()) * int(positive.sum())
        auc = doubt = None
        if pairs:
            below = np.concatenate([[0], np.cumsum(negative)[:-1]])
            sure, same = float(positive @ below), float(positive @ negative)
            auc, doubt = (sure + same / 2) / pairs, same / 2 / pairs
        rows, right = self.confusion.sum(axis=1), np.diag(self.confusion)
        made = of_classes(self.confusion, rows, right, names, self.against_previous)
        return made._replace(auc=auc, auc_doubt=doubt)

    def get_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the state: arrays, and values for JSON."""
        names = ("confusion", "bins", "against_previous")
        return {name: getattr(self, name) for name in names}, {"last": self.last}

    def set_state(self, arrays: dict[str, NDArray[Any]], kept: dict[str, Any]) -> None:
        """Restore the state."""
        self.confusion = fitting(arrays["confusion"], self.confusion)
        self.bins = fitting(arrays["bins"], self.bins)
        self.against_previous = fitting(arrays["against_previous"], self.against_previous)
        self.last = kept["last"]


class ClassMeasures:
    """Right and wrong classes of several, and the previous class as a prediction.

    ``confusion`` counts rows by true and predicted class; the last row and column are for all
    classes beyond ``MAX_CONFUSED``. Rows before the first class is known have no prediction, and
    count as wrong, but not there.
    """

    def __init__(self) -> None:
        self.confusion = np.zeros((MAX_CONFUSED + 1, MAX_CONFUSED + 1), dtype=np.int64)
        self.rows = np.zeros(0, dtype=np.int64)  # of each class,
        self.right = np.zeros(0, dtype=np.int64)  # and those predicted
        self.weights = np.zeros(0)
        self.against_previous = np.zeros(3, dtype=np.int64)
        self.last: int | None = None

    def take(
        self, y: Floats, scores: Floats, importances: Floats, before: Floats | None = None
    ) -> None:
        """Take rows into account; classes are numbers, −1 for no prediction."""
        if not len(y):
            return
        truth, said = y.astype(np.int64), scores.astype(np.int64)
        size = max(len(self.rows), int(truth.max()) + 1)
        self.rows = grown(self.rows, size) + np.bincount(truth, minlength=size)
        hits = truth[truth == said]
        self.right = grown(self.right, size) + np.bincount(hits, minlength=size)
        self.weights = grown(self.weights, size) + np.bincount(truth, importances, size)
        rest, wide = MAX_CONFUSED, MAX_CONFUSED + 1
        at = (wide * np.minimum(truth, rest) + np.minimum(said, rest))[said >= 0]
        self.confusion += np.bincount(at, minlength=wide * wide).reshape(wide, wide)
        earlier = outcomes_before(truth, self.last) if before is None else before
        self.against_previous += counts_against(truth, said, earlier)
        self.last = int(truth[-1])

    @property
    def best_constant(self) -> float:
        """The total log loss of the class frequencies."""
        there = self.weights[self.weights > 0]
        return float(-(there * np.log(there / there.sum())).sum()) if len(there) else 0.0

    def found(self, names: list[Any], spread: float | None) -> Measures:
        """Return the measures, classes in the order of their names."""
        size = min(len(self.rows), MAX_CONFUSED)
        key = order_of(names[: len(self.rows)])
        shown, others = sorted(range(size), key=key), sorted(range(size, len(self.rows)), key=key)
        at = [*shown, *([MAX_CONFUSED] if others else [])]
        confusion, order = self.confusion[np.ix_(at, at)], shown + others
        named = [names[k] for k in order]
        rows, right = self.rows[order], self.right[order]
        return of_classes(confusion, rows, right, named, self.against_previous)

    def get_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the state: arrays, and values for JSON."""
        names = ("confusion", "rows", "right", "weights", "against_previous")
        return {name: getattr(self, name) for name in names}, {"last": self.last}

    def set_state(self, arrays: dict[str, NDArray[Any]], kept: dict[str, Any]) -> None:
        """Restore the state."""
        self.confusion = fitting(arrays["confusion"], self.confusion)
        self.rows, self.right = (np.array(arrays[k], dtype=np.int64) for k in ("rows", "right"))
        self.weights = np.array(arrays["weights"], dtype=np.float64)
        if not len(self.rows) == len(self.right) == len(self.weights):
            raise ValueError("not the counts of classes")
        self.against_previous = fitting(arrays["against_previous"], self.against_previous)
        self.last = kept["last"]


Measuring = NumberMeasures | LabelMeasures | ClassMeasures


def of_classes(
    confusion: Counts, rows: Counts, right: Counts, names: list[Any], against_previous: Counts
) -> Measures:
    """Return the measures that follow from counts of rows and of right predictions by class."""
    total = int(rows.sum())
    if not total:
        return Measures()
    compared, repeated, mine = against_previous.tolist()
    return Measures(
        accuracy=int(right.sum()) / total,
        frequent=int(rows.max()) / total,
        previous=Previous(accuracy=repeated / compared, mine_accuracy=mine / compared)
        if compared
        else Previous(),
        classes=tuple(
            ClassCount(text_of(name), int(n), int(k))
            for name, n, k in zip(names, rows, right, strict=False)
        ),
        confusion=confusion,
    )


def text_of(name: Any) -> str:
    """Return the name of a class as predictions write it."""
    return str(name).lower() if isinstance(name, bool) else str(name)


def order_of(names: list[Any]) -> Callable[[int], Any]:
    """Return the key that sorts classes: by number if all are numbers, else by name."""
    texts = list(map(str, names))
    try:
        numbers = list(map(float, texts))
    except ValueError:
        return texts.__getitem__
    return numbers.__getitem__


def outcomes_before(y: NDArray[Any], last: float | None) -> Floats:
    """Return the outcome of the row before each one, NaN for the first of all."""
    return np.concatenate([[np.nan if last is None else last], y])[:-1]


def signs_of(y: Floats) -> Floats:
    """Return 1 for positive labels and 0 for negative ones, NaN for none."""
    return np.where(np.isnan(y), np.nan, y > 0)


def counts_against(truth: Counts, said: Counts, before: Floats) -> Counts:
    """Return rows with a previous class, those of that class, and those that were predicted."""
    there = ~np.isnan(before)
    return np.array([there.sum(), (truth == before).sum(), (truth == said)[there].sum()])


def bins_of(scores: Floats) -> Counts:
    """Return the bins of scores, in the same order as these: 256 for each power of two.

    The exponent and the first eight binary digits of a float, as one integer, grow with it.
    """
    at = np.abs(scores).view(np.int64) >> DROPPED_BITS
    size = np.clip(at - FIRST_BIN, -1, SIDE - 1) + 1
    return np.asarray(SIDE + np.where(scores < 0, -size, size))


def grown(counts: NDArray[Any], size: int) -> NDArray[Any]:
    """Return counts with zeros added."""
    return np.concatenate([counts, np.zeros(size - len(counts), dtype=counts.dtype)])


def fitting(given: NDArray[Any], usual: NDArray[Any]) -> NDArray[Any]:
    """Return an array of the usual shape and type, or raise ValueError."""
    found = np.array(given, dtype=usual.dtype)
    if found.shape != usual.shape or (found < 0).any():
        raise ValueError("not the counts of a run")
    return found


def class_names(learner: Learner, options: Options) -> list[Any]:
    """Return the names of classes as the data have them; none where they have no names.

    Of two classes the negative one comes first.
    """
    if is_of_classes(learner):
        return as_written(learner.classes)
    if options.positive is None or not learner.engine.loss.labels:
        return []
    if options.negative is None:
        return [f"not {options.positive}", options.positive]
    return as_written([options.negative, options.positive])
