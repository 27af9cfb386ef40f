"""A model file made to do harm: well-formed and with a valid digest, but wrong.

Always ``ModelFileError``; nothing is run; nothing larger than the file is allocated.
"""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as encode

import noregret as nr
from noregret.base import model_file
from noregret.base.json_schemas import parsed
from noregret.base.registry import all_algorithms
from tests.thorough import in_turn
from tests.variants import WITHOUT_LOSS_OBJECT, Variant, state

Arrays = dict[str, Any]
Header = dict[str, Any]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hostile"


def learner_of(name: str, **params: Any) -> nr.Learner:
    learner: nr.Learner = nr.make(name, **params)
    learner.learn_many([{"a": 1.0, "b": 0.0}, {"b": 1.0}], [1, -1])
    return learner


def parts(learner: nr.Learner) -> tuple[Header, Arrays]:
    arrays, numbers, names = learner.get_state()
    header = {
        "format": model_file.FORMAT,
        "learner": learner.name,
        "params": dict(learner.params),
        "rounds": learner.rounds,
        "features": names,
        "numbers": {k: v.hex() if isinstance(v, float) else v for k, v in numbers.items()},
    }
    return header, arrays


def write(file: Path, text: str, arrays: Arrays) -> None:
    """Write a file whose digest is right."""
    digest = model_file._digest(text, arrays)
    file.write_bytes(encode(arrays, {"noregret": text, "digest": digest}))


@cache
def warm_up() -> None:
    """Import everything and compile the validator, once per process."""
    all_algorithms()
    header, _ = parts(learner_of("perceptron"))
    with pytest.raises(nr.ModelFileError):
        parsed(json.dumps(header | {"rounds": -1}), "model", "warm", nr.ModelFileError)
    parsed(json.dumps(header), "model", "warm", nr.ModelFileError)


def refused(file: Path) -> str:
    """Check that a file is refused without allocating much; return the message."""
    warm_up()
    tracemalloc.start()
    try:
        with pytest.raises(nr.ModelFileError) as caught:
            nr.load(file)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * file.stat().st_size + 2_000_000
    assert file.name in str(caught.value)
    return str(caught.value)


@in_turn("variant", WITHOUT_LOSS_OBJECT)
def test_the_parts_put_together_are_a_model(variant: Variant, file: Path) -> None:
    """The files below are refused for the change, not for how they were put together."""
    learner = variant.make()
    learner.learn_many([{"a": 1.0, "b": 0.0}, {"b": 1.0}], [1, -1])
    header, arrays = parts(learner)
    write(file, json.dumps(header), arrays)
    assert state(nr.load(file)) == state(learner)


def change(*path: str, to: Any) -> Callable[[Header], None]:
    def apply(header: Header) -> None:
        place = header
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to

    return apply


def drop(*path: str) -> Callable[[Header], None]:
    def apply(header: Header) -> None:
        place = header
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return apply


HUGE = 10**18
CHANGES: list[Callable[[Header], None]] = [
    change("format", to="noregret.model/2"),
    change("format", to=None),
    change("format", to=["noregret.model/1"]),
    drop("format"),
    change("learner", to="no-such-learner"),
    change("learner", to="os.system"),
    change("learner", to=None),
    change("learner", to=["perceptron"]),
    change("learner", to={}),
    change("learner", to=5),
    drop("learner"),
    change("params", to=None),
    change("params", to=[]),
    change("params", to={"nonsense": 1}),
    change("params", to={"name": "perceptron"}),
    change("params", to={"rate": "fast"}),
    change("params", to={"averaged": "yes"}),
    change("params", to={"self": 1}),
    drop("params"),
    change("features", to=None),
    change("features", to=[]),
    change("features", to=["a"]),
    change("features", to=["a", "a"]),
    change("features", to=["a", "b", "c"]),
    change("features", to=["a", 1]),
    change("features", to=["a", None]),
    change("features", to=["a", ["b"]]),
    change("features", to="ab"),
    change("features", to={"a": 1, "b": 2}),
    drop("features"),
    change("numbers", to=None),
    change("numbers", to=[]),
    change("numbers", to={}),
    change("numbers", "size", to=HUGE),
    change("numbers", "size", to=-1),
    change("numbers", "size", to=3),
    change("numbers", "size", to=2.5),
    change("numbers", "size", to="2"),
    change("numbers", "size", to=None),
    change("numbers", "rounds", to=-1),
    change("numbers", "rounds", to=2**70),
    change("numbers", "rounds", to=1.5),
    change("numbers", "rounds", to="many"),
    change("numbers", "rounds", to=None),
    change("numbers", "mistakes", to=-1),
    change("numbers", "mistakes", to="0x1p+3"),
    change("numbers", "factor", to="nan"),
    change("numbers", "factor", to="inf"),
    change("numbers", "factor", to=None),
    change("numbers", "factor", to="text"),
    change("numbers", "offset", to="nan"),
    change("numbers", "offset", to="inf"),
    change("numbers", "loss_sum", to="nan"),
    change("numbers", "loss_rest", to="inf"),
    change("numbers", "norm2", to="nan"),
    change("numbers", "norm2", to=(-1.0).hex()),
    change("numbers", "doubt", to="nan"),
    change("numbers", "most_norm", to="nan"),
    change("numbers", "most_norm", to=(-1.0).hex()),
    change("numbers", "limit_norm", to="nan"),
    change("numbers", "first_over_norm", to=-5),
    change("numbers", "kind", to=7),
    change("numbers", "kind", to=-1),
    change("numbers", "kind", to=0),
    change("numbers", "kind", to=None),
    change("numbers", "labels", to=-1),
    change("numbers", "labels", to=2**40),
    change("numbers", "labels", to="all"),
    change("numbers", "mean_kept", to=True),
    change("numbers", "mean_kept", to="yes"),
    drop("numbers", "size"),
    drop("numbers", "rounds"),
    drop("numbers", "factor"),
    drop("numbers", "kind"),
    drop("numbers"),
]


