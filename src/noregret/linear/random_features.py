"""Random Fourier features: an approximation of the RBF kernel for any linear learner.

    φ(x) = √(2/D) · (cos ω_1·x, …, cos ω_{D/2}·x, sin ω_1·x, …, sin ω_{D/2}·x)

The frequencies ω are normal with standard deviation 1/width, so that φ(x)·φ(z) is the kernel
exp(−‖x−z‖²/(2 width²)) with an error of about 1/√D; ‖φ(x)‖ is 1. The frequencies of a feature are
drawn from the seed and its name (or the position of a column without a name): features may join
later, and their order does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from noregret.base.sparse_rows import sparse_parts
from noregret.checks import positive
from noregret.errors import BadExample
from noregret.limits import MAX_VALUE
from noregret.linear.engine.fourier_features import lift_dense, lift_sparse
from noregret.linear.inputs import Floats, as_array, as_example, as_floats, is_named

MAX_FEATURES = 100_000


@dataclass(frozen=True)
class Fourier:
    """The map from examples to random Fourier features.

    Parameters
    ----------
    count
        D, the number of features: an even number from 2 to 100,000.
    width
        The length scale of the kernel, above 0.
    seed
        An integer of at least 0. The same seed gives the same features everywhere.

    Examples
    --------
    >>> fourier = Fourier(count=2000, width=2.0)
    >>> z = fourier.transform([[0.0, 1.0], [2.0, 1.0]])
    >>> z.shape, round(float(z[0] @ z[1]), 1)  # exp(−4/8) = 0.61
    ((2, 2000), 0.6)

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", 2007.
    """

    count: int = 300
    width: float = 1.0
    seed: int = 0
    _drawn: dict[str, Floats] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        positive("width", self.width)
        for name, least in (("count", 2), ("seed", 0)):
            given = getattr(self, name)
            if not isinstance(given, int) or isinstance(given, bool) or given < least:
                raise ValueError(
                    f"{name} must be a whole number of {least} or above: got {given!r}"
                )
        if self.count % 2 or self.count > MAX_FEATURES:
            raise ValueError(
                f"count must be even, as every frequency makes a cosine and a sine, and at most"
                f" {MAX_FEATURES:,}: got {self.count}"
            )

    @classmethod
    def of(cls, text: str | int) -> Fourier:
        """Parse the output of ``str``: ``300:width=1:seed=0``, whose last parts may be missing.

        >>> Fourier.of("100:width=2.5")
        Fourier(count=100, width=2.5, seed=0)
        """
        first, *rest = str(text).split(":")
        try:
            given = dict(part.split("=") for part in rest)
            count, width, seed = int(first), float(given.pop("width", 1)), int(given.pop("seed", 0))
        except ValueError:
            given = {"": ""}
        if given:
            raise ValueError(f"fourier is written as 300:width=1:seed=0: got {text!r}")
        return cls(count, width, seed)

    def __str__(self) -> str:
        return f"{self.count}:width={float(self.width)!r}:seed={self.seed}".replace(".0:", ":")

    @property
    def names(self) -> list[str]:
        """The names of the features, in alphabetical order."""
        half, digits = self.count // 2, len(str(self.count // 2))
        return [f"{part} {k:0{digits}}" for part in ("cos", "sin") for k in range(1, half + 1)]

    def frequencies(self, name: str) -> Floats:
        """Return the entries of a feature in every ω: normal numbers, by Box and Muller."""
        found = self._drawn.get(name)
        if found is None:
            key = blake2b(f"{self.seed}:{name}".encode(), digest_size=16).digest()
            half = self.count // 2
            raw = np.random.Philox(key=int.from_bytes(key, "little")).random_raw(2 * half)
            uniform = ((raw >> np.uint64(11)) + 0.5) * 2.0**-53
            radius = np.sqrt(-2 * np.log(uniform[:half]))
            found = radius * np.cos(2 * np.pi * uniform[half:]) / self.width
            self._drawn[name] = found
        return found

    def table(self, names: Iterable[str]) -> Floats:
        """Return the frequencies of several features, one row each."""
        rows = [self.frequencies(name) for name in names]
        return np.array(rows) if rows else np.zeros((0, self.count // 2))

    # Examples of every kind.

    def transform(self, X: Any) -> Any:
        """Return the features of one or many examples, as the same kind of container.

        Arrays and sparse matrices become arrays, dicts dicts, data frames data frames of their
        library, streams of ``noregret.streams`` streams, and iterators over pairs (x, y) iterators
        over pairs of features and outcomes.
        """
        if (with_fourier := getattr(type(X), "with_fourier", None)) is not None:  # a stream
            return with_fourier(X, str(self))
        if isinstance(X, Mapping):
            return dict(zip(self.names, self.named([as_example(X)])[0].tolist(), strict=True))
        if isinstance(X, Iterator):
            return ((self.transform(x), y) for x, y in X)
        if isinstance(X, Sequence) and is_named(X):
            names = self.names
            return [dict(zip(names, row, strict=True)) for row in self.named(X).tolist()]
        if is_named(X):
            return self.of_frame(X)
        return self.of_columns(X)

    def of_columns(self, X: Any) -> Floats:
        """Return the features of rows of columns, or of one row."""
        if hasattr(X, "tocsr"):
            starts, indices, data, _ = sparse_parts(X)
            places = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            indices, data = indices[: starts[-1]], data[: starts[-1]]
            check(data, places, indices)
            out = np.empty((len(starts) - 1, self.count))
            # Frequencies only for the columns that occur: there may be 2^31 others.
            there, at = np.unique(indices, return_inverse=True)
            at = at.astype(np.int32)
            lift_sparse(starts, at, data, self.table(map(str, there.tolist())), out)
            return out if X.ndim == 2 else out[0]
        one = np.ndim(X) == 1
        table = as_floats(as_array([X] if one else X))
        check(table, np.arange(len(table))[:, None], np.arange(table.shape[1]))
        out = np.empty((len(table), self.count))
        lift_dense(table, self.table(map(str, range(table.shape[1]))), out)
        return out[0] if one else out

    def named(self, rows: Sequence[Any]) -> Floats:
        """Return the features of named rows."""
        read = [read_names(row) for row in rows]
        names = sorted({name for row in read for name in row})
        at = {name: k for k, name in enumerate(names)}
        starts, indices, data = [0], list[int](), list[float]()
        for row in read:
            indices += [at[name] for name in sorted(row)]
            data += [row[name] for name in sorted(row)]
            starts.append(len(data))
        out = np.empty((len(read), self.count))
        at_rows, at_names = np.array(starts, np.int64), np.array(indices, np.int32)
        lift_sparse(at_rows, at_names, np.array(data, np.float64), self.table(names), out)
        return out

    def of_frame(self, X: Any) -> Any:
        """Return the features of a data frame."""
        from noregret.linear.data_frames import frame_like, named_blocks

        parts = [np.empty((0, self.count))]
        for part, block in named_blocks(X):
            if block.fault is not None:
                raise block.fault.at(round=part.start + block.rows + 1)
            numbers = block.numbers(0, block.rows)
            gapped = block.with_gaps() if np.isnan(numbers).any() else block
            told: list[dict[str, Any]] = []
            for row, values in enumerate(numbers.tolist()):
                pairs = zip(block.names, values, strict=True)
                made = {name: value for name, value in pairs if not math.isnan(value)}
                named = [column[row] for column in gapped.indicators]
                told.append(made | {name: 1.0 for name in named if name is not None})
            parts.append(self.named(told))
        return frame_like(X, self.names, np.concatenate(parts))


def fourier(data: Any, count: int = 300, width: float = 1.0, seed: int = 0) -> Any:
    """Return the random Fourier features of examples of any kind: see ``Fourier.transform``.

    Parameters
    ----------
    data
        An array, a sparse matrix, a data frame, dicts, an iterator over pairs, or a stream.
    count, width, seed
        As in ``Fourier``.

    Examples
    --------
    >>> import noregret
    >>> sorted(noregret.fourier({"sun": 0.3, "town": "Rome"}, count=4))
    ['cos 1', 'cos 2', 'sin 1', 'sin 2']
    """
    return Fourier(count, width, seed).transform(data)


def read_names(row: Mapping[str, Any]) -> dict[str, float]:
    """Return a named row as numbers, with strings as indicators."""
    found: dict[str, float] = {}
    for key, value in row.items():
        name, number = (f"{key}={value}", 1.0) if isinstance(value, str) else (key, value)
        if not isinstance(key, str) or name in found:
            raise BadExample(f"feature {name!r} is given twice, or is no text", feature=str(name))
        try:
            found[name] = float(number)
        except (TypeError, ValueError, OverflowError):
            raise BadExample(
                f"feature {name!r} is {value!r}",
                "give a number, a string or a boolean",
                feature=name,
            ) from None
        if not abs(found[name]) < MAX_VALUE:
            raise BadExample(
                f"feature {name!r} is {value!r}: every value must be finite", feature=name
            )
    return found


def check(values: Floats, rows: Any, columns: Any) -> None:
    """Raise BadExample, with the row and column, for a value that is not finite."""
    usable = np.abs(values) < MAX_VALUE
    if not usable.all():
        row, column = (np.broadcast_to(at, values.shape)[~usable][0] for at in (rows, columns))
        said = f"{values[~usable][0]:g}: every value must be finite, and below {MAX_VALUE:g}"
        raise BadExample(f"column {column} is {said}", row=int(row))
