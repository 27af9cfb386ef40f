"""``noregret verify``: what it prints, how it ends, and that nothing makes it stumble."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import noregret
from noregret import play
from noregret.app.cli.app import run
from tests.proof.certificates.games import CASES, certificate_of, frame


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def command(*arguments: str | Path) -> Ended:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["verify", *map(str, arguments)])
    return Ended(code, out.getvalue(), err.getvalue())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    certificate_of("widrow-hoff, named").save(tmp_path / "c.json")
    frame().to_csv(tmp_path / "d.csv", index=False)
    return tmp_path


def test_what_is_true_is_confirmed(folder: Path) -> None:
    done = command(folder / "c.json", folder / "d.csv")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.rstrip().splitlines()
    assert lines[-1].rstrip() == "CONFIRMED: every figure follows from these data."
    assert "relative tolerance of 1e-09" in " ".join(done.out.split())
    names = [line.split()[1] for line in lines if line.startswith("confirmed")]
    assert {"seal", "data.digest", "loss.total", "hindsight.loss", "theorem.bound"} <= set(names)
    assert command(folder / "c.json", folder / "d.csv", "--target", "sold").code == 0


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_every_format_confirms_it(folder: Path, suffix: str) -> None:
    file, table = folder / f"again.{suffix}", frame()
    if suffix == "parquet":
        table.to_parquet(file)
    elif suffix == "jsonl":
        file.write_text("\n".join(map(json.dumps, table.to_dict("records"))), encoding="utf-8")
    else:
        table.to_csv(file, index=False, sep="\t" if suffix == "tsv" else ",")
    done = command(folder / "c.json", file)
    assert done.code == 0, done.out + done.err


def test_arrays_confirm_it_too(tmp_path: Path) -> None:
    case = CASES["logistic in a ball"]
    certificate_of("logistic in a ball").save(tmp_path / "c.json")
    np.savez(tmp_path / "d.npz", X=case.X, y=case.y)
    assert command(tmp_path / "c.json", tmp_path / "d.npz").code == 0


def test_a_figure_that_follows_from_a_wrong_one_is_not_confirmed(folder: Path) -> None:
    rows = np.random.default_rng(1).uniform(size=(40, 3))
    play(noregret.experts.Hedge(), rows).certificate().save(folder / "h.json")
    found = noregret.verify(folder / "h.json", rows[:-1])
    failed = {line.name for line in found.failed}
    assert {"regret.upper", "theorem.measured"} <= failed
    assert noregret.verify(folder / "h.json", rows).confirmed


@pytest.mark.parametrize("damage", ["", "{}"])
def test_arguments_the_wrong_way_round_are_told(folder: Path, damage: str) -> None:
    if damage:
        (folder / "d.csv").write_text(damage, "utf-8")
    done = command(folder / "d.csv", folder / "c.json")
    assert done.code == 1
    assert "the certificate comes first" in " ".join(done.err.split())
    assert "damaged" not in done.err
    assert ("not a certificate" in command(folder / "d.csv", folder / "d.csv").err) == (not damage)


def test_what_is_changed_is_not_confirmed(folder: Path) -> None:
    table = frame()
    table.loc[7, "wind"] = np.nextafter(table.loc[7, "wind"], 9.0)
    table.to_csv(folder / "other.csv", index=False)
    done = command(folder / "c.json", folder / "other.csv")
    assert done.code == 1
    assert "NOT CONFIRMED  data.digest" in done.out
    assert "These are not the data that the certificate was made from." in " ".join(
        done.out.split()
    )
    text = (folder / "c.json").read_text(encoding="utf-8")
    (folder / "c.json").write_text(text.replace('"rate": 0.4', '"rate": 0.41'), encoding="utf-8")
    done = command(folder / "c.json", folder / "d.csv")
    assert done.code == 1
    assert "NOT CONFIRMED  seal" in done.out
    assert "NOT CONFIRMED  loss.total" in done.out


def test_wrong_usage_ends_with_2(folder: Path) -> None:
    for arguments in ([], [folder / "c.json"], [folder / "c.json", folder / "d.csv", "--speed"]):
        assert command(*arguments).code == 2


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("d.csv", b"", "d.csv: there are no examples in it"),
        ("d.csv", b"sun,wind\n1,2\n", "there is no column 'sold'"),
        ("d.csv", b"sun,Sold\n1,2\n", "did you mean 'Sold'?"),
        ("d.csv", b"sun,sold\n1,2,3\n", "d.csv, line 2: 3 values, but there are 2 columns"),
        ("d.csv", b"sun,sun,sold\n1,2,3\n", "two columns are called 'sun'"),
        ("d.csv", b"sun,sold\n1,\xff\n\xc3\xa4\xc3\xa4", "line 2: column 'sold': not UTF-8 text"),
        ("d.csv", b"sun,sold\n10:30:00,3\n", "holds times of day: give the data that the"),
        ("d.csv", b"sun,sold\n", "there are no examples in it"),
        ("d.csv", b"sun,sold\n1,\n", "d.csv, line 2: the outcome is missing"),
        ("d.csv", b"sun,sold\n,1\n", "d.csv, line 2: column 'sun' is empty"),
        ("d.csv", b"sun,sold\n1,yes\n", "d.csv: the target 'sold' holds text"),
        ("d.parquet", b"PAR1nonsense", "d.parquet: damaged, or not Parquet"),
        ("d.parquet", b"", "d.parquet: damaged, or not Parquet"),
        ("d.jsonl", b'{"sun": 1, "sold": 2}\n{"sun": }\n', "d.jsonl, line 2, column"),
        ("d.jsonl", b"[1, 2]\n", "d.jsonl, line 1: an example is an object"),
        ("d.jsonl", b'{"sun": 1}\n', "d.jsonl: there is no column 'sold'"),
        ("d.jsonl", b'{"a": 1, "sold": 1}\n{"sun": 1}\n', "d.jsonl, line 2: there is no outcome"),
        ("d.jsonl", b'{"sun": null, "sold": 2}\n', "d.jsonl, line 1: "),
        ("d.jsonl", b'{"sun": [1], "sold": 2}\n', "d.jsonl, line 1: "),
        ("d.jsonl", b"\xff\xfe\n", "d.jsonl: damaged UTF-16 text"),
    ],
)
def test_hostile_data_end_with_1_and_one_line(
    folder: Path, name: str, contents: bytes, said: str
) -> None:
    (folder / "d.csv").unlink()
    (folder / name).write_bytes(contents)
    done = command(folder / "c.json", folder / name)
    assert done.code == 1
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert said in done.err


@pytest.mark.parametrize("contents", [b"PK\x03\x04", b"", b"\x93NUMPY\x01\x00"])
def test_damaged_archives_end_with_1_and_one_line(tmp_path: Path, contents: bytes) -> None:
    certificate_of("widrow-hoff").save(tmp_path / "c.json")
    (tmp_path / "d.npz").write_bytes(contents)
    done = command(tmp_path / "c.json", tmp_path / "d.npz")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "d.npz: damaged" in done.err


def test_hostile_certificates_end_with_1_and_one_line(folder: Path) -> None:
    for text in ("", "[" * 99_999, '{"format": "noregret.certificate/9"}', "\x00", "{}"):
        (folder / "bad.json").write_text(text, encoding="utf-8")
        done = command(folder / "bad.json", folder / "d.csv")
        assert done.code == 1
        assert re.match(rf"noregret: {re.escape(str(folder / 'bad.json'))}[:,] ", done.err)
        assert done.err.count("\n") == 1
    for missing in (folder / "nothing.json", folder):
        assert command(missing, folder / "d.csv").code == 1
        assert command(folder / "c.json", missing).code == 1


def test_a_python_loss_is_sent_to_python(folder: Path) -> None:
    own = noregret.PythonLoss(lambda s, y: (s - y) ** 2, lambda s, y: 2 * (s - y), "mine")
    learner = noregret.make("gradient-descent", loss=own, rate=0.01)
    play(learner, frame(), target="sold").certificate().save(folder / "own.json")
    done = command(folder / "own.json", folder / "d.csv")
    assert done.code == 1
    assert "noregret.verify(…, loss=…) in Python" in done.err


def test_hostile_names_cannot_act_on_the_terminal(folder: Path) -> None:
    table = pd.DataFrame({"\x1b[31mred[bold]": [0.1, 0.2], "s\x1bold": [1.0, 2.0]})
    certificate = play(noregret.make("widrow-hoff"), table, target="s\x1bold").certificate()
    certificate.save(folder / "c.json")
    table.to_csv(folder / "d.csv", index=False)
    done = command(folder / "c.json", folder / "d.csv")
    assert done.code == 0
    assert "\x1b" not in done.out


def test_the_installed_command_needs_no_unicode_terminal(folder: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from noregret.app.cli import main; main()",
            "verify",
            "c.json",
            "d.csv",
        ],
        cwd=folder,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"CONFIRMED" in done.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("d.npz", "d.npz: target does not apply to npz files"),
        ("d.ods", "files that end in .ods are not known: use one of .arff,"),
        ("data", "files that end in nothing are not known"),
    ],
)
def test_files_of_another_kind_are_wrong_usage(folder: Path, name: str, said: str) -> None:
    other = folder / name
    other.write_bytes((folder / "d.csv").read_bytes())
    done = command(folder / "c.json", other)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert command(folder / "c.json", other, "--format", "csv").code == 0
    assert command(folder / "c.json", other, folder / "d.csv").code == 2
