"""Files that are not what they should be: a clear refusal, and nothing learned from it."""

from __future__ import annotations

import datetime
import gzip
import os
import struct
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import noregret
from noregret import NoRegretError, play, streams
from tests.thorough import sized

from .files import assert_same, blocks_of, game_of, learner, refused, write_gzip, write_zstd

TEXTS = ["csv", "tsv", "jsonl", "svm", "vw"]


def target_for(kind: str) -> str | None:
    return "y" if kind in {"csv", "tsv", "jsonl", "parquet"} else None


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("text", [b"", b"\n", b"\r\n\n\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n\n"])
def test_nothing_is_no_rows(kind: str, text: bytes, tmp_path: Path) -> None:
    (tmp_path / f"d.{kind}").write_bytes(text)
    for size in (1, 1 << 20):
        with blocks_of(size):
            assert game_of(tmp_path / f"d.{kind}", target=target_for(kind)).rounds == 0


@pytest.mark.parametrize("text", ["a,y", "a,y\n", "a,y\r\n", "\n\na,y\n\n\n", '"a",y\n'])
def test_names_alone_are_no_rows(text: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(text, "utf-8", newline="")
    for size in (1, 1 << 20):
        with blocks_of(size):
            assert game_of(tmp_path / "d.csv", target="y").rounds == 0


def test_a_folder_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    assert "a folder: name the files in it" in refused(tmp_path / "d.csv")
    with pytest.raises(FileNotFoundError):
        streams.read(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        streams.read(str(tmp_path / "none*.csv"))
    with pytest.raises(NoRegretError, match="no file was given"):
        streams.read([])


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may read every file")
    (tmp_path / "d.csv").write_text("a,y\n1,2\n", "utf-8")
    (tmp_path / "d.csv").chmod(0)
    with pytest.raises(PermissionError):
        streams.read(tmp_path / "d.csv", "y")


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_wide_text_is_refused(kind: str, encoding: str, tmp_path: Path) -> None:
    lines = {"csv": "a,y\n1,2\n", "tsv": "a\ty\n1\t2\n", "jsonl": '{"a": 1, "y": 2}\n'}
    text = lines.get(kind, "1 | a\n" if kind == "vw" else "1 0:1\n")
    (tmp_path / f"d.{kind}").write_bytes(text.encode(encoding))
    refused(tmp_path / f"d.{kind}", target=target_for(kind))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("csv", "café,y\n1,2\n"),
        ("csv", "a,y\ncafé,2\n"),
        ("tsv", "a\ty\ncafé\t2\n"),
        ("jsonl", '{"a": "café", "y": 2}\n'),
        ("jsonl", '{"café": 1, "y": 2}\n'),
        ("vw", "1 | café\n"),
    ],
)
def test_other_encodings_are_told_by_line(kind: str, text: str, tmp_path: Path) -> None:
    (tmp_path / f"d.{kind}").write_bytes(text.encode("latin-1"))
    options = {"encoding": "utf-8"} if kind in ("csv", "tsv") else {}
    said = refused(tmp_path / f"d.{kind}", target=target_for(kind), **options)
    assert "line " in said
    assert "not UTF-8 text" in said


def test_text_that_is_no_utf_8_does_no_harm_where_it_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes("who,a,y\nRené,1,2\n".encode("latin-1") * 1)
    assert game_of(tmp_path / "d.csv", target="y", drop="who", encoding="utf-8").rounds == 1


