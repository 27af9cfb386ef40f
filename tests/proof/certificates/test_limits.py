"""A hostile certificate is refused at once: what it may ask for follows from the data."""

from __future__ import annotations

import copy
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import CertificateError, play, verify
from noregret.proof.certificates.certificate import seal
from noregret.proof.certificates.file import certificate_of
from noregret.proof.verifying.limits import MAX_LIMITS, MIN_LIMITS, check_limits, extent_of
from tests.compiled import measures_memory
from tests.thorough import sized

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 4)) / 4
Y = X @ [1.0, -2.0, 0.5, 3.0]
LABELS = np.where(Y > 0, 1.0, -1.0)
Contents = dict[str, Any]
# Bytes of address space within which each is refused; the package alone takes a third of it.
MEMORY = 1200 << 20


def contents_of(learner: Any, *data: Any) -> Contents:
    found: Contents = play(learner, *data).certificate().to_dict()
    del found["seal"]
    return found


def sealed(contents: Contents) -> Contents:
    return contents | {"seal": seal(contents)}


def params(**changed: Any) -> Callable[[Contents], None]:
    return lambda contents: contents["learner"]["params"].update(changed)


def weights(contents: Contents) -> None:
    contents["hindsight"]["witness"] = {f"f{k}": 1.0 for k in range(10_000)}


def promises(contents: Contents) -> None:
    contents["further"] = [contents["theorem"]] * 500


def transforms(*texts: str) -> Callable[[Contents], None]:
    return lambda contents: contents["data"].update(transforms=list(texts))


def assumptions(contents: Contents) -> None:
    contents["theorem"]["assumptions"] *= 20_000


def told(contents: Contents) -> None:
    contents["given"] = {f"g{k}": 1 for k in range(30_000)}


