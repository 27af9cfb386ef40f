"""CSV with other delimiters and encodings is read as the same table would be in plain CSV."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given

from noregret import streams
from noregret.errors import BadExample, DataWarning
from noregret.streams.csv_dialect import delimiter_of, from_latin_1, is_latin_1
from tests.app.run.commands import command
from tests.thorough import draws

from .files import TARGET, Row, assert_same, blocks_of, game_of, refused, tables

MARKS = [",", ";", "\t", "|"]
ROWS = [
    {"a": k / 2, "town": town, "y": k % 3}
    for k, town in enumerate(["Nîmes", "a;b", "c,d", "e|f", 'say "hi"', "two\nlines", "Å\tb"] * 6)
]


def written(rows: list[Row], mark: str, header: bool = True) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, lineterminator="\n")
    if header:
        writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return out.getvalue()


def saved(folder: Path, name: str, text: bytes) -> Path:
    (folder / name).write_bytes(text)
    return folder / name


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("size", [40, 1 << 22])
def test_any_delimiter_gives_the_same_rows(mark: str, size: int, tmp_path: Path) -> None:
    plain = saved(tmp_path, "plain.csv", written(ROWS, ",").encode())
    other = saved(tmp_path, "other.csv", written(ROWS, mark).encode())
    packed = saved(tmp_path, "other.csv.gz", gzip.compress(other.read_bytes()))
    with blocks_of(size):
        expected = game_of(plain, target="y")
        for file in (other, packed):
            assert_same(game_of(file, target="y"), expected)
            assert_same(game_of(file, target="y", delimiter=mark), expected)


@draws(25)
@given(tables())
def test_tables_written_with_any_delimiter_are_the_same(rows: list[Row]) -> None:
    marks = [mark for mark in MARKS if not any(mark in name for name in rows[0])]
    assume(marks)
    with TemporaryDirectory() as folder:
        texts = [written(rows, mark) for mark in (",", *marks)]
        assert [delimiter_of(text.encode(), "multiline", TARGET) for text in texts] == [",", *marks]
        plain, *others = [
            saved(Path(folder), f"{k}.csv", text.encode()) for k, text in enumerate(texts)
        ]
        expected = game_of(plain, target=TARGET)
        for other in others:
            assert_same(game_of(other, target=TARGET), expected)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("1,5;2,5;3\n4,25;5;6\n", ";"),  # no header, decimal commas
        ("a\n1\n", ","),
        ("", ","),
        ("\n\na|b\n1|2\n", "|"),
        ("\ufeffa\tb\n1,5\t2\n", "\t"),
        ("price, net;y\n1;2\n", ";"),
        ("a,b\n1;2,3\n4,5,6\n", ","),  # uneven
        ('"a;b;c",y\n1,2\n', ","),
        ('"a;b\n1;2\n', ","),  # a quote that is never closed
    ],
)
def test_the_delimiter_splits_the_first_lines_evenly(text: str, mark: str) -> None:
    assert delimiter_of(text.encode(), "multiline", None) == mark


def test_the_target_decides_between_two_delimiters() -> None:
    text = b"c;d,sold\n5;6,1\n"
    assert delimiter_of(text, "multiline", "sold") == ","
    assert delimiter_of(text, "multiline", "c") == ";"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [40, 1 << 22])
def test_any_encoding_gives_the_same_rows(
    encoding: str, packed: bool, size: int, tmp_path: Path
) -> None:
    text = written(ROWS, ";")
    plain = saved(tmp_path, "plain.csv", text.encode())
    coded = text.encode(encoding)
    other = saved(tmp_path, "other.csv", gzip.compress(coded) if packed else coded)
    with blocks_of(size), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert_same(game_of(other, target="y"), game_of(plain, target="y"))
    called = {"latin-1": "read as Latin-1", "utf-16": "read as UTF-16"}.get(encoding, "")
    assert [called in str(one.message) for one in told] == ([True] if called else [])
    assert all(one.category is DataWarning for one in told)


def test_a_pass_resumes_with_the_delimiter_and_the_encoding_it_found(tmp_path: Path) -> None:
    file = saved(tmp_path, "d.csv", written(ROWS, ";").encode("latin-1"))
    with blocks_of(60), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        stream = streams.read(file, "y")
        whole = [y for block in stream.reading() for y in block.y]
        first = stream.reading()
        first.keep_seals()
        blocks = iter(first)
        head = [y for _ in range(2) for y in next(blocks).y]
        resumed = stream.reading(first.state())
        rest = [y for block in resumed for y in block.y]
    assert head + rest == whole
    assert set(resumed.names(0, resumed.features)) >= {"town=Nîmes", "town=Å\tb"}


def test_latin_1_is_read_as_windows_writes_it(tmp_path: Path) -> None:
    file = saved(tmp_path, "d.csv", "Umsatz (€);Größe\n1;2\n3;4\n".encode("cp1252"))
    with pytest.warns(DataWarning, match="read as Latin-1"):
        rows = list(streams.read(file, "Umsatz (€)"))
    assert [(dict(x)["Größe"], y) for x, y in rows] == [(2.0, 1.0), (4.0, 3.0)]
    every = bytes(range(0x80, 0x100))
    text = from_latin_1(every).decode("utf-8")
    assert len(text) == len(every)
    assert text[0] == "€"
    assert text[1] == "\x81"  # undefined on Windows
    assert text[0x20:] == every[0x20:].decode("latin-1")


def test_latin_1_is_told_from_damaged_utf_8() -> None:
    assert not is_latin_1(b"plain")
    assert not is_latin_1("Nîmes, Århus, Łódź".encode() + b"\xe9")
    assert is_latin_1("Nîmes, Århus".encode("latin-1"))


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ("a;y\n1;2\n".encode("utf-16")[:-1], "damaged UTF-16 text"),
        (b"\xff\xfe" + b"\x00\xd8" * 4, "damaged UTF-16 text"),
        (b'a;y\n1;2\n"3;4\n', "line 3: a quote is opened and never closed"),
        (b"a;y\n1;2\n3,4\n", "line 3: 1 value, but there are 2 columns"),
        (b"a;b;y\n" + b"1;2;3\n" * 30 + b"1,2,3\n", "line 32: 1 value, but there are 3 columns"),
    ],
)
def test_hostile_text_is_refused_by_line(contents: bytes, said: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert said in refused(saved(tmp_path, "d.csv", contents), target="y")


def test_a_second_file_with_another_delimiter_is_refused(tmp_path: Path) -> None:
    files = [
        saved(tmp_path, f"{k}.csv", written(ROWS, mark).encode()) for k, mark in enumerate(",;")
    ]
    with pytest.raises(BadExample, match=r"1\.csv: its columns are not those of"):
        game_of([str(file) for file in files], target="y")


def test_a_cell_of_10_megabytes_is_read(tmp_path: Path) -> None:
    text = b'a;t;y\n1;"' + b"x, y;" * 2_000_000 + b'";2\n3;z;4\n'
    game = game_of(saved(tmp_path, "d.csv", text), target="y", drop="t")
    assert (game.rounds, game.learner.features) == (2, ["a"])


def test_options_are_named_in_transforms(tmp_path: Path) -> None:
    options = streams.Options("y", delimiter="\t", encoding="latin-1")
    assert options.transforms() == ("delimiter=tab", "encoding=latin-1")
    assert streams.Options.of(options.transforms(), "y") == options
    with pytest.raises(ValueError, match="delimiter"):
        streams.Options("y", delimiter=":")


@pytest.mark.parametrize("given", [(), ("--delimiter", ";", "--encoding", "latin-1")])
def test_the_command_learns_verifies_and_predicts(given: tuple[str, ...], tmp_path: Path) -> None:
    data = saved(tmp_path, "d.csv", written(ROWS, ";").encode("latin-1"))
    cert, model = tmp_path / "c.json", tmp_path / "m.model"
    done = command("run", data, "--target", "y", "--certificate", cert, "--model", model, *given)
    assert done.code == 0
    assert ("read as Latin-1" in done.err) == (not given)
    done = command("verify", cert, data)
    assert (done.code, "CONFIRMED" in done.out) == (0, True)
    assert command("predict", model, data).code == 0
