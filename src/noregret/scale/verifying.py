"""Confirm a certificate from files that several workers read, each its own parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.errors import CertificateError, NoRegretError
from noregret.linear.groups import Groups
from noregret.proof.certificates.certificate import Certificate
from noregret.proof.game.group_game import GroupGame
from noregret.proof.game.shards import Sharded
from noregret.proof.verifying.parts import mergeable
from noregret.proof.verifying.replay import is_files, verified
from noregret.proof.verifying.verification import Verification
from noregret.scale.fitting import fit_surveyed
from noregret.scale.playing import play_surveyed
from noregret.scale.pool import Pool
from noregret.scale.processes import Processes
from noregret.scale.spread_groups import SpreadGrouping
from noregret.scale.spread_rows import SpreadRows
from noregret.scale.survey import block_ends, surveyed

if TYPE_CHECKING:
    from noregret.proof.record.parts_digest import Part
    from noregret.streams.stream import Stream


def verify(
    certificate: Certificate | str | Path | Mapping[str, Any],
    data: str | Path | Sequence[str | Path],
    *,
    target: str | None = None,
    format: str | None = None,
    pool: Pool | None = None,
    folder: str | None = None,
) -> Verification:
    r"""Replay the game of a certificate on several workers; return which figures are confirmed.

    For certificates of shards, of groups, and of methods fitted to parts that were merged: the rows
    of others are played in order, by ``noregret.verify``, which confirms the same figures.

    Parameters
    ----------
    certificate
        As in ``noregret.verify``.
    data
        The files. Workers read their own parts, and hold the rows of shards and merged parts in
        memory.
    target, format
        As in ``noregret.verify``.
    pool
        The workers; by default as many processes as there are processors.
    folder
        For groups: a folder that all workers can use, for intermediate files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import Vaw
    >>> from noregret.scale import Processes, play, verify
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = file.write_text("sun,sold\n" + "1,4\n2,7\n" * 50)
    >>> with Processes(1) as pool:
    ...     certificate = play(Vaw(), file, "sold", shards=2, pool=pool).certificate()
    ...     verify(certificate, file, pool=pool).confirmed
    True
    """
    if not is_files(data):
        raise TypeError("workers read files: give their paths, or use noregret.verify")
    if pool is None:
        with Processes() as made:
            return verify(certificate, data, target=target, format=format, pool=made, folder=folder)
    replaying = Replaying(pool, folder)
    try:
        return verified(certificate, data, target=target, format=format, play=replaying)
    finally:
        replaying.close()


class Replaying:
    """Plays the data of a certificate on workers."""

    def __init__(self, pool: Pool, folder: str | None) -> None:
        self.pool, self.folder = pool, folder
        self.held: SpreadRows | None = None

    def __call__(
        self,
        learner: Any,
        parts: Sequence[Part],
        stream: Stream,
        outcomes: Any,
        target: str | None,
        keys: Any,
    ) -> Any:
        """Return the game of a stream, of which workers hold the rows."""
        if isinstance(learner, Groups):
            return self.groups(learner, stream, keys)
        survey, sizes = surveyed(stream, self.pool), [part.rounds for part in parts]
        if not survey.rows:
            raise NoRegretError("there are no examples in it")
        if isinstance(learner, Sharded):
            game: Any = play_surveyed(learner, survey, block_ends(survey.rows, sizes), self.pool)
        else:
            game = fit_surveyed(mergeable(learner), survey, self.pool, sizes)
        constant = bool(learner.params.get("intercept")) and not isinstance(learner, Sharded)
        self.held = SpreadRows(survey, self.pool, constant=constant)
        game.hold(self.held)
        return game

    def groups(self, learner: Groups, stream: Stream, columns: Any) -> GroupGame:
        """Return the game of groups: workers play them, and this process records the rows."""
        if not isinstance(columns, tuple):
            raise CertificateError("it does not name the column with the keys of its groups")
        grouping = SpreadGrouping(learner.learner, columns, self.pool, self.folder, tagged=False)
        game = GroupGame(grouping, progress=False)
        reading = stream.reading()
        reading.ahead = False  # workers read what comes after the first block
        with game.recorded():
            game.play_blocks(reading)
        return game

    def close(self) -> None:
        """End the workers that hold rows."""
        if self.held is not None:
            self.held.close()
