"""Reading that goes on from a mark: the same rows as if it had never stopped."""

from __future__ import annotations

import gzip
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from noregret import NoRegretError, streams
from noregret.streams.block import Block, Sparse
from noregret.streams.stream import Reading, State
from tests.thorough import sized

from .files import Row, blocks_of, write_csv, write_gzip, write_jsonl, write_parquet, write_zstd

ROWS: list[Row] = [
    {
        "a": k / 3,
        "town": f'the "{k % 7}"' + ("\n" if k % 5 == 0 else ""),
        "wet": k % 3 == 0,
        "sold": k % 4,
    }
    for k in range(40)
]
NUMBERS: list[Row] = [{"a": k / 3, "b": -k, "sold": k % 4} for k in range(40)]
VW = "\n".join(f"{k % 2} |n f{k % 11}:{k / 7} g{k}" for k in range(40)) + "\n"
SVM = "\n".join(f"{k % 2} {k % 5}:{k / 7} {10 + k}:1" for k in range(40)) + "\n"


def write(kind: str, folder: Path, change: bool = False) -> Any:  # noqa: PLR0911
    """Write a file of a kind; or the same with another number in its first half."""
    rows = [dict(row) for row in (NUMBERS if kind == "numbers" else ROWS)]
    vw, svm = VW, SVM
    X = np.array([[row["a"], row["b"]] for row in NUMBERS])
    if change:
        rows[8]["a"], X[8, 0] = 99.0, 99.0
        vw, svm = VW.replace(" g8\n", " h8\n"), SVM.replace(" 18:1", " 18:2")
    if kind in {"csv", "numbers"}:
        return write_csv(rows, folder / "d.csv")
    if kind == "several":
        return [write_csv(rows[:20], folder / "1.csv"), write_csv(rows[20:], folder / "2.csv")]
    if kind == "parquet":
        return write_parquet(rows, folder / "d.parquet", group=11)
    if kind == "jsonl":
        return write_jsonl(rows, folder / "d.jsonl")
    if kind == "gzip":
        return write_gzip(write_csv(rows, folder / "d.csv").read_bytes(), folder / "d.csv.gz")
    if kind == "zstd":
        return write_zstd(vw.encode(), folder / "d.vw.zst")
    if kind in {"vw", "svm"}:
        (folder / f"d.{kind}").write_text(vw if kind == "vw" else svm, "utf-8")
        return folder / f"d.{kind}"
    return write_arrays(kind, X, folder / "d.npz")


def write_arrays(kind: str, X: Any, file: Path) -> Path:
    y = np.arange(40) % 4
    if kind == "npz":
        np.savez(file, X=X, y=y)
    else:
        csr = sparse.csr_array(X)
        parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
        np.savez(file, **parts, y=y)
    return file


TABLES = ["csv", "numbers", "several", "parquet", "jsonl", "gzip"]
KINDS = [*TABLES, "zstd", "vw", "svm", "npz", "sparse npz"]
kinds = pytest.mark.parametrize("kind", KINDS)


def stream_for(kind: str, files: Any, **options: Any) -> streams.Stream:
    return streams.read(files, "sold" if kind in TABLES else None, **options)


def sealed(stream: streams.Stream) -> Reading:
    """Begin a pass whose state can be kept."""
    reading = stream.reading()
    reading.keep_seals()
    return reading


def rows_of(block: Block, reading: Reading) -> list[Any]:
    """Return a block's rows by position, with their places."""
    rows: list[Any] = []
    for r in range(len(block)):
        if isinstance(block.X, Sparse):
            part = slice(block.X.starts[r], block.X.starts[r + 1])
            x = dict(zip(block.X.indices[part].tolist(), block.X.data[part].tolist(), strict=True))
        else:
            x = dict(enumerate(block.X[r].tolist()))
        named = {reading.feature_names(reading.features)[i]: v for i, v in x.items()}
        rows.append((x, named, float(block.y[r]), block.place_of(r)))
    return rows


def as_kept(state: State) -> State:
    """Return a state as it is after a stay in a file."""
    arrays, numbers = state
    return {name: array.copy() for name, array in arrays.items()}, json.loads(json.dumps(numbers))


def options_of(kind: str) -> list[dict[str, Any]]:
    scales = ["max", "unit"] if kind in {"zstd", "vw", "svm", "sparse npz"} else ["standard"]
    return [{}, *({"scale": scale, "intercept": True} for scale in scales)]


@kinds
def test_reading_goes_on_from_any_mark(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noregret.streams.file_formats.npz.block_rows", lambda _: 7)
    stream_files = write(kind, tmp_path)
    for options in options_of(kind):
        stream = stream_for(kind, stream_files, **options)
        with blocks_of(90):
            reading = sealed(stream)
            blocks, states = [], []
            for block in reading:
                blocks.append(rows_of(block, reading))
                states.append(as_kept(reading.state()))
            assert sum(map(len, blocks)) == 40
            assert len(blocks) > 4
            for done in range(1, len(states) + 1, sized(3, full=1)):
                again = stream.reading(states[done - 1])
                found = [row for block in again for row in rows_of(block, again)]
                assert found == [row for block in blocks[done:] for row in block]
        # And in blocks of another size.
        again = stream.reading(states[0])
        found = [row for block in again for row in rows_of(block, again)]
        assert found == [row for block in blocks[1:] for row in block]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "npz" not in kind])
def test_hashed_names_keep_their_slots(kind: str, tmp_path: Path) -> None:
    stream = stream_for(kind, write(kind, tmp_path), hash=4)
    with blocks_of(120):
        reading = sealed(stream)
        taken = [(rows_of(block, reading), as_kept(reading.state())) for block in reading]
        again = stream.reading(taken[0][1])
        found = [row for block in again for row in rows_of(block, again)]
    assert found == [row for rows, _ in taken[1:] for row in rows]
    assert again.vocabulary.shared == reading.vocabulary.shared
    if kind != "numbers":  # which has three names only
        assert reading.vocabulary.shared > 0


