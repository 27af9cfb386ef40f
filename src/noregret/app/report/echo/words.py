"""What came of cancelling an echo, in words: the same for the page and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.verdict import Verdict, verdict_of
from noregret.base.numbers import duration, name_of

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult, Reduction


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
        return "none", "no echo was found"
    return (
        f"{1000 * result.delay:.0f} ms",
        "from the loudspeaker signal to the microphone, estimated",
    )


def judged(result: EchoResult) -> Verdict:
    """Say what to make of the certificate, or why there is none."""
    if result.certificate is None:
        return Verdict("open", "NO CERTIFICATE", result.uncertified)
    return verdict_of(result.certificate)


def facts(result: EchoResult) -> Iterator[Fact]:
    """Yield the figures with what they mean."""
    yield Fact("delay", *delayed(result))
    linear, output = result.erle(linear=True), result.erle()
    if linear is None or output is None:
        yield Fact("echo", "none", "there is no echo to reduce")
    else:
        yield Fact("linear filter", decibel(linear.best_known), reduction(linear))
        if result.suppress:
            yield Fact("suppressor", decibel(output.best_known), reduction(output))
    if (gain := beside_hindsight(result)) is not None:
        yield Fact("hindsight", decibel(abs(gain)), compared(gain))
    if result.known is not None:
        was, now = decibel(result.known.before), decibel(result.known.after)
        yield Fact("near voice", now, f"above all else (SDR); in the microphone {was}")
        yield Fact("near level", decibel(result.known.near_change), "change where it is alone")


def beside_hindsight(result: EchoResult) -> float | None:
    """Return by how many decibels the linear part left less than the best fixed filter."""
    certificate = result.certificate
    if certificate is None or min(certificate.loss.total, certificate.hindsight.loss) <= 0:
        return None
    return 10 * math.log10(certificate.hindsight.loss / certificate.loss.total)


def compared(gain: float) -> str:
    """Say what the linear part left beside the best fixed filter."""
    how = "less" if gain >= 0 else "more"
    return f"{how} echo left than with the best fixed filter in hindsight"


def reduction(found: Reduction) -> str:
    """Say what a figure of echo reduction is."""
    if found.alone is None:
        return "quieter while the far end speaks, near voice included (ERLE)"
    return f"less echo where it is alone (ERLE); {decibel(found.overall)} in all"


def sound(result: EchoResult) -> str:
    """Say how much sound there was, and how long it took."""
    return (
        f"{duration(result.seconds)} at {result.rate:,} samples per second;"
        f" {duration(result.spent)}, {speed(result)}"
    )


def about_erle(result: EchoResult) -> str:
    """Say what the figure of echo reduction is about."""
    words = (
        "How much quieter the output is than the microphone while the far end speaks. Where the"
        " near end speaks as well, it is kept, and the curve is low."
    )
    if result.levels.told_apart:
        return f"{words} Beside each name, the mean where the echo is heard alone."
    return f"{words} Beside each name, the mean."
