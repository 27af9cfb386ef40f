"""The way of a row through ``noregret run``: read once, split once, begun once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from noregret.app.commands.run.runner import Run
from noregret.proof.game import game
from noregret.streams.file_formats import csv
from noregret.streams.source import Piece
from tests.app.run import data
from tests.app.run.commands import done


@pytest.mark.parametrize("learner", [[], ["--learner", "widrow-hoff", "-p", "norm=6"]])
@pytest.mark.parametrize("hindsight", [[], ["--no-hindsight"]])
def test_a_file_is_read_and_begun_once(
    learner: list[str], hindsight: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()

    def counted(owner: Any, name: str) -> None:
        really = getattr(owner, name)

        def call(*args: Any, **options: Any) -> Any:
            calls[name] += 1
            return really(*args, **options)

        monkeypatch.setattr(owner, name, call)

    for owner, name in (
        (Piece, "text"),
        (csv, "split_names"),
        (Run, "begin"),
        (game, "play_block"),
    ):
        counted(owner, name)
    file = data.csv(tmp_path / "d.csv", data.numbers())
    done("run", file, "--target", "y", "--drop", "label", *learner, *hindsight)
    assert calls == {"text": 1, "split_names": 1, "begin": 1, "play_block": 1}
