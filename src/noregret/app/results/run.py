"""The result of a run, as shown by the summary, the report and ``--json``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.app.results.measures import Measures
from noregret.errors import NoRegretError, as_option

if TYPE_CHECKING:
    from noregret.app.results.findings import Found
    from noregret.app.results.loss_choice import Choice
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.record.curve import Curve

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
UNMEASURED = Measures()
# Features that a summary names.
HEAVIEST = 10


@dataclass(frozen=True)
class Constant:
    """The best constant prediction, known only at the end: its value and what it costs in all."""

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


def skipped(error: NoRegretError) -> Skipped:
    """Return the row that an error is about, in the words of the command line."""
    return Skipped(error.place, error.reasoned(as_option))


@dataclass(frozen=True)
class Outlook:
    """Predictions beside outcomes, in few numbers: for a report's last chart.

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
    """A run that is over, or was stopped.

    Parameters
    ----------
    sources
        The files, as they were given.
    format
        How they were read: csv, vw, ….
    rows, features, size, seconds
        Rounds played, features seen, bytes read (None where unknown), and how long it took.
    learner, name, params
        The learner as Python would write it, its name, its parameters.
    loss, total, mistakes
        The loss's name, the sum of all losses, and how many labels were wrong (None: no labels).
    weight
        The sum of the importance weights where there were any, else None.
    constant
        The best constant prediction, where it could be had.
    certificate, uncertified
        The certificate; or None, and why there is none.
    curve
        Loss, regret and bound as they went.
    heaviest
        The ten features of the largest weights, with these.
    transforms
        What was done to the data on the way, as the certificate names it.
    target
        What was predicted, where it has a name.
    outlook
        Predictions beside outcomes.
    skipped, skipped_rows
        How many rows were left out, and the first of them.
    shared
        With hashing: how many slots hold more than one name; None without.
    interrupted
        Whether it was stopped before the end of the data.
    command
        The command to do it again.
    version, started
        Of noregret; and when, as ISO 8601 in UTC.
    outputs
        What was written, by kind (model, certificate, report, predictions): paths.
    looked_back
        How many seconds the comparison with hindsight took, besides.
    choice
        How the loss was chosen, where the outcomes did that.
    measures
        Familiar measures of the predictions.
    found
        What the learner tells of itself, where it does.
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
    looked_back: float = 0.0
    choice: Choice | None = None
    measures: Measures = UNMEASURED
    found: Found | None = None

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
