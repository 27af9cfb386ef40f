"""A finished run for machines: plain JSON, in which nothing is NaN or infinite.

``format``
    ``noregret.run/1``.
``data``
    ``sources``, ``format``, ``bytes``, ``rows``, ``features``, ``target``, ``transforms``,
    ``weight`` (the sum of importance weights), ``skipped`` (``count`` and the ``first``, each with
    ``place`` and ``reason``) and ``shared`` (hash slots that hold more than one name).
``learner``
    ``name``, ``params``, and ``python``: how Python would write it.
``error``
    ``name`` (RMSE, MAE, log loss, or the mean of another loss); the figure of the run, ``mine``,
    and those of the best ``constant`` and of the best fixed predictor in ``hindsight``.
``loss``
    ``name``, ``total``, ``mean``, ``mistakes`` and ``accuracy`` (of labels), and ``chosen``: why
    this loss, where the outcomes chose it (``outcomes``: labels or numbers, and ``words``).
``constant``
    The best constant: ``value``, ``total``, ``mean``.
``hindsight``
    The best fixed predictor's ``total`` and ``mean``; its proof is in the certificate.
``certificate``, ``uncertified``
    The certificate as its file has it; or null, and why.
``found``
    What the learner tells of itself, null for one that does not: ``words``, ``numbers`` (as the
    learner names them), ``members`` (``name``, ``group``, ``weight`` now, ``mean`` loss alone), and
    the ``course`` of the weights: ``rounds``, ``groups`` and ``weights``, a list a moment.
``curve``
    ``rounds``, ``loss``, ``mistakes``, ``regret``, ``bound``: lists of one length.
``heaviest``
    The largest weights: ``feature`` and ``weight``.
``outlook``
    Predictions beside outcomes: ``residuals`` (``edges``, ``counts``), ``spread`` (``counts`` by
    outcome and prediction, ``low``, ``high``), ``calibration`` (``predicted``, ``observed``,
    ``counts``), ``confusion``.
``run``
    ``started``, ``seconds``, ``rows_per_second``, ``interrupted``, ``command``, ``version``,
    ``outputs``.

What is not known is null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.app.report.run.words import measure_of, standing_of

if TYPE_CHECKING:
    from noregret.app.results.findings import Found
    from noregret.app.results.run import Outlook, Result

FORMAT = "noregret.run/1"


def as_dict(result: Result) -> dict[str, Any]:
    """Return the run as JSON has it."""
    now, certificate = standing_of(result), result.certificate
    made = {
        "format": FORMAT,
        "data": data(result),
        "learner": {"name": result.name, "params": result.params, "python": result.learner},
        "error": measure_of(result)._asdict(),
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
        "hindsight": certificate and {"total": certificate.hindsight.loss, "mean": now.hindsight},
        "certificate": certificate and certificate.to_dict(),
        "uncertified": result.uncertified,
        "found": result.found and found(result.found),
        "curve": result.curve._asdict(),
        "heaviest": [{"feature": name, "weight": weight} for name, weight in result.heaviest],
        "outlook": outlook(result.outlook),
        "run": run(result),
    }
    return {key: plain(value) for key, value in made.items()}


def data(result: Result) -> dict[str, Any]:
    """Return what was read."""
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
        "skipped": {"count": result.skipped, "first": first},
        "shared": result.shared,
    }


def found(told: Found) -> dict[str, Any]:
    """Return what the learner tells of itself."""
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
    """Return predictions beside outcomes."""
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
    """Return when and how it was made."""
    fast = result.rows / result.seconds if result.seconds > 0 else None
    return {
        "started": result.started,
        "seconds": result.seconds,
        "rows_per_second": fast,
        "interrupted": result.interrupted,
        "command": result.command,
        "version": result.version,
        "outputs": result.outputs,
    }


def plain(value: Any) -> Any:
    """Return a value in the types that JSON has; numbers that are not finite become None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
