"""Certificates of files read with options: confirmed by the same data, and by no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import noregret
from noregret import play, streams, verify

from .files import Row, write_csv, write_gzip, write_jsonl, write_parquet

ROWS: list[Row] = [
    {
        "sun": (k * 7 % 11) / 11,
        "zip": k % 3,
        "town": "abc"[k % 3],
        "wet": k % 5 == 0,
        "sold": (k * 3 % 7) / 7,
    }
    for k in range(30)
]
GAPS: list[Row] = [row | ({"sun": None} if k % 9 == 8 else {}) for k, row in enumerate(ROWS)]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"intercept": True},
    {"scale": "max", "intercept": True},
    {"scale": "standard", "drop": ["zip", "town"]},
    {"scale": "unit", "keep": ["sun", "wet"]},
    {"categories": ["zip"], "hash": 6},
    {"missing": "zero"},
    {"on_error": "skip"},
]


def certificate_of(file: Path, **options: Any) -> noregret.Certificate:
    stream = streams.read(file, "sold", **options)
    learner: noregret.Learner = noregret.make("nlms", rate=0.5)
    return play(learner, stream).certificate()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_certificate_says_how_its_data_were_read(options: dict[str, Any], tmp_path: Path) -> None:
    rows = GAPS if options.keys() & {"missing", "on_error"} else ROWS
    file = write_csv(rows, tmp_path / "d.csv")
    certificate = certificate_of(file, **options)
    certificate.save(tmp_path / "c.json")
    same = [
        file,
        write_gzip(file.read_bytes(), tmp_path / "d.csv.gz"),
        write_csv(rows, tmp_path / "d.tsv", delimiter="\t"),
        write_parquet(rows, tmp_path / "d.parquet"),
        write_jsonl(rows, tmp_path / "d.jsonl"),
    ]
    for data in same:
        found = verify(tmp_path / "c.json", data)
        assert found.confirmed, (data, found)
    other = [dict(row) for row in rows]
    other[4]["wet"] = not other[4]["wet"]
    other[5]["sun"] = 0.123
    changed = write_csv(other, tmp_path / "other.csv")
    assert not verify(tmp_path / "c.json", changed).confirmed
    assert not verify(tmp_path / "c.json", write_csv(rows[1:], tmp_path / "less.csv")).confirmed


def test_a_positive_value_is_part_of_it(tmp_path: Path) -> None:
    file = write_csv(ROWS, tmp_path / "d.csv")
    stream = streams.read(file, "town", positive="b")
    certificate = play(noregret.make("perceptron"), stream).certificate()
    assert certificate.data.transforms == ("positive=b",)
    assert verify(certificate, file).confirmed
    assert verify(certificate, write_parquet(ROWS, tmp_path / "d.parquet")).confirmed
    assert not verify(
        certificate, write_csv([row | {"town": "b"} for row in ROWS], tmp_path / "o.csv")
    ).confirmed


def test_sparse_text_is_certified(tmp_path: Path) -> None:
    (tmp_path / "d.vw").write_text("1 | a b:2\n-1 | c\n" * 5, "utf-8")
    (tmp_path / "d.svm").write_text("1 0:1 5:2\n-1 2:1\n" * 5, "utf-8")
    for file in (tmp_path / "d.vw", tmp_path / "d.svm"):
        stream = streams.read(file, intercept=True, scale="max")
        certificate = play(noregret.make("nlms"), stream).certificate()
        assert verify(certificate, file).confirmed
        file.write_text(file.read_text("utf-8").replace(":2\n", ":3\n", 1), "utf-8")
        assert not verify(certificate, file).confirmed


def test_a_transform_of_another_version_is_told(tmp_path: Path) -> None:
    file = write_csv(ROWS, tmp_path / "d.csv")
    contents = certificate_of(file).to_dict()
    contents["data"]["transforms"] = ["speed=3"]
    with pytest.raises(noregret.CertificateError, match="'speed=3' is not a transform"):
        verify(contents, file)
