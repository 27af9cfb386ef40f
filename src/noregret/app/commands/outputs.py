"""The files that a command writes: checked before the work, written after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from noregret.base.atomic_files import same_file
from noregret.errors import NoRegretError, WrongUsage, on_command_line

R = TypeVar("R", bound=Any)
TABLES = ("predictions", "weights")


@dataclass
class Outputs:
    """The files to write, by kind; None if not requested."""

    out: str | None = None
    predictions: str | None = None
    weights: str | None = None
    allocations: str | None = None
    relatives: str | None = None
    model: str | None = None
    certificate: str | None = None
    report: str | None = None

    @classmethod
    def of(cls, given: object) -> Outputs:
        """Return the files that a command line names."""
        found = cls(**{kind: getattr(given, kind, None) for kind in cls.__dataclass_fields__})
        if found.certificate is not None and not getattr(given, "hindsight", True):
            raise WrongUsage("a certificate compares with hindsight: leave --no-hindsight out")
        return found

    def given(self) -> dict[str, str]:
        """Return the files by kind."""
        return {kind: path for kind, path in vars(self).items() if path is not None}

    def check(
        self,
        sources: Iterable[str],
        checkpoints: Iterable[str] = (),
        reserved: Mapping[str, str] | None = None,
    ) -> None:
        """Refuse at once files that could not be written at the end.

        ``reserved`` are other files that are written, with a description of each.
        """
        given = self.given()
        for kind in (kind for kind in TABLES if kind in given):
            from noregret.app.commands.run.predictions import check_name

            check_name(given[kind], kind)
        taken = [(path, "the data") for path in sources] + [*(reserved or {}).items()]
        names = {"out": "the output"}
        wanted = [(path, names.get(kind, f"the {kind}")) for kind, path in given.items()]
        wanted += [(path, "the checkpoint") for path in checkpoints]
        for path, kind in wanted:
            check_place(path, kind)
            for other, by in taken:
                if same_file(path, other):
                    raise WrongUsage(
                        f"{path}: already taken, by {by}: name another file for {kind}"
                    )
            taken.append((path, kind))

    def write(
        self, result: R, writers: Mapping[str, Callable[[str, R], None]]
    ) -> tuple[R, list[str]]:
        """Write all files; return the result with those written, and the failures.

        A file that cannot be written does not prevent the others.
        """
        done: dict[str, str] = dict(result.outputs)
        failures: list[str] = []
        writers = {"certificate": write_certificate, "report": write_report} | dict(writers)
        for kind, path in self.given().items():
            if writers[kind] is write_certificate and result.certificate is None:
                continue
            result = replace(result, outputs=done | {kind: path})
            try:
                writers[kind](path, result)
                done[kind] = path
            except NoRegretError as error:
                failures.append(on_command_line(error))
            except OSError as error:
                failures.append(f"{path}: {error.strerror or error}")
        return replace(result, outputs=done), failures


def write_certificate(path: str, result: Any) -> None:
    """Write the certificate."""
    result.certificate.save(path)


def write_report(path: str, result: Any) -> None:
    """Write the report."""
    from noregret.app.report import renderer
    from noregret.base.atomic_files import write_whole

    write_whole(path, renderer(f"{result.kind} page")(result).encode())


def check_place(path: str, kind: str) -> None:
    """Refuse a path at which no file can be written."""
    if not path:
        raise WrongUsage(f"name a file for {kind}: got an empty name")
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise NoRegretError(f"{path}: a circular link: name a file for {kind}")
    if not place.parent.is_dir():
        raise NoRegretError(f"{path}: there is no folder {place.parent}")
    if place.is_dir():
        raise NoRegretError(f"{path}: a folder: name a file for {kind}")
    if place.exists() and not place.is_file():
        raise NoRegretError(f"{path}: not a file: {kind} would take its place")
    if not os.access(place.parent, os.W_OK):
        raise NoRegretError(f"{path}: the folder cannot be written to")
