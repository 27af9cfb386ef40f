"""``noregret echo``: remove the echo of a loudspeaker from a microphone's recording."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.app.cli import options as ask
from noregret.errors import NoRegretError, WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from noregret.app.commands.outputs import Outputs
    from noregret.echo.result import EchoResult

DEMONSTRATION = "Demonstration"
LIVE = "Live, with a loudspeaker and a microphone (not tested on real devices yet)"
# The default folder of the demo.
FOLDER = "noregret-echo-demo"
DEMO = ("far.wav", "mic.wav", "near.wav", "clean.wav", "report.html")

EXAMPLE = "noregret echo --far PLAYED.wav --mic RECORDED.wav --out CLEAN.wav"
OPTIONS = [
    ask.file(
        ask.INPUT,
        "--far",
        "The signal that the loudspeaker played (WAV, FLAC or OGG), of any number of channels and"
        " any sample rate. If it is shorter than the recording, silence follows.",
    ),
    ask.file(ask.INPUT, "--mic", "The recording of the microphone, echo included."),
    ask.option(
        ask.INPUT,
        "--channel",
        metavar="NUMBER",
        type=ask.whole_number,
        help="The channel of the recording to use, from 1, if it has several.",
    ),
    ask.option(
        ask.METHOD,
        "--tail",
        metavar="SECONDS",
        type=ask.number,
        default=0.256,
        help="Length of the adaptive filter.",
    ),
    ask.flag(
        ask.METHOD, "--linear", help="Use the linear filter only, without the residual suppressor."
    ),
    ask.option(
        ask.METHOD,
        "--suppressor",
        choices=("learned", "rules"),
        default="learned",
        help="What removes the residual: rules and a small network that was trained on speech, or"
        " rules alone.",
    ),
    ask.flag(
        ask.METHOD,
        "--denoise",
        help="Reduce stationary noise too, such as a fan's, and keep what is left of it steady.",
    ),
    ask.option(
        ask.METHOD,
        "--rate",
        metavar="HERTZ",
        type=ask.whole_number,
        help="Sample rate to work and write at, 8000 to 48000 (default: that of the recording).",
    ),
    ask.file(
        ask.OUTPUT,
        "--out",
        "Write the recording without the echo (.wav, .flac or .ogg). With --demo, the folder to"
        " write to.",
    ),
    ask.REPORT.but("Write an HTML report: echo reduction over time, the room, spectrograms."),
    ask.CERTIFICATE.but("Write the certificate of the linear filter (JSON)."),
    ask.HINDSIGHT.but(
        "Compare the first five minutes with the best fixed filter in hindsight, and certify the"
        " regret; this takes some seconds."
    ),
    ask.QUIET,
    ask.JSON,
    ask.flag(
        DEMONSTRATION,
        "--demo",
        help="Simulate a room and two voices, cancel the echo, and write sound files and a report.",
    ),
    ask.option(
        DEMONSTRATION,
        "--seed",
        metavar="NUMBER",
        type=ask.whole_number,
        help="Seed of the voices and the noise (default: 0).",
    ),
    ask.flag(
        LIVE,
        "--live",
        help="Play --far aloud, record the microphone meanwhile, and write --out without the echo;"
        " Ctrl-C ends it.",
    ),
    ask.option(LIVE, "--input", metavar="DEVICE", help="The microphone, by number or name."),
    ask.option(LIVE, "--output", metavar="DEVICE", help="The loudspeaker, by number or name."),
]


def echo(given: Namespace) -> None:
    """Remove the echo of a loudspeaker from a microphone's recording.

    The delay between the two is estimated from the signals. Files are written completely or not
    at all. Try ‘noregret echo --demo’ first: it needs no recordings.
    """
    from noregret.app.commands.printing import command_line, concluded
    from noregret.app.commands.progress import politely, sound_progress
    from noregret.echo.sound import soundfile

    outputs = check(given)
    soundfile()
    with politely(), sound_progress(hidden=given.quiet or given.json) as told:
        work = demonstrated if given.demo else cancelled_live if given.live else cancelled
        result = replace(work(given, told), command=command_line())
    outputs.out = None  # written already
    outputs.report = given.report or result.outputs.get("report")
    result, failures = outputs.write(result, {})
    if given.certificate is not None and result.certificate is None:
        failures.append(f"{given.certificate}: no certificate: {result.uncertified}")
    concluded(result, given, failures)


def check(given: Namespace) -> Outputs:
    """Check the options, and return the files to write."""
    from noregret.app.commands.outputs import Outputs
    from noregret.echo.canceller import MAX_RATE, MAX_TAIL_SECONDS, MIN_RATE

    if given.demo and given.live:
        raise WrongUsage("--demo needs no devices: leave --live out")
    if not (math.isfinite(given.tail) and 0 < given.tail <= MAX_TAIL_SECONDS):
        long = math.isfinite(given.tail) and given.tail > MAX_TAIL_SECONDS
        hint = f"; {given.tail:g} ms are {given.tail / 1000:g}" if long else ""
        raise WrongUsage(
            f"--tail is in seconds, above 0 and at most {MAX_TAIL_SECONDS:g}: "
            f"got {given.tail:g}{hint}"
        )
    if given.rate is not None and not MIN_RATE <= given.rate <= MAX_RATE:
        raise WrongUsage(f"--rate is from {MIN_RATE:,} to {MAX_RATE:,}: got {given.rate:,}")
    if given.seed is not None and (not given.demo or given.seed < 0):
        raise WrongUsage("--seed is a whole number, 0 or above, and for --demo only")
    if (given.input is not None or given.output is not None) and not given.live:
        raise WrongUsage("--input and --output name devices: they are for --live")
    if given.demo and (given.far or given.mic or given.channel is not None):
        raise WrongUsage("--demo simulates both signals: leave --far, --mic and --channel out")
    if given.live and (given.mic is not None or given.channel is not None):
        raise WrongUsage("--live records the microphone: leave --mic and --channel out")
    if given.linear and given.suppressor != "learned":
        raise WrongUsage("--linear turns the suppressor off: leave --suppressor out")
    if given.linear and given.denoise:
        raise WrongUsage("--linear turns the suppressor off, which reduces noise: leave one out")
    needed = {"far": given.far, "out": given.out} | ({} if given.live else {"mic": given.mic})
    missing = [f"--{name} FILE" for name, path in needed.items() if not path]
    if missing and not given.demo:
        raise WrongUsage(f"{' and '.join(missing)} missing: {EXAMPLE}; or try noregret echo --demo")
    folder = Path(given.out or FOLDER)
    demo = DEMO[: 4 if given.report else 5] if given.demo else ()
    outputs = Outputs.of(given)
    if given.demo:
        outputs.out = None
    sources = [path for path in (given.far, given.mic) if path is not None]
    outputs.check(sources, reserved={str(folder / name): "what the demo writes" for name in demo})
    return outputs


def common(given: Namespace) -> dict[str, Any]:
    """Return the settings shared by files, demo and live."""
    return {
        "tail": given.tail,
        "suppress": not given.linear,
        "suppressor": given.suppressor,
        "denoise": given.denoise,
        "certify": given.hindsight,
    }


def cancelled(given: Namespace, told: Any) -> EchoResult:
    """Remove the echo from a file."""
    from noregret.echo.cancelling import cancel_file

    return cancel_file(
        given.far,
        given.mic,
        given.out,
        channel=given.channel,
        rate=given.rate,
        told=told,
        **common(given),
    )


def demonstrated(given: Namespace, told: Any) -> EchoResult:
    """Simulate a room and two voices, and remove the echo."""
    from noregret.echo.showing import demonstration

    folder = Path(given.out or FOLDER)
    if folder.exists() and not folder.is_dir():
        raise NoRegretError(f"{folder}: is a file: with --demo, --out names a folder")
    if not folder.parent.is_dir():
        raise NoRegretError(f"{folder}: there is no folder {folder.parent}")
    for name in DEMO if given.out else ():
        if (folder / name).exists():
            raise NoRegretError(
                f"{folder / name}: exists already, and the demo would overwrite it: choose another"
                " folder, or remove the file"
            )
    return demonstration(
        folder, rate=given.rate or 16_000, seed=given.seed or 0, told=told, **common(given)
    )


def cancelled_live(given: Namespace, told: Any) -> EchoResult:
    """Remove the echo from a live recording."""
    from noregret.echo.live import cancel_live

    return cancel_live(
        given.far,
        given.out,
        rate=given.rate,
        input=given.input,
        output=given.output,
        **common(given),
    )
