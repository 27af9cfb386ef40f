"""The demo: simulate a room with two voices, cancel the echo, and measure the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from noregret.echo.cancelling import cancel_file
from noregret.echo.frames import echo_only, near_only
from noregret.echo.measures import near_change, near_distortion
from noregret.echo.result import EchoResult, Known
from noregret.echo.room import demo_signals
from noregret.echo.sound import opened, pieces
from noregret.echo.writing import write_sound

DEMO_SECONDS = 12.0


def demonstration(
    folder: str | Path,
    *,
    rate: int = 16_000,
    seed: int = 0,
    tail: float = 0.256,
    suppress: bool = True,
    suppressor: str = "learned",
    denoise: bool = False,
    certify: bool = True,
    told: Callable[[float, float], None] | None = None,
) -> EchoResult:
    """Write ``far.wav``, ``mic.wav``, ``near.wav`` and ``clean.wav``; return the measures.

    Parameters
    ----------
    folder
        The folder to write to; created if missing.
    rate, seed
        Of the simulated signals.
    tail, suppress, suppressor, denoise, certify
        As for ``cancel_file``.
    told
        Progress callback: called with the seconds done and the seconds in total.
    """
    heard = demo_signals(DEMO_SECONDS, rate, seed)
    place = Path(folder)
    place.mkdir(exist_ok=True)
    paths = {name: str(place / f"{name}.wav") for name in ("far", "mic", "near", "clean")}
    for name in ("far", "mic", "near"):
        write_sound(paths[name], getattr(heard, name), rate)
    result = cancel_file(
        paths["far"],
        paths["mic"],
        paths["clean"],
        tail=tail,
        suppress=suppress,
        suppressor=suppressor,
        denoise=denoise,
        certify=certify,
        told=told,
    )
    with opened(paths["clean"]) as file:
        clean = np.concatenate(list(pieces(file)))[:, 0]
    alone = near_only(heard.far, heard.mic, rate, heard.near)
    known = Known(
        near_distortion(heard.near, heard.mic, rate),
        near_distortion(heard.near, clean, rate),
        near_change(heard.mic, clean, rate, alone),
    )
    levels = replace(result.levels, alone=echo_only(heard.far, heard.mic, rate, heard.near))
    outputs = {**paths, "report": str(place / "report.html")}
    return replace(result, levels=levels, known=known, outputs=outputs)
