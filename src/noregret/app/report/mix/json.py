"""The result of a mix as JSON; numbers that are NaN or infinite become null.

``format``
    ``noregret.mix/1``.
``data``
    ``sources``, ``format``, ``bytes``, ``rows``, ``target``, ``transforms``, ``left_out`` (columns
    that hold no numbers), ``no_forecasts`` (columns of numbers that are none, with the reasons),
    ``open_rows`` (without an outcome), ``skipped`` (``count`` and the ``first``, each with
    ``place`` and ``reason``), and ``batches`` (null, or their ``count`` and the loss that they
    ``added``).
``learner``
    ``name``, ``params``, and ``python``: the call that makes it.
``loss``
    ``name``, ``parameter``, and the mixture's ``total`` and ``mean``; with the square loss its
    ``rmse`` too, here and below.
``experts``
    Each with its ``name``, ``total``, ``mean``, ``awake`` (rounds), ``weight`` for the next round,
    whether it was ``added``, its own loss while awake (``own``) and that of the mixture in the same
    rounds (``beside``).
``average``, ``median``, ``best``, ``convex``
    ``total`` and ``mean`` of the uniform average, the median, the best expert (with its ``name``
    and in how many rounds it was ``awake``) and the best fixed weights in hindsight (with ``gap``
    and ``weights``). An expert asleep is charged the loss of the mixture.
``regret``, ``bound``
    Regret to the best expert and its bound, as the master tracks them; sums over all series.
``certificate``, ``uncertified``
    The certificate as in its file; or null, and the reason.
``groups``
    Each series: ``name``, ``rounds``, ``total``, ``average``, and the ``best`` expert of those that
    were awake in at least half of its rounds, with its ``best_total``.
``curve``
    ``rounds``, ``loss``, ``regret``, ``bound``: lists of one length.
``history``
    Over stretches of rounds: ``rounds`` (the last of each), ``loss`` of the mixture, ``losses`` and
    mean ``weights`` of the experts, in their order.
``run``
    ``started``, ``seconds``, ``rows_per_second``, ``interrupted``, ``command``, ``version``,
    ``outputs``.

Unknown values are null.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noregret.app.report.run.json import data as data_of_run
from noregret.app.report.run.json import plain, run

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult

FORMAT = "noregret.mix/1"


def as_dict(result: MixResult) -> dict[str, Any]:
    """Return the result as a dictionary for JSON."""
    rows, best, convex = result.rows, result.best, result.convex
    certificate = result.certificate

    def paid(total: float | None, **more: Any) -> dict[str, Any] | None:
        if total is None:
            return None
        rmse = {"rmse": math.sqrt(max(0.0, total / rows))} if result.loss == "square" else {}
        return {"total": total, "mean": total / rows, **rmse, **more}

    made = {
        "format": FORMAT,
        "data": data(result),
        "learner": {"name": result.name, "params": result.params, "python": result.learner},
        "loss": paid(result.total, name=result.loss, parameter=result.loss_parameter),
        "experts": [one._asdict() | {"mean": one.total / rows} for one in result.experts],
        "average": paid(result.average),
        "median": paid(result.median),
        "best": best and paid(best.total, name=best.name, awake=best.awake),
        "convex": convex and paid(convex.total, gap=convex.gap, weights=convex.weights),
        "regret": result.regret,
        "bound": result.bound,
        "certificate": certificate and certificate.to_dict(),
        "uncertified": result.uncertified,
        "groups": [one._asdict() for one in result.groups],
        "curve": {k: v for k, v in result.curve._asdict().items() if k not in ("mistakes", "lost")},
        "history": result.history and result.history._asdict(),
        "run": run(result),
    }
    return {key: plain(value) for key, value in made.items()}


def data(result: MixResult) -> dict[str, Any]:
    """Return the description of the data."""
    found = data_of_run(result)
    for name in ("features", "weight", "shared"):
        del found[name]
    return found | {
        "left_out": result.left_out,
        "no_forecasts": result.no_forecasts,
        "open_rows": result.open_rows,
        "outcomes_aside": result.outcomes_aside,
        "batches": None
        if result.batches is None
        else {"count": result.batches, "added": result.waited},
    }
