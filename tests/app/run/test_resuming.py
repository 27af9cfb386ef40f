"""Checkpoints: what they do not go with is told in words, and nothing is overwritten."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from noregret.streams import open_file as opened
from tests.app.run import data
from tests.app.run.commands import command, done, refused, small_blocks
from tests.app.run.test_interrupted import stopped
from tests.thorough import sized

__all__ = ["small_blocks"]
OPTIONS = ["--target", "late", "--positive", "yes", "--drop", "sold", "--learner", "logistic"]
pytestmark = pytest.mark.usefixtures("small_blocks")


class Stopped:
    """A run that was stopped, with a checkpoint and all of its companions."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, rows: int = 600, blocks: int = 2
    ) -> None:
        self.folder, self.kept = folder, folder / "kept"
        self.file = data.csv(folder / "d.csv", data.frame(rows))
        self.asked = ["--predictions", folder / "p.csv", "--quiet"]
        arguments = ["run", self.file, *OPTIONS, *self.asked, "--checkpoint", self.kept]
        assert stopped(monkeypatch, blocks, signal.SIGINT, *arguments).code == 130

    def refused(self, *more: str | Path, options: list[str] = OPTIONS, code: int = 1) -> str:
        """Return why it cannot go on."""
        said = refused("run", self.file, *options, *self.asked, *more, code=code)
        assert str(self.kept) in said or str(self.file) in said
        assert self.kept.exists()
        return said

    def goes_on(self) -> None:
        """Have it go on to the end."""
        done("run", self.file, *OPTIONS, *self.asked, "--resume", self.kept)


@pytest.fixture
def half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stopped:
    return Stopped(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda o: [*o[:-1], "perceptron"], "made with other options: learner: "),
        (lambda o: [*o, "-p", "rate=0.01"], "made with other options: parameters: "),
        (lambda o: [*o, "--scale", "max"], "made with other options: transforms: "),
        (lambda o: [*o, "--no-intercept"], "made with other options: transforms: "),
        (lambda o: [*o, "--on-error", "skip"], "made with other options: transforms: "),
        (lambda o: [*o, "--no-hindsight"], "made with other options: hindsight: "),
        (
            lambda o: ["--target", "sold", *o[6:], "--positive", "1"],
            "made with other options: target: ",
        ),
        (lambda o: [*o, "--report", "/tmp/r.html"], "made with other options: report: "),
    ],
)
def test_other_options_are_refused(
    half: Stopped, change: Callable[[list[str]], list[str]], said: str
) -> None:
    assert said in half.refused("--resume", half.kept, options=change(list(OPTIONS)))
    half.goes_on()


def test_changed_data_are_refused(half: Stopped) -> None:
    text = half.file.read_bytes()
    half.file.write_bytes(text[:3000])
    assert "d.csv: shorter than before" in half.refused("--resume", half.kept)
    half.file.write_bytes(text.replace(b"Rome", b"Roma"))
    assert "not the data that the checkpoint" in half.refused("--resume", half.kept)
    # A change of the first row, far before the checkpoint, and of two names.
    first = text.index(b"\n") + 1
    half.file.write_bytes(text[:first] + bytes([text[first] ^ 1]) + text[first + 1 :])
    assert re.search(
        r"lines 1 to \d+: not the data that the checkpoint", half.refused("--resume", half.kept)
    )
    half.file.write_bytes(text.replace(b"sun,city,wind", b"wind,city,sun", 1))
    assert "they are in another order" in half.refused("--resume", half.kept)
    half.file.write_bytes(text)
    half.goes_on()


def test_changed_parquet_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, table = tmp_path / "d.parquet", data.frame()
    data.parquet(file, table)
    kept, args = tmp_path / "kept", ["run", str(file), *OPTIONS, "--quiet"]
    assert stopped(monkeypatch, 2, signal.SIGINT, *args, "--checkpoint", kept).code == 130
    data.parquet(file, table.assign(wind=table["wind"] * 2))
    assert "not the data that the checkpoint" in refused(*args, "--resume", kept)
    data.parquet(file, table)
    done(*args, "--resume", kept)


