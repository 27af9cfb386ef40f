"""The predictions and the model that a run writes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run
    from noregret.app.results.run import Result


def write_all(run: Run, result: Result) -> tuple[Result, list[str]]:
    """Write what was asked for; return the result with what was written, and what went wrong."""
    writers = {"predictions": write_predictions, "model": write_model}
    return run.outputs.write(result, {kind: partial(write, run) for kind, write in writers.items()})


def write_predictions(run: Run, path: str, result: Result) -> None:
    """Write the predictions."""
    from noregret.app.commands.run import predictions

    assert run.spool is not None
    tags = None if run.tags is None else run.tags.blocks()
    predictions.write(path, predictions.tables(run.spool.blocks(), tags, run.learner))


def write_model(run: Run, path: str, result: Result) -> None:
    """Write the model, with how the data were read."""
    from noregret.base.model_file import save

    save(run.learner, path, run.reading.kept_with_model())
