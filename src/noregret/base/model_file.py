"""Model files: named arrays and a JSON header, in the safetensors format.

No code is ever loaded from a file: the header has the registered name and the parameters, the
arrays are numbers, and a digest over both detects damage.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.json_schemas import parsed
from noregret.base.packing import packed, pieces_of, unpacked, write_parts
from noregret.base.params import is_python, plain_params, restored
from noregret.base.registry import built_again, find
from noregret.errors import ModelFileError, NoRegretError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from noregret.base.algorithm import Named
    from noregret.base.compiled.losses import Loss

    # The arrays and the JSON of how data were read.
    State = tuple[Mapping[str, NDArray[Any]], dict[str, Any]]

FORMAT = "noregret.model/1"
# The format with packed arrays (see ``packing``), which earlier versions cannot read.
FORMAT_PACKED = "noregret.model/2"
# Prefix of the names of arrays that belong to the stream.
STREAM = "stream."
# Errors that an invalid file may cause while a learner is built.
UNUSABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def save(
    learner: Named,
    path: str | Path,
    stream: State | None = None,
) -> None:
    """Write a learner to a file atomically.

    ``stream`` has the arrays and numbers with which later data can be read in the same way.
    """
    write(path, *described(learner, stream))


def described(
    learner: Named,
    stream: State | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the JSON and the arrays from which a learner, and its preparation, can be rebuilt."""
    arrays, numbers, names = learner.get_state()
    header: dict[str, Any] = {
        "learner": learner.name,
        "params": plain_params(learner),
        "rounds": learner.rounds,
        "features": names,
        "numbers": {name: exact(value) for name, value in numbers.items()},
    }
    if learner.family != "learners":
        header["family"] = learner.family
    if stream is None and (prepare := preparation(learner)) is not None:
        stream = prepare.kept(names)
    if stream is not None:
        kept, header["stream"] = stream
        arrays |= {STREAM + name: array for name, array in kept.items()}
    return header, arrays


def preparation(learner: Any) -> Any:
    """Return what prepares the raw rows of a learner; None if nothing does."""
    return getattr(getattr(learner, "_entry", None), "prepare", None)


def with_preparation(
    learner: Any, kept: dict[str, Any] | None, arrays: dict[str, NDArray[Any]], path: str | Path
) -> Any:
    """Return a learner that takes raw rows, like those of the files that it has learned from."""
    if kept is not None and getattr(learner, "_is_ensemble", False):
        for member in learner.members.values():
            with_preparation(member.who, kept, arrays, path)
        return learner
    if kept is None or learner.family != "learners" or not hasattr(learner, "_entry"):
        return learner
    from noregret.streams.preparing import Preparing

    try:
        learner._entry.prepare = Preparing(arrays, kept, learner.get_state()[2])
    except NoRegretError as error:
        raise ModelFileError(error.what, error.cures, file=path) from None
    except UNUSABLE as error:
        raise ModelFileError(f"it has invalid options of reading: {error}", file=path) from None
    return learner


def rebuilt(header: Mapping[str, Any], arrays: dict[str, NDArray[Any]], loss: Loss | None) -> Any:
    """Rebuild a learner from its description."""
    params = {
        name: restored(name, value, loss, "load(…, loss=…)")
        for name, value in header["params"].items()
    }
    learner = built_again(find(header["learner"], header.get("family", "learners")), params)
    numbers = {name: inexact(value) for name, value in header["numbers"].items()}
    learner.set_state(arrays, numbers, header["features"])
    return learner