@kinds
def test_other_data_are_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noregret.streams.file_formats.npz.block_rows", lambda _: 10)
    stream = stream_for(kind, write(kind, tmp_path))
    with blocks_of(200):
        reading = sealed(stream)
        state = None
        for block in reading:
            state = as_kept(reading.state())
            if (block.place_of(len(block) - 1).line or 0) > 9:
                break
        write(kind, tmp_path, change=True)
        with pytest.raises(NoRegretError, match="not the data that the checkpoint was made from"):
            list(stream.reading(state))


@pytest.mark.parametrize("kind", ["csv", "numbers", "jsonl", "gzip", "vw", "svm", "zstd"])
def test_data_that_became_shorter_are_refused(kind: str, tmp_path: Path) -> None:
    file = write(kind, tmp_path)
    stream = stream_for(kind, file)
    reading = sealed(stream)
    assert sum(map(len, reading)) == 40
    state = as_kept(reading.state())
    short = b"a,town,wet,sold\n1,x,true,1\n"
    if kind == "gzip":
        write_gzip(short, file)
    elif kind == "zstd":
        write_zstd(short, file)
    else:
        file.write_bytes(short)
    with pytest.raises(
        NoRegretError, match=r"shorter than before|not the data that|not those that"
    ):
        list(stream.reading(state))


@kinds
def test_a_state_of_another_kind_is_refused(kind: str, tmp_path: Path) -> None:
    stream = stream_for(kind, write(kind, tmp_path))
    with pytest.raises((ValueError, KeyError)):
        stream.reading(({"speed.limit": np.zeros(1)}, {"mark": None, "width": 0, "columns": {}}))


LAST = re.compile(r"(lines|rows) ([\d,]+) to ([\d,]+): not the data that the checkpoint")


@kinds
def test_a_change_anywhere_before_the_mark_is_refused_and_placed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noregret.streams.file_formats.npz.block_rows", lambda _: 5)
    monkeypatch.setattr("noregret.streams.seals.PART", 100)
    stream = stream_for(kind, write(kind, tmp_path))
    with blocks_of(90):
        reading = sealed(stream)
        assert sum(map(len, reading)) == 40  # to the end: the change is far before it
        state = as_kept(reading.state())
        list(stream.reading(state))
        write(kind, tmp_path, change=True)
        with pytest.raises(NoRegretError) as refused:
            list(stream.reading(state))
    if kind != "parquet":  # whose contents list has changed too
        found = LAST.search(str(refused.value))
        assert found, refused.value
        first, last = (int(number.replace(",", "")) for number in found.groups()[1:])
        # The ninth row; in CSV after the names, and after rows of two lines each.
        shift = {"csv": 3, "gzip": 3, "several": 3, "numbers": 1}.get(kind, 0)
        assert first <= 9 + shift <= last
        assert last - first < 30


def test_a_parquet_page_that_changes_under_the_same_contents_list_is_refused(
    tmp_path: Path,
) -> None:
    table = pa.table({"a": [float(k) for k in range(40)], "sold": [float(k) for k in range(40)]})
    parquet.write_table(
        table,
        tmp_path / "d.parquet",
        row_group_size=10,
        compression="none",
        use_dictionary=False,
        write_statistics=False,
    )
    stream = streams.read(tmp_path / "d.parquet", "sold")
    reading = sealed(stream)
    assert sum(map(len, reading)) == 40
    state = as_kept(reading.state())
    text = (tmp_path / "d.parquet").read_bytes()
    at = text.index(struct.pack("<d", 13.0))
    changed = text[:at] + struct.pack("<d", 99.0) + text[at + 8 :]
    (tmp_path / "d.parquet").write_bytes(changed)
    assert list(stream)[13] == ({"a": 99.0}, 13.0)  # it can be read as before
    with pytest.raises(NoRegretError, match="rows 11 to 20: not the data that the checkpoint"):
        list(stream.reading(state))


@pytest.mark.parametrize("kind", ["csv", "numbers", "gzip"])
def test_swapped_names_are_refused(kind: str, tmp_path: Path) -> None:
    file = write(kind, tmp_path)
    stream = stream_for(kind, file)
    with blocks_of(90):
        reading = sealed(stream)
        next(iter(reading))
        state = as_kept(reading.state())
        text = gzip.decompress(file.read_bytes()) if kind == "gzip" else file.read_bytes()
        names, rest = text.split(b"\n", 1)
        first, second, *others = names.split(b",")
        text = b",".join([second, first, *others]) + b"\n" + rest
        file.write_bytes(gzip.compress(text) if kind == "gzip" else text)
        with pytest.raises(NoRegretError, match=r"not those that the checkpoint .* another order"):
            list(stream.reading(state))


def test_small_pieces_are_sealed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noregret.streams.seals.PART", 1_000)
    text = b"".join(b"1 | a%d\n" % k for k in range(2_000))
    write_gzip(text, tmp_path / "d.vw.gz")
    with blocks_of(20):
        reading = sealed(streams.read(tmp_path / "d.vw.gz"))
        assert sum(map(len, reading)) == 2_000
    assert reading.seals is not None
    found = list(reading.seals)
    assert len(found) <= len(text) // 1_000 + 1
    assert [seal.start for seal in found] == [0, *(seal.stop for seal in found[:-1])]
    assert found[-1].stop == len(text)
    assert [seal.first for seal in found] == [1, *(seal.last + 1 for seal in found[:-1])]