def described(value: Any) -> str:
    cells = getattr(value, "__closure__", None) or ()
    return " ".join(repr(cell.cell_contents)[:24] for cell in cells)


@pytest.mark.parametrize("alter", CHANGES, ids=described)
def test_a_wrong_header_is_refused(alter: Callable[[Header], None], file: Path) -> None:
    header, arrays = parts(learner_of("perceptron"))
    alter(header)
    write(file, json.dumps(header), arrays)
    refused(file)


MULTIPLICATIVE = [
    *(
        change("numbers", name, to=value)
        for name in ("total", "total_rest", "reference", "total_peak", "unborn_sum")
        for value in ("nan", "inf", None)
    ),
    change("numbers", "total", to="0x1p-1070"),
    change("params", "rate", to=-1.0),
    change("params", "rate", to=None),
    change("params", "rate", to=float("nan")),
    change("params", "dimension", to=HUGE),
    change("params", "dimension", to=-1),
    change("params", "dimension", to=2.5),
    change("params", "weight", to=float("inf")),
    change("params", "loss", to="nonsense"),
    change("params", "loss", to={"python": "os.system"}),
    change("params", "loss", to={"python": None}),
    change("params", "loss", to={}),
    change("params", "loss", to=["square"]),
    change("params", "horizon", to=10**400),
]


@pytest.mark.parametrize("alter", MULTIPLICATIVE, ids=described)
def test_a_wrong_header_of_multiplicative_weights_is_refused(
    alter: Callable[[Header], None], file: Path
) -> None:
    header, arrays = parts(learner_of("exponentiated-gradient"))
    alter(header)
    write(file, json.dumps(header), arrays)
    refused(file)


@pytest.mark.parametrize("end", ["found.lower", "found.upper"])
def test_a_margin_without_an_end_is_refused(end: str) -> None:
    method = nr.HardMarginSvm().fit([[1.0, 2.0], [-1.0, 0.5]], [1, -1])
    arrays, numbers, names = method.get_state()
    del numbers[end]
    with pytest.raises(ValueError, match="bounds of the margin"):
        nr.HardMarginSvm().set_state(arrays, numbers, names)


def test_a_state_that_overflowed_since_it_was_loaded_is_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = learner_of("widrow-hoff")
    arrays, numbers, names = learner.get_state()
    arrays["stored"] = np.full_like(arrays["stored"], np.inf)
    monkeypatch.setattr(nr.WidrowHoff, "get_state", lambda self: (arrays, numbers, names))
    with pytest.raises(nr.NoRegretError, match="cannot be copied"):
        learner.copy()


def test_columns_that_nobody_gave_are_refused(file: Path) -> None:
    learner = nr.make("perceptron")
    header, arrays = parts(learner)
    fresh_kind = header["numbers"]["kind"]
    learner.learn_one([1.0, 2.0], 1)
    header, arrays = parts(learner)
    assert header["features"] == []
    header["numbers"]["kind"] = fresh_kind
    write(file, json.dumps(header), arrays)
    refused(file)


