"""The result of an echo cancellation in words, shared by the HTML page and the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import Fact
from noregret.app.report.certificate.verdict import Verdict, verdict_of
from noregret.app.report.helped import Plain, beneath, helped, unknown
from noregret.base.numbers import duration, name_of

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult, Reduction


def title(result: EchoResult) -> str:
    """Return the title."""
    mic, far = (name_of(Path(sound.path).name) for sound in (result.mic, result.far))
    return f"{mic} without the echo of {far}"


def decibel(value: float | None) -> str:
    """Return decibels as text.

    >>> decibel(20.04), decibel(-0.04), decibel(None)
    ('20.0 dB', '0.0 dB', 'not known')
    """
    if value is None or not math.isfinite(value):
        return "not known"
    return f"{round(value, 1) + 0.0:.1f} dB"


def speed(result: EchoResult) -> str:
    """Return the speed relative to real time."""
    times = f"{result.speed:,.0f}" if result.speed >= 10 else f"{result.speed:.2g}"
    return f"{times}× real time"


def delayed(result: EchoResult) -> tuple[str, str]:
    """Return the estimated delay and its meaning."""
    if result.delay is None:
        return "none", "no echo was found"
    return (
        f"{1000 * result.delay:.0f} ms",
        "from the loudspeaker signal to the microphone, estimated",
    )


def judged(result: EchoResult) -> Verdict:
    """Return the verdict of the certificate, or the reason why there is none."""
    if result.certificate is None:
        return Verdict("open", "NO CERTIFICATE", result.uncertified)
    return beneath(helped_by(result), verdict_of(result.certificate))


def helped_by(result: EchoResult) -> Verdict | None:
    """Return whether less echo is heard than in the microphone's signal."""
    found = result.erle()
    if found is None or not math.isfinite(found.best_known):
        return unknown("There is no echo to reduce.")
    how = "less" if found.best_known >= 0 else "more"
    words = f"{decibel(abs(found.best_known))} {how} echo than in the untouched microphone signal"
    if found.alone is None:
        words = f"{decibel(abs(found.best_known))} {how} sound than in the untouched microphone"
        words += " signal while the far end speaks, the near voice included"
        if result.known is None and found.best_known >= 0:  # it may be the voice that is gone
            return unknown(f"{words}: echo and near voice could not be told apart.")
    compared = [Plain(10 ** (-found.best_known / 10), words)]
    if result.known is not None:
        was, now = result.known.before, result.known.after
        words = f"the near voice has {decibel(now)} signal to distortion, {decibel(was)} untouched"
        compared.append(Plain(10 ** ((was - now) / 10), words))
    return helped(compared)


def facts(result: EchoResult) -> Iterator[Fact]:
    """Yield the figures, each with an explanation."""
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
        yield Fact("near voice", now, f"SDR (signal to distortion); {was} before")
        change = decibel(result.known.near_change)
        yield Fact("near level", change, "change of the near voice where it speaks alone")


def beside_hindsight(result: EchoResult) -> float | None:
    """Return the linear filter's gain over the best fixed filter, in decibels.

    None without a certificate, or if the recording is so short that a filter fits all of it.
    """
    certificate = result.certificate
    if certificate is None or certificate.data.rounds <= 2 * certificate.data.features:
        return None
    if min(certificate.loss.total, certificate.hindsight.loss) <= 0:
        return None
    return 10 * math.log10(certificate.hindsight.loss / certificate.loss.total)


def compared(gain: float) -> str:
    """Compare the residual echo with that of the best fixed filter in words."""
    how = "less" if gain >= 0 else "more"
    return f"{how} residual echo than with the best fixed filter in hindsight"


def reduction(found: Reduction) -> str:
    """Return the meaning of an echo reduction."""
    if found.alone is None:
        return "ERLE while the far end speaks, near voice included"
    return f"ERLE where only the echo is heard; {decibel(found.overall)} overall"


def sound(result: EchoResult) -> str:
    """Return the duration of the sound, the time taken and the speed."""
    return (
        f"{duration(result.seconds)} at {result.rate:,} samples per second;"
        f" processed in {duration(result.spent)}, {speed(result)}"
    )


def about_erle(result: EchoResult) -> str:
    """Explain the chart of the echo reduction."""
    words = (
        "Level of the microphone minus that of the output while the far end speaks. Where the near"
        " end speaks too, its voice is kept, and the curve is low."
    )
    if result.levels.told_apart:
        return f"{words} The figures are means where only the echo is heard."
    return f"{words} The figures are means."