HOSTILE: dict[str, tuple[Callable[[], Any], tuple[Any, ...], Callable[[Contents], None], str]] = {
    "weights": (nr.WidrowHoff, (X, Y), weights, "hindsight.witness: 10,000 weights"),
    "promises": (nr.WidrowHoff, (X, Y), promises, "further: 500 promises"),
    "assumptions": (nr.WidrowHoff, (X, Y), assumptions, "theorem.assumptions"),
    "told": (nr.WidrowHoff, (X, Y), told, "given"),
    "fourier": (nr.WidrowHoff, (X, Y), transforms("fourier=100000"), "data.transforms: fourier"),
    "drop": (nr.WidrowHoff, (X, Y), transforms(*["drop=a"] * 30_000), "data.transforms"),
    "long text": (nr.WidrowHoff, (X, Y), transforms("drop=" + "q" * 10**6), "data.transforms"),
    "dimension": (
        nr.ExponentiatedGradient, (X, Y), params(dimension=200_000_000), "params.dimension",
    ),
    "winnow": (lambda: nr.make("winnow"), (X, LABELS), params(dimension=10**6), "dimension"),
    "infinity": (nr.ExponentiatedGradient, (X, Y), params(dimension=1e300), "dimension"),
    "budget": (
        lambda: nr.make("kernel-perceptron"), (X, LABELS), params(budget=10_000), "budget",
    ),
    "taps": (lambda: nr.filters.Lms(taps=4), (X[:, 0], Y), params(taps=10**6), "params.taps"),
    "points": (
        lambda: nr.portfolios.make("universal-portfolio", points=64), (np.exp(X),),
        params(points=10**9), "learner: points",
    ),
    "members": (
        lambda: nr.batch.AdaBoost(members=3), (X, LABELS), params(members=10**9), "members",
    ),
    "inner": (
        lambda: nr.batch.OnlineToBatch(nr.ExponentiatedGradient()), (X, Y),
        lambda c: c["learner"]["params"]["learner"]["params"].update(dimension=10**8),
        "learner.params.learner.params.dimension",
    ),
    "passes": (
        lambda: nr.batch.Cycled(nr.Perceptron()), (X, LABELS), params(passes=10**15), "passes",
    ),
    "steps": (
        lambda: nr.batch.LinearRegression("gradient-descent"), (X, Y), params(steps=10**15),
        "steps",
    ),
    "prior": (
        lambda: nr.experts.Boa(prior=[1.0] * 4), (np.abs(X), Y),
        params(prior=[1.0] * sized(10**5, full=10**6)),
        "learner.params",
    ),
    "arms": (lambda: nr.bandits.Exp3(arms=4), (np.abs(X),), params(arms=10**7), "learner: arms"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_data_cannot_need_is_refused_before_it_is_allocated(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, data, change, field = HOSTILE[name]
    contents = contents_of(make(), *data)
    assert verify(sealed(contents), *data).confirmed
    change(contents)
    monkeypatch.setattr("noregret.proof.verifying.replay.play_rows", None)  # nothing is played
    with pytest.raises(CertificateError) as caught:
        verify(sealed(contents), *data)
    assert field in str(caught.value)
    assert len(str(caught.value)) < 300


def test_limits_are_no_smaller_than_what_honest_certificates_state() -> None:
    for name, params in (
        ("exponentiated-gradient", {"dimension": 500}),
        ("kernel-perceptron", {"budget": 1_024}),
    ):
        data = (X, LABELS if "perceptron" in name else Y / 9)
        certificate = play(nr.make(name, **params), *data).certificate()
        assert verify(certificate, *data).confirmed
    assert all(MIN_LIMITS[name] <= most for name, most in MAX_LIMITS.items())


def test_every_class_has_room_for_its_weights() -> None:
    classes = np.where(Y > 0, 1, 0)
    contents = contents_of(nr.MulticlassPerceptron(), X, classes)
    transforms(f"classes={list(range(10**5))}")(contents)
    weights(contents)
    check_limits(certificate_of(sealed(contents)), np.zeros((101, 20)))
    with pytest.raises(CertificateError, match="room for 4,096"):
        verify(sealed(contents), X, classes)


def test_how_large_data_can_be_is_known_without_reading_them(tmp_path: Path) -> None:
    rows = [{"a": 1.0, "b": 2.0}] * 3
    file = tmp_path / "d.csv"
    file.write_bytes(b"a,y\n1,2\n")
    assert extent_of(X) == (40, 4)
    assert extent_of((X, Y)) == (41, 40)  # the outcomes may be a row for all that is known
    assert extent_of([(X, Y)]) == (40, 4)
    assert extent_of(rows) == extent_of([(row, 1.0) for row in rows]) == (3, 12)
    assert extent_of([[1.0, 2.0, 3.0]]) == (1, 3)
    assert extent_of(file) == extent_of([str(file)]) == (4, 16)
    assert extent_of(iter(rows)) == extent_of("d.parquet") == extent_of("none.csv") == (None, None)


def write_hostile_files(folder: Path) -> dict[str, str]:
    """Write files that are costly to parse or to validate; return what refuses each."""
    honest = contents_of(nr.WidrowHoff(norm=2.0), [({"a": 1.0, "b": 0.5}, 1.0)] * 9)
    wide = copy.deepcopy(honest)
    wide["learner"] |= {"name": "exponentiated-gradient"}
    wide["learner"]["params"] = nr.ExponentiatedGradient().params | {"dimension": 2 * 10**8}
    text, weights = json.dumps(sealed(honest)), ",".join(f'"f{k}":1' for k in range(300_000))
    head = '{"format":"noregret.certificate/1","hindsight":'
    files = {
        "lists": (head + "[" + "[]," * 300_000 + "[]]}", "10,000 objects and lists"),
        "pairs": (head + "{" + '"":1,' * 1_200_000 + '"a":1}}', "1,100,000 values"),
        "size": (head, "too large for a certificate"),
        "witness": (
            text.replace('"witness": {', '"witness": {' + weights + ","),
            "300,002 weights",
        ),
        "dimension": (json.dumps(sealed(wide)), "learner.params.dimension: 200,000,000"),
    }
    for name, (contents, _) in files.items():
        with (folder / f"{name}.json").open("w") as file:
            file.write(contents)
            if name == "size":
                file.truncate(65 << 20)
    return {name: words for name, (_, words) in files.items()}


@measures_memory
def test_the_command_refuses_hostile_files_within_bounded_memory(tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_text("a,b,y\n" + "1,0.5,1\n" * 9, "utf-8")
    code = (
        "import sys\nfrom noregret.app.cli.app import run\n"
        "for file in sys.argv[2:]:\n print(run(['verify', file, sys.argv[1]]))\n"
    )
    files = write_hostile_files(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", code, str(data), *(str(tmp_path / f"{n}.json") for n in files)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    said = done.stderr.splitlines()
    assert done.stdout.split() == ["1"] * len(files), done.stderr[-2000:]
    assert len(said) == len(files)
    for line, (name, words) in zip(said, files.items(), strict=True):
        assert f"{name}.json: " in line
        assert words in line