def write(path: str | Path, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file atomically."""
    write_parts(path, *parts_of(header, arrays))


def parts_of(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Return the arrays and the metadata of a file."""
    kept, lengths = packed(arrays)
    own = {"format": FORMAT_PACKED, "packed": lengths} if lengths else {"format": FORMAT}
    text = json.dumps({**own, **header}, sort_keys=True)
    return kept, {"noregret": text, "digest": _digest(text, kept)}


def digest_of(learner: Named) -> str:
    """Return the digest that the file of a learner has."""
    return parts_of(*described(learner))[1]["digest"]


def dumps(learner: Named, stream: State | None = None) -> bytes:
    """Return what ``save`` writes."""
    return b"".join(pieces_of(*parts_of(*described(learner, stream))))


def loads(contents: bytes, name: str, loss: Loss | None = None, *, own: bool = False) -> Any:
    """Return the learner that ``dumps`` has written; ``name`` is for messages.

    What this process has written itself (``own``) is not checked against the schema, which would
    take most of the time.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load as arrays_in

    try:
        length = int.from_bytes(contents[:8], "little")
        metadata = json.loads(contents[8 : 8 + length])["__metadata__"]
        arrays = arrays_in(contents)
    except (SafetensorError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError("not a noregret model, or a damaged one", file=name) from error
    return with_preparation(*contained(metadata, arrays, name, loss, own), name)


def load(path: str | Path, *, loss: Loss | None = None) -> Any:
    """Read a learner of any family, or an ensemble, from a file written by ``save``.

    A model of ``noregret run`` takes raw rows, dicts or data frames with the columns of its files,
    and predicts the same as ``noregret predict`` for a file of them.

    Parameters
    ----------
    path
        The file.
    loss
        The loss, for a learner with a custom Python loss: files contain no code.

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model, or is from a newer version.

    Examples
    --------
    >>> import noregret, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model"
    >>> learner = noregret.WidrowHoff(rate=0.5)
    >>> learner.learn_one({"size": 1.0}, 2.0)
    >>> learner.save(file)
    >>> noregret.load(file).predict_one({"size": 1.0})
    1.0
    """
    return with_preparation(*load_with_stream(path, loss), path)


def load_with_stream(
    path: str | Path, loss: Loss | None = None
) -> tuple[Any, dict[str, Any] | None, dict[str, NDArray[Any]]]:
    """Read a learner, and the state of its stream: JSON or None, and arrays."""
    metadata, arrays = read_parts(path, "a noregret model", ModelFileError)
    return contained(metadata, arrays, path, loss)


def contained(
    metadata: dict[str, str],
    arrays: dict[str, NDArray[Any]],
    path: str | Path,
    loss: Loss | None,
    own: bool = False,
) -> tuple[Any, dict[str, Any] | None, dict[str, NDArray[Any]]]:
    """Rebuild a learner, and the state of its stream, from the parts of a file."""
    try:
        text = metadata["noregret"]
        header = json.loads(text)
        found = header["format"]
    except (KeyError, RecursionError, TypeError, ValueError):
        raise ModelFileError("not a noregret model", file=path) from None
    if found not in (FORMAT, FORMAT_PACKED):
        raise ModelFileError(
            f"format {found!r}, this version reads {FORMAT!r} and {FORMAT_PACKED!r}",
            "use a newer noregret",
            file=path,
        )
    if metadata.get("digest") != _digest(text, arrays):
        raise ModelFileError("damaged: its contents do not match its digest", file=path)
    if not own:
        header = parsed(text, "model", path, ModelFileError)
    if loss is not None and not any(is_python(value) for value in _values(header)):
        raise ValueError(f"{path}: its loss is not written in Python: leave loss out")
    try:
        if found == FORMAT_PACKED:
            arrays = unpacked(arrays, header["packed"])
        stream = header.get("stream")
        kept: dict[str, NDArray[Any]] = {}
        if stream is not None:
            kept = {name: arrays.pop(name) for name in list(arrays) if name.startswith(STREAM)}
        if "ensemble" in header:
            from noregret.experts.ensemble_file import ensemble_of

            learner = ensemble_of(header["ensemble"], arrays)
        else:
            learner = rebuilt(header, arrays, loss)
            if learner.rounds != header["rounds"]:
                raise ValueError(f"rounds: {header['rounds']}, but it has played {learner.rounds}")
    except NoRegretError as error:
        raise ModelFileError(error.what, error.cures, file=path) from None
    except UNUSABLE as error:
        raise ModelFileError(f"not a model this version can use: {error}", file=path) from None
    return learner, stream, {name.removeprefix(STREAM): array for name, array in kept.items()}


def read_parts(
    path: str | Path, what: str, wrong: type[NoRegretError]
) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    """Read the parts of a file; arrays are views of its bytes, so nothing else is allocated."""
    from safetensors import SafetensorError, safe_open

    if Path(path).is_dir():
        raise wrong(f"a directory, not {what}", file=path)
    try:
        with safe_open(path, framework="numpy") as file:
            names = list(file.keys())
            return file.metadata() or {}, {name: file.get_tensor(name) for name in names}
    except (FileNotFoundError, PermissionError):
        raise
    except (SafetensorError, AttributeError, OSError, ValueError, TypeError, KeyError) as error:
        if is_of_groups(path):
            raise wrong(
                f"a file of one model per group, which ‘noregret run --group’ writes, not {what}",
                "in Python, noregret.Groups.load reads it and predicts; groups[key] is one of them",
                file=path,
            ) from None
        raise wrong(f"not {what}, or a damaged one", file=path) from error


def is_of_groups(path: str | Path) -> bool:
    """Return whether a file holds the models of groups: a database with their application id."""
    from noregret.base.model_table import APPLICATION

    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(72)[68:] == APPLICATION.to_bytes(4, "big")


def _digest(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
    return f"blake2b:{digest.hexdigest()}"


def _values(header: Any) -> list[Any]:
    params = header.get("params") if isinstance(header, dict) else None
    return list(params.values()) if isinstance(params, dict) else []


def exact(value: float | int | bool) -> Any:
    """Write floats as hexadecimal text: JSON has no infinity, and integers must stay integers."""
    return value.hex() if isinstance(value, float) else value


def inexact(value: Any) -> Any:
    """Invert ``exact``."""
    return float.fromhex(value) if isinstance(value, str) else value
