"""``noregret predict``: predict new data with a trained model."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from noregret.app.cli import options as ask
from noregret.app.cli import workers
from noregret.errors import ModelFileError, NoRegretError, WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

EXAMPLE = "noregret predict MODEL DATA.csv"
OPTIONS = [
    ask.argument("model", "MODEL", "The model that ‘noregret run --model’ wrote."),
    ask.DATA.but("One or more files or globs, with or without outcomes; - is standard input."),
    ask.FORMAT,
    ask.MISSING.but(
        "At an empty cell: stop, zero or indicator (default: as when the model was trained).",
        default=None,
    ),
    ask.ON_ERROR,
    ask.PREDICTIONS.but(
        "Write the predictions to a .csv or .parquet file instead of printing CSV."
    ),
    workers.WORKERS,
    workers.CLUSTER,
    workers.WORK_FOLDER,
]


def predict(given: Namespace) -> None:
    """Predict new data with a model; the data are read with the options it was trained with."""
    from noregret.app.commands.run.scoring import score

    model, data, missing = given.model, given.data, given.missing
    ask.reading_options(given, missing=missing or "stop")
    if workers.are_asked(given):
        from noregret.app.commands.run import spread_scoring  # noqa: F401  (workers start with it)
    try:
        score(
            model,
            data,
            given.predictions,
            format=given.format,
            missing=missing,
            on_error=given.on_error,
            workers=lambda: workers.workers_of(given),
            folder=given.work_folder,
        )
    except ModelFileError as error:
        if any(map(is_model, data)):
            raise WrongUsage(
                "give the model first, then the data: noregret predict"
                f" {shlex.join([next(filter(is_model, data)), model])}"
            ) from None
        if not error.cures:
            error.cures = ("the first file must be a model written by ‘noregret run --model FILE’",)
        raise


def is_model(path: str) -> bool:
    """Return whether a file is a model that can be loaded."""
    from noregret.base.model_file import load

    try:
        load(path)
    except (NoRegretError, OSError):
        return False
    return True
