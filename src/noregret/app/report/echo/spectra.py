"""Spectrograms before and after, on one colour scale."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noregret.app.report.charts.plot import Axis, figure_of, plot
from noregret.app.report.charts.scale import Scale
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.png import as_url, colours, png
from noregret.echo.writing import as_flac

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult
    from noregret.echo.spectrum import Spectrogram

Floats = NDArray[np.float64]
# Decibels from the darkest to the lightest colour.
RANGE = 65.0
QUIETEST = 1e-14
# The quantile of the levels that gets the lightest colour.
BRIGHT = 0.999
STYLE = """
.spectra image { image-rendering: auto; }
.spectra audio { display: block; width: 100%; max-width: 420px; height: 36px; margin: 0 0 12px; }
.spectra .chart { margin-bottom: 26px; }
.legend { display: flex; align-items: center; gap: 10px; margin: 0 0 22px; font-size: 0.82rem;
  color: var(--soft); font-variant-numeric: tabular-nums; }
.legend svg { border-radius: 4px; flex: 0 1 260px; }
"""


def spectra(result: EchoResult) -> Html:
    """Return both spectrograms with their legend."""
    pictures = [decibels(one) for one in (result.before, result.after)]
    top = float(np.ceil(max(np.quantile(picture, BRIGHT) for picture in pictures) / 5) * 5)
    sounds = [player(samples, result.rate) for samples in result.heard]
    kept = len(result.heard[0]) / result.rate
    words = f"The first {kept:.0f} seconds can be played." if kept < result.seconds else ""
    charts = [
        chart("Before: the microphone", words, sounds[0], result.before, pictures[0], top),
        chart("After: the output", words, sounds[1], result.after, pictures[1], top),
    ]
    return element("div", legend(top), *charts, class_="spectra")


def decibels(seen: Spectrogram) -> Floats:
    """Return powers in decibels of full scale."""
    return np.asarray(10 * np.log10(np.maximum(seen.powers, QUIETEST)))


def player(samples: NDArray[np.int16], rate: int) -> Html:
    """Return an audio player."""
    recording = f"data:audio/flac;base64,{b64encode(as_flac(samples, rate)).decode()}"
    return element("audio", controls="", preload="metadata", src=recording)


def chart(
    name: str, words: str, sound: Html, seen: Spectrogram, picture: Floats, top: float
) -> Html:
    """Return a spectrogram with its audio player."""
    shades = np.clip(255 * (picture - top + RANGE) / RANGE, 0, 255).astype(np.uint8)
    image = element(
        "image",
        href=as_url(png(np.ascontiguousarray(shades[::-1]), colours())),
        x=0,
        y=0,
        width="100%",
        height="100%",
        preserveAspectRatio="none",
    )
    loud = float(np.mean(picture > top - RANGE / 2))
    drawn = plot(
        Axis("seconds", Scale(0.0, seen.seconds), lines=False),
        Axis("kHz", Scale(0.0, seen.highest / 1000), lines=False),
        [image],
        f"{name}: spectrogram of {seen.seconds:.3g} seconds; {loud:.1%} of it is loud.",
        height=230,
    )
    return figure_of(name, words, [], sound, drawn)


def legend(top: float) -> Html:
    """Return the legend of the colours."""
    ramp = element(
        "image",
        href=as_url(png(np.arange(256, dtype=np.uint8)[None, :], colours())),
        width="100%",
        height="100%",
        preserveAspectRatio="none",
    )
    bar = element("svg", ramp, width=260, height=12, role="img", aria_label="from quiet to loud")
    return element(
        "div",
        element("span", f"{top - RANGE:.0f} dB"),
        bar,
        element("span", f"{top:.0f} dB of full scale"),
        class_="legend",
    )
