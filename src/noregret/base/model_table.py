"""Many models by key in one SQLite file, each as its own model file would be."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from noregret.base.atomic_files import beside
from noregret.errors import ModelFileError, NoRegretError

# A key, its rounds and its loss, and its model.
Row = tuple[Any, int, float, bytes]
FORMAT = "noregret.groups/1"
# Marks the file as ours for SQLite and `file`.
APPLICATION = 0x6E6F7265
# Models that are copied at a time.
MODELS_PER_PART = 1_000
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE models (key TEXT PRIMARY KEY, rounds INTEGER, loss REAL, model BLOB, seal BLOB);
"""


class ModelTable:
    """A table of models in a temporary file of SQLite's own, which goes with the process.

    Parameters
    ----------
    path
        The file to begin with a copy of, if any.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = "the table of models" if path is None else path
        self.rows = sqlite3.connect("", check_same_thread=False, uri=True)
        weakref.finalize(self, self.rows.close)
        if path is None:
            with self.writing():
                self.rows.executescript(f"PRAGMA application_id = {APPLICATION}; {SCHEMA}")
            self.note(format=FORMAT)
            return
        open(path, "rb").close()  # SQLite's message does not say why it cannot
        with self.reading():
            name = f"file:{quote(os.path.abspath(path))}?mode=ro"
            with closing(sqlite3.connect(name, uri=True)) as file:
                file.backup(self.rows)
        if self.fact("format") != FORMAT:
            raise ModelFileError("not a file of models, or of a newer version", file=path)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Name the file in errors of SQLite."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                raise no_room(error) from None
            what = f"not a file of models, or a damaged one ({error})"
            raise ModelFileError(what, file=self.path) from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Name the folder of temporary files in errors of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            raise no_room(error) from None

    def fact(self, name: str) -> Any:
        """Return one of the facts about all models; None if it is not there."""
        with self.reading():
            row = self.rows.execute("SELECT value FROM facts WHERE name = ?", [name]).fetchone()
        return None if row is None else row[0]

    def note(self, **facts: Any) -> None:
        """Write down facts about all models."""
        with self.writing():
            self.rows.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    def put(self, rows: Iterable[Row]) -> None:
        """Keep models with their keys, rounds and losses, instead of earlier ones of these keys."""
        sealed = (
            (text := json.dumps(key), rounds, loss, model, seal(text, rounds, loss, model))
            for key, rounds, loss, model in rows
        )
        with self.writing():
            self.rows.executemany("INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?)", sealed)

    def get(self, key: Any) -> bytes | None:
        """Return the model of a key; None if there is none."""
        text, query = json.dumps(key), "SELECT rounds, loss, model, seal FROM models WHERE key = ?"
        with self.reading():
            row = self.rows.execute(query, [text]).fetchone()
        if row is None:
            return None
        if not isinstance(row[2], bytes) or seal(text, *row[:3]) != row[3]:
            raise ModelFileError(f"the model of {key!r} is damaged", file=self.path)
        return row[2]

    def __contains__(self, key: Any) -> bool:
        query = "SELECT 1 FROM models WHERE key = ?"
        with self.reading():
            return self.rows.execute(query, [json.dumps(key)]).fetchone() is not None

    def __iter__(self) -> Iterator[Any]:
        with self.reading():
            for (text,) in self.rows.execute("SELECT key FROM models"):
                yield key_in(text)

    def records(self) -> list[tuple[Any, int, float]]:
        """Return the key, the rounds and the loss of each model."""
        with self.reading():
            rows = self.rows.execute("SELECT key, rounds, loss FROM models").fetchall()
        try:
            found = [(key_in(key), rounds, loss) for key, rounds, loss in rows]
        except (TypeError, ValueError):
            raise ModelFileError("a key is damaged", file=self.path) from None
        for key, rounds, loss in found:
            parts = key if isinstance(key, tuple) else (key,)
            if not all(isinstance(part, str | int) for part in parts) or type(rounds) is not int:
                raise ModelFileError(f"the key {key!r} is damaged", file=self.path)
            if not isinstance(loss, float) or not math.isfinite(loss):
                raise ModelFileError(f"the loss of {key!r} is damaged", file=self.path)
        return found

    def parts(self) -> Iterator[list[Row]]:
        """Yield all models with their keys, rounds and losses, some at a time."""
        with self.reading():
            rows = self.rows.execute("SELECT key, rounds, loss, model FROM models ORDER BY key")
            while some := rows.fetchmany(MODELS_PER_PART):
                yield [(key_in(key), *rest) for key, *rest in some]

    def take(self, path: str | Path) -> None:
        """Add the models of another file, as they are there."""
        with self.writing():
            self.rows.commit()
        name = f"file:{quote(os.path.abspath(path))}?mode=ro"
        with self.reading():
            self.rows.execute("ATTACH ? AS other", [name])
            try:
                self.rows.execute("INSERT OR REPLACE INTO models SELECT * FROM other.models")
                self.rows.commit()
            finally:
                self.rows.execute("DETACH other")

    def copy_to(self, path: str | Path) -> None:
        """Write all models to another file, atomically."""
        try:
            with self.writing():
                self.rows.commit()
            with beside(path) as made, closing(sqlite3.connect(made)) as copy:
                copy.execute("PRAGMA journal_mode = OFF")  # nothing to undo, nor left behind
                self.rows.backup(copy)
        except sqlite3.Error as error:
            raise NoRegretError(f"cannot be written: {error}", file=path) from None


def no_room(error: Exception) -> NoRegretError:
    """Return the error for models that do not fit into a temporary file."""
    what = f"the models do not fit into a temporary file: {error}"
    cure = "make room there, or name another folder in the environment variable TMPDIR"
    return NoRegretError(what, cure, file=folder_of_sqlite())


def folder_of_sqlite() -> str:
    """Return the folder in which SQLite writes temporary files, which may differ from Python's."""
    named = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    for folder in (*named, "/var/tmp", "/usr/tmp"):
        if folder and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    import tempfile

    return tempfile.gettempdir()


def key_in(text: str) -> Any:
    """Return the key that a text stands for."""
    key = json.loads(text)
    return tuple(key) if isinstance(key, list) else key


def seal(key: str, rounds: Any, loss: Any, model: bytes) -> bytes:
    """Return a digest that ties a model to its key and figures."""
    digest = hashlib.blake2b(json.dumps([key, rounds, loss]).encode(), digest_size=16)
    digest.update(model)
    return digest.digest()
