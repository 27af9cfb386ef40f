"""The certificate of a canceller: its figures by other means, confirmed, and refused if changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from scipy import signal

import noregret
from noregret import CertificateError, NoRegretError
from noregret.app.cli.app import run
from noregret.echo import Canceller, cancel_file, canceller
from noregret.echo.certifying import as_linear
from noregret.proof.certificates.certificate import seal

RATE = 8000


def recordings(seconds: float = 0.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noise in single precision and its echo, with more noise."""
    random = np.random.default_rng(seed)
    far = 0.2 * random.standard_normal(round(seconds * RATE))
    mic = np.convolve(far, [0, 0, 0.5, -0.3, 0.1])[: len(far)]
    mic += 0.02 * random.standard_normal(len(far))
    return far.astype(np.float32), mic.astype(np.float32)


def played(far: Any, mic: Any, **params: Any) -> Canceller:
    """A small canceller that kept what it played."""
    made = Canceller(RATE, **{"tail": 0.002, "block": 16, "certify": True} | params)
    made.process_many(far, mic)
    return made


def test_figures_are_those_of_other_libraries() -> None:
    far, mic = recordings(1.0)
    for delay in (0.0, 0.1):
        late = np.concatenate([np.zeros(round(delay * RATE)), mic])[: len(mic)].astype(np.float32)
        made = played(far, late, tail=0.01, suppress=False)
        found = made.certificate()
        first = int(next(iter(found.hindsight.witness)))
        assert 0 <= delay - first / RATE <= 0.03
        assert first >= made.path_delay
        high_pass = signal.butter(2, 80, "highpass", fs=RATE)
        said, heard = (signal.lfilter(*high_pass, x.astype(np.float64)) for x in (far, late))
        assert found.data.rounds == len(mic)
        assert found.loss.total == pytest.approx(float(made.linear @ made.linear), rel=1e-6)
        assert found.theorem is not None
        assert found.theorem.bound == pytest.approx(float(heard @ heard), rel=1e-6)
        taps = found.data.features
        assert taps == 80
        rows = [
            np.concatenate([np.zeros(k), said])[: len(said)] for k in range(first, first + taps)
        ]
        weights, *_ = np.linalg.lstsq(np.stack(rows, axis=1), heard, rcond=None)
        left = heard - np.stack(rows, axis=1) @ weights
        assert found.hindsight.loss == pytest.approx(float(left @ left), rel=1e-5)
        assert list(found.hindsight.witness) == [str(k) for k in range(first, first + taps)]
        assert np.allclose(list(found.hindsight.witness.values()), weights, atol=1e-4)
        each = (hashlib.blake2b(x.tobytes(), digest_size=32).digest() for x in (far, late))
        whole = hashlib.blake2b(b"".join(each), digest_size=32).hexdigest()
        assert found.data.digest == f"blake2b:{whole}"


def test_it_is_kept_in_a_file_shown_and_confirmed_however_the_samples_came(tmp_path: Path) -> None:
    far, mic = recordings(0.53)
    short = (np.rint(far * 32768).astype(np.int16), np.rint(mic * 32768).astype(np.int16))
    for one, other in ((far, mic), (far.astype(float), mic.astype(float)), short):
        found = played(one, other).certificate()
        blocks = Canceller(RATE, tail=0.002, block=16, certify=True)
        for start in range(0, len(other), 16):
            now = slice(start, start + 16)
            blocks.process_many(one[now], other[now])
        assert blocks.certificate() == found
        file = tmp_path / "certificate.json"
        found.save(file)
        assert noregret.load_certificate(file) == found
        assert "canceller with rate = 8000" in str(found)
        assert "canceller" in found._repr_html_()
        for certificate in (found, file, found.to_dict()):
            for data in (((one, other), None), ([one, other], None), (one, other)):
                again = noregret.verify(certificate, *data)
                assert again.confirmed, again.failed
    assert noregret.verify(found, (short[0] / 32768, short[1] / 32768)).confirmed


def test_of_other_recordings_it_is_refused() -> None:
    far, mic = recordings()
    found = played(far, mic).certificate()
    quieter = mic.copy()
    quieter[100] *= 0.999
    longer = np.concatenate([mic, mic])
    for data in ((mic, far), (far, mic[:-16]), (far, longer), (far[:-1], mic), (far, quieter)):
        again = noregret.verify(found, data)
        assert "data.digest" in [line.name for line in again.failed]
    for wrong in (far, (far,), (far, mic, mic), "far.wav", ["far.wav"]):
        with pytest.raises(NoRegretError, match="of two recordings, that of the far end and then"):
            noregret.verify(found, wrong)
    with pytest.raises(NoRegretError, match="no samples"):
        noregret.verify(found, (far, mic[:0]))
    with pytest.raises(TypeError, match="mic must be an array of"):
        noregret.verify(found, (far, mic.astype(np.int32)))
    with pytest.raises(CertificateError, match="leave loss out"):
        noregret.verify(found, (far, mic), loss=noregret.make_loss("square"))


