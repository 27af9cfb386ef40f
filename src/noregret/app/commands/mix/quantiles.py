"""Mix forecasts of quantiles: one master per level, with pinball loss, then sorted in each row.

Columns are called ``forecaster@level``, as in ``gfs@0.1``. Sorting a row's quantiles never
increases the sum of their pinball losses, so the promises of the levels hold in sum.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.app.commands.mix.mixing import Mix
from noregret.app.commands.mix.noting import Rows, average_of
from noregret.app.commands.mix.quantile_columns import Columns
from noregret.app.commands.outputs import Outputs
from noregret.app.results.quantiles import Level, QuantileResult
from noregret.errors import BadExample, NoRegretError, Use, WrongUsage

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult
    from noregret.streams.block import Block
    from noregret.streams.stream import Stream

Floats = NDArray[np.float64]
LEVEL = "{level}"
# Columns that are kept of a level besides the experts': row number, outcome, forecast, average.
PLAIN = 4


class LevelMix(Mix):
    """The mix of one level, which keeps its forecasts, and those of the experts."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.own: list[str] = []
        self.kept: list[Floats] = []  # rows of: number, outcome, forecast, average, experts

    def play(self, block: Block) -> Rows:
        """Play every row of a block, and keep what was forecast."""
        rows = super().play(block)
        own = [k for k, name in enumerate(self.names) if name not in self.stream.options.add]
        average = average_of(rows.X[:, own])
        self.own = [self.names[k] for k in own]
        told = rows.numbers, rows.y, rows.predictions, average, rows.X[:, own]
        self.kept.append(np.column_stack(told))
        return rows


def mix_quantiles(
    stream: Stream, masters: Any, outputs: Outputs, given: Namespace
) -> tuple[QuantileResult, list[str]]:
    """Mix every level, sort, and write; return the result, and what could not be written.

    Parameters
    ----------
    stream
        The forecasts.
    masters
        Returns the master of a level.
    outputs
        The files to write: predictions, and certificates with ``{level}`` in their name.
    given
        The options of the command.
    """
    from noregret.app.commands.progress import shown, stoppable

    outputs.check(stream.paths)
    path = outputs.certificate
    if path is not None and LEVEL not in path:
        raise WrongUsage(
            f"{path}: every level has its own certificate: put {LEVEL} where it goes, as in"
            f" cert-{LEVEL}.json"
        )
    tables: dict[float, Floats] = {}
    results: dict[float, MixResult] = {}
    failures: list[str] = []
    columns = Columns(stream)
    for level, names in columns.levels.items():
        options = replace(stream.options, keep=tuple(names), drop=())
        certificate = None if path is None else path.replace(LEVEL, f"{level:g}")
        work = LevelMix(
            type(stream)(stream.paths, options),
            masters(level),
            Outputs(certificate=certificate),
            hindsight=given.hindsight,
        )
        with stoppable(work), shown(work, given.quiet or given.json):
            try:
                results[level] = work.go()
            except BadExample as error:
                raise NoRegretError(
                    f"level {level:g}: {error.what}",
                    error.cures or [Use("on_error", "skip", "{} leaves such rows out")],
                    file=error.file,
                    line=error.line,
                    row=error.row,
                ) from error
        failures += work.failures
        table = np.concatenate(work.kept)
        tables[level] = table[:, :PLAIN].copy()
        columns.compare(work.own, table[:, 0], table[:, PLAIN:])
        if work.interrupted:
            raise KeyboardInterrupt
    numbers, outcomes, said, average = aligned(tables)
    mixed = np.array([sorted_known(row) for row in said])
    result = result_of(stream, outcomes, said, mixed, average, results)
    done: dict[str, str] = {} if path is None else {"certificate": path}
    if outputs.predictions is not None:
        try:
            write(outputs.predictions, numbers, outcomes, mixed, list(tables))
            done["predictions"] = outputs.predictions
        except OSError as error:
            failures.append(f"{outputs.predictions}: {error.strerror or error}")
    return replace(result, outputs=done, notes=tuple(columns.notes())), failures


