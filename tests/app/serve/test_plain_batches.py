"""Batches of plain lines take a short cut to the same answers, journals and models."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.app.commands.serve.hot import Hot
from noregret.app.commands.serve.keys import Keys
from noregret.base.model_file import dumps
from noregret.linear.learner import all_learners
from noregret.service import Service, ids, values
from noregret.service.line_shapes import LineReader, shape_of
from noregret.service.requests import Learned, LearnedPlain
from tests.thorough import draws, sized

LEARNERS: dict[str, Any] = dict(all_learners())
NUMBERS = [
    name for name, kind in LEARNERS.items()
    if not kind._of_classes and not kind().engine.loss.labels
]  # fmt: skip
NDJSON = {b"content-type": b"application/x-ndjson"}


class Desk:
    """Answers at once."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def put(self, requests: Sequence[Any], tell: Callable[[Any], None], count: int = 1) -> None:
        tell(self.service.answer_many(requests))


def answered(folder: Path, learner: Any, bodies: list[bytes], short: bool) -> tuple[Any, ...]:
    """Return the answers to batches, what is kept of them, and how many took the short cut."""
    made = itertools.count()  # ids of lines that have none, the same both ways
    options: Any = {"snapshot_every": 20, "clock": lambda: 5.0}
    with (
        mock.patch.object(values, "uuid4") as name,
        Service(learner, folder / str(short), **options) as service,
    ):
        name.side_effect = lambda: SimpleNamespace(hex=f"made {next(made)}")
        hot = Hot({"m": Desk(service)}, Keys({}), {})  # type: ignore[dict-item]
        reader, found, taken = hot.readers["m"], list[Any](), list[bool]()

        def read(body: bytes, most: int) -> Any:
            reader.pause = 0
            plain = LineReader.read(reader, body, most) if short else None
            taken.append(plain is not None)
            return plain

        reader.read = read  # type: ignore[method-assign]
        for body in bodies:
            hot.answer(("m", "learn"), NDJSON, body, lambda *answer: found.append(answer))
        tables = [
            [*service.journal.database.stream(f"SELECT * FROM {table}")]
            for table in ("blocks", "ids", "models", "facts")
        ]
        kept = tables, dumps(service.learner), service.metrics(), hot.counts
    return found, kept, sum(taken)


def agree(learner: Any, bodies: list[bytes]) -> int:
    """Check that both ways give the same; return how many batches took the short cut."""
    with TemporaryDirectory() as folder:
        found, kept, taken = answered(Path(folder), learner, bodies, True)
        plain_found, plain_kept, _ = answered(Path(folder), learner, bodies, False)
    assert found == plain_found
    assert kept == plain_kept
    return int(taken)


def plain_lines(seed: int, count: int, names: str = "abcd") -> list[dict[str, Any]]:
    draw = random.Random(seed)

    def value() -> float:
        return draw.choice([draw.gauss(0, 1), draw.randint(0, 3), round(draw.random(), 3)])

    return [
        {"id": f"{seed}-{k}", "x": {name: value() for name in names}, "y": value()}
        for k in range(count)
    ]


def body_of(lines: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, lines)).encode()


@pytest.mark.parametrize("name", NUMBERS)
def test_every_learner_of_numbers_learns_the_same(name: str) -> None:
    bodies = [body_of(plain_lines(k, 15)) for k in range(3)]
    bodies.append(body_of(plain_lines(3, 15, "dbca")))
    bodies.append(body_of(plain_lines(4, 15, "dbcae")))  # one more feature
    assert agree(LEARNERS[name](), bodies) == 5


def test_the_short_cut_is_taken_once_features_are_known(tmp_path: Path) -> None:
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        kinds = []
        for body in [body_of(plain_lines(k, 9)) for k in range(3)]:
            plain = LineReader("y").read(body, 100)
            assert plain is not None
            answers: Any = service.submit(lambda b=plain: service.play.learn_plain(b))  # type: ignore[arg-type, misc]
            kinds.append([*map(type, answers)])
    assert kinds == [[Learned], [LearnedPlain], [LearnedPlain]]


