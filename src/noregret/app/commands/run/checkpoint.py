"""Checkpoints: the state of a run in one file, so that it can resume after any interruption.

The rows, predictions and outcomes so far are in files next to it; the checkpoint has the number of
their bytes that count. It replaces the previous checkpoint atomically.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.atomic_files import new_hash
from noregret.errors import NoRegretError

FORMAT = "noregret.checkpoint/2"
# Files next to a checkpoint, by kind.
ROWS, PREDICTIONS, TAGS = KINDS = ("rows", "predictions", "tags")
Arrays = dict[str, NDArray[Any]]


def companions(path: str | None) -> dict[str, str]:
    """Return the files that belong to a checkpoint, itself not among them; none without one."""
    if path is None:
        return {}
    return {kind: f"{path}.{kind}" for kind in KINDS}


def write(path: str, arrays: Arrays, numbers: dict[str, Any]) -> None:
    """Write a checkpoint."""
    from noregret.base.packing import write_parts

    text = json.dumps(numbers, sort_keys=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata = {"format": FORMAT, "state": text, "digest": digest_of(text, arrays)}
    write_parts(path, arrays, metadata)


def read(path: str) -> tuple[Arrays, dict[str, Any]]:
    """Read a checkpoint, or raise an error that says what is wrong with it."""
    from noregret.base.json_schemas import parsed
    from noregret.base.model_file import read_parts

    metadata, arrays = read_parts(path, "a checkpoint", NoRegretError)
    if metadata.get("format") != FORMAT:
        raise NoRegretError(f"{path}: not a checkpoint of this version")
    text = metadata.get("state", "")
    if metadata.get("digest") != digest_of(text, arrays):
        raise NoRegretError(f"{path}: damaged: its contents do not match its digest")
    return arrays, parsed(text, "checkpoint", path, NoRegretError)


def digest_of(text: str, arrays: Arrays) -> str:
    """Return a digest that detects damage."""
    digest = new_hash()
    digest.update(text.encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    found: str = digest.hexdigest()
    return found