def test_a_changed_first_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = data.frame()
    first = data.csv(tmp_path / "a.csv", table[:20])
    second = data.csv(tmp_path / "b.csv", table[20:])
    kept, args = tmp_path / "kept", ["run", str(first), str(second), *OPTIONS, "--quiet"]
    assert stopped(monkeypatch, 3, signal.SIGINT, *args, "--checkpoint", kept).code == 130
    data.csv(first, table[1:21])
    assert "a.csv: not the data that" in refused(*args, "--resume", kept)
    assert "made with other options: files: 2 then, 1 now" in refused(
        *(args[:2] + args[3:]), "--resume", kept
    )
    data.csv(first, table[:20])
    done(*args, "--resume", kept)


def test_damaged_and_foreign_checkpoints_are_refused(half: Stopped) -> None:
    text = half.kept.read_bytes()
    for damaged in (text[:-1], text[:100], b"", b"{}", b"x" * 500, text + b"x"):
        half.kept.write_bytes(damaged)
        assert "damaged" in half.refused("--resume", half.kept)
    for place in range(0, len(text), len(text) // 25):
        half.kept.write_bytes(text[:place] + bytes([text[place] ^ 4]) + text[place + 1 :])
        said = half.refused("--resume", half.kept)
        assert "damaged" in said or "not a checkpoint" in said
    done("run", half.file, *OPTIONS, "--quiet", "--model", half.folder / "m")
    half.kept.write_bytes((half.folder / "m").read_bytes())
    assert "not a checkpoint of this version" in half.refused("--resume", half.kept)
    assert "a folder: name a file" in refused("run", half.file, *OPTIONS, "--resume", half.folder)
    half.kept.write_bytes(text)
    half.goes_on()


@pytest.mark.parametrize("kind", ["rows", "predictions"])
def test_companions_must_be_there_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    rows = sized(9_000, full=30_000)
    monkeypatch.setattr(opened, "BLOCK", rows * 10 // 3)
    half = Stopped(tmp_path, monkeypatch, rows, 7)
    companion = half.folder / f"kept.{kind}"
    text = companion.read_bytes()
    companion.write_bytes(text[: len(text) // 2])
    assert f"kept.{kind}: shorter than when" in half.refused("--resume", half.kept)
    companion.write_bytes(text[:800] + bytes(800) + text[1600:])
    assert f"kept.{kind}: damaged" in half.refused("--resume", half.kept)
    companion.unlink()
    assert f"kept.{kind}: missing: it belongs" in half.refused("--resume", half.kept)
    companion.write_bytes(text + b"and what came after the checkpoint")
    half.goes_on()


def test_a_missing_checkpoint_is_told_unless_it_is_the_one_to_write(tmp_path: Path) -> None:
    file, kept = data.csv(tmp_path / "d.csv", data.frame()), tmp_path / "kept"
    assert "kept" in refused("run", file, *OPTIONS, "--resume", kept)
    done("run", file, *OPTIONS, "--quiet", "--resume", kept, "--checkpoint", kept)


def test_a_checkpoint_that_is_there_is_not_overwritten(half: Stopped) -> None:
    before = half.kept.read_bytes()
    assert f"--resume {half.kept} resumes from it" in half.refused("--checkpoint", half.kept)
    assert half.kept.read_bytes() == before
    said = half.refused("--resume", half.kept, "--checkpoint", half.folder / "other", code=2)
    assert "keeps its checkpoints where they are" in said
    half.goes_on()


def test_checkpoints_have_a_place_of_their_own(tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.frame())
    before = file.read_bytes()
    for taken in ("--predictions", "--model"):
        name = tmp_path / "x.predictions.csv" if taken == "--predictions" else tmp_path / "x"
        said = refused("run", file, *OPTIONS, taken, name, "--checkpoint", name, code=2)
        assert "already taken" in said
    moved = file.rename(tmp_path / "d.rows")
    args = ["run", str(moved), "--format", "csv", *OPTIONS, "--checkpoint"]
    assert "already taken, by the data" in refused(*args, tmp_path / "d", code=2)
    assert moved.read_bytes() == before
    assert "there is no folder" in refused(*args, tmp_path / "no" / "kept")


def test_a_failure_before_the_first_checkpoint_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("x,y\n" + "1,2\n" * 50 + "oops,3\n", encoding="utf-8")
    args = ["run", str(file), "--target", "y", "--checkpoint", str(tmp_path / "kept")]
    ended = command(*args, "--predictions", tmp_path / "p.csv")
    assert ended.code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
    assert "--every must be at least 1 row" in refused(*args, "--every", "0", code=2)