def test_labels_and_challengers_go_the_long_way(tmp_path: Path) -> None:
    lines = [plain_lines(k, 9) for k in range(2)]
    bodies = [body_of([each | {"y": k % 2} for k, each in enumerate(some)]) for some in lines]
    assert agree(nr.Perceptron(), bodies) == 0
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        service.challengers.add("other", nr.WidrowHoff(), bound=100.0)
        for body in bodies:
            plain = LineReader("y").read(body, 100)
            assert plain is not None
            service.submit(lambda b=plain: service.play.learn_plain(b))  # type: ignore[arg-type, misc]
        assert [*service.journal.database.stream("SELECT count(*) FROM shadows")] == [(18,)]


def test_refused_rows_are_answered_in_their_place() -> None:
    lines = [plain_lines(k, 20) for k in range(3)]
    lines[1][7]["x"]["a"] = 1e149  # its norm overflows
    lines[1][12]["y"] = 1e149
    lines[2][3]["id"] = lines[0][0]["id"]
    lines[2][5]["id"] = lines[2][4]["id"]
    bodies = [body_of(each) for each in lines]
    assert agree(nr.Nlms(), [*bodies, bodies[0], bodies[1]]) == 5


NUMERALS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(-10, 10, places=12).map(str),
)
ODD = st.sampled_from([
    "-0", "-0.0", "0", "0.0", "01", "-01", "1.", ".5", "+1", "-", "1e5", "1E+5", "1e", "1e-",
    "1.5e-7", "1e149", "1e150", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "0x1", "1_0",
    "9" * 15, "9" * 16, "9" * 20, "9" * 400, "0." + "1" * 30, "4.9e-324", "2.2250738585072011e-308",
    "1 ", " 1", "1\t", "true", "null", '"s"', '""', "[1]", '{"a": 1}', '1, "a": 2', '1, "e": 2',
    "1}", "1,", "", "1 2", "1:", "\u00b2",
])  # fmt: skip
NAMES = st.sampled_from([
    "n", "", "x" * 256, "x" * 257, "é", "\\u00e9", "\\ud800", "a\\n", 'a"', "a\\\\", "\x7f", "\x1f",
    "a b", "null", "0",
])  # fmt: skip
SHAPES = st.sampled_from([
    '{"id": "ID", "x": {"a": A, "b": B}, "y": Y}',
    '{"id":"ID","x":{"a":A,"b":B},"y":Y}',
    '{"y": Y, "x": {"b": B, "a": A}, "id": "ID"}',
    ' { "x" :\t{"a": A , "b" : B} , "id" : "ID", "y":Y } ',
    '{"id": "ID", "x": {"a": A, "a": B}, "y": Y}',
    '{"id": "ID", "x": {"a": A, "y": B}, "y": Y}',
    '{"id": "ID", "x": {"id": A, "x": B}, "y": Y}',
    '{"id": "ID", "x": {"é": A, "b=1": B}, "y": Y}',
    '{"id": "ID", "x": {"a\\n": A, "b": B}, "y": Y}',
    '{"id": "ID", "x": {"a": A, "b": B}, "y": Y, "key": null}',
    '{"id": "ID", "x": {"a": A, "b": B}, "y": Y, "key": "k"}',
    '{"id": "ID", "x": {"a": A, "b": B}, "y": Y, "z": 1}',
    '{"id": "ID", "id": "ID", "x": {"a": A, "b": B}, "y": Y}',
    '{"id": "ID", "x": [A, B], "y": Y}',
    '{"id": "ID", "x": {}, "y": Y}',
    '{"x": {"a": A, "b": B}, "y": Y}',
    '{"id": "ID", "x": {"a": A, "b": B}}',
    "[A, B]",
    "",
])  # fmt: skip
BREAKS = st.sampled_from(["\n"] * 6 + ["\r\n", "\r", "\n\n", " \n", "\x0b", "\x0c", "\x00"])


