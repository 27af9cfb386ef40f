"""Ordinary files that are awkward to read: each runs with nothing but ``--target``, and is learned.

Learned means that the error is smaller than that of the best constant, or of the most frequent
class. What cannot be used is refused with the option that helps.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import noregret
from noregret.errors import DataWarning
from tests.thorough import sized

from .commands import command, done, refused

ROWS = 400
Row = dict[str, Any]
WORDS = ["the", "room", "was", "very", "we", "came", "again", "with", "food", "and"]


def rows(kind: str) -> list[Row]:
    """Return rows whose outcome depends on the columns in the way that is tested."""
    draw, start = random.Random(7), datetime(2023, 1, 1)
    found = []
    for k in range(ROWS):
        a, b = draw.gauss(0, 1), draw.gauss(0, 1)
        town = draw.choice(["Oslo", "Rome", "Bonn"])
        level = {"Oslo": 0, "Rome": 3, "Bonn": -3}[town]
        row: Row = {"a": round(a, 3), "b": round(b, 3), "town": town}
        y = a - 2 * b + level + draw.gauss(0, 0.3)
        if kind == "gaps":
            row |= {"a": "" if k % 5 == 0 else row["a"], "town": "" if k % 7 == 0 else town}
        elif kind == "dates":
            when = start + timedelta(hours=11 * k)
            row = {"when": when.isoformat(" ")}
            y = 5.0 if when.weekday() >= 5 else draw.gauss(0, 0.3)
        elif kind == "text":
            said = [draw.choice(WORDS) for _ in range(9)]
            y = draw.choice([-2.0, 2.0])
            said.insert(draw.randrange(9), "awful" if y < 0 else "lovely")
            row = {"remark": " ".join(said)}
        elif kind == "ids":
            row |= {"id": f"user-{k:06d}", "shop": f"s{k % 20}"}
            y += 4 * (k % 20 < 5)
        elif kind == "classes":
            y = ["low", "middle", "high"][(y > -1) + (y > 1)]  # type: ignore[assignment]
        elif kind == "integers":
            y = [1, 2, 3][(y > -1) + (y > 1)]
        found.append(row | {"y": y if isinstance(y, str | int) else round(y, 3)})
    return found


def csv_text(table: list[Row], mark: str = ",", decimal: str = ".", header: bool = True) -> str:
    def cell(value: Any) -> str:
        return str(value).replace(".", decimal) if isinstance(value, float) else str(value)

    lines = [mark.join(table[0])] if header else []
    return "\n".join([*lines, *(mark.join(map(cell, row.values())) for row in table)]) + "\n"


def plain(kind: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "data.csv").write_text(csv_text(rows(kind)))
        return folder / "data.csv"

    return write


def semicolons(folder: Path) -> Path:
    (folder / "data.csv").write_text(csv_text(rows("plain"), ";", ","))
    return folder / "data.csv"


def latin(folder: Path) -> Path:
    table = [{**row, "town": row["town"].replace("o", "ö")} for row in rows("plain")]
    (folder / "data.csv").write_bytes(csv_text(table).encode("latin-1"))
    return folder / "data.csv"


def excel(folder: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    table = rows("plain")
    for line in [list(table[0]), *(list(row.values()) for row in table)]:
        book.active.append(line)
    book.save(folder / "data.xlsx")
    return folder / "data.xlsx"


def nested(folder: Path) -> Path:
    lines = [
        {"place": {"town": row["town"], "at": {"a": row["a"]}}, "b": row["b"], "y": row["y"]}
        for row in rows("plain")
    ]
    (folder / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "data.jsonl"


def large(folder: Path) -> Path:
    text = csv_text(rows("plain"))
    header, body = text.split("\n", 1)
    with (folder / "data.csv").open("w") as file:
        file.write(header + "\n")
        for _ in range(sized(50, full=200_000)):
            file.write(body)
    return folder / "data.csv"


FILES: dict[str, Callable[[Path], Path]] = {
    "gaps": plain("gaps"),
    "dates": plain("dates"),
    "text": plain("text"),
    "ids": plain("ids"),
    "classes": plain("classes"),
    "integer classes": plain("integers"),
    "semicolons and decimal commas": semicolons,
    "Latin-1": latin,
    "Excel": excel,
    "nested JSON": nested,
    "large": large,
}


@pytest.mark.filterwarnings(f"ignore::{DataWarning.__module__}.{DataWarning.__name__}")
@pytest.mark.parametrize("kind", FILES)
def test_it_runs_with_nothing_but_its_target_and_is_learned(kind: str, tmp_path: Path) -> None:
    data = FILES[kind](tmp_path)
    ended = command("run", data, "--target", "y", "--no-hindsight", "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    learned, known = told["measures"], told["baselines"]
    if learned["accuracy"] is not None:
        assert learned["accuracy"] > 1.15 * max(each["accuracy"] for each in known.values())
    else:
        assert learned["rmse"] < 0.9 * min(each["rmse"] for each in known.values())


def test_a_file_without_a_header_is_refused_with_the_option_that_helps(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    numbers = [{name: row[name] for name in "aby"} for row in rows("plain")]
    data.write_text(csv_text(numbers, header=False))
    assert "--no-header" in refused("run", data, "--target", "y")
    told = json.loads(done("run", data, "--target", "3", "--no-header", "--no-hindsight", "--json"))
    known = told["baselines"].values()
    assert told["measures"]["rmse"] < 0.99 * min(each["rmse"] for each in known)


def test_a_list_in_json_is_refused_with_the_option_that_helps(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"a": k, "b": [k], "y": k}) + "\n" for k in range(20)))
    assert "--drop b" in refused("run", data, "--target", "y")
    assert command("run", data, "--target", "y", "--drop", "b", "--quiet").code == 0


def test_options_take_several_columns_at_once_and_names_with_commas(tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model"
    lines = ['a,b,"c, net",d,y', *(f"{k},{k % 3},{k % 5},1,{k % 7}" for k in range(40))]
    data.write_text("\n".join(lines) + "\n")
    for options in (["--drop", "a,c, net"], ["--drop", "a", "--drop", "c, net"], ["--keep", "b,d"]):
        done("run", data, "--target", "y", *options, "--model", model, "--no-hindsight", "--quiet")
        assert len(noregret.load(model).weights) == 3  # b, d and the intercept
