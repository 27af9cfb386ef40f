"""Remove the echo from a recording, file to file, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.base.atomic_files import same_file
from noregret.base.numbers import clean as printable
from noregret.base.numbers import count, duration
from noregret.echo.canceller import MAX_CHANNELS, MAX_RATE, MIN_RATE, Canceller
from noregret.echo.sound import Sound, look_over, reading
from noregret.echo.working import Work
from noregret.echo.writing import Writing, format_for, writing
from noregret.errors import NoRegretError, Use, WrongUsage

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult

# Blocks per read.
BLOCKS = 100
# Echo reduction in dB below which the microphone may be ahead of the far end.
MIN_GOOD_DB = 10.0
# Seconds more to cut off a far end that is behind its echo.
MARGIN_SECONDS = 0.02
# Echo reduction in dB below which the recording probably has no echo.
MIN_ECHO_DB = 1.0


def cancel_file(
    far: str | Path,
    mic: str | Path,
    out: str | Path,
    *,
    tail: float = 0.256,
    suppress: bool = True,
    suppressor: str = "learned",
    denoise: bool = False,
    channel: int | None = None,
    rate: int | None = None,
    certify: bool = True,
    told: Callable[[float, float], None] | None = None,
) -> EchoResult:
    """Remove the echo of one sound file from another.

    Parameters
    ----------
    far
        What the loudspeakers played: a sound file with any number of channels, at any rate. If it
        is shorter than the recording, it is padded with silence.
    mic
        What the microphone recorded.
    out
        The file to write: as long as the recording, with its rate and sample format. The extension
        chooses WAV, FLAC or OGG.
    tail
        Length of the modelled echo in seconds, from just before it begins.
    suppress
        If True, the residual suppressor follows the linear filter.
    suppressor
        ``"learned"`` or ``"rules"``, as for ``Canceller``.
    denoise
        If True, reduce stationary noise too.
    channel
        The microphone channel to use, counted from 1, if the file has several.
    rate
        Samples per second to work and write at; by default the microphone's.
    certify
        If True, certify the linear part over the first five minutes. Finding the best fixed filter
        in hindsight takes a few seconds.
    told
        Progress callback: called with the seconds done and the seconds in total.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from noregret.echo import cancel_file, demo_signals, write_sound
    >>> heard, folder = demo_signals(6.0), mkdtemp()
    >>> write_sound(f"{folder}/far.wav", heard.far, heard.rate)
    >>> write_sound(f"{folder}/mic.wav", heard.mic, heard.rate)
    >>> paths = [f"{folder}/{name}.wav" for name in ("far", "mic", "clean")]
    >>> found = cancel_file(*paths, certify=False)
    >>> found.seconds, found.erle().overall > 3
    (6.0, True)
    """
    far, mic, out = (os.fspath(path) for path in (far, mic, out))
    for source in (far, mic):
        if same_file(out, source):
            raise WrongUsage("this is what is read", "name another file for the output", file=out)
    played, heard = look_over(far), look_over(mic, channel)
    rate = working_rate(heard, rate)
    check_channels(played, heard)
    canceller = made(
        rate,
        tail=tail,
        channels=played.channels,
        suppress=suppress,
        suppressor=suppressor,
        denoise=denoise,
        certify=certify,
    )
    kind = format_for(out, heard, rate)
    with (
        reading(played, rate) as from_far,
        reading(heard, rate, channel) as from_mic,
        writing(out, rate, *kind) as to,
    ):
        work = Work(canceller, played, heard, from_mic.frames, to)
        while left := from_mic.frames - work.frames:
            size = min(BLOCKS * canceller.block, left)
            work.take(from_far.read(size), from_mic.read(size)[:, 0])
            if told is not None:
                told(work.frames / rate, from_mic.frames / rate)
    result = work.result(notes(played, heard, rate, to, denoise))
    return replace(result, notes=(*result.notes, *doubts(result, work)))


def doubts(result: EchoResult, work: Work) -> list[str]:
    """Return a note if almost no echo was found, or it comes before the far end."""
    levels = result.levels
    gone = levels.erle(levels.linear)
    if gone is not None and gone < MIN_GOOD_DB and (early := work.ahead()):
        return [
            f"The echo comes {duration(early)} before the far end, so it cannot be predicted: cut"
            f" the first {duration(early + MARGIN_SECONDS)} off the far end, and try again."
        ]
    if gone is None or gone >= MIN_ECHO_DB or levels.told_apart:
        return []
    return [
        "Hardly any echo was found: are these two recordings of the same moment, in this order, the"
        " microphone at most half a second late?"
    ]


def made(rate: int, **settings: Any) -> Canceller:
    """Return a canceller; raise WrongUsage for invalid parameters."""
    try:
        return Canceller(rate, **settings)
    except (TypeError, ValueError) as error:
        raise WrongUsage(str(error)) from None


def working_rate(mic: Sound, rate: int | None) -> int:
    """Return the rate to work at; raise an error if it is not supported."""
    if rate is not None and not MIN_RATE <= rate <= MAX_RATE:
        raise WrongUsage(
            f"a rate of {rate:,} samples per second",
            f"choose one from {MIN_RATE:,} to {MAX_RATE:,}",
        )
    if rate is None and not MIN_RATE <= mic.rate <= MAX_RATE:
        nearest = min(max(mic.rate, MIN_RATE), MAX_RATE)
        raise NoRegretError(
            f"{mic.rate:,} samples per second: supported are {MIN_RATE:,} to {MAX_RATE:,}",
            Use("rate", nearest, "add {} to work and write at that rate"),
            file=mic.path,
        )
    return rate or mic.rate


def check_channels(far: Sound, mic: Sound) -> None:
    """Raise an error if either file has too many channels."""
    if far.channels > MAX_CHANNELS:
        raise NoRegretError(
            f"{count(far.channels, 'channel')}: a far end may have {MAX_CHANNELS} at most",
            "mix it down to what the loudspeakers played",
            file=far.path,
        )
    if mic.channels > 1:
        raise NoRegretError(
            f"{count(mic.channels, 'channel')}: one microphone is cleaned at a time",
            Use("channel", 1, f"say which with {{}} (to {mic.channels})"),
            file=mic.path,
        )


def notes(far: Sound, mic: Sound, rate: int, out: Writing, denoise: bool) -> list[str]:
    """Return notes about the files for the user."""
    told = []
    if far.silent:
        told.append(
            "The far end is silent: there is no echo, and "
            + ("only noise is reduced." if denoise else "the output is the microphone's.")
        )
    if mic.silent:
        told.append("The microphone is silent: there is nothing to hear, nor in the output.")
    for name, sound in (("far end", far), ("microphone", mic)):
        if sound.rate != rate:
            told.append(
                f"The {name} was converted from {sound.rate:,} to {rate:,} samples per second."
            )
        if sound.full > 1:
            told.append(
                f"{count(sound.full, 'sample')} of the {name} ({sound.full / total(sound):.2%})"
                " are at full scale: where it was clipped, no filter can follow."
            )
        if sound.peak > 1:
            told.append(f"The {name} goes to {sound.peak:.3g} times full scale.")
    shorter = mic.seconds - far.seconds
    if abs(shorter) > 0.01:
        told.append(
            f"The far end is {duration(abs(shorter))} "
            + (
                "shorter than the microphone: silence followed."
                if shorter > 0
                else "longer: what it says after the microphone's end was left out."
            )
        )
    if out.beyond:
        told.append(f"{count(out.beyond, 'sample')} of the output were cut to full scale.")
    return [printable(words) for words in told]


def total(sound: Sound) -> int:
    """Return the number of samples in all channels."""
    return sound.frames * sound.channels
