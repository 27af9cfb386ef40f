"""The result of a run as JSON; numbers that are NaN or infinite become null.

``format``
    ``noregret.run/1``.
``data``
    ``sources``, ``format``, ``bytes``, ``rows``, ``features``, ``target``, ``transforms``,
    ``weight`` (the sum of importance weights), ``predicted_only`` (rows without an outcome, which
    ``rows`` does not count), ``skipped`` (``count`` and the ``first``, each with
    ``place`` and ``reason``) and ``shared`` (hash slots that hold more than one name).
``learner``
    ``name``, ``params``, and ``python``: the call that makes it.
``error``
    ``name`` (RMSE, MAE, log loss, or the mean of another loss); the figure of the run, ``mine``,
    and those of the best ``constant``, of the best fixed predictor in ``hindsight``, and of the
    ``previous`` value; and of the run over the rows that have a previous value, ``compared``;
    of initial predictions alone, ``initial`` (null if rows have none).
``measures``
    Of numbers: ``rmse``, ``mae``, ``explained`` (share of the target's variance). Of classes:
    ``accuracy``, ``log_loss``, ``auc`` (two classes; from binned scores, known to ± ``auc_doubt``),
    ``recall`` (``class``, ``rows``, ``right``, ``recall``) and ``confusion`` (rows by true class,
    columns by predicted class; the last is for other classes if there is one more).
``baselines``
    The measures of the best ``constant`` (``rmse``, ``accuracy``, ``log_loss``) and of repeating
    the ``previous`` outcome, that of the same group with ``--group`` (``rmse``, ``mae``,
    ``accuracy``; and ``mine_rmse``, … of the run over the same rows: all but the first); and where
    rows have some, of their ``initial`` predictions alone (``rmse``, ``mae``).
``loss``
    ``name``, ``total``, ``mean``, ``mistakes`` and ``accuracy`` (of labels), and ``chosen``: the
    reason for this loss if it was chosen by the outcomes (``outcomes``: numbers, two classes or
    several classes, and ``words``).
``constant``
    The best constant: ``value``, ``total``, ``mean``.
``hindsight``
    The best fixed predictor's ``total`` and ``mean``; no fixed predictor of the class has less
    than ``total`` − ``gap``. ``stopped`` says whether the time was too short to narrow that
    further, and ``proven`` whether ``gap`` is negligible: if not, ``total`` is that of the best
    found, and the regret is the interval in the certificate.
``groups``
    With ``--group``: each ``group`` with its ``rows`` and the ``mean`` loss, the largest first.
``certificate``, ``uncertified``
    The certificate as in its file; or null, and the reason.
``found``
    The learner's findings, null if it has none: ``words``, ``numbers`` (under the learner's own
    names), ``members`` (``name``, ``group``, current ``weight``, own ``mean`` loss), and the
    ``course`` of the weights: ``rounds``, ``groups`` and ``weights``, one list per point in time.
``curve``
    ``rounds``, ``loss``, ``mistakes``, ``regret``, ``bound``, ``lost``: lists of one length. Where
    ``lost`` is true, the regret is null because rounding leaves too few digits for it.
``heaviest``
    The largest weights: ``feature`` and ``weight``.
``outlook``
    Predictions and outcomes: ``residuals`` (``edges``, ``counts``), ``spread`` (``counts`` by
    outcome and prediction, ``low``, ``high``), ``calibration`` (``predicted``, ``observed``,
    ``counts``), ``confusion``.
``run``
    ``started``, ``seconds``, ``looked_back`` (seconds too), ``rows_per_second``,
    ``interrupted``, ``command``, ``version``, ``outputs``.

Unknown values are null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.app.report.run.words import measure_of, proven, standing_of

if TYPE_CHECKING:
    from noregret.app.results.findings import Found
    from noregret.app.results.run import Outlook, Result

FORMAT = "noregret.run/1"


def as_dict(result: Result) -> dict[str, Any]:
    """Return the result as a dictionary for JSON."""
    now, certificate = standing_of(result), result.certificate
    made = {
        "format": FORMAT,
        "data": data(result),
        "learner": {"name": result.name, "params": result.params, "python": result.learner},
        "error": measure_of(result)._asdict(),
        "measures": measures(result),
        "baselines": baselines(result),
        "loss": {
            "name": result.loss,
            "total": result.total,
            "mean": now.loss,
            "mistakes": result.mistakes,
            "accuracy": now.accuracy,
            "chosen": result.choice
            and {"outcomes": result.choice.outcomes, "words": result.choice.words},
        },
        "constant": result.constant
        and {
            "value": result.constant.value,
            "total": result.constant.loss,
            "mean": now.constant,
        },
        "hindsight": certificate
        and {
            "total": certificate.hindsight.loss,
            "mean": now.hindsight,
            "gap": certificate.hindsight.gap,
            "stopped": certificate.hindsight.seconds is not None,
            "proven": proven(result),
        },
        "certificate": certificate and certificate.to_dict(),
        "uncertified": result.uncertified,
        "found": result.found and found(result.found),
        "groups": [{"group": g.name, "rows": g.rows, "mean": g.loss} for g in result.by_group],
        "curve": result.curve._asdict(),
        "heaviest": [{"feature": name, "weight": weight} for name, weight in result.heaviest],
        "outlook": outlook(result.outlook),
        "run": run(result),
    }
    return {key: plain(value) for key, value in made.items()}


def measures(result: Result) -> dict[str, Any]:
    """Return the familiar measures."""
    found, error = result.measures, measure_of(result)
    return {
        "rmse": found.rmse,
        "mae": found.mae,
        "explained": found.explained,
        "accuracy": standing_of(result).accuracy,
        "log_loss": error.mine if error.name == "log loss" else None,
        "auc": found.auc,
        "auc_doubt": found.auc_doubt,
        "recall": [
            {"class": each.name, "rows": each.rows, "right": each.right, "recall": each.recall}
            for each in found.classes
        ],
        "confusion": found.confusion,
    }


def baselines(result: Result) -> dict[str, Any]:
    """Return the measures of trivial predictions."""
    error = measure_of(result)
    constant = {"RMSE": "rmse", "MAE": "mae", "log loss": "log_loss"}.get(error.name, "mean")
    found = {
        "constant": {constant: error.constant, "accuracy": result.measures.frequent},
        "previous": result.measures.previous._asdict(),
    }
    initial = result.measures.initial
    return found if initial.mae is None else found | {"initial": initial._asdict()}


def data(result: Result) -> dict[str, Any]:
    """Return the description of the data."""
    first = [{"place": row.place, "reason": row.reason} for row in result.skipped_rows]
    return {
        "sources": result.sources,
        "format": result.format,
        "bytes": result.size,
        "rows": result.rows,
        "features": result.features,
        "target": result.target,
        "transforms": result.transforms,
        "weight": result.weight,
        "predicted_only": result.predicted,
        "skipped": {"count": result.skipped, "first": first},
        "shared": result.shared,
    }


def found(told: Found) -> dict[str, Any]:
    """Return the learner's findings."""
    return {
        "words": told.words,
        "numbers": told.numbers,
        "members": [
            {"name": m.name, "group": m.group, "weight": m.weight, "mean": m.loss}
            for m in told.members
        ],
        "course": {"rounds": told.rounds, "groups": told.groups, "weights": told.shares},
    }


