"""Errors for data that a run cannot learn from: no rows, no outcomes, or one label only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.errors import NoRegretError, Place

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run


def refuse_nothing(run: Run) -> None:
    """Raise an error: there was nothing to learn from."""
    where = files_named(run)
    if run.answers is not None and run.answers.closed:
        raise BrokenPipeError
    if run.stopping:
        raise KeyboardInterrupt
    if run.skipped:
        first = run.skipped_rows[0]
        raise NoRegretError(
            f"{where}: none of its {run.skipped} rows could be used; {first.place}: {first.reason}"
        )
    if run.predicted:
        run.reading.check_target()
        name = "an outcome" if run.stream.target is None else repr(run.stream.target)
        raise NoRegretError(
            f"{where}: none of its {run.predicted:,} rows has {name}, so there is nothing to"
            " learn from: to predict with a model, use ‘noregret predict’"
        )
    raise NoRegretError(f"{where}: there are no examples in it")


def check_positive(run: Run) -> None:
    """Refuse labels that are all the same because the positive value was mistyped."""
    positive = run.stream.options.positive
    if positive is not None and not run.watching.positives:
        raise NoRegretError(
            f"{files_named(run)}: no outcome is {positive!r}, so all labels are −1:"
            " write the positive value as it stands in the data"
        )


def files_named(run: Run) -> str:
    """Return the names of the files, for messages."""
    return ", ".join(str(Place(path)) for path in run.stream.paths)