@st.composite
def bodies_of_lines(draw: Callable[..., Any]) -> list[bytes]:
    """Draw batches of which most lines, but not all, are plain."""
    bodies, shape, count = [], draw(SHAPES), 0
    for _ in range(draw(st.integers(1, 4))):
        text = ""
        odd = draw(st.integers(0, 12))  # in most batches, some line or none
        for k in range(draw(st.integers(1, 8))):
            is_odd = k == odd
            count += 1
            line = draw(SHAPES) if is_odd and draw(st.booleans()) else shape
            name = draw(NAMES) if is_odd and draw(st.booleans()) else f"n{count}"
            for hole in "ABY":
                some = ODD if is_odd and draw(st.booleans()) else NUMERALS
                line = line.replace(f" {hole}", f" {draw(some)}").replace(
                    f":{hole}", f":{draw(some)}"
                )
            text += line.replace("ID", name) + (draw(BREAKS) if is_odd else "\n")
        bodies.append(text.removesuffix("\n").encode("utf-8", "surrogatepass"))
    return bodies


@given(
    st.sampled_from(["nlms", "exponentiated-gradient", "auto", "online-newton"]), bodies_of_lines()
)
@draws(120, 40)
def test_both_ways_agree_on_any_lines(name: str, bodies: list[bytes]) -> None:
    agree(LEARNERS[name](), bodies)


def test_ids_in_runs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "MAX_RECENT", 30)
    bodies = [body_of(plain_lines(k, 20)) for k in range(sized(6, full=60))]
    agree(nr.Nlms(), [*bodies, *bodies[:3]])


@given(st.one_of(NUMERALS, ODD, st.text("0123456789.eE+-", max_size=30)))
@draws(400, 150)
def test_numbers_are_those_of_json(numeral: str) -> None:
    shape = shape_of(b'{"id": "n", "x": {"a": 1}, "y": 1}', "y")
    assert shape is not None
    line = f'{{"id": "n", "x": {{"a": {numeral}}}, "y": {numeral}}}'.encode()
    found = shape.read(line, 9)
    try:
        value = json.loads(line)["y"]
    except (ValueError, KeyError):
        assert found is None
        return
    if found is not None:
        assert [repr(each) for each in found.numbers[0].tolist()] == [repr(float(value))] * 2
    elif len(numeral) < 16 and numeral.strip() != "-0":
        assert (
            type(value) not in {int, float} or not abs(value) < 1e150 or set(numeral) & {" ", "\t"}
        )


def test_what_is_no_plain_line_has_no_shape() -> None:
    assert shape_of(b'{"id": "a", "x": {"a": 1}, "y": 1}', "y") is not None
    for odd in (
        b"", b"[]", b"1", b"{", b'{"id": "a", "x": {"a": 1}, "y": NaN}',
        b'{"id": "a", "x": {"y": 1}, "y": 1}',
        b'{"id": "a", "x": {"a": true}, "y": 1}', b'{"id": 1, "x": {"a": 1}, "y": 1}',
        b'{"id": "a", "x": {"a": 1, "a": 2}, "y": 1}', b'{"id": "a", "x": {}, "y": 1}',
        b'{"id": "a", "x": {"a": {"b": 1}}, "y": 1}',
        b'\xef\xbb\xbf{"id": "a", "x": {"a": 1}, "y": 1}',
    ):  # fmt: skip
        assert shape_of(odd, "y") is None
    assert shape_of(b'{"id": "a", "x": {"a": 1}, "y": 1}', "a=b") is None


def test_shapes_are_not_sought_for_a_while_where_lines_have_several() -> None:
    reader, plain = LineReader("y"), body_of(plain_lines(1, 3))
    assert reader.read(plain + b"\n" + body_of(plain_lines(2, 3, "dc")), 99) is None
    other = body_of(plain_lines(3, 3, "ef"))
    tries = [reader.read(other, 99) is not None for _ in range(20)]
    assert tries == [False] * 16 + [True] * 4


def test_no_more_lines_than_allowed() -> None:
    body = body_of(plain_lines(1, 9))
    reader = LineReader("y")
    assert reader.read(body, 8) is None
    found = reader.read(body, 9)
    assert found is not None
    assert found.count == 9
    assert found.text == body.replace(b"\n", b"")
    assert found.lines(0) == body.split(b"\n")
    assert found.lines(7) == found.lines(0)[7:]
