"""Data that a run cannot learn from: no rows, no outcomes, one label only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.errors import NoRegretError, Place

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run


def nothing_learned(run: Run) -> BaseException:
    """Return the error for data with nothing to learn from."""
    where = files_named(run)
    if run.answers is not None and run.answers.closed:
        return BrokenPipeError()
    if run.stopping:
        return KeyboardInterrupt()
    if run.skipped:
        first = run.skipped_rows[0]
        return NoRegretError(
            f"{where}: none of its {run.skipped} rows could be used; {first.place}: {first.reason}"
        )
    if run.predicted:
        run.reading.check_target()
        name = "an outcome" if run.stream.target is None else repr(run.stream.target)
        return NoRegretError(
            f"{where}: none of its {run.predicted:,} rows has {name}, so there is nothing to"
            " learn from: to predict with a model, use ‘noregret predict’"
        )
    run.reading.check_group()
    sheet = run.stream.options.sheet
    kind = "table" if run.stream.name == "sqlite" else "sheet"
    part = "it" if sheet is None else f"the {kind} {sheet!r}"
    return NoRegretError(f"{where}: there are no examples in {part}")


def one_label(run: Run) -> BaseException:
    """Return the error for labels that are all the same because the positive value was mistyped."""
    return NoRegretError(
        f"{files_named(run)}: no outcome is {run.stream.options.positive!r}, so all labels are −1:"
        " write the positive value as it stands in the data"
    )


def files_named(run: Run) -> str:
    """Return the names of the files, for messages."""
    return ", ".join(str(Place(path)) for path in run.stream.paths)
