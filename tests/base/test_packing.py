"""Memory and files follow the features that occur, not the largest position."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.base.compiled.machine import (
    PAGE_NUMBERS,
    any_negative,
    copied,
    used_pages,
)
from noregret.base.model_file import read_parts
from noregret.base.packing import MIN_PACKED_NUMBERS, packed, unpacked, write_parts
from noregret.linear.engine.block_rows import play_rows
from tests.compiled import measures_memory
from tests.thorough import sized
from tests.variants import state

# Large enough that one number per position, let alone the 24 that auto keeps, would show.
FAR = sized(2**20, full=2**21)


def far_row(learner: nr.Learner) -> None:
    """Learn two rows of a stream, one of which names a position far away."""
    starts, places = np.array([0, 2, 3]), np.array([0, FAR - 1, 1], dtype=np.int32)
    play_rows(learner._entry, starts, places, np.array([1.0, 2.0, 1.0]), np.array([1.0, -1.0]))


@given(
    length=st.integers(MIN_PACKED_NUMBERS, MIN_PACKED_NUMBERS + 3 * PAGE_NUMBERS),
    places=st.lists(st.integers(0, MIN_PACKED_NUMBERS - 1), max_size=8),
    values=st.lists(st.floats(allow_nan=False), min_size=8, max_size=8),
)
def test_what_is_packed_is_the_same_again(
    length: int, places: list[int], values: list[float]
) -> None:
    array = np.zeros(length)
    array[places] = values[: len(places)]
    kept, lengths = packed({"a": array, "b": np.ones(length), "c": array[:7]})
    assert lengths == {"a": length}
    assert sum(part.nbytes for name, part in kept.items() if name[0] == "a") < array.nbytes // 4
    again = unpacked(kept, lengths)
    assert again.keys() == {"a", "b", "c"}
    assert again["a"].tobytes() == array.tobytes()
    assert copied(array).tobytes() == array.tobytes()
    assert copied(array, length + 5).tobytes() == np.append(array, np.zeros(5)).tobytes()
    written = np.flatnonzero(np.frombuffer(array.tobytes(), np.uint64))
    assert used_pages(array).tolist() == np.unique(written // PAGE_NUMBERS).tolist()
    assert any_negative(array) == bool((array < 0).any())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"length": -1}, "length"),
        ({"length": 2**40}, "length"),
        ({"length": 1.5}, "length"),
        ({"length": 1000}, "within it"),
        ({"pages": np.array([3, 3])}, "follow each other"),
        ({"pages": np.array([-1, 3])}, "follow each other"),
        ({"pages": np.array([0.0, 3.0])}, "pages of"),
        ({"data": np.zeros((2, 7))}, "pages of"),
    ],
)
def test_pages_that_make_no_sense_are_refused(change: dict[str, object], why: str) -> None:
    good: dict[str, object] = {"length": 2**17, "pages": np.array([0, 3])}
    good |= {"data": np.ones((2, PAGE_NUMBERS))} | change
    arrays = {"a.pages": good["pages"], "a.page_data": good["data"]}
    with pytest.raises(ValueError, match=why):
        unpacked(arrays, {"a": good["length"]})  # type: ignore[arg-type]


def test_files_are_those_of_the_safetensors_library(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    arrays = {
        "b": np.arange(5.0),
        "a": np.arange(6, dtype=np.int32).reshape(2, 3),
        "none": np.zeros((0, 4)),
        "c": np.array([True, False]),
        "z": np.array(["x"], dtype="S1").view(np.uint8),
        "long": np.arange(3),
    }
    write_parts(tmp_path / "ours", arrays, {"text": "é"})
    save_file(arrays, tmp_path / "theirs", {"text": "é"})
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert load_file(tmp_path / "ours").keys() == arrays.keys()


@pytest.mark.parametrize("name", ["auto", "gradient-descent", "adagrad"])
def test_a_model_with_a_far_feature_is_small_and_goes_on_to_the_bit(
    name: str, tmp_path: Path
) -> None:
    learner: nr.Learner = nr.make(name)
    far_row(learner)
    learner.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 400_000
    loaded = nr.load(tmp_path / "model")
    far_row(loaded)
    far_row(learner)
    assert state(loaded) == state(learner)
    assert read_parts(tmp_path / "model", "a model", nr.NoRegretError)[0]["noregret"].count(
        "model/2"
    )


MEASURED = """
import sys
import numpy as np
import noregret as nr
from noregret.learners.auto import Auto
from tests.base.test_packing import far_row


def peak():  # ru_maxrss begins with what the process held that started this one
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


before = peak()
learner = nr.make(sys.argv[1])
far_row(learner)
if sys.argv[1] == "auto":
    learner.describe()
learner.save(sys.argv[2])
nr.load(sys.argv[2])
print(peak() - before)
"""


@measures_memory
@pytest.mark.skipif(sys.platform != "linux", reason="how memory is counted depends on the system")
@pytest.mark.parametrize("name", ["auto", "adagrad"])
def test_memory_follows_the_features_that_occur(name: str, tmp_path: Path) -> None:
    """Learning, telling, saving and loading: less than 8 numbers for each position would take."""
    command = [sys.executable, "-c", MEASURED, name, str(tmp_path / "model")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ran.stdout) * 1024 < 8 * 8 * FAR
