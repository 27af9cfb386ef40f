"""Replay data in the parts that a certificate lists, and find the files of a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from noregret.errors import CertificateError
from noregret.proof.certificates.certificate import Played
from noregret.proof.game.game import play
from noregret.proof.game.shards import Sharded, play_shards
from noregret.proof.record.parts_digest import Part, PartsDigest
from noregret.streams import stream_of
from noregret.streams.options import Options

# Plays data: the learner, the parts of the certificate, then as ``play`` of noregret.
Player = Callable[[Any, Sequence[Part], Any, Any, str | None, Any], Any]


def play_rows(
    learner: Any,
    parts: Sequence[Part],
    stream: Any,
    outcomes: Any = None,
    target: str | None = None,
    keys: Any = None,
) -> Any:
    """Play data with their rows kept, digested in the parts that a certificate lists, if any."""
    if isinstance(learner, Sharded):
        return play_shards(learner, parts, stream, outcomes, target)
    if not parts:
        return play(learner, stream, outcomes, target=target, keep="rows", keys=keys)
    game = learner._new_game(keep="rows")
    cut_into(game, parts)
    return game.play(stream, outcomes, target=target)


def cut_into(game: Any, parts: Sequence[Part]) -> None:
    """Make a game that begins digest its rows in parts."""
    mergeable(game.learner)
    game.ledger.digest = PartsDigest(sizes=[part.rounds for part in parts])


def mergeable(learner: Any) -> Any:
    """Return a learner that learns from parts; refuse others."""
    if learner.family != "batch" or not hasattr(learner, "merge"):
        raise CertificateError(f"data.parts: {learner.name} does not learn from parts")
    return learner


def files_with(data: Any, stated: Played) -> Callable[[int, int], list[str]]:
    """Return a function that returns the files of a range of rounds, given first and number."""
    if not stated.parts or not isinstance(data, list | tuple):  # else the format may be given
        return lambda first, rounds: []
    if not all(isinstance(p, str | Path) for p in data):
        return lambda first, rounds: []
    stream = stream_of(data, Options.of(stated.transforms, stated.target, sniff=False))

    @cache
    def ends() -> list[int]:
        counts = dict.fromkeys(stream.paths, 0)
        for block in stream.reading():
            if len(block) and (file := block.place_of(0).file) in counts:
                counts[str(file)] += int(block.labelled.sum())
        return list(accumulate(counts.values()))

    def files_of(first: int, rounds: int) -> list[str]:
        starts = [0, *ends()[:-1]]
        return [
            path
            for path, start, end in zip(dict.fromkeys(stream.paths), starts, ends(), strict=True)
            if start < first + rounds - 1 and end >= first
        ]

    return files_of
