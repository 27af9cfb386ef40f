"""Sound files and rates: nothing is lost, whatever the kind, the length and the pieces."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.signal import resample_poly

from noregret.echo.resampling import Resampler
from noregret.echo.sound import BITS, look_over, reading
from noregret.echo.writing import format_for, writing
from noregret.errors import DataWarning, NoRegretError
from tests.thorough import draws

Floats = NDArray[np.float64]
RATES = [(8000, 16000), (44100, 16000), (16000, 48000), (22050, 16000), (16000, 11025)]


def source(samples: Floats) -> Any:
    """A function that returns the next frames."""
    rest = [samples]

    def read(count: int) -> Floats:
        piece, rest[0] = rest[0][:count], rest[0][count:]
        return piece

    return read


def resampled(samples: Floats, old: int, new: int, pieces: list[int]) -> Floats:
    made = Resampler(source(samples), samples.shape[1], old, new)
    total = -(-len(samples) * new // old)
    found, done = [], 0
    for size in [*pieces, total]:
        found.append(made.read(min(size, total - done)))
        done += len(found[-1])
    return np.concatenate(found)


@draws(25)
@given(
    st.sampled_from(RATES),
    st.integers(1, 3000),
    st.lists(st.integers(1, 700), max_size=12),
    st.integers(0, 2**32),
)
def test_a_rate_is_converted_the_same_in_pieces_of_any_size(
    rates: tuple[int, int], size: int, pieces: list[int], seed: int
) -> None:
    samples = np.random.default_rng(seed).standard_normal((size, 2))
    whole = resampled(samples, *rates, [])
    assert np.array_equal(resampled(samples, *rates, pieces), whole)


@pytest.mark.parametrize(("old", "new"), RATES)
def test_what_both_rates_can_hold_is_kept_and_the_rest_is_gone(old: int, new: int) -> None:
    times, half = np.arange(old) / old, min(old, new) / 2
    for share in (0.02, 0.4, 0.85):
        tone = np.sin(2 * np.pi * share * half * times)
        found = resampled(tone[:, None], old, new, [])[:, 0]
        same = np.sin(2 * np.pi * share * half * np.arange(len(found)) / new)
        inside = slice(new // 5, -new // 5)
        assert np.abs(found - same)[inside].max() < 1e-3
        theirs = resample_poly(tone, new, old)[: len(found)]
        assert np.abs(found[: len(theirs)] - theirs)[inside].max() < 2e-2
    if old > new:
        gone = resampled(np.sin(2 * np.pi * 1.15 * half * times)[:, None], old, new, [])
        assert np.abs(gone[new // 5 : -new // 5]).max() < 1e-3


def test_files_of_every_kind_are_written_as_they_were_read(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for kind, subtypes in (
        ("WAV", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"]),
        ("FLAC", ["PCM_16", "PCM_24"]),
        ("AIFF", ["PCM_S8", "PCM_16"]),
    ):
        for subtype in subtypes:
            steps = 2 ** (BITS.get(subtype, 24) - 1)
            exact = random.integers(-steps, steps, 3000) / steps
            exact[:4] = [-1.0, 1 - 1 / steps, 0.0, 1 / steps]
            old, new = (str(tmp_path / f"{name}.{kind.lower()}") for name in ("old", "new"))
            with writing(old, 16000, kind, subtype) as file:
                file.write(exact)
            found = look_over(old)
            assert format_for(new, found, 16000) == (kind, subtype)
            with reading(found, 16000) as read, writing(new, 16000, kind, subtype) as file:
                for size in (1, 999, 2000):
                    file.write(read.read(size)[:, 0])
            theirs, rate = soundfile.read(new, dtype="float64")
            assert rate == 16000
            assert np.array_equal(theirs, exact), (kind, subtype)


def test_after_its_end_a_file_is_silent(tmp_path: Path) -> None:
    path = str(tmp_path / "short.wav")
    soundfile.write(path, np.full((100, 2), 0.5), 8000)
    for rate in (8000, 16000):
        with reading(look_over(path), rate) as read:
            found = read.read(5000)
        assert found.shape == (5000, 2)
        assert not found[1000:].any()


def test_samples_beyond_full_scale_are_read_within_it(tmp_path: Path) -> None:
    path = str(tmp_path / "loud.wav")
    for most in (1.5, 1e200):
        soundfile.write(path, most * np.array([0.5, -1.0, 0.25]), 8000, subtype="DOUBLE")
        with reading(look_over(path), 8000) as read:
            assert np.allclose(read.read(3)[:, 0], [0.5, -1.0, 0.25], rtol=1e-12)


def test_samples_that_cannot_be_written_are_cut_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    with writing(str(path), 8000, "WAV", "PCM_16") as file:
        file.write(np.array([1.2, -3.0, 0.5, 1.0, -1.0]))
        assert file.beyond == 2
    assert soundfile.read(path, dtype="int16")[0].tolist() == [32767, -32768, 16384, 32767, -32768]


def test_clipping_is_counted_in_whole_numbers_only_where_they_end(tmp_path: Path) -> None:
    path = str(tmp_path / "clipped.wav")
    for subtype in ("PCM_U8", "PCM_16", "PCM_24", "FLOAT"):
        soundfile.write(path, np.array([0.0, 1.0, 1.0, -1.0, 0.9]), 8000, subtype=subtype)
        assert look_over(path).full == 3, subtype


def failing(path: str, failure: type[BaseException]) -> None:
    with writing(path, 8000, "WAV", "PCM_16") as file:
        file.write(np.zeros(1000))
        raise failure("on purpose")


def test_a_file_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    path.write_bytes(b"what was there")
    for failure in (KeyboardInterrupt, NoRegretError, MemoryError):
        with pytest.raises(failure):
            failing(str(path), failure)
    assert path.read_bytes() == b"what was there"
    assert [found.name for found in tmp_path.iterdir()] == ["out.wav"]


def test_formats_are_chosen_by_the_name_and_keep_what_they_can(tmp_path: Path) -> None:
    path = str(tmp_path / "a.wav")
    wanted = {
        ("PCM_16", "b.flac"): ("FLAC", "PCM_16"),
        ("FLOAT", "b.flac"): ("FLAC", "PCM_24"),
        ("PCM_24", "B.OGG"): ("OGG", "VORBIS"),
        ("FLOAT", "b.w64"): ("W64", "FLOAT"),
        ("PCM_U8", "b.aiff"): ("AIFF", "PCM_U8"),
    }
    for (subtype, name), kind in wanted.items():
        soundfile.write(path, np.zeros(10), 8000, subtype=subtype)
        assert format_for(name, look_over(path), 8000) == kind
    for name in ("b", "b.mp4", "b.wav.txt"):
        with pytest.raises(NoRegretError, match=r"\.flac"):
            format_for(name, look_over(path), 8000)


@pytest.mark.parametrize("kind", ["wav", "rf64", "flac"])
def test_a_file_that_is_cut_short_is_read_with_a_warning(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"long.{'flac' if kind == 'flac' else 'wav'}"
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, (16_000, 2))
    soundfile.write(path, noise, 8_000, "PCM_16", format=kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert look_over(str(path)).frames == 16_000
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    if kind == "flac":
        with pytest.raises(NoRegretError, match="damaged"):
            look_over(str(path))
        return
    with pytest.warns(DataWarning, match=r"cut short: its header promises 2\.000 s, and 0\.99"):
        sound = look_over(str(path))
    assert 7_900 < sound.frames < 8_000


@pytest.mark.parametrize("size", [0x7FFF_FFDB, 0xFFFF_FFFF])
def test_a_header_that_does_not_know_the_end_promises_nothing(tmp_path: Path, size: int) -> None:
    path = tmp_path / "piped.wav"
    soundfile.write(path, np.full(800, 0.25), 8_000, "PCM_16")
    contents = bytearray(path.read_bytes())
    at = contents.index(b"data") + 4
    contents[at : at + 4] = struct.pack("<I", size)
    path.write_bytes(contents)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert look_over(str(path)).frames == 800
