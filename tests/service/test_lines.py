"""Batches of learn requests, done in one go: the same to the bit as one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.app.commands.serve.bodies import decode, lines_of
from noregret.base.model_file import dumps
from noregret.linear.learner import all_learners
from noregret.service import Service, ids
from noregret.service.requests import Learned, Lines, Reply
from tests.thorough import draws

LEARNERS: dict[str, Any] = dict(all_learners())
NUMBERS = [
    name for name, kind in LEARNERS.items()
    if not kind._of_classes and not kind().engine.loss.labels
]  # fmt: skip


def lines(seed: int, count: int, name: str = "n") -> Lines:
    draw = np.random.default_rng(seed)
    examples: list[dict[str, Any]] = []
    for k in range(count):
        x: dict[str, Any] = {c: draw.normal() for c in "abcd" if draw.random() < 0.8}
        examples.append(x | {"day": ["sun", "rain"][k % 2], f"late{k // 20}": k % 3})
    outcomes = [float(x.get("a", 0)) + draw.normal() / 9 if k % 5 else k % 3 - 1
                for k, x in enumerate(examples)]  # fmt: skip
    names = [f"{name}{seed}-{k}" for k in range(count)]
    bodies = [
        json.dumps({"id": i, "x": x, "y": y}).encode()
        for i, x, y in zip(names, examples, outcomes, strict=True)
    ]
    return Lines(names, examples, outcomes, bodies)


def flat(answers: list[Any]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for each in answers:
        if type(each) is Learned:
            numbers = range(each.first, each.first + len(each.ids))
            found += zip(each.predictions, each.ids, numbers, [None] * len(each.ids), strict=True)
        else:
            found.append(tuple(each) if type(each) is Reply else (type(each), str(each)))
    return found


def both(folder: Path, learner: Any, batches: list[Lines]) -> list[list[Any]]:
    """Return what two services answer, after a check that they keep the same."""
    kept, answers = [], list[list[Any]]()
    for how in ("lines", "requests"):
        with Service(learner, folder / how, snapshot_every=30, clock=lambda: 5.0) as service:
            told: list[Any] = []
            for batch in batches:
                if how == "lines":
                    told.append(service.submit(lambda b=batch: service.play.learn_lines(b)))  # type: ignore[arg-type, misc]
                else:
                    told.append(service.answer_many(batch.requests()))
            answers.append([flat(each) for each in told])
            blocks = [*service.journal.database.stream("SELECT * FROM blocks ORDER BY last")]
            kept.append((blocks, dumps(service.learner), service.metrics()))
        with Service(None, folder / how) as again:
            assert dumps(again.learner) == kept[-1][1]
    assert kept[0] == kept[1]
    assert answers[0] == answers[1]
    return answers[0]


@pytest.mark.parametrize("name", NUMBERS)
def test_lines_are_learned_as_requests_are(name: str, tmp_path: Path) -> None:
    told = both(tmp_path, LEARNERS[name](), [lines(k, 40) for k in range(3)])
    assert [seq for each in told for _, _, seq, _ in each] == list(range(1, 121))


def test_refused_and_repeated_lines_are_answered_in_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "MAX_RECENT", 50)  # so that ids are found in runs too
    odd = lines(1, 60)
    for k, (x, y) in {7: ([1], 0.0), 8: (1e200, 0.0), 59: (2.0, 1e300), 30: (1.0, 10**400)}.items():
        odd.examples[k]["a"], odd.outcomes[k] = x, y
    again = lines(1, 60)
    columns: list[list[Any]] = [column[:3] + column[:3] for column in lines(2, 9)]
    twice = Lines(*columns)
    told = both(tmp_path, nr.Nlms(), [odd, again, twice, lines(3, 70), lines(3, 70)])
    assert [k for k, each in enumerate(told[0]) if isinstance(each[0], type)] == [7, 8, 30, 59]
    assert told[3] == told[4]
    assert told[2][:3] == told[2][3:]


TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.integers(), st.booleans(), TEXT
)
SCRAPS = st.sampled_from([
    '"', "\\", "\\u", "d83d", "\\ud800", "0", "1", "9" * 20, "9" * 5000, ".", "e", "E+", "-", "NaN",
    "Infinity", "1e400", "4.9e-324", "2.2250738585072011e-308", "true", "null", "{", "}", "[", "]",
    ":", ",", " ", "\t", "\n", "\r", "\x00", "\x1f", "é", "\ufeff", '"id":', '"a":', '"x":', '"y":',
])  # fmt: skip


@given(TEXT, st.dictionaries(TEXT, VALUES, max_size=4), VALUES, st.booleans())
@draws(60, 20)
def test_a_restart_reads_what_was_served(name: str, x: Any, y: Any, ascii_only: bool) -> None:
    """Serving reads requests by msgspec, a restart by json: they must see the same values."""
    body = json.dumps({"id": name, "x": x, "y": y}, ensure_ascii=ascii_only).encode()
    agree(body)
    found = decode(body)
    assert (found.id, repr(found.x), repr(found.y)) == (name, repr(x), repr(y))


@given(st.lists(SCRAPS, max_size=8), st.lists(SCRAPS, max_size=3))
@draws(150, 80)
def test_what_json_cannot_read_is_not_served(inner: list[str], after: list[str]) -> None:
    agree(('{"id": "n", "y": 1, "x": {"a": ' + "".join(inner) + "}}" + "".join(after)).encode())
    agree(('{"y": 1, "x": {}, "id": ' + "".join(inner) + "}").encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    "body",
    [
        b'{"id": "a", "id": "b", "x": {"a": 1, "a": 2}, "x": {"b": 1}, "y": 1, "y": 2}',
        b'{"id": "\xed\xa0\x80", "x": {}, "y": 1}',
        b'{"id": "\\ud83d\\ude00", "x": {"\\u0000": 0}, "y": -0}',
        b'\xef\xbb\xbf{"id": "a", "x": {}, "y": 1}',
        b'{"id": "a", "x": {"a": ' + b"1" * 5000 + b'}, "y": 1}',
        b'{"id": "a", "x": {"a": 1.' + b"3" * 900 + b'e-5}, "y": 1}',
    ],
)
def test_odd_json(body: bytes) -> None:
    agree(body)


def agree(body: bytes) -> None:
    """Check that what serving takes, a restart reads, with the same values."""
    try:
        found = decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    read = json.loads(body)
    shown = [repr(read.get(name)) for name in ("id", "x", "y", "key")]
    assert [repr(found.id), repr(found.x), repr(found.y), repr(found.key)] == shown


def test_lines_hold_one_object_each() -> None:
    good = b'{"id": "a", "x": {}, "y": 1}'
    assert lines_of([good, good], "y") is not None
    for odd in (
        good + b" " + good,
        b'{"id":',
        b'"a"}',
        b'{"id": "a", "x": [1], "y": 1}',
        b'{"x": {}, "y": 1}',
        b'{"id": "a", "x": {"y": 1}, "y": 1}',
        b'{"id": "a", "x": {}, "y": null}',
        b'{"id": "a", "x": {}, "y": 1, "key": "k"}',
    ):
        assert lines_of([good, odd], "y") is None
