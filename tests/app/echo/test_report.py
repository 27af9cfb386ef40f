"""The report of a cancelled echo: whole, offline, true, and fit for any screen."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from noregret.app.report.echo.charts import grouped
from noregret.app.report.echo.html import page
from noregret.app.report.echo.words import helped_by
from noregret.app.report.page.png import colours, png
from noregret.echo import cancel_file, demo_signals, write_sound
from noregret.echo.result import EchoResult, Known
from noregret.echo.spectrum import Spectrogram
from tests.app.report.browser import Browser

RATE = 16000


def cancelled(folder: Path, far: NDArray[np.float64], mic: NDArray[np.float64]) -> EchoResult:
    write_sound(folder / "far.wav", far, RATE)
    write_sound(folder / "mic.wav", mic, RATE)
    paths = [str(folder / f"{name}.wav") for name in ("far", "mic", "out")]
    return replace(
        cancel_file(paths[0], paths[1], paths[2], certify=False), command="noregret echo <script>"
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EchoResult]:
    """Results of all kinds."""
    folder = tmp_path_factory.mktemp("echo")
    heard = demo_signals(5.0, RATE)
    usual = cancelled(folder, heard.far, heard.mic)
    response = np.stack((usual.response[:, 0], -0.5 * usual.response[:, 0]), axis=1)
    return {
        "usual": replace(usual, known=Known(-3.0, 9.0, 0.1), notes=("A <note>.",)),
        "stereo": replace(usual, response=response, delay=0.06),
        "silent": cancelled(folder, 0 * heard.far, heard.mic),
        "nothing": cancelled(folder, 0 * heard.far, 0 * heard.mic),
        "one": cancelled(folder, np.ones(1), np.ones(1)),
        "short": cancelled(folder, heard.far[:700], heard.mic[:700]),
    }


def decoded(picture: bytes) -> NDArray[np.uint8]:
    """Read a picture as any PNG reader does: by its chunks, whose sums must be right."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, dict[bytes, bytes]()
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        body = picture[at + 4 : at + 8 + length]
        assert zlib.crc32(body) == struct.unpack_from(">I", picture, at + 8 + length)[0]
        parts[body[:4]] = body[4:]
        at += 12 + length
    assert list(parts) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, depth, colour = struct.unpack_from(">IIBB", parts[b"IHDR"])
    assert (depth, colour) == (8, 3)
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


def test_pictures_are_png_files_and_colours_go_from_dark_to_light() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (37, 91)).astype(np.uint8)
    assert np.array_equal(decoded(png(pixels, colours())), pixels)
    light = colours() @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(light) >= 0).all()
    assert light[-1] - light[0] > 200


def test_a_spectrogram_in_pieces_is_that_of_the_whole() -> None:
    random = np.random.default_rng(0)
    samples = random.standard_normal(3 * RATE) * np.linspace(0, 1, 3 * RATE)
    seen, whole = Spectrogram(len(samples), RATE), Spectrogram(len(samples), RATE)
    whole.add(samples)
    at = 0
    while at < len(samples):
        size = int(random.integers(1, 3000))
        seen.add(samples[at : at + size])
        at += size
    assert np.allclose(seen.powers, whole.powers, rtol=1e-9)
    from scipy.signal import spectrogram  # which takes half a second

    _, _, theirs = spectrogram(samples, RATE, "hann", 512, 448, detrend=False, mode="psd")
    ours, others = seen.powers[:, 30:-30].mean(axis=1), theirs[:-1, 30:-30].mean(axis=1)
    assert np.allclose(ours[2:] / ours[2:].sum(), others[2:] / others[2:].sum(), rtol=0.1)


