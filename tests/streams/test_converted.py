"""Excel and ARFF files read as the CSV of the same table does."""

from __future__ import annotations

import csv
import gzip
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.errors import NoRegretError
from noregret.streams import read
from tests.app.run.commands import done

NAMES = ["day", "seen", "sun", "city", "open", "sold"]
ROWS: list[list[Any]] = [
    [
        date(2024, 1, 1) + timedelta(k),
        datetime(2024, 1, 1, k % 24, 30),
        None if k % 9 == 4 else round(1 / (k + 1), 3),
        ["Oslo", 'Rome, "Italy"', "it's"][k % 3],
        bool(k % 4),
        k % 7 + 0.5,
    ]
    for k in range(60)
]


def workbook(path: Path, more: bool = False, title: str = "") -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [*([[title]] if title else []), NAMES, *ROWS]:
        book.active.append(row)
    if more:
        book.create_sheet("other")
    book.save(path)
    return path


def as_csv(path: Path) -> Path:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerows([NAMES, *([str(c) if c is not None else "" for c in r] for r in ROWS)])
    return path


def as_arff(path: Path) -> Path:
    """Write the columns that ARFF has types for."""
    head = "% made here\n@relation 'a b'\n@attribute sun numeric\n@attribute 'the city' string\n"
    lines = [
        ", ".join(["?" if r[2] is None else repr(r[2]), quoted(r[3]), repr(r[5])]) for r in ROWS
    ]
    path.write_text(f"{head}@ATTRIBUTE sold REAL\n\n@data\n" + "\n% more\n\n".join(lines) + "\n")
    return path


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def test_a_workbook_reads_as_its_csv(tmp_path: Path) -> None:
    files = workbook(tmp_path / "a.xlsx"), as_csv(tmp_path / "a.csv")
    one, other = (list(read(file, target="sold", missing="indicator")) for file in files)
    assert one == other
    assert {"day", "seen.hour.sin", "open", "city=it's"} <= one[-1][0].keys() | one[2][0].keys()


def test_arff_reads_as_its_csv(tmp_path: Path) -> None:
    arff = as_arff(tmp_path / "a.arff")
    with (tmp_path / "a.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["sun", "the city", "sold"])
        table.writerows(["" if r[2] is None else r[2], r[3], r[5]] for r in ROWS)
    wanted = list(read(tmp_path / "a.csv", target="sold", missing="indicator"))
    assert list(read(arff, target="sold", missing="indicator")) == wanted
    packed = tmp_path / "b.arff.gz"
    packed.write_bytes(gzip.compress(arff.read_bytes()))
    assert list(read(packed, target="sold", missing="indicator")) == wanted


@pytest.mark.parametrize("kind", ["xlsx", "arff"])
def test_certificates_models_and_resumed_runs(kind: str, tmp_path: Path) -> None:
    file = (workbook if kind == "xlsx" else as_arff)(tmp_path / f"a.{kind}")
    c, m = tmp_path / "c.json", tmp_path / "m.nr"
    done("run", file, "--target", "sold", "--certificate", c, "--model", m)
    assert "CONFIRMED" in done("verify", c, file)
    assert len(done("predict", m, file).splitlines()) >= len(ROWS)
    assert nr.play(nr.Nlms(), read(file, target="sold", missing="zero")).rounds == len(ROWS)


def test_the_first_sheet_is_read_and_named(tmp_path: Path) -> None:
    file = workbook(tmp_path / "a.xlsx", more=True)
    with pytest.warns(nr.DataWarning, match="'Sheet', the first of 2"):
        assert len(list(read(file, target="sold", missing="zero"))) == len(ROWS)


def test_a_sheet_is_read_by_its_name_and_named_in_certificates(tmp_path: Path) -> None:
    import openpyxl

    file = workbook(tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(file)
    book.create_sheet("notes", 0).append(["nothing here"])
    book.save(file)
    cert = tmp_path / "c.json"
    done("run", file, "--sheet", "Sheet", "--target", "sold", "--certificate", cert)
    assert "sheet=Sheet" in cert.read_text()
    assert "CONFIRMED" in done("verify", cert, file)
    assert "CONFIRMED" in done("verify", cert, as_csv(tmp_path / "a.csv"))
    with pytest.raises(NoRegretError, match="no sheet 'x': there are 'notes', 'Sheet'"):
        list(read(file, target="sold", sheet="x"))
    with pytest.raises(NoRegretError, match="sheet does not apply to csv"):
        read(tmp_path / "a.csv", target="sold", sheet="x")


def test_a_title_above_the_names_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoRegretError, match="begins with 'Sales', which does not name its columns"):
        list(read(workbook(tmp_path / "a.xlsx", title="Sales"), target="sold"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@relation a\n@attribute b numeric\n1\n", "line 3: not ARFF"),
        ("@relation a\n@data\n1\n", "no @attribute line"),
        ("@attribute\n@data\n1\n", "line 1: an @attribute line needs a name"),
        ("@attribute y numeric\n@data\n{0 1}\n", "sparse ARFF"),
        ("@attribute a real\n@attribute y real\n% x\n@data\n1,2\n1,2,3\n", "line 6: 3 values"),
        ("PK\x03\x04 nothing", "not ARFF"),
    ],
)
def test_bad_arff_is_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.arff").write_text(text)
    with pytest.raises(NoRegretError, match=said):
        list(read(tmp_path / "a.arff", target="y"))


def test_bad_workbooks_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(workbook(tmp_path / "b.xlsx").read_bytes()[:2000])
    for text in (b"", b"text"):
        (tmp_path / "c.xlsx").write_bytes(text)
        for name in ("a", "c"):
            with pytest.raises(NoRegretError, match="not an Excel workbook"):
                list(read(tmp_path / f"{name}.xlsx", target="y"))
    with pytest.raises(NoRegretError, match="does not apply to xlsx"):
        read(tmp_path / "b.xlsx", target="sold", delimiter=";")


def test_a_far_cell_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["a", "y"])
    book.active["XFD1048576"] = 3
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(NoRegretError, match=r"row 1,048,576 and column 16,384: delete the cells"):
        list(read(tmp_path / "far.xlsx", target="y"))
