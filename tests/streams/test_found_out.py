"""Certificates name everything detected about a file, and verify applies only that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import noregret as nr
from noregret import play, streams, verify
from noregret.errors import BadExample
from noregret.proof.certificates.certificate import seal

NUMBERS = range(40)
FILES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "semicolons": ("a;y\n", "{k};{y}\n", ("delimiter=;",)),
    "tabs": ("a\ty\n", "{k}\t{y}\n", ("delimiter=tab",)),
    "decimal commas": ("a;y\n", "{k},5;{y}\n", ("delimiter=;", "decimal-commas=a")),
    "currency": ("a,y\n", "${k},{y}\n", ("written-numbers=a",)),
    "thousands": ("a,y\n", '"1,{k:03}",{y}\n', ("written-numbers=a",)),
    "dates": ("day,a,y\n", "2024-01-{day:02},{k},{y}\n", ("time=day",)),
    "letters": ("town,a,y\n", "Orléans{y},{k},{y}\n", ("encoding=latin-1",)),
    "plain": ("a,y\n", "{k},{y}\n", ()),
}


def written(name: str, folder: Path) -> Path:
    header, row, _ = FILES[name]
    text = header + "".join(row.format(k=k, y=k % 3, day=k % 28 + 1) for k in NUMBERS)
    (folder / "d.csv").write_bytes(text.encode("latin-1"))
    return folder / "d.csv"


def certificate_of(file: Path, **options: Any) -> nr.Certificate:
    made: nr.Certificate = play(nr.Vaw(), streams.read(file, "y", **options)).certificate()
    return made


@pytest.mark.filterwarnings("ignore:.*read as Latin-1")
@pytest.mark.parametrize("name", FILES)
def test_a_certificate_names_what_was_found_out(name: str, tmp_path: Path) -> None:
    file, expected = written(name, tmp_path), FILES[name][2]
    certificate = certificate_of(file)
    assert certificate.data.transforms == expected
    assert verify(certificate, file).failed == ()
    for left_out in expected:
        told = certificate.to_dict()
        told["data"]["transforms"] = [each for each in expected if each != left_out]
        told["seal"] = seal({key: value for key, value in told.items() if key != "seal"})
        try:
            assert not verify(told, file).confirmed, left_out
        except nr.NoRegretError:  # such a file could not be read before
            continue


def test_a_column_named_without_need_is_not_confirmed(tmp_path: Path) -> None:
    file = written("plain", tmp_path)
    told = certificate_of(file).to_dict()
    told["data"]["transforms"] = ["written-numbers=a"]
    told["seal"] = seal({key: value for key, value in told.items() if key != "seal"})
    assert [line.name for line in verify(told, file).failed] == ["data.transforms"]


def test_written_numbers_far_down_are_named_too(tmp_path: Path) -> None:
    file = written("plain", tmp_path)
    with file.open("a", encoding="utf-8") as more:
        more.write("1\n7%,1\n$3,2\n")  # a line that is no row, and numbers as people write them
    certificate = certificate_of(file, on_error="skip")
    assert certificate.data.rounds == 42
    assert certificate.data.transforms == ("on-error=skip", "written-numbers=a")
    assert verify(certificate, file).failed == ()
    # Where they are not named, as in 0.1.0, these rows cannot be used.
    told = certificate.to_dict()
    told["data"]["transforms"] = ["on-error=skip"]
    found = {line.name: line for line in verify(told, file).lines}
    assert found["data.rounds"].found == 40


@pytest.mark.parametrize("name", ["decimal commas", "currency", "dates"])
def test_the_same_rows_in_another_format_confirm_it(name: str, tmp_path: Path) -> None:
    file = written(name, tmp_path)
    comma = "," if name == "decimal commas" else "."
    table = pd.read_csv(file, sep=None, engine="python", decimal=comma)
    if name == "currency":
        table["a"] = table["a"].str.removeprefix("$").astype(float)
    if name == "dates":
        table["day"] = pd.to_datetime(table["day"]).dt.date
    table.to_parquet(tmp_path / "d.parquet")
    assert verify(certificate_of(file), tmp_path / "d.parquet").failed == ()


def test_games_of_tables_name_it_too(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("one;two;y\n" + "0,5;1,5;1\n" * 20, encoding="utf-8")
    game = nr.play(nr.experts.Hedge(), tmp_path / "d.csv", target="y")
    expected = ("missing=asleep", "delimiter=;", "decimal-commas=one", "decimal-commas=two")
    assert game.transforms == expected
    assert verify(game.certificate(), tmp_path / "d.csv").failed == ()


@pytest.mark.parametrize("lines", [3, 600])
def test_a_target_that_is_an_object_is_refused(lines: int, tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"a": 1, "y": {"v": 1}}\n' * lines)
    with pytest.raises(BadExample, match=r"line 1: the outcome 'y' is an object.*target='y.v'"):
        [*streams.read(file, "y", missing="indicator")]
    assert len([*streams.read(file, "y.v")]) == lines
