"""Refuse, before the replay, a certificate that asks for more than its data can need.

A certificate may come from an untrusted source, and its numbers determine the memory of a replay:
taps, features, points. Sizes that the data cannot need are refused; see "Limits" in
docs/certificates.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from noregret.errors import CertificateError
from noregret.linear.random_features import Fourier
from noregret.proof.certificates.certificate import OF_CLASSES, Certificate

# Files in which every row and every feature takes at least a byte.
PLAIN = (".csv", ".tsv", ".jsonl", ".ndjson")
# Most weights of a witness if the data do not limit them.
MAX_WEIGHTS = 1 << 20
# Up to this many are always compared, for better messages.
FEW_WEIGHTS = 4_096
# Sizes that are always allowed, and never exceeded; all others have their own limits.
MIN_LIMITS = {"dimension": 1 << 16, "taps": 256, "members": 10_000, "fourier": 10_000}
MAX_LIMITS = {"dimension": 1 << 22, "taps": 1 << 13, "members": 10_000, "fourier": 100_000}
# In between, the limit per row or per column.
PER_ROW = {"taps": 1, "fourier": 2}
PER_COLUMN = {"dimension": 16}
# Most repeats of a method for any number of rows, and most visits to rows in all repeats.
REPEATED = {"passes": 10_000, "steps": 1_000_000}
MAX_VISITS = 1 << 24


class Extent(NamedTuple):
    """The largest possible number of rows and columns of data; None if not known."""

    rows: int | None
    columns: int | None


def extent_of(data: Any) -> Extent:
    """Return the largest possible size of data, without reading files."""
    paths = [data] if isinstance(data, str | Path) else data
    if isinstance(paths, list | tuple) and paths and isinstance(paths[0], str | Path):
        plain = all(str(path).lower().endswith(PLAIN) and os.path.isfile(path) for path in paths)
        size = sum(os.path.getsize(path) for path in paths) if plain else None
        return Extent(None, None) if size is None else Extent(size // 2, 2 * size)
    shape = getattr(data, "shape", None)
    if isinstance(shape, tuple) and len(shape) in (1, 2):
        rows, columns = shape if len(shape) == 2 else (shape[0], 1)
        if hasattr(data, "columns") or hasattr(data, "column_names"):
            columns *= 2 + rows  # every text may become a feature
        return Extent(int(rows), int(columns))
    if isinstance(data, list | tuple):
        return extent_of_rows(data)
    return Extent(None, None)


def extent_of_rows(data: list[Any] | tuple[Any, ...]) -> Extent:
    """Return the size of a list of rows, pairs (x, y) or blocks, or of a pair of arrays."""
    rows = columns = named = 0
    for item in data:
        x = item[0] if isinstance(item, tuple) and len(item) == 2 else item
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple):
            rows += int(shape[0]) if len(shape) == 2 else 1
            columns = max(columns, int(shape[-1]) if shape else 1)
        elif isinstance(x, Mapping):
            rows, named = rows + 1, named + 2 * len(x)
        else:
            rows += 1
            columns = max(columns, len(x) if isinstance(x, list | tuple) else 1)
    return Extent(rows, columns + named)


def check_limits(stated: Certificate, data: Any) -> None:
    """Refuse sizes that the data cannot need; the error names the field."""
    extent = extent_of(data)
    fourier = fourier_of(stated.data.transforms)
    if fourier:
        check("data.transforms: fourier", "fourier", fourier, extent)
    taps = 0.0
    for path, name, value in sizes("learner.params", stated.params):
        check(path, name, value, extent)
        taps = max(taps, value if name == "taps" else 0)
    known = None not in extent
    most = MAX_WEIGHTS
    if known and stated.family != "echo":
        needed = int(max(extent.columns or 0, extent.rows or 0, taps)) + fourier + 1
        classes = min(classes_of(stated.data.transforms), max(1, extent.rows or 0))
        most = min(most, max(needed * classes, FEW_WEIGHTS))
    if len(stated.hindsight.witness) > most:
        raise CertificateError(
            f"hindsight.witness: {len(stated.hindsight.witness):,} weights, and"
            f" {'these data have' if known else 'a certificate has'} room for {most:,}"
        )


def sizes(path: str, params: Mapping[str, Any]) -> Iterator[tuple[str, str, int | float]]:
    """Yield every parameter that is a size, with those of inner learners."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from sizes(f"{path}.{name}", value)
        elif isinstance(value, int | float) and (name in MAX_LIMITS or name in REPEATED):
            yield f"{path}.{name}", name, value


def check(path: str, name: str, value: float, extent: Extent) -> None:
    """Refuse a size that the data cannot need."""
    if name in REPEATED:
        limit = max(REPEATED[name], MAX_VISITS // max(1, extent.rows or MAX_VISITS))
        if not value <= limit:
            raise CertificateError(
                f"{path}: {value:,} is more than verify repeats on these data: {limit:,} at most"
            )
        return
    limit = MAX_LIMITS[name]
    for each, many in ((PER_ROW, extent.rows), (PER_COLUMN, extent.columns)):
        if name in each and many is not None:
            limit = min(limit, max(MIN_LIMITS[name], each[name] * many))
    if not value <= limit:
        raise CertificateError(
            f"{path}: {value:,} is more than these data can need: {limit:,} at most"
        )


def classes_of(transforms: tuple[str, ...]) -> int:
    """Return the largest possible number of classes that are listed, at least 1."""
    return 1 + max(
        (text.count(",") for text in transforms if text.startswith(OF_CLASSES)), default=0
    )


def fourier_of(transforms: tuple[str, ...]) -> int:
    """Return the number of random features; 0 if the text is invalid."""
    count = 0
    for text in transforms:
        name, _, value = text.partition("=")
        if name == "fourier":
            try:
                count = max(count, Fourier.of(value).count)
            except ValueError:
                continue  # refused when the options are read
    return count
