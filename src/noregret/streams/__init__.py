"""Streams of examples from files, read and parsed in blocks, in bounded memory.

``file_formats`` has one file per format, and ``read`` picks one by the extension. A stream goes to
``noregret.play``, and can be looped over: pairs (x, y), or ``blocks`` of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.errors import Use, WrongUsage
from noregret.streams import file_formats
from noregret.streams.addresses import scheme_of
from noregret.streams.open_file import is_remote
from noregret.streams.options import Options
from noregret.streams.source import STDIN, Paths, as_paths, suffix_of
from noregret.streams.stream import Stream

if TYPE_CHECKING:
    from noregret.streams.file_formats.arff import read_arff
    from noregret.streams.file_formats.csv import read_csv
    from noregret.streams.file_formats.database import read_database
    from noregret.streams.file_formats.jsonl import read_jsonl
    from noregret.streams.file_formats.npz import read_npz
    from noregret.streams.file_formats.parquet import read_parquet
    from noregret.streams.file_formats.sqlite import read_sqlite
    from noregret.streams.file_formats.svmlight import read_svmlight
    from noregret.streams.file_formats.vw import read_vw
    from noregret.streams.file_formats.xlsx import read_xlsx
    from noregret.streams.preparing import prepared

__all__ = [
    "Options",
    "Stream",
    "formats",
    "prepared",
    "read",
    "read_arff",
    "read_csv",
    "read_database",
    "read_jsonl",
    "read_npz",
    "read_parquet",
    "read_sqlite",
    "read_svmlight",
    "read_vw",
    "read_xlsx",
]


def __getattr__(name: str) -> Any:
    """Fetch ``read_csv`` and the like from the file of their format, and ``prepared``."""
    if name == "prepared":
        return importlib.import_module("noregret.streams.preparing").prepared
    if not name.startswith("read_"):
        raise AttributeError(f"module 'noregret.streams' has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{file_formats.__name__}.{name.removeprefix('read_')}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'noregret.streams' has no attribute {name!r}") from None
    return getattr(module, name)


def kinds() -> dict[str, type[Stream]]:
    """Return the streams by the names of their formats."""
    for module in pkgutil.iter_modules(file_formats.__path__):
        importlib.import_module(f"{file_formats.__name__}.{module.name}")
    found: dict[str, type[Stream]] = {}
    todo = [Stream]
    for kind in todo:
        if "name" in vars(kind):
            found[kind.name] = kind
        todo += kind.__subclasses__()
    return dict(sorted(found.items()))


def formats() -> dict[str, type[Stream]]:
    """Return which stream reads files of which extension."""
    return dict(sorted((e, kind) for kind in kinds().values() for e in kind.extensions))


def read(path: Paths, target: str | None = None, **options: Any) -> Stream:
    r"""Read examples from files, in the format that their extension names.

    Parameters
    ----------
    path
        One file or several, or a glob; ``-`` for standard input. Files may be compressed with gzip
        or Zstandard. A table of a database is ``sqlite:///file.db?table=name`` or
        ``postgresql://user:password@host/database?table=name``, or ``?query=SELECT …``.
    target
        The column that holds the outcomes, for tables.
    **options
        How to read them: see ``noregret.streams.Options``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import WidrowHoff, play, streams
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,wind,sold\n0.9,0.1,3\n0.2,0.7,1\n")
    >>> stream = streams.read(file, target="sold", intercept=True)
    >>> next(iter(stream))
    ({'intercept': 1.0, 'sun': 0.9, 'wind': 0.1}, 3.0)
    >>> play(WidrowHoff(), stream).rounds
    2
    """
    return stream_of(path, Options(target, **options))


def kind_called(name: str) -> type[Stream] | None:
    """Return the stream of a format whose file has its name: no need to look at the others."""
    from importlib.util import find_spec

    if not name.isidentifier() or find_spec(f"{file_formats.__name__}.{name}") is None:
        return None
    module = importlib.import_module(f"{file_formats.__name__}.{name}")
    here = (
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Stream)
    )
    return next((kind for kind in here if vars(kind).get("name") == name), None)


def addressed(given: list[str], options: Options) -> tuple[list[str | Path], Options]:
    """Return the addresses of tables, or for SQLite's own driver files, and the options."""
    from noregret.streams.addresses import SCHEMES, SQLITE, Address, check_known, unquoted

    for each in given:
        check_known(each)
        if scheme_of(each) not in SCHEMES:
            raise WrongUsage("files and addresses of databases cannot be mixed", file=each)
    addresses = [Address(each) for each in given]
    own = all(each.parts.scheme == SQLITE and not each.parts.query for each in addresses)
    if not own or options.format == "database":
        return [*addresses], replace(options, format="database")
    found = [(unquoted(e.parts.base.removeprefix("sqlite:///")), e.parts.table) for e in addresses]
    tables = {table for _, table in found if table is not None}
    if len(tables) > 1:
        raise WrongUsage(f"several tables ({', '.join(sorted(tables))})", "read one at a time")
    chosen = tables.pop() if tables else options.sheet
    return [file for file, _ in found], replace(options, format="sqlite", sheet=chosen)


SAY_FORMAT = Use("format", text="say what it is with {}")


def format_called(name: str) -> type[Stream]:
    """Return the stream of a format, or say which there are."""
    if (quick := kind_called(name)) is not None:
        return quick
    known = kinds()
    if name not in known:
        raise WrongUsage(f"the format {name!r} is not known", f"use one of {', '.join(known)}")
    return known[name]


def stream_of(path: Paths, options: Options) -> Stream:
    """Return the stream for some files and options; a table of a database may have an address."""
    given = [path] if isinstance(path, str | Path) else list(path)
    if any(scheme_of(each) and not is_remote(each) and not Path(each).exists() for each in given):
        given, options = addressed(list(map(str, given)), options)
        return format_called(options.format or "")(given, options)
    paths = as_paths(given)
    return format_of(paths, options)(paths, options)


def format_of(paths: Sequence[str], options: Options) -> type[Stream]:
    """Return the stream of the format that files are in, by the options or by their extensions."""
    obvious = {options.format or suffix_of(name).removeprefix(".") for name in paths}
    if len(obvious) == 1 and (quick := kind_called(obvious.pop())) is not None:
        return quick
    if options.format is not None:
        return format_called(options.format)
    by_suffix = formats()
    found = {by_suffix.get(suffix_of(name)) for name in paths}
    if len(found) > 1:
        raise WrongUsage(
            f"files of several kinds ({', '.join(paths[:3])}, …)",
            Use("format", text="say which with {}"),
        )
    kind = found.pop()
    if kind is not None:
        return kind
    if paths[0] == STDIN:
        raise WrongUsage("standard input has no extension", SAY_FORMAT)
    json = suffix_of(paths[0]) == ".json"
    cures = [Use("format", "jsonl", "if each line is an object, use {}")] if json else []
    raise WrongUsage(
        f"files that end in {suffix_of(paths[0]) or 'nothing'} are not known",
        (*cures, f"use one of {', '.join(by_suffix)}", SAY_FORMAT),
        file=paths[0],
    )
