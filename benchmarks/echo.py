"""Echo cancelled by us, SpeexDSP, WebRTC and padasip: how much, at what cost to the near speaker.

Every figure is defined in noregret.echo.measures. Real recordings come from the folder that the
environment variable NOREGRET_DATA names (see _echo_clips.py); without it, made-up rooms remain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks import _echo_peers as cancellers
from benchmarks._echo_clips import RATE, Clip, drawn, first_words, hostile, recorded
from benchmarks._echo_peers import Cancel, Floats
from benchmarks._harness import Grid, Row, race, skipped
from noregret.echo import measures, voice
from noregret.echo.frames import echo_only, near_only

PACKAGES = ("scipy", *cancellers.installed())
OURS: dict[str, Cancel] = {
    "noregret, linear": cancellers.noregret_linear,
    "noregret": cancellers.noregret,
}
LINEAR = ("SpeexDSP, linear", "padasip NLMS", "one filter in hindsight")
SUPPRESSING = ("SpeexDSP", "WebRTC")
# A figure of a recording and of what a canceller made of it.
Figure = Callable[[Clip, Floats], float]


class Bench:
    """Cancellers and what they made of recordings, each computed once."""

    def __init__(self) -> None:
        self.cancellers = OURS | cancellers.peers()
        self.cancellers["one filter in hindsight"] = cancellers.one_filter
        self.made: dict[tuple[str, int], Floats] = {}
        self.kept: list[Clip] = []  # their ids are keys as long as they live

    def output(self, name: str, clip: Clip) -> Floats:
        """Return what a canceller made of a recording."""
        key = name, id(clip)
        if key not in self.made:
            self.kept.append(clip)
            self.made[key] = self.cancellers[name](clip.far, clip.mic, clip.rate)
        return self.made[key]

    def figures(self, name: str, clips: list[Clip], figure: Figure) -> Floats:
        """Return a figure of each recording for one canceller."""
        return np.array([figure(clip, self.output(name, clip)) for clip in clips])

    def row(
        self,
        work: str,
        clips: list[Clip],
        figure: Figure,
        names: tuple[str, tuple[str, ...]],
        target: str = "",
        reached: Callable[[dict[str, Floats]], bool | None] | None = None,
    ) -> Row:
        """Compare one of ours with peers; the target is judged by all figures.

        Recordings in which there is nothing to measure are left out.
        """
        ours, others = names[0], [name for name in names[1] if name in self.cancellers]
        found = {name: self.figures(name, clips, figure) for name in (ours, *others)}
        there = np.isfinite(found[ours])
        found = {name: figures[there] for name, figures in found.items()}
        if not there.any():
            return skipped(work, "no frames to measure it in")
        beside = "; ".join(f"{name} {words(found[name])}" for name in others)
        gained = [float(np.mean(found[ours]) - np.mean(found[name])) for name in others]
        ratio = ", ".join(f"{gain:+.1f} dB" for gain in gained)
        work = f"{work}, {there.sum()} recordings"
        verdict = None if reached is None else reached(found)
        return Row(work, words(found[ours]), beside, ratio, target, verdict)


def run(quick: bool) -> Iterator[Row | Grid]:
    absent = cancellers.missing()
    for name, package in absent.items():
        yield skipped(f"echo: {name}", f"{package} is not installed")
    real = [] if quick or "sound files" in absent else recorded()
    if not real:
        reason = "NOREGRET_DATA names no folder with echo/*_far.wav"
        yield skipped("echo: real recordings", "not in a quick run" if quick else reason)
    made, bench = drawn(5.0 if quick else 12.0), Bench()
    yield from far_end(bench, [clip for clip in real if clip.name.startswith("real_farend")])
    yield from double_talk(bench, real, made)
    yield from first_second(bench, [clip for clip in real if clip.name.startswith("synth")])
    yield never_louder(bench)
    yield from speeds(quick)
    yield every_clip(bench, [*real, *made])


def words(figures: Floats) -> str:
    return f"{np.mean(figures):.1f} dB (worst {np.min(figures):.1f})"


def far_end(bench: Bench, clips: list[Clip]) -> Iterator[Row]:
    """Compare where no one speaks near the microphone."""
    if not clips:
        return

    def beats(found: dict[str, Floats]) -> bool | None:
        ours, peer = found["noregret, linear"], found.get("SpeexDSP, linear")
        return None if peer is None else bool(ours.mean() > peer.mean() and ours.min() >= 0)

    def at_least_20(found: dict[str, Floats]) -> bool:
        return bool(found["noregret"].mean() >= 20)

    yield bench.row(
        "real far end, ERLE after 3 s, linear part",
        clips,
        after_3_seconds,
        ("noregret, linear", LINEAR),
        "more than SpeexDSP's, none worse",
        beats,
    )
    yield bench.row(
        "real far end, ERLE after 3 s, with suppressor",
        clips,
        after_3_seconds,
        ("noregret", SUPPRESSING),
        "≥ 20 dB",
        at_least_20,
    )
    yield bench.row(
        "real far end, ERLE from the start, with suppressor",
        clips,
        lambda clip, clean: measures.erle(clip.mic, clean, clip.rate, 0.0),
        ("noregret", SUPPRESSING),
    )
    yield bench.row(
        "the same 300 ms later, ERLE after 3 s, with suppressor",
        [clip.later(0.3) for clip in clips],
        after_3_seconds,
        ("noregret", SUPPRESSING),
        "≥ 20 dB",
        at_least_20,
    )


def after_3_seconds(clip: Clip, clean: Floats) -> float:
    return measures.erle(clip.mic, clean, clip.rate)


def double_talk(bench: Bench, real: list[Clip], made: list[Clip]) -> Iterator[Row]:
    """Both speak: what is left of the near speaker, and of the echo where that is silent."""
    for kind, clips in (
        ("real double talk", [clip for clip in real if clip.name.startswith("real_double")]),
        ("mixed double talk", [clip for clip in real if clip.name.startswith("synth")]),
        ("made-up rooms", made),
    ):
        if not clips:
            continue
        yield bench.row(f"{kind}, ERLE of echo alone", clips, echo_left, ("noregret", SUPPRESSING))
        yield near_row(bench, kind, clips)
        if clips[0].near is not None:
            for ours in OURS:
                yield sdr_row(bench, kind, clips, ours)


def echo_left(clip: Clip, clean: Floats) -> float:
    heard = echo_only(clip.far, clip.mic, clip.rate, clip.near)
    return measures.erle_in(clip.mic, clean, clip.rate, heard)


def near_row(bench: Bench, kind: str, clips: list[Clip]) -> Row:
    """Compare how much louder or quieter the near speaker became where that speaks alone."""

    def change(clip: Clip, clean: Floats) -> float:
        alone = near_only(clip.far, clip.mic, clip.rate, clip.near)
        return -abs(measures.near_change(clip.mic, clean, clip.rate, alone))

    def within_1(found: dict[str, Floats]) -> bool:
        return bool(found["noregret"].min() > -1)

    work = f"{kind}, change of the near speaker alone"
    return bench.row(work, clips, change, ("noregret", SUPPRESSING), "less than 1 dB", within_1)


def sdr_row(bench: Bench, kind: str, clips: list[Clip], ours: str) -> Row:
    def sdr(clip: Clip, clean: Floats) -> float:
        assert clip.near is not None
        return measures.near_distortion(clip.near, clean, clip.rate)

    def best(found: dict[str, Floats]) -> bool | None:
        others = [found[name].mean() for name in ("SpeexDSP, linear", "WebRTC") if name in found]
        return bool(found[ours].mean() > max(others)) if len(others) == 2 else None

    beside = ("SpeexDSP, linear", *SUPPRESSING, "one filter in hindsight")
    work = f"{kind}, SDR of the near speaker, {ours}"
    target = "more than SpeexDSP's filter and WebRTC"
    return bench.row(work, clips, sdr, (ours, beside), target, best)


def first_second(bench: Bench, clips: list[Clip]) -> Iterator[Row]:
    """Yield the reduction after one second of far-end speech, where a filter could reach 20 dB."""

    def figure(clip: Clip, clean: Floats) -> float:
        return measures.first_second(clip.far, clip.mic, clean, clip.rate)

    def whole(clip: Clip, clean: Floats) -> float:
        return measures.erle(clip.mic, clean, clip.rate, 0.0)

    said = list(first_words(clips))
    reach = bench.figures("one filter in hindsight", said, whole)
    chosen = [clip for clip, most in zip(said, reach, strict=True) if most >= 20]
    for ours, beside in (("noregret, linear", ("SpeexDSP, linear",)), ("noregret", SUPPRESSING)):
        yield bench.row(
            f"ERLE after the first second of speech, {ours}",
            chosen,
            figure,
            (ours, beside),
            "≥ 10 dB on each",
            partial(each_at_least, 10.0, ours),
        )


def each_at_least(limit: float, name: str, found: dict[str, Floats]) -> bool:
    return bool(found[name].min() >= limit)


def never_louder(bench: Bench) -> Row:
    """Compare how much louder than the microphone any 100 ms come out, at the worst."""
    clips = list(hostile())
    found = {}
    for name in (*OURS, "SpeexDSP, linear", *SUPPRESSING):
        if name in bench.cancellers:
            outputs = [bench.output(name, clip) for clip in clips]
            found[name] = max(
                measures.excess(clip.mic, np.nan_to_num(clean, nan=1e3), clip.rate)
                for clip, clean in zip(clips, outputs, strict=True)
            )
    ours = max(found.pop(name) for name in OURS)
    beside = "; ".join(f"{name} {most:+.1f} dB" for name, most in found.items())
    work = f"hostile signals, louder than the microphone by, {len(clips)} recordings"
    return Row(work, f"{ours:+.1f} dB", beside, "", "≤ 1 dB", ours <= 1)


def speeds(quick: bool) -> Iterator[Row]:
    """Time all on the same ten seconds, in turns: seconds of sound per second of processor.

    Some noise keeps WebRTC from computing with denormal numbers, which takes it thrice as long.
    """
    seconds = 1.0 if quick else 10.0
    size = round(seconds * RATE)
    far = voice(seconds, RATE, 3) + 1e-3 * np.random.default_rng(5).standard_normal(size)
    mic = 0.5 * np.roll(far, 400) + 0.1 * voice(seconds, RATE, 4)
    contest: dict[str, Cancel] = OURS | cancellers.peers()
    best = race(
        *[partial(cancel, far, mic, RATE) for cancel in contest.values()],
        seconds=0 if quick else 15,
        clock=time.process_time,
    )
    times = dict(zip(contest, (seconds / each for each in best), strict=True))
    beside = "; ".join(f"{name} {times[name]:.0f}×" for name in contest if name not in OURS)
    for name in OURS:
        fastest = max((times[peer] for peer in contest if peer not in OURS), default=np.nan)
        ratio = f"{times[name] / fastest:.2f}× the fastest's speed" if fastest > 0 else ""
        work = f"speed at 16 kHz, tail of 256 ms, {name}"
        reached = times[name] >= 200
        yield Row(work, f"{times[name]:.0f}× real time", beside, ratio, "≥ 200×", reached)


def every_clip(bench: Bench, clips: list[Clip]) -> Grid:
    names = list(bench.cancellers)
    table = np.array([bench.figures(name, clips, after_3_seconds) for name in names]).T
    lines = [
        (clip.name, [f"{figure:.1f}" for figure in figures])
        for clip, figures in zip(clips, table, strict=True)
    ]
    title = "Energy taken out of the microphone's signal after 3 s, near speaker included, in dB"
    return Grid(title, names, lines)