def test_nul_bytes(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(b"a\0b,y\n1,2\n")
    assert "line 1: the names hold NUL characters" in refused(tmp_path / "d.csv", target="y")
    (tmp_path / "d.csv").write_bytes(b"a,t,y\n1\x000,x,2\n" + b"1,x,1\n" * 20)
    assert "line 2: column 'a'" in refused(tmp_path / "d.csv", target="y")
    (tmp_path / "d.csv").write_bytes(b"a,t,y\n1,x\x00z,2\n")
    assert_same(game_of(tmp_path / "d.csv", target="y"), game_of([({"a": 1, "t": "x\0z"}, 2)]))
    (tmp_path / "d.svm").write_bytes(b"1 0:1\0\n")
    assert "line 1" in refused(tmp_path / "d.svm")


@pytest.mark.parametrize(
    ("kind", "head", "unit", "millions"),
    [
        ("vw", b"1 | ", b"x", 100),
        ("svm", b"1 ", b"7", 20),
        ("jsonl", b"", b" ", 20),
        ("csv", b"a,y\n1,", b"2", 5),
        ("csv", b"t,y\n", b"x", 20),
        ("csv", b"", b"x,", 5),
    ],
)
def test_a_line_of_millions_of_bytes(
    kind: str, head: bytes, unit: bytes, millions: int, tmp_path: Path
) -> None:
    file = tmp_path / f"d.{kind}"
    file.write_bytes(head + unit * (millions * sized(200_000, full=1_000_000)))
    started = time.process_time()
    if kind in {"vw", "jsonl"}:  # a long name, and a blank line
        assert game_of(file, target=target_for(kind)).rounds == (kind == "vw")
    else:
        assert len(refused(file, target=target_for(kind))) < 500
    assert time.process_time() - started < 30


def test_names_that_columns_share(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b,a,y\n1,2,3,4\n", "utf-8")
    assert "line 1: two columns are called 'a'" in refused(tmp_path / "d.csv", target="y")
    (tmp_path / "d.csv").write_text(",,y\n1,2,3\n", "utf-8")
    assert list(streams.read(tmp_path / "d.csv", "y")) == [({"1": 1.0, "2": 2.0}, 3.0)]
    (tmp_path / "d.csv").write_text("2,,y\n1,2,3\n", "utf-8")
    assert "two columns are called '2'" in refused(tmp_path / "d.csv", target="y")
    table = pa.table([pa.array([1.0]), pa.array([2.0])], names=["y", "y"])
    parquet.write_table(table, tmp_path / "d.parquet")
    assert "two columns are called 'y'" in refused(tmp_path / "d.parquet", target="y")


def test_a_column_and_an_indicator_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("town,town=x,y\na,1,2\nx,1,2\n", "utf-8")
    said = refused(tmp_path / "d.csv", target="y")
    assert "line 3: feature 'town=x' is given twice" in said


def test_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    rows = "1,x,2\n" * 30
    for text in (f'a,t,y\n{rows}1,"x,2\n{rows}', f'a,t,y\n{rows}1,"x""'):
        (tmp_path / "d.csv").write_text(text, "utf-8")
        for size in (1, 50, 1 << 20):
            with blocks_of(size):
                said = refused(tmp_path / "d.csv", target="y")
                assert "line 32: a quote is opened and never closed" in said
                made = learner()
                with pytest.raises(noregret.BadExample):
                    play(made, streams.read(tmp_path / "d.csv", "y", on_error="skip"))
                assert made.rounds == 30
    (tmp_path / "d.csv").write_text('a,"t,y\n1,2,3\n', "utf-8")
    assert "line 1: a quote is opened and never closed" in refused(tmp_path / "d.csv", target="y")


def test_a_quote_that_is_never_closed_in_a_large_file_takes_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noregret.streams.source.MAX_VALUE", 1 << 23)
    (tmp_path / "d.csv").write_text('a,y\n"1,2\n' + "3,4\n" * 5_000_000, "utf-8")
    started = time.process_time()
    assert "line 2: a quote is opened" in refused(tmp_path / "d.csv", target="y")
    assert time.process_time() - started < 15


def test_quotes_in_the_middle_are_letters(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text('t,u,y\n5" pipe,"a ""b"" c"d,1\nx"y"z,"q\nr",2\n' * 1, "utf-8")
    pairs = [({"t": '5" pipe', "u": 'a "b" cd'}, 1), ({"t": 'x"y"z', "u": "q\nr"}, 2)]
    for size in range(1, 60, 4):
        with blocks_of(size):
            assert_same(game_of(tmp_path / "d.csv", target="y"), game_of(pairs))


def test_lines_that_end_in_carriage_returns_alone(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(b"a,y\r1,2\r3,4\r")
    assert "carriage returns alone" in refused(tmp_path / "d.csv", target="y")


# Packed files.


@pytest.mark.parametrize("kind", ["csv", "vw"])
@pytest.mark.parametrize("packing", ["gz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "changed", "head only"])
def test_damaged_packing_is_told(kind: str, packing: str, damage: str, tmp_path: Path) -> None:
    rows = [f"{k * k % 977}" for k in range(20_000)]
    text = "a,y\n" + "".join(f"{r},1\n" for r in rows) if kind == "csv" else ""
    text = text or "".join(f"1 | f{r}\n" for r in rows)
    file = tmp_path / f"d.{kind}.{packing}"
    (write_gzip if packing == "gz" else write_zstd)(text.encode(), file)
    whole = bytearray(file.read_bytes())
    if damage == "cut":
        file.write_bytes(whole[: len(whole) // 2])
    elif damage == "head only":
        file.write_bytes(whole[:6])
    else:
        whole[len(whole) // 2 : len(whole) // 2 + 40] = b"\xff" * 40
        file.write_bytes(whole)
    said = refused(file, target=target_for(kind))
    if (packing, damage) != ("zst", "changed"):  # which may lack a sum to check, and be other text
        assert "damaged, it cannot be unpacked" in said


def test_members_of_a_packed_file_follow_each_other(tmp_path: Path) -> None:
    parts = [b"1 | a\n2 ", b"| b\n", b"3 | c\n"]
    (tmp_path / "d.vw.gz").write_bytes(b"".join(map(gzip.compress, parts)))
    assert [y for _, y in streams.read(tmp_path / "d.vw.gz")] == [1.0, 2.0, 3.0]
    packed = [pa.compress(part, "zstd", asbytes=True) for part in parts]
    (tmp_path / "d.vw.zst").write_bytes(b"".join(packed))
    assert [y for _, y in streams.read(tmp_path / "d.vw.zst")] == [1.0, 2.0, 3.0]


# Parquet.


def test_damaged_parquet_is_told(tmp_path: Path) -> None:
    file = tmp_path / "d.parquet"
    values = np.random.default_rng(0).normal(size=50_000)
    parquet.write_table(pa.table({"a": values, "y": values}), file, row_group_size=10_000)
    whole = bytearray(file.read_bytes())
    for text in (b"", b"PAR1", whole[:-20], b"\0" * 12 + bytes(whole[12:]), whole[:1000]):
        file.write_bytes(bytes(text))
        assert "damaged, or not Parquet" in refused(file, target="y")
    middle = bytearray(whole)
    at = len(whole) // 2
    middle[at : at + 20_000] = b"\xff" * 20_000
    file.write_bytes(middle)
    made = learner()
    try:
        play(made, streams.read(file, "y"))
    except NoRegretError as error:
        assert file.name in str(error)  # noqa: PT017


def test_columns_that_cannot_be_read_are_refused_unless_left_out(tmp_path: Path) -> None:
    day = datetime.date(2020, 1, 31)
    hour = datetime.datetime(2020, 1, 31, 12)
    table = pa.table(
        {
            "day": pa.array([day, day]),
            "hour": pa.array([hour, hour]),
            "list": [[1.0], [2.0]],
            "record": [{"x": 1}, {"x": 2}],
            "bytes": pa.array([b"x", b"\xff"]),
            "a": [1.0, 2.0],
            "y": [1.0, 2.0],
        }
    )
    file = tmp_path / "d.parquet"
    odd = ["day", "hour", "list", "record", "bytes"]
    parquet.write_table(table, file)
    assert game_of(file, target="y", drop=odd).learner.features == ["a"]
    for name in odd[2:]:
        others = [other for other in odd if other != name]
        said = refused(file, target="y", drop=others)
        assert f"column {name!r} holds" in said
        assert f"drop={[name]}" in said
    for name in ("day", "hour"):
        others = [other for other in odd if other != name]
        game = game_of(file, target="y", drop=others, categories=name)
        assert game.learner.features[1].startswith(f"{name}=2020-01-31")
    for name in ("list", "record", "bytes"):
        others = [other for other in odd if other != name]
        assert f"column {name!r}" in refused(file, target="y", drop=others, categories=name)


def test_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": [1.0], "y": [1.0]}), tmp_path / "1.parquet")
    for columns in ({"b": [1.0], "y": [1.0]}, {"a": ["x"], "y": [1.0]}):
        parquet.write_table(pa.table(columns), tmp_path / "2.parquet")
        with pytest.raises(noregret.BadExample, match=r"2\.parquet: .*column 'a'"):
            game_of([tmp_path / "1.parquet", tmp_path / "2.parquet"], target="y")
    (tmp_path / "1.csv").write_text("a,b,y\n1,2,3\n", "utf-8")
    for head, said in (("a,c,y", "'c' is new"), ("b,a,y", "in another order"), ("a,y", "no 'b'")):
        (tmp_path / "2.csv").write_text(head + "\n1,2,3\n", "utf-8")
        with pytest.raises(noregret.BadExample, match=rf"2\.csv: its columns .* {said}"):
            game_of([tmp_path / "1.csv", tmp_path / "2.csv"], target="y")


# Files that change.


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("later", [0, 3_000])
def test_a_quoted_file_that_is_cut_while_it_is_read_is_never_a_shorter_file(
    on_error: str, later: int, tmp_path: Path
) -> None:
    file = tmp_path / "d.csv"
    file.write_bytes(b"t,y\n" + b'"x, y",2\n' * 5_000)
    with blocks_of(1_000):
        blocks = streams.read(file, "y", on_error=on_error).blocks()
        assert len(next(blocks))
        os.truncate(file, 20_004 + later)
        with pytest.raises(NoRegretError, match="became shorter while it was being read"):
            list(blocks)


@pytest.mark.parametrize("kind", [*TEXTS, "csv.gz"])
def test_a_file_that_shrinks_while_it_is_read(kind: str, tmp_path: Path) -> None:
    lines = {
        "csv": b"1,2\n",
        "tsv": b"1\t2\n",
        "jsonl": b'{"a": 1, "y": 2}\n',
        "svm": b"1 0:1\n",
        "vw": b"1 | a\n",
        "csv.gz": b"1,2\n",
    }
    head = {"csv": b"a,y\n", "tsv": b"a\ty\n", "csv.gz": b"a,y\n"}.get(kind, b"")
    file = tmp_path / f"d.{kind}"
    text = head + lines[kind] * 5_000
    file.write_bytes(gzip.compress(text, 0) if kind == "csv.gz" else text)
    with blocks_of(1_000):
        blocks = streams.read(file, target_for(kind.split(".", 1)[0])).blocks()
        assert len(next(blocks))
        os.truncate(file, 4_500)
        with pytest.raises(NoRegretError, match=r"became shorter while|cannot be unpacked"):
            list(blocks)


def test_a_file_that_grows_is_read_as_it_was_when_it_was_opened(tmp_path: Path) -> None:
    file = tmp_path / "d.vw"
    file.write_bytes(b"1 | a\n" * 1_000)
    with blocks_of(100):
        blocks = streams.read(file).blocks()
        rows = len(next(blocks))
        with open(file, "ab") as out:
            out.write(b"half of a li")
        assert rows + sum(map(len, blocks)) == 1_000


def test_errors_of_other_threads_end_nothing_but_the_reading(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n" + "1,1\n" * 100 + "x,1\n" + "1,1\n" * 100, "utf-8")
    with blocks_of(40):
        for _ in range(5):
            assert "line 102" in refused(tmp_path / "d.csv", target="y")
        stream = iter(streams.read(tmp_path / "d.csv", "y"))
        next(stream)
        del stream  # half-way


@pytest.mark.parametrize("quotes", ["auto", "none", "line", "multiline"])
def test_a_carriage_return_within_a_line_is_refused(tmp_path: Path, quotes: str) -> None:
    file = tmp_path / "d.csv"
    quoted = b'a,y\nx,0\r"open,1\nb,2\nc",3\nd,4\n'
    numbers = (b"a,y\n1,1\r2,2\n", b"a,y\n1,2\r\r\n3,4\n", b"a,y\n1,2\n\r\r\n3,4\n")
    for text in (quoted, b'a,y\nx\rz,1\n"p\rq",2\n', *numbers):
        file.write_bytes(text)
        assert refused(file, target="y", quotes=quotes)


def test_the_only_line_of_a_later_file_is_compared_with_the_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,y\n1,2\n2,3\n")
    for line in (b"3,4\n", b"zzz,q\n"):
        (tmp_path / "b.csv").write_bytes(line)
        with pytest.raises(NoRegretError, match="its columns are not those of"):
            list(streams.read([tmp_path / "a.csv", tmp_path / "b.csv"], target="y"))
    (tmp_path / "b.csv").write_bytes(b"a,y\n")
    assert len(list(streams.read([tmp_path / "a.csv", tmp_path / "b.csv"], target="y"))) == 2


def test_a_column_that_only_a_later_parquet_file_has_is_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"a": [1.0, 2.0], "y": [1, 2]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"a": [1.0], "c": [1.0], "y": [1]}), tmp_path / "b.parquet")
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(NoRegretError, match="'c' is new"):
        list(streams.read(files, target="y"))
    assert len(list(streams.read(files, target="y", keep=["a"]))) == 3


def test_parquet_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    parts = [None, pa.py_buffer(struct.pack("<3i", 0, 1, 2)), pa.py_buffer(b"x\xf9")]
    table = pa.table({"a": pa.Array.from_buffers(pa.string(), 2, parts), "y": [1, 2]})
    parquet.write_table(table, tmp_path / "d.parquet")
    assert "not UTF-8" in refused(tmp_path / "d.parquet", target="y")