def outlook(found: Outlook) -> dict[str, Any]:
    """Return the figures that compare predictions with outcomes."""
    residuals, spread, calibration = found.residuals, found.spread, found.calibration
    return {
        "residuals": residuals and {"edges": residuals.edges, "counts": residuals.counts},
        "spread": None
        if spread is None
        else {"counts": spread, "low": found.low, "high": found.high},
        "calibration": calibration
        and {
            "predicted": calibration.predicted,
            "observed": calibration.observed,
            "counts": calibration.counts,
        },
        "confusion": found.confusion,
    }


def run(result: Result) -> dict[str, Any]:
    """Return time, speed, command and version."""
    fast = result.rows / result.seconds if result.seconds > 0 else None
    return {
        "started": result.started,
        "seconds": result.seconds,
        "looked_back": result.looked_back,
        "rows_per_second": fast,
        "interrupted": result.interrupted,
        "command": result.command,
        "version": result.version,
        "outputs": result.outputs,
    }


def plain(value: Any) -> Any:
    """Return a value in types that JSON has; numbers that are not finite become None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict) and are_weights(value):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def are_weights(value: dict[Any, Any]) -> bool:
    """Return whether a dictionary holds finite numbers by name: a witness may have a million."""
    numbers = value.values()
    named = set(map(type, value)) <= {str} and set(map(type, numbers)) <= {float}
    return named and all(map(math.isfinite, numbers))
