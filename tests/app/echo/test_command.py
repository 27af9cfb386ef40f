"""``noregret echo``: what it writes and says, and what it refuses."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from noregret import load_certificate
from noregret.app.cli.app import run
from noregret.echo import Canceller, cancel_file, demo_signals
from noregret.echo import live as live_mode
from noregret.echo.sound import look_over
from noregret.errors import NoRegretError
from tests.thorough import sized

RATE = 16000
Say = Callable[..., tuple[int, str, str]]


@cache
def heard() -> Any:
    """Return what is played and recorded."""
    return demo_signals(5.0, RATE)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``far.wav`` and ``mic.wav``."""
    monkeypatch.chdir(tmp_path)
    soundfile.write("far.wav", heard().far, RATE)
    soundfile.write("mic.wav", heard().mic, RATE)
    return tmp_path


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run the command, and return its code and what it printed."""

    def done(*arguments: str) -> tuple[int, str, str]:
        code = run(["echo", *arguments])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        hidden = [name for name in os.listdir() if name.startswith(".")]
        assert not hidden, hidden
        return code, printed.out, printed.err

    return done


def files(mic: str = "mic.wav", far: str = "far.wav", out: str = "out.wav") -> list[str]:
    """Return a command line, without the look back, which takes seconds."""
    return ["--no-hindsight", "--far", far, "--mic", mic, "--out", out]


def test_what_is_written_is_what_the_streaming_canceller_gives(place: Path, say: Say) -> None:
    ways: dict[str, dict[str, Any]] = {
        "": {},
        "--linear": {"suppress": False},
        "--suppressor rules": {"suppressor": "rules"},
        "--denoise": {"denoise": True},
    }
    for options, settings in ways.items():
        code, out, err = say(*files(), *options.split())
        assert (code, err) == (0, "")
        assert "ERLE" in out
        far, mic = (soundfile.read(f"{name}.wav")[0] for name in ("far", "mic"))
        canceller = Canceller(RATE, **settings)
        size = len(mic) // canceller.block * canceller.block
        blocks = (one[:size].reshape(-1, canceller.block) for one in (far, mic))
        streamed = [canceller.process(*pair) for pair in zip(*blocks, strict=True)]
        written = soundfile.read("out.wav")[0]
        assert len(written) == len(mic)
        assert np.abs(written[:size] - np.concatenate(streamed)).max() < 1.01 / 2**16


def test_rates_channels_lengths_and_formats_may_differ(place: Path, say: Say) -> None:
    late = np.arange(3 * 44100) * RATE / 44100
    soundfile.write("far44.flac", np.interp(late, np.arange(len(heard().far)), heard().far), 44100)
    soundfile.write("stereo.ogg", np.stack((heard().far, 0.2 * heard().far), axis=1), RATE)
    soundfile.write("both.wav", np.stack((0 * heard().mic, heard().mic), axis=1), RATE)
    outs = ["out.wav", "out.flac", "out.ogg"]
    for number, (far, mic, more) in enumerate(
        (
            ("far44.flac", "mic.wav", []),
            ("stereo.ogg", "mic.wav", []),
            ("far.wav", "both.wav", ["--channel", "2"]),
            ("far.wav", "mic.wav", ["--rate", "8000"]),
        )
    ):
        for out in sized(["out.wav", outs[1 + number % 2]], full=outs):
            code, _, err = say(*files(mic, far, out), *more, "-q")
            assert code == 0, err
            found, read = soundfile.info(out), soundfile.info(mic)
            rate = 8000 if "--rate" in more else read.samplerate
            assert (found.samplerate, found.channels) == (rate, 1)
            assert found.frames == read.frames * rate // read.samplerate
        clean, mic_signal = soundfile.read("out.wav")[0], soundfile.read(mic, always_2d=True)[0]
        assert 0 < np.square(clean).mean() < np.square(mic_signal[:, -1]).mean()


def test_names_that_are_no_text_are_names_all_the_same(place: Path, say: Say) -> None:
    mic, out = os.fsdecode(b"m\xff<b>.wav"), os.fsdecode(b"o\xfe.wav")
    os.rename("mic.wav", mic)
    code, printed, err = say(*files(mic, out=out), "--report", "report.html")
    assert code == 0, err
    assert "\\udcff" in printed
    assert os.path.exists(out)


def test_a_silent_far_end_changes_no_sample(place: Path, say: Say) -> None:
    for subtype in ("PCM_16", "PCM_24", "FLOAT"):
        soundfile.write("mic.wav", heard().mic, RATE, subtype=subtype)
        soundfile.write("far.wav", np.zeros(1000), RATE)
        code, out, _ = say(*files(), "--report", "report.html")
        assert code == 0
        assert "silent" in out
        ours, theirs = (soundfile.read(f"{name}.wav")[0] for name in ("out", "mic"))
        assert np.array_equal(ours, theirs)


def test_a_microphone_that_nobody_hears_stays_as_it_is(place: Path, say: Say) -> None:
    soundfile.write("mic.wav", 1e-30 * heard().mic, RATE, subtype="FLOAT")
    code, out, _ = say(*files()[1:], "--tail", "0.01")
    assert code == 0
    assert "microphone is silent" in out
    assert "BOUND HOLDS" in out
    ours, theirs = (soundfile.read(f"{name}.wav")[0] for name in ("out", "mic"))
    assert np.array_equal(ours, theirs)


def test_the_kind_of_samples_stays_and_nothing_is_infinite(place: Path, say: Say) -> None:
    recorded = heard().mic[: sized(RATE // 2, full=3 * RATE // 2)]
    square = np.sign(np.sin(0.05 * np.arange(RATE)))
    for subtype, mic in (
        ("PCM_U8", recorded),
        ("PCM_24", np.clip(9 * recorded, -1, 1)),
        ("ULAW", recorded),
        ("FLOAT", 1e6 * recorded),
        ("DOUBLE", 1e200 * recorded),
        ("DOUBLE", 1e-300 * recorded),
        ("PCM_16", square),
        ("PCM_16", np.zeros(7)),
        ("PCM_16", np.array([0.5])),
    ):
        soundfile.write("odd.wav", mic, RATE, subtype=subtype)
        for far in ("far.wav", "odd.wav"):
            code, _, err = say(*files("odd.wav", far), "--report", "report.html")
            assert code == 0, err
            assert soundfile.info("out.wav").subtype == subtype
            clean = soundfile.read("out.wav")[0]
            assert len(clean) == len(mic)
            assert np.isfinite(clean).all()


def damaged() -> dict[str, str]:
    """Write files that are no recordings; return them with a word of what is said."""
    whole = Path("mic.wav").read_bytes()

    def patched(at: int, format: str, value: int) -> bytes:
        changed = bytearray(whole)
        struct.pack_into(format, changed, at, value)
        return bytes(changed)

    soundfile.write("good.flac", heard().mic, RATE)
    flac = Path("good.flac").read_bytes()
    for name, contents in {
        "empty.wav": b"",
        "text.wav": b"not a sound\n" * 40,
        "header.wav": whole[:44],
        "cut.wav": whole[:30],
        "no-rate.wav": patched(24, "<I", 0),
        "slow.wav": patched(24, "<I", 3),
        "fast.wav": patched(24, "<I", 2**31 - 1),
        "many.wav": patched(22, "<H", 60000),
        "half.flac": flac[: len(flac) // 2],
        "noise.flac": flac[:9000] + bytes(3000) + flac[12000:],
    }.items():
        Path(name).write_bytes(contents)
    for name, value in (("nan", np.nan), ("inf", np.inf)):
        soundfile.write(f"{name}.wav", np.array([0.0] * 1600 + [value]), RATE, subtype="FLOAT")
    soundfile.write("nine.wav", np.zeros((100, 9)), RATE)
    os.mkdir("folder.wav")
    os.mkfifo("pipe.wav")
    return {
        "empty.wav": "empty",
        "text.wav": "not a sound file",
        "header.wav": "no samples",
        "cut.wav": "not a sound file",
        "no-rate.wav": "not a sound file",
        "slow.wav": "3 samples per second",
        "fast.wav": "2,147,483,647 samples per second",
        "many.wav": "not a sound file",
        "half.flac": "damaged",
        "noise.flac": "damaged",
        "nan.wav": "0.100 s",
        "inf.wav": "0.100 s",
        "nine.wav": "9 channels",
        "folder.wav": "folder",
        "pipe.wav": "not a file",
        "missing.wav": "no such file",
        "\x1b[31m.wav": "no such file",
    }


def test_what_is_no_recording_is_refused_by_name_and_nothing_is_written(
    place: Path, say: Say
) -> None:
    Path("out.wav").write_bytes(b"what was there")
    for name, word in damaged().items():
        for arguments in (files(mic=name), files(far=name)):
            code, out, err = say(*arguments)
            assert (code, out) == (1, "")
            assert word in err, (name, err)
            assert err.count("\n") == 1
            assert name in err or "\x1b" in name
            assert "\x1b" not in err
    assert Path("out.wav").read_bytes() == b"what was there"


def test_places_that_cannot_be_written_to_are_refused_first(place: Path, say: Say) -> None:
    os.link("mic.wav", "hard.wav")
    os.symlink("far.wav", "soft.wav")
    os.mkdir("folder.wav")
    before = {name: Path(name).read_bytes() for name in ("mic.wav", "far.wav")}
    for out, word in {
        "mic.wav": "taken",
        "far.wav": "taken",
        "hard.wav": "taken",
        "soft.wav": "taken",
        "folder.wav": "folder",
        "no/such/out.wav": "no folder",
        "/dev/null": "not a file",
        "out.mp4": ".flac",
        "out": ".flac",
    }.items():
        code, _, err = say(*files(out=out))
        usage = word in ("taken", ".flac")
        assert (code, err.count("\n")) == ((2, 2) if usage else (1, 1))
        assert word in err, err
    for kind in ("--report", "--certificate"):
        for path in ("mic.wav", "out.wav"):
            assert say(*files()[1:], kind, path)[0] == 2
    assert all(Path(name).read_bytes() == held for name, held in before.items())
    assert not os.path.exists("out.wav")


def test_nothing_that_is_read_or_that_is_there_is_written_over(place: Path, say: Say) -> None:
    before = {path: path.read_bytes() for path in place.iterdir()}
    for out in ("far.wav", "mic.wav"):
        with pytest.raises(NoRegretError, match="what is read"):
            cancel_file("far.wav", Path("mic.wav"), Path(out))
    code, _, err = say("--demo", "--out", ".")
    assert code == 1
    assert "exists already" in err
    Path("demo").mkdir()
    code, _, err = say("--demo", "--out", "demo", "--report", "demo/clean.wav")
    assert code == 2
    assert "what the demo writes" in err
    assert {path: path.read_bytes() for path in place.iterdir() if path.is_file()} == before


def test_command_lines_that_make_no_sense_end_with_2(place: Path, say: Say) -> None:
    for arguments, word in (
        ([], "--demo"),
        (files()[:5], "--out"),
        ([*files(), "--tail", "256"], "0.256"),
        ([*files(), "--tail", "nan"], "seconds"),
        ([*files(), "--tail", "-1"], "seconds"),
        ([*files(), "--rate", "96000"], "48,000"),
        ([*files(), "--seed", "1"], "--demo"),
        ([*files(), "--certificate", "c.json"], "--no-hindsight"),
        ([*files(), "--input", "1"], "--live"),
        ([*files(), "--linear", "--suppressor", "rules"], "--suppressor"),
        ([*files(), "--linear", "--denoise"], "--linear"),
        ([*files(), "--live"], "--mic"),
        (["--demo", "--mic", "mic.wav"], "--demo"),
        (["--demo", "--live"], "--live"),
    ):
        code, _, err = say(*arguments)
        assert code == 2
        assert word in err, err


def test_a_rate_that_the_canceller_does_not_have_names_the_next_one(place: Path, say: Say) -> None:
    for rate, next_one in ((96000, 48000), (6000, 8000)):
        soundfile.write("odd.wav", heard().mic[:8000], rate)
        code, _, err = say(*files("odd.wav"))
        assert code == 1
        assert f"--rate {next_one}" in err
        assert say(*files("odd.wav"), "--rate", str(next_one))[0] == 0
        assert soundfile.info("out.wav").samplerate == next_one


def test_an_interruption_leaves_nothing_behind(place: Path) -> None:
    def stop(done: float, total: float) -> None:
        raise KeyboardInterrupt

    Path("out.wav").write_bytes(b"what was there")
    with pytest.raises(KeyboardInterrupt):
        cancel_file("far.wav", "mic.wav", "out.wav", certify=False, told=stop)
    assert Path("out.wav").read_bytes() == b"what was there"
    assert sorted(os.listdir()) == ["far.wav", "mic.wav", "out.wav"]


def test_figures_are_those_of_the_files(place: Path, say: Say) -> None:
    code, out, _ = say(*files(), "--json")
    assert code == 0
    found = json.loads(out)
    mic, clean = (soundfile.read(f"{name}.wav")[0] for name in ("mic", "out"))
    assert found["seconds"] == len(mic) / RATE
    speaks = np.repeat(np.square(heard().far).reshape(-1, 160).mean(axis=1) > 1e-5, 160)
    late = speaks & (np.arange(len(mic)) > 3 * RATE)
    independent = 10 * np.log10(np.square(mic[late]).mean() / np.square(clean[late]).mean())
    assert abs(found["erle"]["output"]["overall"] - independent) < 2.0
    assert found["delay"] is None or 0.04 < found["delay"] < 0.09


def test_the_certificate_is_that_of_the_canceller(place: Path, say: Say) -> None:
    far, mic = (heard().far[: 2 * RATE], heard().mic[: 2 * RATE])
    soundfile.write("far.wav", far, RATE, subtype="FLOAT")
    soundfile.write("mic.wav", mic, RATE, subtype="FLOAT")
    wanted = [*files()[1:], "--linear", "--certificate", "c.json", "--report", "report.html"]
    code, out, err = say(*wanted, "--tail", "0.03")
    assert (code, err) == (0, "")
    found = load_certificate("c.json")
    assert found.theorem is not None
    assert found.theorem.holds
    assert "PROMISE KEPT" in out
    assert found.data.digest in Path("report.html").read_text(encoding="utf-8")
    # Without rumble, which is no part of the game, the output's energy is about the loss.
    clean = soundfile.read("out.wav")[0]
    assert found.loss.total == pytest.approx(float(clean @ clean), rel=0.1)


def test_the_demo_writes_sounds_and_a_report_and_says_what_was_gained(
    place: Path, say: Say
) -> None:
    code, out, err = say("--demo", "--seed", "3", "--no-hindsight")
    assert (code, err) == (0, "")
    assert "SDR" in out
    folder = Path("noregret-echo-demo")
    assert {path.name for path in folder.iterdir()} == {
        "far.wav",
        "mic.wav",
        "near.wav",
        "clean.wav",
        "report.html",
    }
    demo = demo_signals(12.0, RATE, 3)
    for name in ("far", "mic", "near"):
        written = soundfile.read(folder / f"{name}.wav")[0]
        assert np.abs(written - getattr(demo, name)).max() < 1 / 2**15
    again = say("--demo", "--seed", "3", "--out", "other", "--json", "--no-hindsight")
    assert json.loads(again[1])["near"]["sdr_before"] == pytest.approx(-3.4, abs=4)
    clean = [(place / name / "clean.wav").read_bytes() for name in (folder, "other")]
    assert clean[0] == clean[1]
    assert say("--demo", "--out", "far.wav")[0] == 1


# Live, on a device that is made up.


class Devices:
    """What behaves like ``sounddevice``."""

    class PortAudioError(Exception):
        """Its failure."""

    def __init__(self, *, broken: bool = False, silent: bool = False) -> None:
        self.broken, self.silent, self.given = broken, silent, dict[str, Any]()
        self.played: list[Any] = []

    def Stream(self, **given: Any) -> Devices:  # noqa: N802
        if self.broken:
            raise self.PortAudioError("no such device")
        self.given = given
        return self

    def __enter__(self) -> Devices:
        size, (_, channels) = self.given["blocksize"], self.given["channels"]
        for _ in range(0 if self.silent else 1000):
            played = np.zeros((size, channels), dtype=np.float32)
            recorded = np.full((size, 1), 0.1, dtype=np.float32)
            self.given["callback"](recorded, played, size, None, None)
            self.played.append(played[:, 0])
        return self

    def __exit__(self, *failure: object) -> None:
        pass


def test_live_plays_records_and_writes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soundfile.write("short.wav", heard().far[:RATE], RATE)
    devices = Devices()
    found = live_mode.cancel_live("short.wav", "out.wav", certify=False, input="2", library=devices)
    assert devices.given["device"] == (2, None)
    assert devices.given["samplerate"] == RATE
    assert look_over("out.wav").seconds == found.seconds == 2.0
    begin = np.concatenate(devices.played[: live_mode.MAX_QUEUED_BLOCKS])
    assert np.abs(begin - heard().far[: len(begin)]).max() < 1 / 2**15
    with pytest.raises(NoRegretError, match="no such device"):
        live_mode.cancel_live("short.wav", "bad.wav", library=Devices(broken=True))
    monkeypatch.setattr(live_mode, "MAX_WAIT_SECONDS", 0.01)
    with pytest.raises(NoRegretError, match="delivered no sound"):
        live_mode.cancel_live("short.wav", "bad.wav", library=Devices(silent=True))
    assert sorted(os.listdir()) == ["far.wav", "mic.wav", "out.wav", "short.wav"]


def test_missing_libraries_are_named_with_how_to_get_them(
    place: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    code, _, err = say("--live", "--far", "far.wav", "--out", "out.wav")
    assert code == 1
    assert 'pip install "noregret[live]"' in err
    monkeypatch.setitem(sys.modules, "soundfile", None)
    code, _, err = say(*files())
    assert code == 1
    assert 'pip install "noregret[echo]"' in err
