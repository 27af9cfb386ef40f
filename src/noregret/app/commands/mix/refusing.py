"""Rows of a mix that cannot be used: left out and counted, or the end of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.app.results.run import MAX_REPORTED_ROWS, Skipped, skipped
from noregret.errors import BadExample, NoRegretError

if TYPE_CHECKING:
    from noregret.app.commands.mix.mixing import Mix
    from noregret.streams.block import Block


class LeftOut:
    """The rows that were left out: how many, and the first of them.

    Parameters
    ----------
    stop
        Whether a bad row is the end, instead.
    """

    def __init__(self, stop: bool) -> None:
        self.stop, self.count = stop, 0
        self.first: list[Skipped] = []

    def add(self, rows: Iterable[Skipped]) -> None:
        """Count rows, and remember the first."""
        for row in rows:
            self.count += 1
            if len(self.first) < MAX_REPORTED_ROWS:
                self.first.append(row)

    def refuse(
        self,
        block: Block,
        rows: NDArray[np.int64],
        kept: NDArray[np.bool_],
        row: int,
        error: NoRegretError,
    ) -> None:
        """Leave out a row, given among rows of a block, and record it; or raise its error."""
        at = int(rows[row])
        error.at(block.place_of(at))
        if self.stop or not isinstance(error, BadExample) or error.round is None:
            raise error
        kept[at] = False
        self.add([skipped(error)])


def nothing_learned(mix: Mix) -> BaseException:
    """Return the error for data with nothing to learn from."""
    where = ", ".join(mix.stream.paths)
    if mix.interrupted:
        return KeyboardInterrupt()
    if mix.left_out.count:
        first = mix.left_out.first[0]
        return NoRegretError(
            f"{where}: none of its {mix.left_out.count} rows could be used; {first.place}:"
            f" {first.reason}"
        )
    if not mix.series:
        mix.reading.check_group()
    if mix.notes.open_rows:
        return NoRegretError(
            f"{where}: none of its {mix.notes.open_rows} rows has an outcome: there is nothing to"
            " learn from"
        )
    return NoRegretError(f"{where}: there are no forecasts in it")
