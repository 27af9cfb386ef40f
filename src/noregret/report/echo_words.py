"""What came of cancelling an echo, in words: the same for the page and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from noregret.report.figures import count, duration, name_of
from noregret.report.sheet import Fact
from noregret.report.verdict import Verdict, verdict_of

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult


def title(result: EchoResult) -> str:
    """Name what was done."""
    mic, far = (name_of(Path(sound.path).name) for sound in (result.mic, result.far))
    return f"{mic} without the echo of {far}"


def decibel(value: float | None) -> str:
    """Write decibels.

    >>> decibel(20.04), decibel(-0.04), decibel(None)
    ('20.0 dB', '0.0 dB', 'not known')
    """
    if value is None or not math.isfinite(value):
        return "not known"
    return f"{round(value, 1) + 0.0:.1f} dB"


def speed(result: EchoResult) -> str:
    """Say how fast it went."""
    times = f"{result.speed:,.0f}" if result.speed >= 10 else f"{result.speed:.2g}"
    return f"{times}× real time"


def delayed(result: EchoResult) -> tuple[str, str]:
    """Return the delay that was found, and what it is."""
    if result.delay is None:
        return "none", "no echo was found to tell a delay from"
    return f"{1000 * result.delay:.0f} ms", "from the far end to the microphone, found by itself"


def judged(result: EchoResult) -> Verdict:
    """Say what to make of the certificate, or why there is none."""
    if result.certificate is None:
        return Verdict("open", "NO CERTIFICATE", result.uncertified)
    return verdict_of(result.certificate)


def facts(result: EchoResult) -> Iterator[Fact]:
    """Yield the figures with what they mean."""
    channels = "stereo" if result.far.channels == 2 else "mono"
    yield Fact(
        "sound",
        duration(result.seconds),
        f"at {result.rate:,} samples a second; the far end is {channels}",
    )
    yield Fact("delay", *delayed(result))
    if result.linear_erle is not None:
        yield Fact(
            "linear", decibel(result.linear_erle), "less echo by the linear filter alone (ERLE)"
        )
        if result.suppress:
            yield Fact("echo", decibel(result.erle), "less with the residual suppressor (ERLE)")
    else:
        yield Fact("echo", "none", "there is no echo to reduce")
    if result.known is not None:
        was, now = decibel(result.known.before), decibel(result.known.after)
        yield Fact(
            "near", now, f"of the near voice to all else (SDR), from {was} in the microphone"
        )
        yield Fact(
            "near level",
            decibel(result.known.near_change),
            "louder or quieter where it speaks alone; 0 is best",
        )
    yield Fact(
        "speed",
        speed(result),
        f"{duration(result.spent)} for {count(-(-result.frames // result.block), 'block')} of"
        f" {1000 * result.block / result.rate:.3g} ms",
    )


def about_erle(result: EchoResult) -> str:
    """Say what the figure of echo reduction is about."""
    return (
        "How much quieter the output is than the microphone while the far end speaks, after the"
        " first 3 seconds. Where the near end speaks as well, that is kept, and lowers the figure."
    )
