"""The errors of the command."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.app.mix.forecasts import csv, frame
from tests.app.run.commands import done, refused


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return csv(tmp_path, frame(40))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name the column of outcomes: --target COLUMN"),
        (("--target", "y", "--learner", "hedgy"), "did you mean hedge"),
        (("--target", "y", "--learner", "hedge", "-p", "speed=1"), "no parameter 'speed'"),
        (
            ("--target", "y", "--experts", "north", "--drop", "east"),
            "use either --experts",
        ),
        (("--target", "y", "--only", "3"), "name the column of groups too (--group)"),
        (("--target", "y", "--format", "vw"), "forecasts must be a table"),
        (("--target", "y", "--loss", "square", "--quantile", "0.5"), "leave out --loss square"),
        (("--target", "y", "--quantile", "1.5"), "quantile"),
        (("--target", "y", "--gradient"), "need a --learner"),
        (("--target", "y", "--learner", "boa", "--loss", "zero-one", "--gradient"), "no gradient"),
        (("--target", "y", "--certificate", "c", "--no-hindsight"), "leave --no-hindsight out"),
        (("--target", "y", "--on-error", "shrug"), "--on-error"),
        (("--target", "y", "--weights", "w.txt"), "weights are written to a .csv or a .parquet"),
    ],
)
def test_wrong_usage(options: tuple[str, ...], said: str, file: Path) -> None:
    assert said in refused("mix", file, *options, code=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "z"), "there is no column 'z'"),
        (("--target", "y", "--drop", "nort"), "did you mean 'north'?"),
        (("--target", "y", "--experts", "day"), "an expert's forecasts are numbers"),
        (("--target", "y", "--group", "serie"), "there is no column 'serie'"),
        (
            ("--target", "y", "--group", "day", "--only", "Sun"),
            "no group 'Sun' in the column 'day'",
        ),
        (("--target", "y", "--report", "nowhere/r.html"), "there is no folder"),
        (("--target", "y", "--loss", "log"), "the log loss takes probabilities"),
    ],
)
def test_wrong_data(options: tuple[str, ...], said: str, file: Path) -> None:
    message = refused("mix", file, *options)
    assert said in message


def test_a_word_among_numbers_names_line_and_column(tmp_path: Path) -> None:
    table = frame(40).astype({"north": object})
    table.loc[29, "north"] = "high"
    file = csv(tmp_path, table)
    message = refused("mix", file, "--target", "y")
    assert "forecasts.csv, line 31: column 'north': 'high' is not a number" in message
    assert "--categories" not in message
    text = done("mix", file, "--target", "y", "--on-error", "skip")
    assert "39 rounds" in text
    assert "1 row skipped" in text


def test_infinite_forecasts_name_line_and_expert(tmp_path: Path) -> None:
    table = frame(40)
    table.loc[3, "west"] = float("inf")
    file = csv(tmp_path, table)
    assert "line 5: column 'west' is inf: every" in refused("mix", file, "--target", "y")
    done("mix", file, "--target", "y", "--on-error", "skip", "--predictions", tmp_path / "p.csv")
    rows = pd.read_csv(tmp_path / "p.csv")["row"].tolist()
    assert rows == [1, 2, 3, *range(5, 41)]


def test_sleep_where_a_master_allows_none_is_refused(tmp_path: Path) -> None:
    table = frame(40, asleep=0.5)
    for name in ("y", "north", "east", "west"):
        table[name] = (table[name] > 0).where(table[name].notna()).astype(float)
    message = refused("mix", csv(tmp_path, table), "--target", "y", "--learner", "halving")
    assert "line " in message
    assert "sleep" in message


def test_nothing_to_learn_from_is_told(tmp_path: Path) -> None:
    table = frame(10)
    table["y"] = float("nan")
    message = refused("mix", csv(tmp_path, table), "--target", "y")
    assert "none of its 10 rows has an outcome" in message
    (tmp_path / "empty.csv").write_text("a,y\n")
    assert "no forecasts" in refused("mix", tmp_path / "empty.csv", "--target", "y")
    (tmp_path / "data.svm").write_text("1 1:2\n")
    message = refused("mix", tmp_path / "data.svm", "--target", "y", code=2)
    assert "forecasts must be a table with named columns" in message
