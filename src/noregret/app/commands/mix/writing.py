"""The files that a mix writes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.run import predictions
from noregret.base.numbers import name_of
from noregret.errors import NoRegretError, WrongUsage

if TYPE_CHECKING:
    from noregret.app.commands.mix.mixing import Mix
    from noregret.app.commands.outputs import Outputs
    from noregret.app.results.mix import MixResult

Floats = NDArray[np.float64]
GROUP = "{group}"


def check_groups(outputs: Outputs, grouped: bool) -> None:
    """Refuse one file for the certificates or models of many series."""
    path = outputs.certificate
    if grouped and path is not None and GROUP not in path:
        raise WrongUsage(
            f"{path}: every group has its own certificate: put {GROUP} where its name goes, as"
            f" in cert-{GROUP}.json"
        )
    if not grouped and path is not None and GROUP in path:
        raise WrongUsage(f"{path}: there are no groups: say which column names them (--group)")
    if grouped and outputs.model is not None:
        raise WrongUsage(
            f"{outputs.model}: every group has its own model: choose one of them with --only"
        )


def file_of(template: str, group: str) -> str:
    """Return the file of a group; special characters of its name are written as %XX.

    >>> file_of("out/{group}.json", "../a b")
    'out/..%2Fa b.json'
    """
    name = quote(group, safe=" ")
    return template.replace(GROUP, "%2E" * len(name) if name in (".", "..") else name)


def write_all(mix: Mix, result: MixResult) -> tuple[MixResult, list[str]]:
    """Write the requested files; return the result with those written, and the failures."""
    writers = {"predictions": write_predictions, "weights": write_weights, "model": write_model}
    if mix.grouped:
        writers["certificate"] = write_certificates
    return mix.outputs.write(result, {kind: partial(write, mix) for kind, write in writers.items()})


def write_predictions(mix: Mix, path: str, result: MixResult) -> None:
    """Write every combined forecast, with its outcome if there is one."""
    predictions.write(path, tables(mix, mix.notes.predicted.blocks(), ["prediction", "outcome"]))


def write_weights(mix: Mix, path: str, result: MixResult) -> None:
    """Write the weights of every round."""
    names = [named(name, ["row", mix.group]) for name in mix.names]
    predictions.write(path, tables(mix, mix.notes.weighed.blocks(), names))


def named(name: str, taken: list[str | None]) -> str:
    """Return the name of an expert's column, changed if it is taken."""
    return f"weight of {name}" if name in taken else name


def tables(mix: Mix, blocks: Iterator[Floats], names: list[str]) -> Iterator[Any]:
    """Yield Arrow tables: the row's number, its group, and numbers, null for NaN."""
    import pyarrow as pa

    groups = pa.array(mix.group_names, pa.string())
    for block in blocks:
        columns: dict[str, Any] = {"row": block[:, 0].astype(np.int64)}
        if mix.group is not None:
            columns[named_group(mix.group, names)] = groups.take(block[:, 1].astype(np.int64))
        for k, name in enumerate(names):
            numbers = np.ascontiguousarray(block[:, 2 + k])
            columns[name] = pa.array(numbers, mask=np.isnan(numbers))
        yield pa.table(columns)


def named_group(group: str, names: list[str]) -> str:
    """Return the name of the column of groups."""
    return "group" if group in ("row", *names) else group


def write_model(mix: Mix, path: str, result: MixResult) -> None:
    """Write the model."""
    mix.save_model(path)


def write_certificates(mix: Mix, path: str, result: MixResult) -> None:
    """Write the certificates of all groups."""
    if not mix.certificates:
        raise NoRegretError(f"{path}: {result.uncertified}")
    failures = [f for group in mix.certificates if (f := failure_of(mix, path, group))]
    if failures:
        raise NoRegretError("\n".join(failures))


def failure_of(mix: Mix, path: str, group: str) -> str:
    """Write the certificate of a group; return the failure, or an empty string."""
    found, file = mix.certificates[group], file_of(path, group)
    try:
        if not isinstance(found, str):
            found.save(file)
            return ""
    except OSError as error:
        found = error.strerror or str(error)
    return f"{file}: no certificate of the group {name_of(group)!r}: {found}"
