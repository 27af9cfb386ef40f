"""Models on disk: exact, whole or not at all, and safe to open whoever wrote them."""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import FORMAT
from tests.thorough import in_turn, sized
from tests.variants import (
    ROUNDED,
    ROUTINE,
    VARIANTS,
    WITHOUT_LOSS_OBJECT,
    Variant,
    as_dicts,
    examples,
    learned,
    rounded_slope,
    rounded_value,
    state,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "model.noregret"


def small() -> nr.Learner:
    learner: nr.Learner = nr.Perceptron()
    learner.learn_many([{"a": 1.0, "b": 0.5}, {"b": 2.0}], [1, -1])
    return learner


# What is written is read back.


@in_turn("variant", VARIANTS)
def test_a_file_holds_the_whole_learner(variant: Variant, file: Path) -> None:
    X, y = examples(variant, ROUTINE)
    for learner in (variant.make(), learned(variant, X, y), learned(variant, as_dicts(X), y)):
        learner.save(file)
        again = nr.load(file, loss=variant.python_loss)
        assert state(again) == state(learner)
        assert repr(again) == repr(learner)
        # A loss that was loaded is another, equal one.
        assert again.params == learner.params or variant not in WITHOUT_LOSS_OBJECT
        assert again.measured == learner.measured
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_another_process_predicts_the_same_to_the_bit(file: Path) -> None:
    rng = np.random.default_rng(0)
    learner = nr.averaged(nr.make("gradient-descent", radius=0.7, schedule="sqrt"))
    X, y = rng.normal(size=(500, 5)), rng.normal(size=500)
    learner.learn_many(X, y)
    learner.save(file)
    np.save(file.with_suffix(".npy"), X)
    code = (
        "import sys, numpy, noregret; learner = noregret.load(sys.argv[1]);"
        "print(learner.decision_many(numpy.load(sys.argv[2])).tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file), str(file.with_suffix(".npy"))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == learner.decision_many(X).tobytes().hex()


def test_names_may_be_any_text(file: Path) -> None:
    learner = nr.make("widrow-hoff")
    odd = {"": 0.1, "é": 0.2, "日本": 0.3, "a\nb": 0.4, '"quoted\\': 0.1, "\u2028": 0.2, "🦉": 0.3}
    learner.learn_one(odd, 1.0)
    learner.save(file)
    assert nr.load(file).features == learner.features


def test_a_path_may_be_a_string(file: Path) -> None:
    small().save(str(file))
    assert state(nr.load(str(file))) == state(small())


def test_the_file_is_an_open_format_with_a_readable_header(file: Path) -> None:
    from safetensors import safe_open

    small().save(file)
    with safe_open(file, framework="numpy") as opened:
        header = json.loads(opened.metadata()["noregret"])
        assert opened.get_tensor("stored").tolist() == [1.0, -1.5]
    assert header["format"] == FORMAT
    assert header["learner"] == "perceptron"
    assert header["params"] == {"averaged": False}
    assert header["features"] == ["a", "b"]
    assert header["rounds"] == 2


@pytest.mark.parametrize(
    "params",
    [
        {"radius": np.float32(0.5)},
        {"radius": np.int64(2)},
        {"rate": np.float64(0.5)},
        {"schedule": "horizon", "horizon": np.int64(10)},
        {"loss": "huber", "loss_parameter": np.float32(2.0)},
    ],
    ids=str,
)
def test_parameters_may_be_numpy_numbers(params: dict[str, Any], file: Path) -> None:
    learner = nr.make("gradient-descent", **params)
    learner.learn_one([1.0], 1.0)
    learner.save(file)
    assert state(nr.load(file)) == state(learner)


# A loss of one's own.


def test_a_python_loss_is_asked_for(file: Path) -> None:
    learner = nr.make("gradient-descent", loss=ROUNDED)
    learner.learn_one([1.0], 1.0)
    learner.save(file)
    with pytest.raises(nr.ModelFileError, match=r"loss 'rounded' is written in Python.*loss="):
        nr.load(file)
    again = nr.load(file, loss=nr.PythonLoss(rounded_value, rounded_slope, name="rounded"))
    assert state(again) == state(learner)
    assert b"rounded_value" not in file.read_bytes()


def test_a_made_loss_needs_no_asking(file: Path) -> None:
    learner = nr.make("gradient-descent", loss=nr.make_loss("huber", 0.5))
    learner.learn_many([[1.0], [2.0]], [1.0, 5.0])
    learner.save(file)
    again = nr.load(file)
    assert state(again) == state(learner)
    for one in (again, learner):
        one.learn_one([1.0], 9.0)
    assert state(again) == state(learner)


def test_a_loss_that_is_not_asked_for_is_refused(file: Path) -> None:
    small().save(file)
    with pytest.raises((nr.ModelFileError, ValueError)):
        nr.load(file, loss=ROUNDED)


# Whole or not at all.


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("fails", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("there", [True, False])
def test_a_failure_while_writing_leaves_what_was_there(
    fails: str, there: bool, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if there:
        small().save(file)
    before = files(file.parent)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    other = small()
    other.learn_one({"c": 1.0}, 1)
    with monkeypatch.context() as patch:
        patch.setattr(os, fails, full)
        with pytest.raises(OSError, match="No space left"):
            other.save(file)
    assert files(file.parent) == before
    other.save(file)
    assert state(nr.load(file)) == state(other)


def test_a_full_disk_leaves_what_was_there(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small().save(file)
    before = files(file.parent)

    class Full:
        def __init__(self, *args: Any) -> None:
            self.file = open(*args)  # noqa: SIM115

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, _: bytes) -> None:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("noregret.base.atomic_files.open", Full, raising=False)
        with pytest.raises(OSError, match="No space left"):
            small().save(file)
    assert files(file.parent) == before


def test_an_interrupt_while_writing_leaves_what_was_there(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            small().save(file)
    assert files(file.parent) == {}


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        small().save(tmp_path / "no" / "model")


def test_a_model_is_not_written_over_a_directory(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(OSError, match=r"[Dd]irectory"):
        small().save(place)
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_any_new_file_has(mask: int, file: Path) -> None:
    before = os.umask(mask)
    try:
        small().save(file)
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_a_file_written_over_keeps_its_mode(file: Path) -> None:
    small().save(file)
    file.chmod(0o640)
    small().save(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


# What is not a model.


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        nr.load(tmp_path / "nothing")


def test_a_directory_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(nr.ModelFileError, match="directory"):
        nr.load(tmp_path)


class Evil:
    """Unpickling this would write a file."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return Path.write_text, (self.place, "gotcha")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_not_run(protocol: int, file: Path) -> None:
    trap = file.with_name("trap")
    file.write_bytes(pickle.dumps(Evil(trap), protocol=protocol))
    with pytest.raises(nr.ModelFileError):
        nr.load(file)
    assert not trap.exists()


def npz() -> bytes:
    with tempfile.TemporaryFile() as opened:
        np.savez(opened, stored=np.zeros(3))
        opened.seek(0)
        return opened.read()


@pytest.mark.parametrize(
    "contents",
    [b"", b"\0", b"\0" * 8, b"\xff" * 8, b"\0" * 4096, b"{}", b'{"format": 1}', b"PK\3\4", npz()],
    ids=lambda contents: repr(contents[:12]),
)
def test_other_files_are_refused(contents: bytes, file: Path) -> None:
    file.write_bytes(contents)
    with pytest.raises(nr.ModelFileError, match=file.name):
        nr.load(file)


def test_a_file_cut_short_anywhere_is_refused(file: Path) -> None:
    small().save(file)
    whole = file.read_bytes()
    for length in range(0, len(whole), sized(4, full=1)):
        file.write_bytes(whole[:length])
        with pytest.raises(nr.ModelFileError):
            nr.load(file)
    file.write_bytes(whole + b"\0")
    with pytest.raises(nr.ModelFileError):
        nr.load(file)


@pytest.mark.parametrize("flip", [0x01, 0xFF])
def test_a_file_with_any_byte_changed_is_refused(flip: int, file: Path) -> None:
    small().save(file)
    whole = file.read_bytes()
    unnoticed = []
    for place in range(0, len(whole), sized(4, full=1)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
        try:
            nr.load(file)
            unnoticed.append((place, whole[place : place + 1]))
        except nr.ModelFileError:
            pass
    assert unnoticed == []
