"""Where examples come from: files, read in blocks, from the start as often as asked.

One file here a format, found by walking; each says which extensions it reads. ``read`` picks by
the extension. What it returns goes to ``noregret.play``, and can be looped over as blocks: tables
with their outcomes.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from noregret.errors import NoRegretError
from noregret.streams.base import Stream
from noregret.streams.csv import read_csv
from noregret.streams.jsonl import read_jsonl
from noregret.streams.npz import read_npz
from noregret.streams.parquet import read_parquet

__all__ = ["Stream", "formats", "read", "read_csv", "read_jsonl", "read_npz", "read_parquet"]


def formats() -> dict[str, type[Stream]]:
    """Return which stream reads files of which extension."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    kinds, found = [Stream], {}
    for kind in kinds:
        found.update(dict.fromkeys(kind.extensions, kind))
        kinds += kind.__subclasses__()
    return dict(sorted(found.items()))


def read(path: str | Path, target: str | None = None) -> Stream:
    r"""Read examples from a file, in the format that its extension names.

    Parameters
    ----------
    path
        The file: ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl``, ``.ndjson`` or ``.npz``.
    target
        The column that holds the outcomes; not for ``.npz``, which has them as ``y``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import WidrowHoff, play, streams
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,wind,sold\n0.9,0.1,3\n0.2,0.7,1\n")
    >>> play(WidrowHoff(), streams.read(file, target="sold")).rounds
    2
    """
    known, suffix = formats(), Path(path).suffix.lower()
    if suffix not in known:
        raise NoRegretError(
            f"{path}: files that end in {suffix or 'nothing'} are not known: use one of"
            f" {', '.join(known)}"
        )
    return known[suffix](path, target)
