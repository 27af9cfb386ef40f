"""Saving a run as a checkpoint, and resuming from one."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.app.commands.run import checkpoint
from noregret.app.commands.run.checkpoint import PREDICTIONS, TAGS
from noregret.app.commands.run.spool import Numbers, Tags
from noregret.app.results.loss_choice import Choice
from noregret.app.results.run import Skipped
from noregret.base.model_file import UNUSABLE, exact, inexact
from noregret.base.packing import of_prefix, with_prefix
from noregret.base.params import plain_params
from noregret.errors import NoRegretError, WrongUsage
from noregret.proof.record.ledger_state import restore as restore_ledger
from noregret.proof.record.ledger_state import state_of as ledger_state
from noregret.streams.open_file import binary, is_plain
from noregret.streams.options import INDICATOR, Options

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run

# Bytes at the end of a file that identify it: Parquet files have their metadata there.
END = 1 << 16


def save(run: Run, path: str) -> None:
    """Write a checkpoint of a run between two blocks."""
    arrays, numbers, names = run.learner.get_state()
    kept = with_prefix("learner.", arrays)
    stream_arrays, stream = run.reading.state()
    kept |= with_prefix("stream.", stream_arrays)
    watched, watching = run.watching.get_state()
    kept |= with_prefix("watching.", watched)
    state: dict[str, Any] = {
        "asked": asked(run),
        "choice": run.choice,
        "learner": {name: exact(value) for name, value in numbers.items()},
        "named": bool(names),
        "stream": stream,
        "traces": traces(run, stream["mark"]),
        "watching": watching,
        "size": run.size,
        "seen": run.seen,
        "spent": run.spent,
        "predicted": run.predicted,
        "skipped": run.skipped,
        "skipped_rows": [[row.place, row.reason] for row in run.skipped_rows],
        "weighted": run.weighted,
        "tags": None if run.tags is None else run.tags.settle(),
        "predictions": None if run.spool is None else run.spool.settle(),
    }
    if names and not run.reading.named:
        raise NoRegretError("the features of this learner are not those of its stream")
    ledger_arrays, state["ledger"] = ledger_state(run.game.ledger)
    kept |= with_prefix("ledger.", ledger_arrays)
    checkpoint.write(path, kept, state)


def missing_of(path: str) -> str:
    """Return how the run of a checkpoint treats empty cells; that of 0.1.0 stops."""
    try:
        _, state = checkpoint.read(path)
        return Options.of(state["asked"]["transforms"]).missing
    except (NoRegretError, *UNUSABLE):  # which is raised again when the run resumes
        return INDICATOR


def asked(run: Run) -> dict[str, Any]:
    """Return the settings that must be the same for a run to resume."""
    return {
        "learner": run.learner.name,
        "parameters": plain_params(run.learner),
        "files": len(run.stream.paths),
        "format": run.stream.name,
        "target": run.stream.target,
        "transforms": list(run.stream.transforms),
        "hindsight": run.hindsight,
        "predictions": run.outputs.predictions is not None,
        "report": run.outputs.report is not None,
        "passed": list(run.stream.options.passed) or None,
    }


def traces(run: Run, mark: dict[str, Any] | None) -> list[list[Any] | None]:
    """Return what identifies the files that were read to their end, or that cannot grow."""
    done = 0 if mark is None else mark["file"] + ("row" in mark)
    return [trace_of(path) for path in run.stream.paths[:done]]


def trace_of(path: str) -> list[Any] | None:
    """Return the size of a file and a digest of its end, None where it cannot be read twice."""
    if not is_plain(path):
        return None
    with binary(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END))
        return [size, hashlib.blake2b(file.read(), digest_size=16).hexdigest()]


def check_traces(run: Run, state: dict[str, Any]) -> None:
    """Refuse to resume with other data."""
    now = traces(run, state["stream"]["mark"])
    for path, here, then in zip(run.stream.paths, now, state["traces"], strict=False):
        if here != then:
            raise NoRegretError(f"{path}: not the data that the checkpoint was made from")


def restore(run: Run, path: str) -> None:
    """Resume from a checkpoint: everything is as it was between two blocks."""
    arrays, state = checkpoint.read(path)
    try:
        choice = state.get("choice") if run.chooses else None
        run.begin(None if choice is None else Choice(*choice))
        check_asked(asked(run), state["asked"], path)
        restore_state(run, path, arrays, state)
    except NoRegretError:
        raise
    except (*UNUSABLE, AssertionError, MemoryError) as error:
        raise NoRegretError(
            f"{path}: not a checkpoint that this version can use: {error}"
        ) from None


def check_asked(now: dict[str, Any], then: dict[str, Any], path: str) -> None:
    """Refuse to resume with other settings."""
    for name, value in now.items():
        if then.get(name) != value:
            before, after = differing(then.get(name), value)
            raise NoRegretError(
                f"{path}: made with other options: {name}: {before} then, {after} now; give the"
                " same as then"
            )


def differing(then: Any, now: Any) -> tuple[str, str]:
    """Return the settings then and now, without those that are the same."""
    if isinstance(then, dict) and isinstance(now, dict):
        odd = [key for key in then | now if then.get(key) != now.get(key)]
        before, after = (", ".join(f"{k}={part.get(k)}" for k in odd) for part in (then, now))
        return before, after
    if isinstance(then, list) and isinstance(now, list):
        gone, new = [x for x in then if x not in now], [x for x in now if x not in then]
        return ", ".join(gone) or "nothing more", ", ".join(new) or "nothing more"
    return in_words(then), in_words(now)


def in_words(asked: Any) -> str:
    """Return a setting in words."""
    words = {True: "asked for", False: "not asked for", None: "not said"}
    return words[asked] if asked is None or isinstance(asked, bool) else str(asked)


def restore_state(run: Run, path: str, arrays: checkpoint.Arrays, state: dict[str, Any]) -> None:
    """Restore all parts of a checkpoint."""
    check_traces(run, state)
    run.reading = run.stream.reading((of_prefix("stream.", arrays), state["stream"]))
    numbers = {name: inexact(value) for name, value in state["learner"].items()}
    names = run.reading.names(0, numbers["size"]) if state["named"] else []
    run.learner.set_state(of_prefix("learner.", arrays), numbers, names)
    run.watching.set_state(of_prefix("watching.", arrays), state["watching"])
    run.size, run.seen, run.spent = state["size"], state["seen"], state["spent"]
    run.skipped, run.weighted = state["skipped"], state["weighted"]
    run.predicted = state.get("predicted", 0)
    run.skipped_rows = [Skipped(*row) for row in state["skipped_rows"]]
    if run.checkpoint is not None and Path(run.checkpoint).resolve() != Path(path).resolve():
        raise WrongUsage(
            f"{run.checkpoint}: a resumed run keeps its checkpoints where they are, at {path}"
        )
    run.checkpoint, run.saved = path, run.learner.rounds
    if state["predictions"] is not None:
        run.spool = Numbers(run.columns, run.beside[PREDICTIONS], *state["predictions"])
    if state["tags"] is not None:
        run.tags = Tags(run.beside[TAGS], *state["tags"])
    restore_ledger(run.game.ledger, of_prefix("ledger.", arrays), state["ledger"])
