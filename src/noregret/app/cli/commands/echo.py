"""``noregret echo``: take what a loudspeaker played out of what a microphone recorded."""

from __future__ import annotations

from typing import Annotated

from noregret.app.commands.options import INPUT, OUTPUT, Ask

HOW = "How the echo is cancelled"
TRY = "To try it"
LIVE = "Live, with a loudspeaker and a microphone (not tested on real devices yet)"


def echo(
    far: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="What the loudspeaker played (WAV, FLAC, OGG), mono, stereo or more, at any rate."
            " Where it is shorter than the recording, silence follows.",
            panel=INPUT,
        ),
    ] = None,
    mic: Annotated[
        str | None,
        Ask(metavar="FILE", help="What the microphone recorded, echo and all.", panel=INPUT),
    ] = None,
    channel: Annotated[
        int | None,
        Ask(
            help="Which channel of the microphone's file is meant, from 1, where it has several.",
            panel=INPUT,
        ),
    ] = None,
    tail: Annotated[
        float,
        Ask(
            metavar="SECONDS",
            help="How long a filter to learn, in seconds, from a little before the echo.",
            panel=HOW,
        ),
    ] = 0.256,
    linear: Annotated[
        bool,
        Ask(
            names=("--linear",),
            help="Leave it at the linear filter, without the residual suppressor.",
            panel=HOW,
        ),
    ] = False,
    rate: Annotated[
        int | None,
        Ask(
            help="Samples a second to work and to write at, 8000 to 48000; the microphone's if not"
            " given.",
            panel=HOW,
        ),
    ] = None,
    out: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="Write what is left (.wav, .flac, .ogg): as long as the recording, at its rate."
            " With --demo, the folder to write to.",
            panel=OUTPUT,
        ),
    ] = None,
    report: Annotated[
        str | None,
        Ask(
            metavar="FILE",
            help="Write a report (HTML): echo reduction over time, the room, spectrograms.",
            panel=OUTPUT,
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        Ask(metavar="FILE", help="Write the linear filter's certificate (JSON).", panel=OUTPUT),
    ] = None,
    hindsight: Annotated[
        bool,
        Ask(
            help="Compare with the best fixed filter in hindsight, and certify, the first five"
            " minutes: it takes some seconds.",
            panel=OUTPUT,
        ),
    ] = True,
    quiet: Annotated[
        bool, Ask(names=("--quiet", "-q"), help="Print nothing.", panel=OUTPUT)
    ] = False,
    json: Annotated[
        bool, Ask(names=("--json",), help="Print the figures as JSON.", panel=OUTPUT)
    ] = False,
    demo: Annotated[
        bool,
        Ask(
            names=("--demo",),
            help="Make up a room and two voices, cancel the echo, and say what was gained: sound"
            " files to listen to, and a report.",
            panel=TRY,
        ),
    ] = False,
    seed: Annotated[
        int | None,
        Ask(help="Which room's noise and which voices: another seed, others.", panel=TRY),
    ] = None,
    live: Annotated[
        bool,
        Ask(
            names=("--live",),
            help="Play --far aloud, record the microphone meanwhile, and write --out without the"
            " echo; Ctrl-C ends it.",
            panel=LIVE,
        ),
    ] = False,
    input: Annotated[
        str | None,
        Ask(metavar="DEVICE", help="The microphone, by number or name.", panel=LIVE),
    ] = None,
    output: Annotated[
        str | None,
        Ask(metavar="DEVICE", help="The loudspeaker, by number or name.", panel=LIVE),
    ] = None,
) -> None:
    """Take what a loudspeaker played out of what a microphone recorded.

    The delay between the two is found by itself. What is written is whole or not at all.
    Try `noregret echo --demo` first: it needs no recordings.
    """
    from noregret.app.commands.echo.command import Wanted, carry_out

    carry_out(
        Wanted(
            far=far,
            mic=mic,
            out=out,
            tail=tail,
            linear=linear,
            channel=channel,
            rate=rate,
            report=report,
            certificate=certificate,
            hindsight=hindsight,
            seed=seed,
            input=input,
            output=output,
        ),
        demo=demo,
        live=live,
        quiet=quiet,
        as_json=json,
    )