def aligned(tables: dict[float, Floats]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return row numbers, outcomes, forecasts and averages; NaN where a level has no forecast."""
    numbers = np.unique(np.concatenate([table[:, 0] for table in tables.values()]))
    outcomes = np.full(len(numbers), np.nan)
    said, average = (np.full((len(numbers), len(tables)), np.nan) for _ in range(2))
    for k, table in enumerate(tables.values()):
        at = np.searchsorted(numbers, table[:, 0])
        outcomes[at], said[at, k], average[at, k] = table[:, 1], table[:, 2], table[:, 3]
    return numbers, outcomes, said, average


def sorted_known(row: Floats) -> Floats:
    """Return quantiles in increasing order; those that are missing stay missing.

    >>> sorted_known(np.array([3.0, np.nan, 1.0, 2.0])).tolist()
    [1.0, nan, 2.0, 3.0]
    """
    made, known = row.copy(), ~np.isnan(row)
    made[known] = np.sort(row[known])
    return made


def pinball(said: Floats, outcomes: Floats, levels: Floats) -> Floats:
    """Return the pinball loss of each quantile in each row.

    >>> pinball(np.array([[1.0]]), np.array([3.0]), np.array([0.9])).tolist()
    [[1.8]]
    """
    short = outcomes[:, None] - said
    return np.asarray(np.where(short > 0, levels * short, (levels - 1) * short))


def result_of(
    stream: Stream,
    outcomes: Floats,
    said: Floats,
    mixed: Floats,
    average: Floats,
    results: dict[float, MixResult],
) -> QuantileResult:
    """Return all figures, over the rounds in which every level has a forecast and an outcome."""
    full = ~np.isnan(outcomes) & ~np.isnan(said).any(axis=1) & ~np.isnan(average).any(axis=1)
    if not full.any():
        raise NoRegretError(f"{', '.join(stream.paths)}: no row has an outcome and every level")
    y, mixed, average = outcomes[full], mixed[full], average[full]
    levels = np.array(list(results))
    paid, plain = (pinball(each, y, levels).mean(axis=0) for each in (mixed, average))
    found = [
        level_figures(level, result, float(paid[k]), float(plain[k]))._replace(
            below=float((y <= mixed[:, k]).mean()), average_below=float((y <= average[:, k]).mean())
        )
        for k, (level, result) in enumerate(results.items())
    ]
    return QuantileResult(
        tuple(stream.paths),
        str(stream.target),
        next(iter(results.values())).name,
        int(full.sum()),
        tuple(found),
        covered(mixed, y),
        covered(average, y),
        int(sum(any(a > b for a, b in pairwise(row)) for row in said[full].tolist())),
        {},
        max(each.skipped for each in results.values()),
    )


def covered(quantiles: Floats, y: Floats) -> float:
    """Return the share of outcomes from the lowest to the highest quantile."""
    return float(((quantiles[:, 0] <= y) & (y <= quantiles[:, -1])).mean())


def level_figures(level: float, result: MixResult, mixture: float, average: float) -> Level:
    """Return the figures of one level."""
    own = [each for each in result.experts if not each.added]
    best = min(own, key=lambda each: each.total)
    promise = None if result.certificate is None else result.certificate.theorem
    if promise is not None and promise.quantity != "regret":
        promise = None
    regret = None if result.certificate is None else result.certificate.regret.upper
    return Level(
        level,
        len(own),
        mixture,
        average,
        best.name,
        best.total / result.rows,
        0.0,
        0.0,
        regret,
        None if promise is None else promise.bound,
        None if promise is None else promise.holds,
    )


def write(path: str, numbers: Floats, outcomes: Floats, mixed: Floats, levels: list[float]) -> None:
    """Write the mixed quantiles of each row, with its outcome if there is one."""
    import pyarrow as pa

    from noregret.app.commands.run import predictions

    def tables() -> Iterator[Any]:
        columns: dict[str, Any] = {"row": numbers.astype(np.int64)}
        for k, level in enumerate(levels):
            column = np.ascontiguousarray(mixed[:, k])
            columns[f"prediction@{level:g}"] = pa.array(column, mask=np.isnan(column))
        columns["outcome"] = pa.array(outcomes, mask=np.isnan(outcomes))
        yield pa.table(columns)

    predictions.write(path, tables())
