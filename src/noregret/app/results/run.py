"""The result of a run, as shown by the summary, the report and ``--json``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from noregret.errors import Cure, NoRegretError, Use, as_option

if TYPE_CHECKING:
    from noregret.app.results.findings import Found
    from noregret.app.results.loss_choice import Choice
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.record.moment import Curve

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
# Features that a summary names.
HEAVIEST = 10


class ClassCount(NamedTuple):
    """The rows of a class, and how many of them were predicted."""

    name: str
    rows: int
    right: int

    @property
    def recall(self) -> float | None:
        """The share of its rows that were predicted."""
        return self.right / self.rows if self.rows else None


class GroupCount(NamedTuple):
    """The rows of a group, and the mean loss of their predictions."""

    name: str
    rows: int
    loss: float


class GroupCounts(Sequence[GroupCount]):
    """The counts of many groups, each made when it is asked for.

    Parameters
    ----------
    names, rows, losses
        Of each group, those with the largest mean loss first.
    """

    def __init__(self, names: Sequence[str], rows: Sequence[int], losses: Sequence[float]) -> None:
        self.names, self.rows, self.losses = names, rows, losses

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> GroupCount: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[GroupCount, ...]: ...

    def __getitem__(self, at: int | slice) -> GroupCount | tuple[GroupCount, ...]:
        if isinstance(at, slice):
            return tuple(map(GroupCount, self.names[at], self.rows[at], self.losses[at]))
        return GroupCount(self.names[at], self.rows[at], self.losses[at])


class Previous(NamedTuple):
    """The measures of predicting the previous outcome, from the second row on.

    With groups, it is the previous outcome of the same group, from its second row on. Those of the
    run over the same rows begin with ``mine``.
    """

    rmse: float | None = None
    mae: float | None = None
    accuracy: float | None = None
    mine_rmse: float | None = None
    mine_mae: float | None = None
    mine_accuracy: float | None = None


class Initial(NamedTuple):
    """The measures of the initial predictions of rows alone; None if they have none."""

    rmse: float | None = None
    mae: float | None = None


class Measures(NamedTuple):
    """The measures of a run; None where they do not apply or are not known.

    ``explained`` is the share of the outcomes' variance that predictions explain: 1 − their squared
    error / that of the best constant. ``frequent`` is the accuracy of the most frequent class. The
    AUC is computed from binned scores, and known to ± ``auc_doubt``. ``confusion`` counts rows by
    true class (rows) and predicted class (columns), in the order of ``classes``; if it has one row
    and column more than there are classes shown, that is for all others.
    """

    rmse: float | None = None
    mae: float | None = None
    explained: float | None = None
    accuracy: float | None = None
    frequent: float | None = None
    auc: float | None = None
    auc_doubt: float | None = None
    previous: Previous = Previous()
    initial: Initial = Initial()
    classes: tuple[ClassCount, ...] = ()
    confusion: Counts | None = None


UNMEASURED = Measures()


@dataclass(frozen=True)
class Constant:
    """The best constant prediction, known only at the end: its value and its total loss."""

    value: float
    loss: float


@dataclass(frozen=True)
class Histogram:
    """A histogram; ``edges`` has one entry more than ``counts``."""

    edges: Floats
    counts: Counts


@dataclass(frozen=True)
class Calibration:
    """Predicted probabilities in bins: their mean, how often the outcome was positive, how many."""

    predicted: Floats
    observed: Floats
    counts: Counts


@dataclass(frozen=True)
class Skipped:
    """A row that was left out: where it was, and why."""

    place: str
    reason: str


# Skipped rows that are reported in full.
MAX_REPORTED_ROWS = 10


def skipped(error: NoRegretError) -> Skipped:
    """Return the row that an error is about, in the words of the command line."""
    given = NoRegretError(error.what, [c for c in error.cures if not is_skipping(c)])
    return Skipped(error.place, given.reasoned(as_option))


def is_skipping(cure: Cure) -> bool:
    """Return whether a cure is to skip bad rows, which is done already."""
    return isinstance(cure, Use) and cure.name == "on_error"


@dataclass(frozen=True)
class Outlook:
    """Summary of predictions against outcomes, for the last charts of a report.

    ``residuals`` of a regression (outcome − prediction), ``spread`` the prediction against the
    outcome as counts on a grid (rows: outcome bins, columns: prediction bins) with ``low`` and
    ``high`` its common edges; of a classifier the ``calibration`` (logistic loss only) and the
    ``confusion`` [[true −, false +], [false −, true +]].
    """

    residuals: Histogram | None = None
    spread: Counts | None = None
    low: float = 0.0
    high: float = 0.0
    calibration: Calibration | None = None
    confusion: tuple[tuple[int, int], tuple[int, int]] | None = None


@dataclass(frozen=True)
class Result:
    """A finished or interrupted run.

    Parameters
    ----------
    sources
        The files, as given.
    format
        Their format: csv, vw, ….
    rows, features, size, seconds
        Rounds played, features seen, bytes read (None where unknown), and how long it took.
    learner, name, params
        The learner as Python would write it, its name, its parameters.
    loss, total, mistakes
        The loss's name, the sum of all losses, and how many labels were wrong (None: no labels).
    weight
        The sum of the importance weights, if there were any, else None.
    constant
        The best constant prediction, if known.
    certificate, uncertified
        The certificate; or None, and why there is none.
    curve
        Loss, regret and bound over time.
    heaviest
        The ten features of the largest weights, with these.
    transforms
        The transformations of the data, as the certificate lists them.
    target
        The name of the target, if it has one.
    outlook
        Predictions against outcomes.
    predicted
        How many rows had no outcome, and were only predicted.
    skipped, skipped_rows
        How many rows were left out, and the first of them.
    shared
        With hashing: how many slots hold more than one name; None without.
    interrupted
        Whether it was stopped before the end of the data.
    command
        The command that repeats the run.
    version, started
        The version of noregret; the time of the start, as ISO 8601 in UTC.
    outputs
        The paths of the files written, by kind (model, certificate, report, predictions).
    looked_back
        The seconds that the comparison with hindsight took.
    choice
        How the loss was chosen, if the outcomes chose it.
    measures
        Familiar measures of the predictions.
    found
        The findings of the learner, if it has any.
    by_group
        The groups that have a learner of their own, those with the largest mean loss first.
    """

    kind: ClassVar[str] = "run"
    sources: tuple[str, ...]
    format: str
    rows: int
    features: int
    size: int | None
    seconds: float
    learner: str
    name: str
    params: dict[str, Any]
    loss: str
    total: float
    mistakes: int | None
    weight: float | None
    constant: Constant | None
    certificate: Certificate | None
    uncertified: str | None
    curve: Curve
    heaviest: tuple[tuple[str, float], ...]
    transforms: tuple[str, ...]
    target: str | None
    outlook: Outlook
    skipped: int
    skipped_rows: tuple[Skipped, ...]
    shared: int | None
    interrupted: bool
    command: str
    version: str
    started: str
    outputs: dict[str, str]
    predicted: int = 0
    looked_back: float = 0.0
    choice: Choice | None = None
    measures: Measures = UNMEASURED
    found: Found | None = None
    by_group: Sequence[GroupCount] = ()

    @property
    def mean(self) -> float:
        """The mean loss."""
        return self.total / (self.weight or self.rows) if self.rows else 0.0


def heaviest_of(
    name: Callable[[int], str], weights: Floats, classes: Sequence[Any] = ()
) -> tuple[tuple[str, float], ...]:
    """Return the features of the largest weights; of several classes, with the class."""
    if weights.ndim == 2:
        features, count, weights = name, weights.shape[1], weights.reshape(-1)

        def name(i: int) -> str:
            return f"{features(i // count)} → {classes[i % count]}"

    order = np.argsort(-np.abs(weights), kind="stable")[:HEAVIEST]
    return tuple((name(i), float(weights[i])) for i in order.tolist() if weights[i] != 0)
