"""The report of an echo cancellation: one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from noregret.app.report.echo.charts import erle_chart, level_chart, response_charts
from noregret.app.report.echo.spectra import STYLE, spectra
from noregret.app.report.echo.words import (
    beside_hindsight,
    compared,
    decibel,
    delayed,
    helped_by,
    judged,
    reduction,
    speed,
    title,
)
from noregret.app.report.page.document import document, header, tile
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import again_section, facts, section, shown
from noregret.app.report.run.certificate import certificate_section
from noregret.base.numbers import duration, figure

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult
    from noregret.echo.sound import Sound


def page(result: EchoResult) -> str:
    """Return the page."""
    return document(title(result), result.version, sections(result), STYLE)


def sections(result: EchoResult) -> list[str]:
    """Return the sections of the page, top to bottom."""
    charts = element("div", erle_chart(result), level_chart(result), class_="pair")
    room = response_charts(result)
    return [
        head(result),
        section("Before and after", spectra(result)),
        section("Over time", charts),
        section("The room", element("div", *room, class_="pair")) if room else "",
        proof(result),
        made_section(result),
        again_section(cast("Any", result)),
    ]


def head(result: EchoResult) -> Html:
    """Return the title, the verdict and the headline figures."""
    return header(
        title(result),
        (helped_by(result), judged(result)),
        sentence(result),
        headline_figures(result),
        notes=[element("p", note, class_="aside") for note in result.notes],
    )


def sentence(result: EchoResult) -> str:
    """Summarize the result in one or two sentences."""
    found = result.erle()
    if found is None:
        return "There was no echo to cancel."
    by = "a linear filter" + (" and a residual suppressor" if result.suppress else "")
    lower = "lower" if found.best_known >= 0 else "HIGHER"
    when = "Where only the echo is heard" if found.alone is not None else "While the far end speaks"
    told = (
        f"{when}, the output is {decibel(abs(found.best_known))} {lower} than the microphone"
        f" signal, after {by} that adapted to the room."
    )
    if result.known is not None:
        told += (
            f" The signal-to-distortion ratio of the near voice rose from"
            f" {decibel(result.known.before)} to {decibel(result.known.after)}."
        )
    return told


def headline_figures(result: EchoResult) -> Iterable[Html]:
    """Yield the headline figures."""
    yield tile("sound", duration(result.seconds), f"{figure(result.rate)} samples per second")
    yield tile("delay", *delayed(result))
    linear, output = result.erle(linear=True), result.erle()
    if linear is not None and output is not None:
        yield tile("linear filter", decibel(linear.best_known), reduction(linear))
        if result.suppress:
            yield tile("with suppressor", decibel(output.best_known), reduction(output))
    if (gain := beside_hindsight(result)) is not None:
        yield tile("vs hindsight", decibel(abs(gain)), compared(gain))
    if result.known is not None:
        was = decibel(result.known.before)
        yield tile("near voice", decibel(result.known.after), f"SDR, from {was}")
    number, _, unit = speed(result).partition(" ")
    yield tile("speed", number, f"{unit}, in blocks of {1000 * result.block / result.rate:.3g} ms")


def proof(result: EchoResult) -> Html:
    """Return the certificate of the linear filter, or the reason why there is none."""
    if result.certificate is None:
        return section("Certificate", element("p", result.uncertified, class_="aside"))
    return certificate_section(cast("Any", result), judged(result))


def made_section(result: EchoResult) -> Html:
    """Return the files and the settings."""
    files: list[tuple[str, str]] = [
        ("Far end", told(result.far)),
        ("Microphone", told(result.mic)),
        *(
            (kind.capitalize(), shown(path))
            for kind, path in result.outputs.items()
            if path not in (result.far.path, result.mic.path)
        ),
    ]
    done: list[tuple[str, str]] = [
        ("Tail", f"{1000 * result.tail:g} ms, starting slightly before the echo"),
        ("Block", f"{result.block:,} samples"),
        ("Suppressor", result.suppressor if result.suppress else "off"),
        ("Noise suppressor", "on" if result.denoise else "off"),
        ("Time", f"{duration(result.spent)}, {speed(result)}"),
        ("Started", result.started),
        ("Version", f"noregret {result.version}"),
    ]
    columns = element("div", facts(files), facts(done), class_="columns")
    return section("Details", columns)


def told(sound: Sound) -> Html:
    """Return the path and the format of a file."""
    kind = f"{sound.format} {sound.subtype.replace('_', ' ')}, {sound.rate:,} samples per second"
    more = f"{kind}, {duration(sound.seconds)}" + (
        f", {sound.channels} channels" if sound.channels > 1 else ""
    )
    return element("div", shown(sound.path), element("div", more, class_="words"))
