"""``noregret predict``: score new data with a model; nothing is learned."""

from __future__ import annotations

import shlex
from typing import Annotated

from noregret.app.commands.options import INPUT, OUTPUT, Ask, reading_options
from noregret.errors import ModelFileError, NoRegretError, WrongUsage


def predict(
    model: Annotated[
        str,
        Ask(argument=True, help="The model, as ‘noregret run --model’ wrote it.", metavar="MODEL"),
    ],
    data: Annotated[
        list[str],
        Ask(
            argument=True,
            help="Files, one or several, globs, or - for standard input; without outcomes, too.",
            metavar="DATA",
        ),
    ],
    predictions: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="Write to a .csv or .parquet file; else CSV is printed.",
            panel=OUTPUT,
        ),
    ] = None,
    format: Annotated[
        str | None,
        Ask(
            help="csv, tsv, parquet, jsonl, svmlight, vw or npz; by the extension if not given.",
            panel=INPUT,
        ),
    ] = None,
    missing: Annotated[
        str | None,
        Ask(
            help="An empty cell: stop, zero or indicator; if not given, as when it was learned.",
            panel=INPUT,
        ),
    ] = None,
    on_error: Annotated[
        str,
        Ask(help="At a bad row: stop, or skip and count it.", panel=INPUT),
    ] = "stop",
) -> None:
    """Predict with a model, reading the data as they were read when it learned."""
    from noregret.app.commands.run.scoring import score

    reading_options(format=format, missing=missing or "stop", on_error=on_error)
    try:
        score(model, data, predictions, format=format, missing=missing, on_error=on_error)
    except ModelFileError as error:
        if any(map(is_model, data)):
            raise WrongUsage(
                "the model comes first, then the data: noregret predict"
                f" {shlex.join([next(filter(is_model, data)), model])}"
            ) from None
        raise NoRegretError(
            f"{error}: the first file is the model, as ‘noregret run --model FILE’ wrote it"
        ) from None


def is_model(path: str) -> bool:
    """Whether a file is a model that can be loaded."""
    from noregret.base.model_file import load

    try:
        load(path)
    except (NoRegretError, OSError):
        return False
    return True