def test_a_tone_stands_at_its_frequency_its_time_and_its_level() -> None:
    for rate in (8000, 16000, 48000):
        times = np.arange(4 * rate) / rate
        tone = np.where(times < 2, 0.5 * np.sin(2 * np.pi * 0.125 * rate * times), 0.0)
        seen = Spectrogram(len(tone), rate)
        seen.add(tone)
        seen.end()
        rows, columns = seen.powers.shape
        assert rows <= 256
        assert columns <= 900
        early, late = seen.powers[:, : columns // 2 - 10], seen.powers[:, columns // 2 + 10 :]
        at = rows * 0.125 * rate / seen.highest
        assert (np.abs(early.argmax(axis=0)[3:] - at) <= 1).all()
        assert late.max() < 1e-9
        if rate <= 16000:  # above, neighbours share a row
            assert np.median(early.max(axis=0)) == pytest.approx(0.25, rel=0.1)


def test_means_of_neighbours_keep_what_is_known() -> None:
    values = np.arange(1000.0)
    values[100:300] = np.nan
    few = grouped(values, 10)
    assert np.isnan(few[1:3]).all()
    assert few[0] == 49.5
    assert few[-1] == 949.5


def test_every_page_is_well_formed_loads_nothing_and_runs_nothing_of_others(
    results: dict[str, EchoResult],
) -> None:
    for name, result in results.items():
        text = page(result)
        root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
        assert "<script>noregret" not in text
        assert "nan" not in re.sub(r"base64,\S+|[a-z]*nan[a-z]+|[a-z]+nan", "", text.lower()), name
        links = [
            value
            for element in root.iter()
            for key, value in element.attrib.items()
            if key in ("href", "src")
        ]
        pictures = [link for link in links if link.startswith("data:image/png;base64,")]
        sounds = [link for link in links if link.startswith("data:audio/flac;base64,")]
        assert len(pictures) == 3  # two spectrograms and the legend
        assert len(sounds) == 2
        assert set(links) == {*pictures, *sounds}
        for link in pictures:
            assert decoded(base64.b64decode(link.partition(",")[2])).size
        for link, kept in zip(sounds, result.heard, strict=True):
            file = BytesIO(base64.b64decode(link.partition(",")[2]))
            assert np.array_equal(soundfile.read(file, dtype="int16")[0], kept)


def test_the_page_shows_the_figures(results: dict[str, EchoResult]) -> None:
    result = results["usual"]
    text = page(result)
    reduced = result.erle()
    assert reduced is not None
    for figure in (
        f"{reduced.overall:.1f} dB",
        f"{reduced.best_known:.1f} dB",
        "5.0",
        "16,000",
        "9.0 dB",
        "A &lt;note&gt;.",
    ):
        assert figure in text
    assert "no echo" in page(results["silent"])


def test_the_near_voice_is_not_called_echo(results: dict[str, EchoResult]) -> None:
    """Without frames of echo alone, the figure includes the near voice, and says so."""
    result = results["usual"]
    nothing_alone = replace(result.levels, alone=np.zeros_like(result.levels.alone))
    for levels, mixed in ((result.levels, False), (nothing_alone, True)):
        verdict = helped_by(replace(result, levels=levels, known=None))
        assert verdict is not None
        assert ("near voice included" in verdict.words) == mixed
        assert ("less echo" in verdict.words) != mixed
        assert verdict.mood == ("neutral" if mixed else "good")  # the voice may be what is gone


def test_pictures_of_before_and_after_share_one_scale(results: dict[str, EchoResult]) -> None:
    urls = re.findall(r'href="data:image/png;base64,([^"]+)"', page(results["silent"]))
    pictures = [decoded(base64.b64decode(url)) for url in urls]
    assert np.array_equal(pictures[1], pictures[2])  # the output is the microphone's
    assert np.array_equal(pictures[0], np.arange(256)[None, :])


def test_the_page_fits_wide_and_narrow_and_complains_of_nothing(
    chromium: Browser, results: dict[str, EchoResult], tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    for name in ("usual", "stereo", "one"):
        path.write_text(page(results[name]), encoding="utf-8")
        for width, theme in ((360, "light"), (1100, "dark")):
            chromium.show(path, width, theme)
            wide = chromium.run("document.documentElement.scrollWidth")
            assert wide <= width, name
            sizes = chromium.run(
                "[...document.querySelectorAll('image')].map(i => i.getBoundingClientRect().width)"
            )
            assert min(sizes) > 100
            assert not chromium.run("[...document.querySelectorAll('audio')].some(a => a.error)")
            for event in ("Runtime.exceptionThrown", "Log.entryAdded"):
                assert not chromium.heard(event), name