def test_a_large_dimension_allocates_nothing(file: Path) -> None:
    learner = learner_of("exponentiated-gradient", dimension=2**31 - 1)
    learner.save(file)
    assert state(nr.load(file)) == state(learner)


@pytest.mark.parametrize(
    "stored",
    [
        np.array([np.nan, 1.0]),
        np.array([np.inf, 1.0]),
        np.array([1.0]),
        np.array([1.0, 2.0, 3.0]),
        np.array([[1.0, 2.0]]),
        np.array([[1.0], [2.0]]),
        np.array([], dtype=np.float64),
        np.array(1.0),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array([1.0, 2.0], dtype=np.float16),
        np.array([1, 2], dtype=np.int64),
        np.array([1, 2], dtype=np.uint8),
        np.array([True, False]),
    ],
    ids=lambda a: f"{a.dtype} {a.tolist()}",
)
def test_wrong_weights_are_refused(stored: Any, file: Path) -> None:
    header, _ = parts(learner_of("perceptron"))
    write(file, json.dumps(header), {"stored": stored})
    refused(file)


def test_arrays_that_are_missing_or_too_many_are_refused(file: Path) -> None:
    header, arrays = parts(learner_of("perceptron"))
    for wrong in ({}, arrays | {"more": np.zeros(2)}, {"mean_sum": np.zeros(2)}):
        write(file, json.dumps(header), wrong)
        refused(file)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"format": "noregret.model/1", "params": ' + "[" * 50_000 + "]" * 50_000 + "}",
        "",
        "null",
        "1",
        '"text"',
        "[]",
        "{}",
        "NaN",
        '{"format": "noregret.model/1"}',
        '{"format": 1' + "0" * 10_000 + "}",
        "\0",
        "{'format': 1}",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_a_header_that_is_not_one_is_refused(text: str, file: Path) -> None:
    write(file, text, {})
    refused(file)


def test_a_header_with_a_wrong_or_missing_digest_is_refused(file: Path) -> None:
    header, arrays = parts(learner_of("perceptron"))
    text = json.dumps(header)
    for metadata in (
        {"noregret": text},
        {"noregret": text, "digest": ""},
        {"noregret": text, "digest": "blake2b:" + "0" * 32},
        {"digest": model_file._digest(text, arrays)},
    ):
        file.write_bytes(encode(arrays, metadata))
        refused(file)


def safetensors(header: str, body: bytes = b"") -> bytes:
    text = header.encode()
    return struct.pack("<Q", len(text)) + text + body


@pytest.mark.parametrize(
    "contents",
    [
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2**40) + b"{}",
        struct.pack("<Q", 10**8) + b"{}",
        safetensors("[" * 100_000),
        safetensors('{"stored":' * 100_000),
        safetensors(
            '{"stored":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8]}}', b"0" * 8
        ),
        safetensors('{"stored":{"dtype":"F64","shape":[2],"data_offsets":[0,16000000000000]}}'),
        safetensors('{"stored":{"dtype":"F64","shape":[2],"data_offsets":[8,0]}}', b"0" * 16),
        safetensors('{"stored":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}}', b"0" * 8),
        safetensors(
            '{"stored":{"dtype":"F64","shape":[9223372036854775807,9],"data_offsets":[0,8]}}',
            b"0" * 8,
        ),
        safetensors('{"stored":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}', b"0" * 8),
        safetensors('{"stored":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}}', b"0" * 8),
        safetensors('{"stored":{"dtype":"O","shape":[1],"data_offsets":[0,8]}}', b"0" * 8),
        safetensors('{"__metadata__":{"noregret":5}}'),
        safetensors('{"__metadata__":[]}'),
        safetensors('{"__metadata__":{}}'),
        safetensors("{}"),
        safetensors(""),
    ],
    ids=lambda contents: repr(contents[8:60]),
)
def test_a_container_made_to_do_harm_is_refused(contents: bytes, file: Path) -> None:
    file.write_bytes(contents)
    refused(file)


def test_swapped_arrays_are_noticed(file: Path) -> None:
    """Names and numbers may each be right; they must belong together."""
    learner = learner_of("exponentiated-gradient")
    learner.save(file)
    header, arrays = parts(learner)
    text = json.dumps(header)
    digest = model_file._digest(text, arrays)
    swapped = arrays | {"logs": arrays["mass"], "mass": arrays["logs"]}
    file.write_bytes(encode(swapped, {"noregret": text, "digest": digest}))
    refused(file)
