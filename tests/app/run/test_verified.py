"""``noregret verify`` confirms what ``run`` writes, for every format and option."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.app.run import data
from tests.app.run.commands import command, done, process, small_blocks
from tests.thorough import paired, sized

__all__ = ["small_blocks"]
pytestmark = pytest.mark.usefixtures("small_blocks")
SOLD = ["--target", "sold", "--drop", "late"]
LATE = ["--target", "late", "--positive", "yes", "--drop", "sold", "--learner", "logistic"]


def confirmed(folder: Path, file: Path, *options: Any) -> None:
    """Run and verify; a format that had to be said must be said again."""
    certificate = folder / "c.json"
    done("run", file, *options, "--certificate", certificate, "--quiet")
    again = [] if file.suffix else ["--format", options[options.index("--format") + 1]]
    ended = command("verify", certificate, file, *again)
    assert ended.code == 0, ended.out + ended.err


WAYS = [
    [*SOLD],
    [*SOLD, "--no-intercept", "--scale", "max"],
    [*SOLD, "--scale", "standard"],
    [*SOLD, "--scale", "unit", "--hash", "3"],
    [*SOLD, "--learner", "widrow-hoff", "-p", "rate=0.1"],
    [*LATE[:6]],
    [*LATE],
    [*LATE, "--categories", "city", "--hash", "6"],
    ["--target", "sold", "--keep", "sun", "--keep", "wind"],
    [*LATE[:-1], "perceptron"],
]


@pytest.mark.parametrize(("options", "kind"), paired(WAYS, list(data.TABLES)))
def test_tables(kind: str, options: list[str], tmp_path: Path) -> None:
    table = data.frame(sized(250, full=data.ROWS))
    confirmed(tmp_path, data.TABLES[kind](tmp_path / f"d.{kind}", table), *options)


@pytest.mark.parametrize("options", [[], ["--hash", "6"], ["--scale", "unit"], ["--no-intercept"]])
def test_texts(options: list[str], tmp_path: Path) -> None:
    confirmed(tmp_path, data.vw(tmp_path / "d.vw"), "--learner", "logistic", *options)
    confirmed(tmp_path, data.svmlight(tmp_path / "d.svm"), *options)


def test_arrays(tmp_path: Path) -> None:
    confirmed(tmp_path, data.npz(tmp_path / "d.npz", data.numbers()))


def test_missing_cells_and_bad_rows(tmp_path: Path) -> None:
    table = data.frame()
    table.loc[::9, "wind"] = None
    file = data.csv(tmp_path / "d.csv", table)
    for how in ("zero", "indicator"):
        confirmed(tmp_path, file, *SOLD, "--missing", how)
    confirmed(tmp_path, file, *SOLD, "--on-error", "skip")
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[77] = "what is this?"
    file.write_text("\n".join(lines), encoding="utf-8")
    confirmed(tmp_path, file, *SOLD, "--missing", "zero", "--on-error", "skip")


def test_a_file_without_a_header_and_without_an_extension(tmp_path: Path) -> None:
    text = data.numbers().to_csv(index=False, header=False)
    (tmp_path / "numbers").write_text(text, encoding="utf-8")
    options = ["--format", "csv", "--no-header", "--target", "4", "--drop", "5"]
    confirmed(tmp_path, tmp_path / "numbers", *options)


def test_the_same_data_in_another_format_confirm_it_too(tmp_path: Path) -> None:
    table, certificate = data.frame(), tmp_path / "c.json"
    file = data.csv(tmp_path / "d.csv", table)
    done("run", file, "--format", "csv", *SOLD, "--certificate", certificate, "--quiet")
    packed = tmp_path / "d.csv.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    halves = [data.csv(tmp_path / f"{k}.csv", table[300 * k : 300 * k + 300]) for k in (0, 1)]
    others = [write(tmp_path / f"d.{kind}", table) for kind, write in data.TABLES.items()]
    for files in ([packed], halves, *([other] for other in others)):
        done("verify", certificate, *files)


def test_standard_input_is_confirmed_by_the_file(tmp_path: Path) -> None:
    file, certificate = data.csv(tmp_path / "d.csv", data.frame()), tmp_path / "c.json"
    args = ["run", "-", "--format", "csv", *SOLD, "--certificate", certificate]
    assert process(*args, stdin=file.read_bytes()).returncode == 0
    done("verify", certificate, file)


def test_changed_data_are_not_confirmed(tmp_path: Path) -> None:
    table, certificate = data.frame(), tmp_path / "c.json"
    file = data.csv(tmp_path / "d.csv", table)
    done("run", file, *SOLD, "--certificate", certificate, "--quiet")
    table.loc[5, "wind"] += 0.5
    ended = command("verify", certificate, data.csv(file, table))
    assert ended.code == 1
    assert "These are not the data" in " ".join(ended.out.split())
