"""No file is ever half written: each is there whole, or what was there before is."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import noregret
from noregret import streams
from noregret.app.commands.run import checkpoint
from tests.app.run import data
from tests.app.run.commands import command, done, refused, small_blocks

__all__ = ["small_blocks"]
pytestmark = pytest.mark.usefixtures("small_blocks")
PLAIN = ["--target", "y", "--drop", "label", "--learner", "widrow-hoff"]
PLAIN += ["-p", "rate=0.3", "-p", "norm=6"]
NAMES = {"predictions": "p.csv", "model": "m", "certificate": "c.json", "report": "r.html"}
# A process whose files may not become larger than this: as a disk that is full.
SMALL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from noregret.app.cli.app import run
sys.exit(run(sys.argv[2:]))
"""


def asked(folder: Path) -> list[str]:
    """Return the options that ask for everything."""
    return [text for kind, name in NAMES.items() for text in (f"--{kind}", str(folder / name))]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return data.csv(tmp_path / "d.csv", data.numbers())


def on_a_small_disk(size: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command where no file can become larger than that."""
    return subprocess.run(
        [sys.executable, "-c", SMALL_DISK, str(size), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_everything_is_written(file: Path, tmp_path: Path) -> None:
    out = done("run", file, *PLAIN, *asked(tmp_path))
    assert all(str(name) in "".join(out.split()) for name in NAMES.values())
    predictions = pd.read_csv(tmp_path / "p.csv")
    assert predictions["row"].tolist() == list(range(1, data.ROWS + 1))
    assert predictions["outcome"].tolist() == data.numbers()["y"].tolist()
    learner = noregret.WidrowHoff(rate=0.3, norm=6)
    stream = streams.read(file, target="y", drop="label", intercept=True, missing="indicator")
    game = noregret.play(learner, stream, predictions=True)
    assert predictions["prediction"].tolist() == game.predictions.tolist()
    assert noregret.load(tmp_path / "m").weights.tolist() == learner.weights.tolist()
    stated = noregret.load_certificate(tmp_path / "c.json")
    assert stated.to_dict() == game.certificate().to_dict()
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")


def test_parquet_and_csv_hold_the_same(file: Path, tmp_path: Path) -> None:
    for name in ("p.csv", "p.parquet"):
        done("run", file, *PLAIN, "--predictions", tmp_path / name, "--quiet")
    left, right = pd.read_csv(tmp_path / "p.csv"), pd.read_parquet(tmp_path / "p.parquet")
    pd.testing.assert_frame_equal(left, right, check_exact=True)


def test_a_full_disk_leaves_what_was_there_and_the_rest_is_written(
    file: Path, tmp_path: Path
) -> None:
    for name in NAMES.values():
        (tmp_path / name).write_text("what was there", encoding="utf-8")
    # The predictions are gathered in 14,400 bytes; their file and the report take more.
    ended = on_a_small_disk(15_000, "run", file, *PLAIN, *asked(tmp_path), "--json")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    said = ended.stderr.removeprefix("noregret: ").splitlines()
    assert [Path(line.split(":")[0]).name for line in said] == ["p.csv", "r.html"]
    assert all("File too large" in line for line in said)
    for name in ("p.csv", "r.html"):
        assert (tmp_path / name).read_text(encoding="utf-8") == "what was there"
    assert noregret.load(tmp_path / "m").rounds == data.ROWS
    assert json.loads(ended.stdout)["run"]["outputs"] == {
        "model": str(tmp_path / "m"),
        "certificate": str(tmp_path / "c.json"),
    }
    done("verify", tmp_path / "c.json", file)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["d.csv", *NAMES.values()])


def test_a_first_row_that_is_bad_leaves_no_predictions_and_says_why(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("a,y\n1,inf\n2,3\n")
    told = refused("run", str(bad), "--target", "y", "--predictions", str(tmp_path / "p.csv"))
    assert "line 2: the outcome is inf" in told


def test_a_disk_too_small_for_what_is_gathered_is_told(file: Path, tmp_path: Path) -> None:
    ended = on_a_small_disk(5_000, "run", file, *PLAIN, "--predictions", tmp_path / "p.csv")
    assert ended.returncode == 1
    assert "the predictions so far do not fit: File too large" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
    args = ["run", file, *PLAIN, "--checkpoint", tmp_path / "kept", "--every", "1"]
    ended = on_a_small_disk(1_000, *args)
    assert ended.returncode == 1
    assert "File too large" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_the_rows_for_hindsight_do_not_fit(tmp_path: Path) -> None:
    file = data.csv(tmp_path / "d.csv", data.numbers(40_000))
    options = ["--target", "label", "--drop", "y", "--learner", "logistic", "--quiet"]
    args = ["run", file, *options, "--checkpoint", tmp_path / "kept"]
    ended = on_a_small_disk(200_000, *args)
    assert ended.returncode == 1
    assert "the rows to be compared with in hindsight do not fit" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_checkpoint_outlives_a_disk_that_fills_up(file: Path, tmp_path: Path) -> None:
    args = ["run", file, *PLAIN, *asked(tmp_path)[:4], "--no-hindsight", "--quiet"]
    done(*args)
    whole = (tmp_path / "m").read_bytes()
    kept = tmp_path / "kept"
    ended = on_a_small_disk(15_000, *args, "--checkpoint", kept, "--every", "1")
    assert ended.returncode == 1
    assert kept.exists(), "what could not be written can be had from it"
    (tmp_path / "m").unlink()
    done(*args, "--resume", kept)
    assert (tmp_path / "m").read_bytes() == whole


@pytest.mark.parametrize("kind", NAMES)
def test_places_that_cannot_be_written_to(kind: str, file: Path, tmp_path: Path) -> None:
    name = NAMES[kind]
    (tmp_path / f"folder{name}").mkdir()
    for place, said in {
        tmp_path / "nowhere" / name: "there is no folder",
        tmp_path / f"folder{name}": "a folder: name a file for the",
        file: "already taken, by the data",
        Path("/dev") / "full": ".csv or a .parquet" if kind == "predictions" else "not a file",
    }.items():
        usage = said.startswith(("already taken", ".csv"))
        assert said in refused("run", file, *PLAIN, f"--{kind}", place, code=1 + usage)
    assert file.read_bytes() == data.csv(tmp_path / "e.csv", data.numbers()).read_bytes()
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_folder_without_permission_is_told_at_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    assert "cannot be written to" in refused("run", file, *PLAIN, "--model", tmp_path / "m")


def test_a_folder_that_goes_away_is_told_at_the_end(file: Path, tmp_path: Path) -> None:
    folder = Path("/proc/self/task")  # nobody can make a file there, not even root
    args = ["run", file, *PLAIN, "--model", folder / "m", "--certificate", tmp_path / "c.json"]
    assert str(folder) in refused(*args)
    if (tmp_path / "c.json").exists():
        done("verify", tmp_path / "c.json", file)


def test_one_place_for_two_outputs_is_refused(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "same"
    outputs = ["--model", place, "--report", tmp_path / "." / "same"]
    said = refused("run", file, *PLAIN, *outputs, code=2)
    assert "already taken, by the model" in said
    os.symlink(file, tmp_path / "link.csv")
    said = refused("run", file, *PLAIN, "--predictions", tmp_path / "link.csv", code=2)
    assert "already taken, by the data" in said


def test_a_file_that_is_replaced_keeps_its_rights(file: Path, tmp_path: Path) -> None:
    (tmp_path / "m").touch(mode=0o640)
    (tmp_path / "m").chmod(0o640)
    done("run", file, *PLAIN, "--model", tmp_path / "m", "--quiet")
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


def test_stopping_at_a_bad_row_writes_nothing(file: Path, tmp_path: Path) -> None:
    with file.open("a", encoding="utf-8") as more:
        more.write("1,2,3\n")
    (tmp_path / "m").write_text("what was there", encoding="utf-8")
    ended = command("run", file, *PLAIN, *asked(tmp_path))
    assert ended.code == 1
    assert ended.out == ""
    assert "d.csv, line 602: " in ended.err
    assert (tmp_path / "m").read_text(encoding="utf-8") == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.csv", "m"]


def test_a_model_is_the_same_bytes_in_every_process(file: Path, tmp_path: Path) -> None:
    args = ["run", file, *PLAIN, "--quiet", "--model"]
    assert on_a_small_disk(1_000_000, *args, tmp_path / "a").returncode == 0
    done(*args, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_links_stay_and_what_they_lead_to_is_written(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint's link too: at the end of the run what it leads to is removed, not the link."""
    real = tmp_path / "elsewhere"
    real.mkdir()
    for name in [*NAMES.values(), "kept"]:
        (tmp_path / name).symlink_to(real / name)
    (tmp_path / "again").symlink_to(tmp_path / "kept")
    kept = ["--checkpoint", tmp_path / "again", "--every", "100"]
    saved = []
    really = checkpoint.write

    def write(path: str, *parts: Any) -> None:
        really(path, *parts)
        saved.append({each.name for each in real.iterdir() if not each.name.startswith(".")})

    monkeypatch.setattr(checkpoint, "write", write)
    done("run", file, *PLAIN, *asked(tmp_path), *kept)
    assert saved[-1] == {"kept", "kept.rows", "kept.predictions"}
    assert {each.name for each in real.iterdir()} == set(NAMES.values())
    assert all((tmp_path / name).is_symlink() for name in [*NAMES.values(), "kept", "again"])


def test_a_link_that_leads_nowhere_is_told_at_once(file: Path, tmp_path: Path) -> None:
    (tmp_path / "m").symlink_to(tmp_path / "gone" / "m")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name, said in (("m", "there is no folder"), ("circle", "a circular link")):
        for option in ("--model", "--checkpoint"):
            told = refused("run", file, *PLAIN, option, tmp_path / name)
            assert f"{name}: " in told
            assert said in told
            assert (tmp_path / name).is_symlink()
