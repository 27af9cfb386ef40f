"""Free text becomes counts of words and pairs, the same from every format, in bounded memory."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import NoRegretError
from noregret.streams import free_text, read
from tests.app.run.commands import done

TEXTS = [
    "Not good, not GOOD!",
    "",
    "Käse naïve x2 — don't",
    "good",
    "not good at all",
    "at all",
]
ROWS = [{"size": k / 2, "note": text, "y": float(k % 3)} for k, text in enumerate(TEXTS * 3)]


def counted(text: str) -> dict[str, float]:
    """Count the words of a text with Python's own regular expressions."""
    words = re.findall(r"[^\W_]+", text.lower())
    pairs = [" ".join(pair) for pair in itertools.pairwise(words)]
    return {f"note:{name}": float(n) for name, n in Counter([*words, *pairs]).items()}


def expected(row: dict[str, Any]) -> dict[str, float]:
    gap = {} if row["note"] else {"note=missing": 1.0}
    return {"size": row["size"], **counted(row["note"]), **gap}


def written(path: Path, rows: list[dict[str, Any]]) -> dict[str, Path]:
    """Write rows in every format, and as JSON lines that differ in their fields."""
    files = {kind: path / f"rows.{kind}" for kind in ("csv", "jsonl", "parquet", "ndjson")}
    with files["csv"].open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    files["jsonl"].write_text("".join(json.dumps(row) + "\n" for row in rows))
    bare = [{name: value for name, value in row.items() if value != ""} for row in rows]
    bare = [{"note": None} | row for row in bare]
    files["ndjson"].write_text("".join(json.dumps(row) + "\n" for row in bare))
    pq.write_table(pa.Table.from_pylist(rows), files["parquet"])
    return files


def test_every_format_gives_the_counts(tmp_path: Path) -> None:
    for kind, file in written(tmp_path, ROWS).items():
        examples = list(read(file, target="y", text="note", missing="indicator"))
        found = [{name: value for name, value in x.items() if value} for x, _ in examples]
        wanted = [{name: value for name, value in expected(r).items() if value} for r in ROWS]
        assert found == wanted, kind


LONG = [
    {"size": k / 2, "note": f"{text} and number {k}", "name": f"Ann B{k}", "y": float(k % 3)}
    for k, text in enumerate(TEXTS * 5)
]


def test_free_text_is_found_out_and_named(tmp_path: Path) -> None:
    for kind, file in written(tmp_path, LONG).items():
        with pytest.warns(nr.DataWarning, match="'note' holds free text"):
            found = list(read(file, target="y"))
        assert found == list(read(file, target="y", text="note")), kind
        assert "name=Ann B3" in found[3][0]
        whole = list(read(file, target="y", categories="note"))
        assert f"note={LONG[3]['note']}" in whole[3][0]
        assert list(read(file, target="y", drop="note", sniff=False)) == [
            (x, y) for x, y in read(file, target="y", drop="note")
        ]


def test_few_values_and_names_are_no_free_text() -> None:
    assert not free_text.is_free_text(["a long text of many words indeed, yes"] * 19)
    assert not free_text.is_free_text(["New York City"] * 500)
    assert not free_text.is_free_text([f"Ann Smith{k}" for k in range(500)])
    assert free_text.is_free_text([f"row {k} has words" for k in range(500)])


@given(st.lists(st.text(st.characters(categories=["L", "N", "P", "Z"]), max_size=30), max_size=6))
def test_counts_are_those_of_python(texts: list[str]) -> None:
    bag = free_text.bag_of(pa.array(texts, pa.string()), "note")
    for row, text in enumerate(texts):
        part = slice(bag.starts[row], bag.starts[row + 1])
        codes, counts = bag.codes[part].tolist(), bag.counts[part].tolist()
        # Lower case and the classes of letters differ between Unicode's versions.
        if text.isascii():
            assert {bag.features[k]: n for k, n in zip(codes, counts, strict=True)} == counted(text)
        assert all(bag.first_rows()[k] <= row for k in codes)


def test_words_beyond_the_limit_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_text, "MAX_WORDS", 4)
    seen = []
    for file in written(tmp_path, ROWS).values():
        stream = read(file, target="y", text="note", missing="indicator")
        names = {name for x, _ in stream for name in x if ":" in name}
        assert names == {"note:not", "note:good", "note:not good", "note:good not"}
        seen.append(nr.play(nr.Nlms(), stream).loss)
    assert seen == pytest.approx([seen[0]] * 4, rel=1e-12)


def test_hashed_words_add_up(tmp_path: Path) -> None:
    for file in written(tmp_path, ROWS).values():
        stream = read(file, target="y", text="note", missing="indicator", hash=3)
        assert [sum(x.values()) for x, _ in stream] == [sum(expected(r).values()) for r in ROWS]


def test_certificate_and_model_know_the_text(tmp_path: Path) -> None:
    file = written(tmp_path, LONG)["csv"]
    c, m = tmp_path / "c.json", tmp_path / "m.nr"
    done("run", file, "--target", "y", "--certificate", c, "--model", m)
    assert "text=note" in json.loads(c.read_text())["data"]["transforms"]
    assert "CONFIRMED" in done("verify", c, file)
    assert len(done("predict", m, file).splitlines()) >= len(LONG)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"text": "size"}, "holds"),
        ({"text": "noise"}, "did you mean 'note'"),
        ({"text": "note", "categories": "note"}, "something else"),
    ],
)
def test_columns_that_are_no_text_are_refused(
    tmp_path: Path, options: dict[str, str], said: str
) -> None:
    file = written(tmp_path, ROWS)["jsonl"]
    with pytest.raises((NoRegretError, ValueError), match=said):
        list(read(file, target="y", missing="zero", **options))


def test_a_column_named_like_a_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("note,note:a,y\na b,1,2\n")
    with pytest.raises(NoRegretError, match="a word of column 'note' has the name"):
        list(read(tmp_path / "d.csv", target="y", text="note"))


def test_an_empty_text_stops_unless_told(tmp_path: Path) -> None:
    with pytest.raises(NoRegretError, match="'note' is empty"):
        list(read(written(tmp_path, ROWS)["csv"], target="y", text="note"))
