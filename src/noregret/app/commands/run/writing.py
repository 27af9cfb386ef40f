"""What a run writes: where, in which order, and what may not be overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from noregret.app.commands.run import predictions
from noregret.errors import NoRegretError, WrongUsage

if TYPE_CHECKING:
    from noregret.app.commands.run.runner import Run
    from noregret.app.results.run import Result


@dataclass
class Outputs:
    """What to write, and where."""

    predictions: str | None = None
    model: str | None = None
    certificate: str | None = None
    report: str | None = None

    def given(self) -> dict[str, str]:
        """Return the files by what they are."""
        return {kind: path for kind, path in vars(self).items() if path is not None}

    def check(self, sources: Iterable[str], checkpoints: Iterable[str] = ()) -> None:
        """Refuse at once what could not be written at the end."""
        if self.predictions is not None:
            predictions.check_name(self.predictions)
        taken = {os.path.realpath(path): "the data" for path in sources}
        wanted = [(path, f"the {kind}") for kind, path in self.given().items()]
        wanted += [(path, "the checkpoint") for path in checkpoints]
        for path, kind in wanted:
            check_place(path, kind)
            if (by := taken.setdefault(os.path.realpath(path), kind)) is not kind:
                raise WrongUsage(f"{path}: already taken, by {by}: name another file for {kind}")


def check_place(path: str, kind: str) -> None:
    """Refuse a path that no file can be put at."""
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise NoRegretError(f"{path}: a link that leads in a circle: name a file for {kind}")
    if not place.parent.is_dir():
        raise NoRegretError(f"{path}: there is no folder {place.parent}")
    if place.is_dir():
        raise NoRegretError(f"{path}: a folder: name a file for {kind}")
    if place.exists() and not place.is_file():
        raise NoRegretError(f"{path}: not a file: {kind} would take its place")
    if not os.access(place.parent, os.W_OK):
        raise NoRegretError(f"{path}: the folder cannot be written to")


def write_all(run: Run, result: Result) -> tuple[Result, list[str]]:
    """Write what was asked for; return the result with what was written, and what went wrong.

    One file that cannot be written does not keep back the others.
    """
    written: dict[str, str] = {}
    failures: list[str] = []
    for kind, path in run.outputs.given().items():
        if kind == "certificate" and result.certificate is None:
            continue
        result = replace(result, outputs=written | {kind: path})
        try:
            WRITERS[kind](run, path, result)
            written[kind] = path
        except NoRegretError as error:
            failures.append(str(error))
        except OSError as error:
            failures.append(f"{path}: {error.strerror or error}")
    return replace(result, outputs=written), failures


def write_predictions(run: Run, path: str, result: Result) -> None:
    """Write the predictions."""
    assert run.spool is not None
    tags = None if run.tags is None else run.tags.blocks()
    predictions.write(path, predictions.tables(run.spool.blocks(), tags, run.learner))


def write_model(run: Run, path: str, result: Result) -> None:
    """Write the model, with how the data were read."""
    from noregret.base.model_file import save

    save(run.learner, path, run.reading.kept_with_model())


def write_certificate(run: Run, path: str, result: Result) -> None:
    """Write the certificate."""
    assert result.certificate is not None
    result.certificate.save(path)


def write_report(run: Run, path: str, result: Result) -> None:
    """Write the report."""
    from noregret.app.report.run.html import page
    from noregret.base.atomic_files import write_whole

    write_whole(path, page(result).encode())


WRITERS: dict[str, Callable[[Run, str, Result], None]] = {
    "predictions": write_predictions,
    "model": write_model,
    "certificate": write_certificate,
    "report": write_report,
}
