"""Models and checkpoints that were changed and sealed again: an error that says what, no traceback.

What a learner itself holds is tried by ``tools/hostile_models.py``; here, how its data were read.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import noregret as nr
from noregret.app.cli.app import run as run_command
from noregret.app.commands.run import checkpoint
from noregret.base import model_file
from noregret.base.packing import write_parts
from tests.app.run.commands import small_blocks
from tests.app.run.test_resuming import OPTIONS, Stopped
from tests.thorough import sized

__all__ = ["small_blocks"]
LEAVES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    7,
    2**61,
    1.5,
    "",
    "x",
    [],
    {},
    [1],
    {"a": 1},
    [[]],
    {"file": 9},
)
SETTINGS = {
    "plain": [],
    "scaled": ["--scale", "standard"],
    "hashed": ["--hash", "8"],
    "lifted": ["--fourier", "8"],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data.csv"
    rng = Random(0)
    rows = [f"{rng.random():.3f},{rng.choice('xyz')},{rng.random():.3f}" for _ in range(40)]
    file.write_text("\n".join(["a,b,y", *rows, ""]))
    return file


def command(*arguments: object) -> None:
    """Run a command; what it raises other than its own end is a traceback for the user."""
    try:
        run_command([str(each) for each in arguments])
    except SystemExit:
        return


def paths(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a header."""
    if path:
        yield path
    inner: Any = part.items() if isinstance(part, dict) else ()
    for key, value in enumerate(part[:2]) if isinstance(part, list) else inner:
        yield from paths(value, (*path, key))


def changes(whole: dict[str, Any], within: str | None, count: int) -> Iterator[tuple[str, Any]]:
    """Yield some changes of one thing, of part of a header or of all of it."""
    found = [path for path in paths(whole) if within is None or path[0] == within]
    every = [(path, value) for path in found for value in LEAVES]
    for path, value in Random(1).sample(every, min(count, len(every))):
        changed = copy.deepcopy(whole)
        inner: Any = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        yield f"{path} = {value!r}", changed


def model_of(data: Path, *options: str) -> Path:
    model = data.with_suffix(".model")
    command("run", data, "--target", "y", "--learner", "widrow-hoff", "--model", model, *options)
    return model


def reseal(model: Path, header: dict[str, Any], arrays: Any) -> None:
    text = json.dumps(header, sort_keys=True)
    metadata = {"noregret": text, "digest": model_file._digest(text, arrays)}
    write_parts(model, arrays, metadata)


def parts(model: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    metadata, arrays = model_file.read_parts(model, "a model", nr.ModelFileError)
    return json.loads(metadata["noregret"]), {name: a.copy() for name, a in arrays.items()}


@pytest.mark.parametrize("setting", SETTINGS)
def test_predict_shows_no_traceback_for_a_model_sealed_again(
    setting: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = model_of(data, *SETTINGS[setting])
    header, arrays = parts(model)
    for said, changed in changes(header, "stream", 12):
        reseal(model, changed, arrays)
        capsys.readouterr()
        command("predict", model, data)
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err, said


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("mark",), 0, "stream.mark"),
        (("columns", "kinds"), 5, "stream.columns.kinds"),
        (("columns", "kinds", "a"), 5, "stream.columns.kinds.a"),
        (("width",), -1, "stream.width"),
        (("options", "transforms"), "x", "stream.options.transforms"),
        (("format",), ["csv"], "stream.format"),
    ],
)
def test_a_header_that_breaks_the_schema_is_named_by_its_field(
    path: tuple[str, ...], value: Any, field: str, data: Path
) -> None:
    model = model_of(data)
    header, arrays = parts(model)
    inner = header["stream"]
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    reseal(model, header, arrays)
    with pytest.raises(nr.ModelFileError, match=f"data.model: {field}: "):
        nr.load(model)


@pytest.mark.usefixtures("small_blocks")
def test_a_run_that_goes_on_shows_no_traceback_for_a_checkpoint_sealed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    half = Stopped(tmp_path, monkeypatch)
    arrays, state = checkpoint.read(str(half.kept))
    arrays = {name: array.copy() for name, array in arrays.items()}
    beside = {path: path.read_bytes() for path in tmp_path.glob("kept*")}
    for said, changed in changes(state, None, sized(8, full=25)):
        for path, contents in beside.items():
            path.write_bytes(contents)
        checkpoint.write(str(half.kept), arrays, changed)
        capsys.readouterr()
        command("run", half.file, *OPTIONS, *half.asked, "--resume", half.kept)
        assert "Traceback" not in capsys.readouterr().err, said