def test_what_a_canceller_has_none_of_is_refused() -> None:
    far, mic = recordings(0.2)
    contents = played(far, mic).certificate().to_dict()
    del contents["seal"]
    extra = [
        contents | {"given": {"radius": 1.0}},
        contents | {"learner": contents["learner"] | {"averaged": True}},
        contents | {"data": contents["data"] | {"target": "mic"}},
        contents | {"data": contents["data"] | {"transforms": ["scaled"]}},
        contents | {"hindsight": contents["hindsight"] | {"tolerance": 0.1}},
        contents | {"loss": contents["loss"] | {"mistakes": 0}},
    ]
    for changed in extra:
        again = noregret.verify(changed | {"seal": seal(changed)}, (far, mic))
        assert len(again.failed) == 1, again.failed
    contents["further"] = [contents["theorem"]]
    with pytest.raises(CertificateError, match="further: 1 promises"):
        noregret.verify(contents | {"seal": seal(contents)}, (far, mic))


def test_a_tail_shorter_than_a_block_is_one_block() -> None:
    far, mic = recordings(0.2)
    found = played(far, mic, tail=1e-12).certificate()
    assert found.data.features == 16
    assert noregret.verify(found, (far, mic)).confirmed


def test_a_class_of_filters_reaches_as_far_as_is_proven() -> None:
    time = np.arange(4000) / RATE
    far = (0.3 * np.sin(2 * np.pi * 500 * time)).astype(np.float32)  # two taps say all there is
    made = played(far, 0.5 * far)
    found = made.certificate()
    assert found.hindsight.comparator.startswith("fixed filters of 16 taps from sample 0")
    assert noregret.verify(found, (far, 0.5 * far)).confirmed
    silent = played(0 * far, far).certificate()
    assert silent.hindsight.loss == pytest.approx(silent.loss.total)
    assert noregret.verify(silent, (0 * far, far)).confirmed
    plain, short = "fixed filters of 16 taps from sample 0", ", of norm at most 2.5"
    assert as_linear(plain) == (plain, "all linear predictors")
    assert as_linear(plain + short) == (plain, "linear predictors of norm at most 2.5")


def test_no_more_than_the_first_minutes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    far, mic = recordings(0.5)
    monkeypatch.setattr(canceller, "MAX_KEPT_SECONDS", 0.301)
    found = played(far, mic).certificate()
    assert found.data.rounds == 2400
    assert noregret.verify(found, (far, mic)).confirmed
    assert noregret.verify(found, (far[:2400], mic[:2400])).confirmed
    monkeypatch.undo()
    assert played(far[:2400], mic[:2400]).certificate() == found
    made = played(far, mic)
    made.reset()
    with pytest.raises(NoRegretError, match="nothing was played"):
        made.certificate()
    with pytest.raises(NoRegretError, match="certify=True"):
        played(far, mic, certify=False).certificate()
    with pytest.raises(NoRegretError, match="a far end of 2 channels"):
        played(np.stack([far, far], axis=1), mic, channels=2).certificate()


def test_certificates_that_make_no_sense_are_refused_in_words() -> None:
    far, mic = recordings(0.1)
    contents = played(far, mic).certificate().to_dict()
    del contents["seal"]
    for params, words in (
        ({"rate": 1}, "rate must be from 8,000"),
        ({"rate": "fast"}, "rate must be a whole number"),
        ({"tail": 1e9}, "tail must be at most"),
        ({"tail": [1, 2]}, "tail must be a positive number"),
        ({"speed": 1}, "unexpected keyword argument 'speed'"),
        ({"certify": True}, "certify"),
        ({"channels": 2}, "a far end of one channel"),
    ):
        learner = {**contents["learner"], "params": contents["learner"]["params"] | params}
        changed = contents | {"learner": learner}
        with pytest.raises(CertificateError, match=f"learner: .*{words}"):
            noregret.verify(changed | {"seal": seal(changed)}, (far, mic))
    changed = contents | {"learner": contents["learner"] | {"name": "nlms"}}
    with pytest.raises(CertificateError, match="no 'nlms' of the family ‘echo’"):
        noregret.verify(changed | {"seal": seal(changed)}, (far, mic))


def test_files_are_read_as_they_were_for_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    far, mic = recordings(0.9)
    one, other, out = (str(tmp_path / name) for name in ("far.wav", "mic.wav", "clean.wav"))
    certificate = str(tmp_path / "certificate.json")
    three = np.stack([0.1 * mic, mic, far], axis=1)
    for rate, samples, channel in ((RATE, mic, None), (RATE, three, 2), (11025, three, 3)):
        soundfile.write(one, far, RATE)
        soundfile.write(other, samples, rate)
        made = cancel_file(one, other, out, tail=0.01, channel=channel, certify=True)
        assert made.certificate is not None
        made.certificate.save(certificate)
        again = noregret.verify(certificate, [one, Path(other)])
        assert again.confirmed, again.failed
        assert not noregret.verify(certificate, [one, one]).confirmed
    assert run(["verify", certificate, one, other]) == 0
    assert "CONFIRMED: every figure follows" in capsys.readouterr().out
    for files, words in (
        ((other, one), "3 channels: the certificate is for a far end of one channel"),
        ((one,), "got 1"),
        ((one, other, other), "got 3"),
        ((one, certificate), "not a sound file"),
        ((one, "no.wav"), "there is no such file"),
    ):
        assert run(["verify", certificate, *files]) != 0
        assert words in " ".join(capsys.readouterr().err.split())
