"""Streams from files: the same examples as from memory, again as often as asked, and in blocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import noregret
from noregret import play, streams
from noregret.streams import open_file as opened
from tests.proof.certificates.games import NUMBERS, ROWS, frame


def write_lines(table: pd.DataFrame, file: Path) -> None:
    rows = [json.dumps(row) for row in table.to_dict("records")]
    file.write_text("\n".join(rows), encoding="utf-8")


WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "csv": lambda table, file: table.to_csv(file, index=False),
    "tsv": lambda table, file: table.to_csv(file, index=False, sep="\t"),
    "parquet": lambda table, file: table.to_parquet(file),
    "jsonl": write_lines,
    "ndjson": write_lines,
}


def learner() -> noregret.Learner:
    made: noregret.Learner = noregret.WidrowHoff(rate=0.4, norm=1.5)
    return made


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_gives_the_game_of_its_table(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"d.{suffix}"
    WRITERS[suffix](frame(), file)
    stream = streams.read(file, target="sold")
    game, expected = play(learner(), stream), play(learner(), frame(), target="sold")
    assert game.digest == expected.digest
    assert game.loss == expected.loss
    assert (stream.target, stream.transforms, game.target) == ("sold", (), "sold")
    assert play(learner(), stream).digest == game.digest  # from the start again
    assert sum(map(len, stream.blocks())) == 60
    assert len(list(stream)) == 60
    assert str(file) in repr(stream)


def test_every_reader_is_reached_by_its_name_too(tmp_path: Path) -> None:
    for suffix, write in WRITERS.items():
        file = tmp_path / f"d.{suffix}"
        write(frame(), file)
        name = {"tsv": "csv", "ndjson": "jsonl"}.get(suffix, suffix)
        stream = getattr(streams, f"read_{name}")(file, target="sold")
        assert type(stream) is type(streams.read(file, "sold"))
    assert set(streams.formats()) >= {".csv", ".tsv", ".parquet", ".jsonl", ".npz"}


def test_arrays_dense_and_sparse(tmp_path: Path) -> None:
    rows = ROWS * (ROWS > 0)
    csr = sparse.csr_array(rows)
    np.savez(tmp_path / "dense.npz", X=rows, y=NUMBERS)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
    np.savez(tmp_path / "sparse.npz", **parts, y=NUMBERS)
    digests = {
        play(learner(), rows, NUMBERS).digest,
        play(learner(), streams.read(tmp_path / "dense.npz")).digest,
        play(learner(), streams.read_npz(tmp_path / "sparse.npz")).digest,
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": ROWS}, "needs X and y"),
        ({"y": NUMBERS}, "needs X and y"),
        ({"X": ROWS, "y": NUMBERS[1:]}, "60 rows, but outcomes of shape"),
        ({"X": np.array([{}], dtype=object), "y": NUMBERS[:1]}, "damaged"),
        ({"X": ROWS[0], "y": NUMBERS}, "rows are a 2-d array"),
        (
            {"data": [1.0], "indices": [9], "indptr": [0, 1], "shape": [1, 2], "y": [1.0]},
            "damaged",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    arrays: dict[str, Any], said: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "d.npz", **arrays)
    with pytest.raises(noregret.BadExample, match=said):
        list(streams.read(tmp_path / "d.npz"))


def test_an_archive_takes_no_target(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", X=ROWS, y=NUMBERS)
    with pytest.raises(noregret.NoRegretError, match="leave target=… out"):
        list(streams.read(tmp_path / "d.npz", target="y"))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_files_are_read_in_blocks(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"d.{suffix}"
    WRITERS[suffix](frame(), file)
    whole = play(learner(), streams.read(file, "sold")).digest
    monkeypatch.setattr(opened, "BLOCK", 1_000)
    stream = streams.read(file, "sold")
    assert len(list(stream.blocks())) > 5
    assert play(learner(), stream).digest == whole


def test_types_of_a_csv_are_those_of_its_first_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "BLOCK", 100)
    file = tmp_path / "d.csv"
    file.write_text("a,b,sold\n" + "1,2,3\n" * 50 + "1,2.5,3\n", encoding="utf-8")
    assert play(learner(), streams.read(file, "sold")).rounds == 51  # whole numbers are numbers
    file.write_text("a,b,sold\n" + "1,2,3\n" * 50 + "1,wet,3\n", encoding="utf-8")
    said = r"d\.csv, line 52: column 'b': 'wet' is not a number, but most values of the column are"
    with pytest.raises(noregret.BadExample, match=said):
        play(learner(), streams.read(file, "sold"))


def test_lines_may_leave_fields_out_as_dicts_may(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"a": 0.5, "sold": 1.0},
        {"b": "x", "sold": 2.0},
        {"a": 0.25, "c": True, "sold": 0.0},
    ]
    file = tmp_path / "d.jsonl"
    file.write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    pairs = [({k: v for k, v in row.items() if k != "sold"}, row["sold"]) for row in rows]
    assert play(learner(), streams.read(file, "sold")).digest == play(learner(), pairs).digest


def test_a_date_in_json_is_text_to_certificates_that_name_no_time(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"day": "2020-01-01", "sold": 1.0}\n', encoding="utf-8")
    old = play(learner(), streams.read(file, "sold", sniff=False))
    assert old.learner.features == ["day=2020-01-01"]
    assert noregret.verify(old.certificate(), file).confirmed
    new = play(learner(), streams.read(file, "sold"))
    assert "day=2020-01-01" not in new.learner.features
    assert noregret.verify(new.certificate(), file).confirmed


def test_booleans_and_labels_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("wet,bought\ntrue,true\nfalse,false\ntrue,true\n", encoding="utf-8")
    game = play(noregret.make("perceptron"), streams.read(file, "bought"))
    assert game.learner.predict_one({"wet": 1.0}) is True


def test_a_missing_target_names_the_nearest(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(noregret.BadExample, match=r"no column 'slod': did you mean 'sold'\?"):
        list(streams.read(tmp_path / "d.csv", "slod"))
    with pytest.raises(noregret.NoRegretError, match="the columns are 'sun', 'wind'"):
        list(streams.read(tmp_path / "d.csv"))


def test_what_is_no_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        streams.read(tmp_path / "d.csv", "sold")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(noregret.NoRegretError, match="a folder: name the files in it"):
        streams.read(tmp_path / "folder.csv", "sold")
