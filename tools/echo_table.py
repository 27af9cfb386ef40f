"""Write the tables of docs/echo.md: all cancellers on the same recordings, real, mixed and made.

    NOREGRET_DATA=folder python tools/echo_table.py

The folder holds echo/real_farend_*, echo/real_doubletalk_* and echo/synth_*, see _echo_clips.py,
and voices in speech/, see _echo_talk.py.
The peers are those of the extra "bench"; of one that is not installed, the page keeps its row about
recordings, which are always the same.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._echo_clips import Clip, recorded  # noqa: E402
from benchmarks._echo_ear import intelligibility, quality  # noqa: E402
from benchmarks._echo_peers import Floats, noregret_denoise, noregret_rules  # noqa: E402
from benchmarks._echo_talk import double_talk  # noqa: E402
from benchmarks._pages import fill, table  # noqa: E402
from benchmarks.echo import OURS, Bench, Figure, after_3_seconds, echo_left  # noqa: E402
from noregret.echo import measures  # noqa: E402
from noregret.echo.frames import near_only  # noqa: E402

PAGE = ROOT / "docs" / "echo.md"
# Made clips, quiet and noisy, and what is judged by all of them.
CLIPS, NOISY_CLIPS = 200, 20
JUDGED = ("noregret, linear", "noregret", "noregret, rules", "SpeexDSP", "the microphone")
OPTIONS = {"noregret, rules": noregret_rules, "noregret, denoise": noregret_denoise}


def main() -> None:
    """Measure all and fill the page."""
    clips, bench = recorded(), Bench()
    bench.cancellers = OURS | OPTIONS | bench.cancellers
    if not clips:
        raise SystemExit("NOREGRET_DATA names no folder with echo/*_far.wav")
    real = [clip for clip in clips if clip.name.startswith("real_farend")]
    mixed = [clip for clip in clips if clip.name.startswith("synth")]
    both = [clip for clip in clips if clip.name.startswith("real_double")] + mixed
    columns: list[tuple[str, list[Clip], Figure]] = [
        ("far end alone", real, after_3_seconds),
        ("300 ms later", [clip.later(0.3) for clip in real], after_3_seconds),
        ("echo alone, both talk", both, echo_left),
        ("near alone", both, near_alone),
        ("near speaker's SDR", mixed, beside_all_else),
    ]
    rows = []
    for name in bench.cancellers:
        found = [bench.figures(name, chosen, figure) for _, chosen, figure in columns]
        rows.append([name, *(f"{np.nanmean(each):.1f}" for each in found)])
    before = [[figure(clip, clip.mic) for clip in chosen] for _, chosen, figure in columns]
    rows.append(["the microphone", *(f"{np.nanmean(each):.1f}" for each in before)])
    headings = ["dB, on average", *(heading for heading, _, _ in columns)]
    fill(PAGE, "figures", table(headings, [*rows[:-1], *kept(rows), rows[-1]], figures=True))
    bench.cancellers["the microphone"] = lambda far, mic, rate: mic
    fill(PAGE, "by ear", by_ear(bench, "both talk", double_talk(CLIPS, judging=True), JUDGED))
    noisy = double_talk(NOISY_CLIPS, judging=True, noise=(0, 20))
    fill(PAGE, "in noise", by_ear(bench, "both talk in noise", noisy, (*JUDGED, *OPTIONS)))


def kept(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows about recordings that the page has of peers that are not installed."""
    page = PAGE.read_text(encoding="utf-8").split("<!-- by ear", 1)[0]
    found = re.findall(r"^\| (WebRTC|padasip NLMS|SpeexDSP.*?) \| (.*) \|$", page, re.MULTILINE)
    there = {row[0] for row in rows}
    return [[name, *cells.split(" | ")] for name, cells in found if name not in there]


def by_ear(bench: Bench, what: str, clips: list[Clip], judged: tuple[str, ...]) -> str:
    """Return a table of double talk."""
    print(f"{what}: {len(clips)} clips", flush=True)
    heard = {
        name: [bench.figures(name, clips, figure) for figure in (intelligibility, quality)]
        for name in bench.cancellers
        if name in judged
    }
    linear = heard["noregret, linear"][0]
    rows = [
        [
            name,
            f"{stoi.mean():.3f}",
            f"{np.min(stoi - linear):+.3f}",
            f"{np.sum(stoi < linear - 0.01)}",
            f"{np.nanmean(pesq):.2f}",
        ]
        for name, (stoi, pesq) in heard.items()
    ]
    against = "worst against our filter's"
    headings = [f"{what}, {len(clips)} clips", "STOI", against, "0.01 below it", "PESQ"]
    return table(headings, rows, figures=True)


def near_alone(clip: Clip, clean: Floats) -> float:
    """Return by how much louder the near speaker is where that talks alone."""
    alone = near_only(clip.far, clip.mic, clip.rate, clip.near)
    return measures.near_change(clip.mic, clean, clip.rate, alone)


def beside_all_else(clip: Clip, clean: Floats) -> float:
    """Return the near speaker's energy over that of all the rest."""
    assert clip.near is not None
    return measures.near_distortion(clip.near, clean, clip.rate)


if __name__ == "__main__":
    main()
