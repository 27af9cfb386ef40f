"""Certificates on disk: what is written is read back, and nothing else is let in."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import noregret
from noregret import Certificate, CertificateError, load_certificate, play, verify
from noregret.base.json_schemas import schema
from noregret.proof.certificates.certificate import Interval, seal
from noregret.proof.certificates.file import MAX_BYTES, SCHEMA
from tests.proof.certificates.changes import changes
from tests.proof.certificates.games import CASES, ROWS, certificate_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "certificate.json"


@pytest.mark.parametrize("name", CASES)
def test_what_is_saved_is_loaded(name: str, file: Path) -> None:
    certificate = certificate_of(name)
    certificate.save(file)
    again = load_certificate(file)
    assert again == certificate
    assert again.to_json() == certificate.to_json() == file.read_text(encoding="utf-8")
    assert Certificate.from_dict(certificate.to_dict()) == certificate
    assert str(again) == str(certificate)


def test_what_is_not_proven_stays_so(file: Path) -> None:
    certificate = certificate_of("eg")
    certificate = replace(
        certificate,
        regret=Interval(certificate.regret.lower, np.inf),
        hindsight=replace(certificate.hindsight, gap=np.inf),
    )
    certificate.save(file)
    assert json.loads(file.read_text(encoding="utf-8"))["hindsight"]["gap"] is None
    assert load_certificate(file) == certificate


@pytest.mark.parametrize("name", CASES)
def test_the_schema_describes_what_is_written(name: str) -> None:
    Draft202012Validator.check_schema(schema(SCHEMA))
    Draft202012Validator(schema(SCHEMA)).validate(json.loads(certificate_of(name).to_json()))


def test_the_schema_refuses_fields_that_are_missing_or_more() -> None:
    check = Draft202012Validator(schema(SCHEMA))
    contents = certificate_of("risk").to_dict()
    optional = {("loss",): {"mistakes"}, ("data",): {"target"}, (): {"given"}}
    for path, words, changed in changes(contents):
        if words.endswith("removed") and path[-1:] not in (("params",), ("witness",), ("given",)):
            gone = words.split()[0]
            may = gone in optional.get(path, set()) or words.startswith("item")
            assert check.is_valid(changed) == may, (path, words)
        if words == "something added" and path[-1:] not in (("params",), ("witness",), ("given",)):
            assert not check.is_valid(changed), path


def test_names_of_any_kind_survive(file: Path) -> None:
    rows = [({"": 0.1, "\x00\x1b": 0.2, "漢字": 0.3, '"\\': 0.4, "e\u0301": 0.5}, 1.0)] * 3
    certificate = play(noregret.make("widrow-hoff"), rows).certificate()
    certificate.save(file)
    assert load_certificate(file) == certificate
    assert verify(file, rows).confirmed


GOOD = certificate_of("widrow-hoff").to_json()
BAD = {
    "": "line 1, column 1",
    "null": "not a noregret certificate",
    "[]": "not a noregret certificate",
    "{}": "not a noregret certificate",
    '{"format": 3}': "not a noregret certificate",
    GOOD[:300]: "damaged: ",
    GOOD + "x": "damaged: ",
    GOOD.replace("certificate/1", "certificate/2"): "use a newer noregret",
    GOOD.replace('"rate": 0.3', '"rate": NaN'): "NaN is not a finite number",
    GOOD.replace('"rate": 0.3', '"rate": -Infinity'): "not a finite number",
    GOOD.replace('"rate": 0.3', '"rate": 1e999'): "not a finite number",
    GOOD.replace('"rate": 0.3', '"rate": ' + "9" * 5000): "is too large",
    GOOD.replace('"rate": 0.3', '"rate": 0.3, "rate": 0.3'): "'rate' is given twice",
    GOOD.replace('"rate": 0.3', '"rate": [0.3]'): "learner.params.rate",
    GOOD.replace(
        '"rate": 0.3', '"rate": 0.4'
    ): "the seal does not match: the contents have changed",
    GOOD.replace('"rounds": 60', '"rounds": 0'): "data.rounds: 0 is less than the minimum",
    GOOD.replace('"rounds": 60', '"rounds": "60"'): "data.rounds: '60' is not of type",
    GOOD.replace(
        '"name": "square"', '"name": "\\ud800"'
    ): "nested too deeply, or contains invalid text",
    "[" * 100_000: "nested too deeply",
    '{"a":' * 100_000: "nested too deeply",
    GOOD.replace('"rate": 0.3', '"rate": ' + "[" * 500 + "]" * 500): "learner.params.rate",
    "\ufeff" + GOOD: "damaged",
}


@pytest.mark.parametrize("text", BAD, ids=list(BAD.values()))
def test_a_bad_file_is_refused_by_name_and_field(text: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CertificateError) as caught:
        load_certificate(file)
    assert re.match(rf"{re.escape(str(file))}(, line \d+, column \d+)?: ", str(caught.value))
    assert BAD[text] in str(caught.value)
    assert len(str(caught.value)) < len(str(file)) + 300
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, noregret.NoRegretError)


def test_text_that_is_not_utf_8_is_refused(file: Path) -> None:
    file.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(CertificateError, match="byte 1 is not UTF-8"):
        load_certificate(file)


def test_a_huge_file_is_refused_unread(file: Path) -> None:
    with file.open("wb") as made:
        os.truncate(made.fileno(), MAX_BYTES + 1)
    with pytest.raises(CertificateError, match="too large"):
        load_certificate(file)


def test_what_is_no_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_certificate(tmp_path / "nothing.json")
    with pytest.raises(IsADirectoryError):
        load_certificate(tmp_path)
    with pytest.raises(FileNotFoundError):
        certificate_of("eg").save(tmp_path / "no folder" / "certificate.json")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.data())
def test_nothing_but_a_certificate_is_let_in(data: st.DataObject) -> None:
    contents: Any = copy.deepcopy(certificate_of("eg").to_dict())
    part = data.draw(st.sampled_from(sorted(contents)))
    contents[part] = data.draw(json_values)
    with contextlib.suppress(UnicodeEncodeError):
        contents["seal"] = seal({k: v for k, v in contents.items() if k != "seal"})
    try:
        Certificate.from_dict(contents)
    except CertificateError:
        return
    assert contents == certificate_of("eg").to_dict() or part in ("theorem", "seal")


def test_a_learner_that_cannot_be_built_is_named() -> None:
    for change, said in (
        ({"name": "widrow-hof"}, "did you mean widrow-hoff"),
        ({"params": {"rate": 0.3, "norm": 1.0, "speed": 2}}, "has no parameter 'speed'"),
        ({"params": {"rate": 3.0, "norm": 1.0, "step": "explicit"}}, "rate must lie between"),
        ({"params": {"rate": "fast", "norm": 1.0, "step": "explicit"}}, "rate must be"),
    ):
        contents = certificate_of("widrow-hoff").to_dict()
        contents["learner"] |= change
        with pytest.raises(CertificateError, match=f"learner: .*{said}"):
            verify(contents, ROWS, CASES["widrow-hoff"].y)


def test_a_loss_written_in_python_has_to_be_given() -> None:
    own = noregret.PythonLoss(lambda s, y: (s - y) ** 2, lambda s, y: 2 * (s - y), "mine")
    learner = noregret.make("gradient-descent", loss=own, rate=0.1, schedule="sqrt", radius=2.0)
    data = ROWS, CASES["widrow-hoff"].y
    certificate = play(learner, *data).certificate()
    with pytest.raises(CertificateError, match=r"'mine' is written in Python: .*verify\(…, loss=…"):
        verify(certificate, *data)
    assert verify(certificate, *data, loss=own).confirmed
    other = noregret.PythonLoss(lambda s, y: abs(s - y), lambda s, y: np.sign(s - y), "mine")
    assert not verify(certificate, *data, loss=other).confirmed
    with pytest.raises(CertificateError, match="leave loss out"):
        verify(certificate_of("widrow-hoff"), *data, loss=own)
