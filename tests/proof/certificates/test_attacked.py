"""Attacks by files: none of them is confirmed, and none crashes."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import noregret
from noregret import BadExample, CertificateError, load_certificate, play, verify
from noregret.app.cli.app import run
from noregret.hindsight import Limits
from noregret.hindsight.proofs.witness import is_within
from noregret.proof.certificates.certificate import seal
from noregret.streams import read
from tests.proof.certificates.games import certificate_of, frame
from tests.thorough import sized

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2)) / 4
Y = X @ [1.0, -2.0] + 0.3 * RNG.normal(size=300)
LABELS = np.sign(Y)
DAYS = [
    ({"bias": 1.0, "sky": "grey" if d % 3 else "blue", "w": d % 7 / 7}, 3 + d % 5 / 5)
    for d in range(100)
]


def sealed(contents: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in contents.items() if key != "seal"}
    return rest | {"seal": seal(rest)}


def failed(contents: dict[str, Any], *data: Any) -> list[str]:
    return [line.name for line in verify(sealed(contents), *data).failed]


def test_large_outcomes_that_are_met_hide_nothing() -> None:
    """A loss far below that of predicting zero is not blurred by the latter."""
    y = 1e6 * (X @ [1.0, -2.0]) + 1e-3 * RNG.normal(size=300)
    made = play(noregret.WidrowHoff(rate=0.5, norm=2.0), X, y).certificate().to_dict()
    assert verify(made, X, y).confirmed
    paid, moved = float(np.square(y - X @ [1e6, -2e6]).sum()), 1e-13 * float(y @ y)
    assert moved > 1000 * paid
    for share, line in ((-1, "hindsight.loss"), (1, "hindsight.gap")):
        # That the witness pays less than it does, or that none pays less than some do.
        false = copy.deepcopy(made)
        false["hindsight"] |= {"loss": paid + share * moved, "gap": 0.0}
        regret = made["loss"]["total"] - paid - share * moved
        false["regret"] = {"lower": regret, "upper": regret}
        assert line in failed(false, X, y)


@pytest.mark.parametrize("size", [1e12, 1e14, 1e15, 2e16, 1e100])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_huge_weights_that_cancel_hide_nothing(size: float, share: float) -> None:
    contents = play(noregret.WidrowHoff(rate=0.5, norm=1.8), DAYS).certificate().to_dict()
    assert verify(contents, DAYS).confirmed
    best, total = contents["hindsight"], contents["loss"]["total"]
    best["witness"]["bias"] += size
    best["witness"]["sky=grey"] -= size
    best["witness"]["sky=blue"] -= size
    best["loss"], best["gap"] = total * share, 0.0
    contents["regret"] = dict.fromkeys(("lower", "upper"), total - best["loss"])
    assert {"hindsight.loss", "hindsight.gap"} <= set(failed(contents, DAYS))


@pytest.mark.parametrize("learner", [noregret.PassiveAggressive, noregret.Perceptron])
def test_a_loose_search_excuses_no_lower_bound(learner: Callable[[], Any]) -> None:
    honest = play(learner(), X, LABELS).certificate().to_dict()
    for share in (0.92, 0.999):
        contents = copy.deepcopy(honest)
        contents["hindsight"]["tolerance"] = 1e-2
        contents["theorem"]["bound"] *= share
        assert "theorem.bound" in failed(contents, X, LABELS)
    loose = play(learner(), X, LABELS).certificate(limits=Limits(tolerance=1e-2))
    assert verify(loose, X, LABELS).confirmed


def test_a_loose_search_excuses_no_larger_margin() -> None:
    far = np.abs(X @ [1.0, -2.0]) > 0.1
    rows, labels = X[far], np.sign(X[far] @ [1.0, -2.0])
    contents = play(noregret.Perceptron(), rows, labels).certificate().to_dict()
    contents["hindsight"]["tolerance"] = 1e-2
    margin = contents["theorem"]["assumptions"][1]
    assert margin["name"] == "margin > 0"
    margin["measured"] *= 1.01
    assert "theorem.assumptions.2" in failed(contents, rows, labels)


def test_a_witness_outside_of_its_class_is_none() -> None:
    learner = noregret.GradientDescent(loss="absolute", rate=1.0, schedule="sqrt", radius=0.3)
    contents = play(learner, X, Y).certificate().to_dict()
    assert verify(contents, X, Y).confirmed
    low, high = 1.0, 100.0  # beyond the best there is one that pays the same
    for _ in range(200):
        middle = (low + high) / 2
        less = np.abs(X @ [middle, -2 * middle] - Y).sum() < contents["hindsight"]["loss"]
        low, high = (middle, high) if less else (low, middle)
    contents["hindsight"]["witness"] = {"0": high, "1": -2 * high}
    assert "hindsight.witness" in failed(contents, X, Y)


def test_weights_of_classes_and_features_that_read_alike_have_names_of_their_own() -> None:
    """Class "a" with feature "b: c" is not class "a: b" with feature "c"."""
    seen = {"a": "b: c", "a: b": "c", "z": "d"}
    rows = [({name: 1.0}, label) for label, name in seen.items()] * 5
    honest = play(noregret.MulticlassHinge(radius=2.0), rows).certificate().to_dict()
    assert len(honest["hindsight"]["witness"]) == 9
    assert verify(honest, rows).confirmed
    forged = copy.deepcopy(honest)
    plain = {f"{label}: {name}": 0.0 for label in seen for name in seen.values()}
    forged["hindsight"]["witness"] = plain | {"a: b: c": 1.4, "z: d": 1.4}  # of norm 2.4
    assert "hindsight.witness" in failed(forged, rows)


def test_a_class_too_small_for_its_witness_is_not_confirmed() -> None:
    contents = play(noregret.WidrowHoff(rate=0.2, norm=2.0), X, Y).certificate().to_dict()
    contents["hindsight"]["class"] = "linear predictors of norm at most 0.001"
    assert "hindsight.witness" in failed(contents, X, Y)


@pytest.mark.parametrize(
    ("words", "inside", "outside"),
    [
        ("ball of radius 5", (3.0, 4.0), (3.0, 4.00000002)),
        ("ball of radius 5, as long as the last weights", (3.0, -4.0), (3.00000002, 4.0)),
        ("linear predictors of norm at most 7.96e+05", (7.96e5, 0.0), (7.96001e5, 0.0)),
        ("box of half-width 0.5", (0.5, -0.5), (0.50000001, 0.0)),
        ("simplex", (0.25, 0.75), (0.25, 0.75000001)),
        ("simplex, paying 2 KL(u, uniform)", (0.0, 1.0), (-1e-9, 1.0)),
        ("weights of either sign, total 3", (-1.0, 2.0), (-1.00000001, 2.0)),
        ("box of half-width 0.5, best found", (0.5, -0.5), (0.50000001, 0.0)),
        ("linear predictors of norm at most 2, best found", (0.0, 2.0), (0.0, 2.00000001)),
        ("weights of sum 1, best found", (0.25, 0.75), (1.5, -0.5)),
        ("disjunctions of features", (0.0, 1.0), (0.5, 0.5)),
        ("conjunctions of literals", (-1.0, 1.0), (-0.5, 1.0)),
        ("all linear predictors", (-1e9, 1e9), None),
        ("a class that nobody knows", None, (0.0, 0.0)),
    ],
)
def test_every_class_has_its_limits(
    words: str, inside: tuple[float, ...] | None, outside: tuple[float, ...] | None
) -> None:
    assert inside is None or is_within(dict(zip("ab", inside, strict=True)), words)
    assert outside is None or not is_within(dict(zip("ab", outside, strict=True)), words)


@pytest.mark.parametrize(
    "learner", [noregret.Winnow(form="winnow1"), noregret.Conjunction(), noregret.Winnow()]
)
def test_a_threshold_is_no_rule(learner: Any) -> None:
    """A majority vote makes one mistake, an OR, an AND or weights without signs many."""
    bits = (RNG.random((80, 13)) < 0.5).astype(float)
    labels = np.where(bits.sum(axis=1) >= 7, 1, -1)
    labels[0] = -labels[0]
    contents = play(learner.copy(), bits, labels).certificate().to_dict()
    assert verify(contents, bits, labels).confirmed
    best = contents["hindsight"]
    best |= {"loss": 1.0, "gap": 1.0 - best["loss"] + best["gap"]}
    best["witness"] = dict.fromkeys(best["witness"], 1 / 13) | {"0": -1.0}
    assert "hindsight.witness" in failed(contents, bits, labels)


def test_time_that_ran_out_excuses_no_class_beyond_what_is_proven() -> None:
    """Two columns that differ in the last bit: huge weights fit the labels, small ones do not."""
    x = 4 * X[:20, 0]
    rows = np.column_stack([x, x + 1e-15 * LABELS[:20]])
    contents = play(noregret.Nlms(), rows, LABELS[:20]).certificate().to_dict()
    assert contents["hindsight"]["class"].startswith("linear predictors of norm at most")
    contents["hindsight"] |= {
        "class": "linear predictors of norm at most 1e+100",
        "seconds": 0.001,
        "exact": False,
    }
    assert "hindsight.gap" in failed(contents, rows, LABELS[:20])


def test_time_that_ran_out_excuses_no_later_violation_and_no_contradiction() -> None:
    contents = play(noregret.Logistic(radius=1.0), 4 * X, LABELS).certificate().to_dict()
    contents["hindsight"]["seconds"] = 1.0
    assert verify(sealed(contents), 4 * X, LABELS).confirmed
    at, size = next(
        (k, each)
        for k, each in enumerate(contents["theorem"]["assumptions"], start=1)
        if each["first_violation"]
    )
    for later in (1, 10**9):
        size["first_violation"] += later
        assert f"theorem.assumptions.{at}" in failed(contents, 4 * X, LABELS)
    far = np.abs(X @ [1.0, -2.0]) > 0.1
    rows, labels = X[far], np.sign(X[far] @ [1.0, -2.0])
    contents = play(noregret.Perceptron(), rows, labels).certificate().to_dict()
    contents["hindsight"]["seconds"] = 1.0
    contents["theorem"]["assumptions"][1]["measured"] = -5.0  # a margin > 0
    assert "theorem.assumptions.2" in failed(contents, rows, labels)


def test_an_exact_fit_may_be_missed_for_lack_of_time() -> None:
    rows, y = np.eye(30), RNG.normal(size=30)
    contents = play(noregret.Nlms(), rows, y).certificate().to_dict()
    assert contents["hindsight"]["exact"]
    contents["hindsight"] |= {"exact": False, "seconds": 0.001}
    assert verify(sealed(contents), rows, y).confirmed


@pytest.mark.parametrize("learner", [noregret.WidrowHoff, noregret.Logistic, noregret.Perceptron])
@pytest.mark.parametrize("norm", ["0", "1e-320", "1", "5"])
def test_a_class_that_the_loss_does_not_have_is_no_crash(learner: Any, norm: str) -> None:
    X, y = np.array([[1.0], [-1.0], [2.0], [-3.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    contents = play(learner(), X, y).certificate().to_dict()
    contents["hindsight"]["class"] = f"linear predictors of norm at most {norm}"
    witness = contents["hindsight"]["witness"]
    shorter = np.linalg.norm(list(witness.values())) > float(norm)
    assert not shorter or failed(sealed(contents), X, y)


def test_an_invented_target_is_not_confirmed() -> None:
    contents = play(noregret.WidrowHoff(rate=0.2, norm=2.0), X, Y).certificate().to_dict()
    contents["data"]["target"] = "lies"
    assert failed(contents, X, Y) == ["data.target"]


def test_nearly_nothing_is_compared_by_its_rounding() -> None:
    rows = np.random.default_rng(0).normal(size=(2, 3)) * 1e6
    game = play(noregret.ExponentiatedGradient(loss="absolute", weight=3.0), rows, [1.0, 2.0])
    assert verify(game.certificate(), rows, [1.0, 2.0]).confirmed


def test_lines_nested_deeply_are_refused_in_time(tmp_path: Path) -> None:
    file = tmp_path / "deep.jsonl"
    good = b'{"a": 1, "y": 1}\n'
    levels = sized(20_000, full=100_000)
    for deep in (b"[" * levels, b'{"a":' * levels, b'{"\\"}": ' + b"[" * levels):
        file.write_bytes(good + deep + b"\n")
        with pytest.raises(BadExample, match=r"deep\.jsonl, line 2: nested too deeply"):
            list(read(file, "y"))
    for over in (b"[\n", b'{"}":\n'):  # one level a line
        file.write_bytes(good + over * levels)
        with pytest.raises(BadExample, match=r"deep\.jsonl, line 2"):
            list(read(file, "y"))


def test_brackets_in_text_are_text(tmp_path: Path) -> None:
    file = tmp_path / "text.jsonl"
    text = "[" * 1000 + '\\"{'
    file.write_text(json.dumps({"a": text, "y": 1}) + "\n", "utf-8")
    assert list(read(file, "y")) == [({f"a={text}": 1.0}, 1.0)]


def test_many_names_are_looked_through_once(tmp_path: Path) -> None:
    names = [f"f{k}" for k in range(100_000)] + ["twice", "twice"]
    started = time.process_time()
    file = tmp_path / "many.json"
    file.write_text("{" + ",".join(f'"{name}":0' for name in names) + "}", "utf-8")
    with pytest.raises(CertificateError, match="'twice' is given twice"):
        load_certificate(file)
    assert time.process_time() - started < 5.0


def broken(folder: Path, kind: str) -> Path:
    """Write a file that is broken in a way."""
    y = np.ones(2)
    parts: dict[str, Any] = {
        "data": y,
        "indices": [0, 1],
        "indptr": [0, 1, 2],
        "shape": [2, 2],
        "y": y,
    }
    if kind == "csv":
        file = folder / "f.csv"
        file.write_bytes(b"\xff\xfes")  # half a character of UTF-16
    elif kind == "jsonl":
        file = folder / "f.jsonl"
        file.write_bytes(b'{"\xe9": 1, "sold": 2}\n')
    elif kind == "parquet":
        file = folder / "f.parquet"
        nested = pa.array([[1.0], [2.0]])
        parquet.write_table(pa.table({"a": nested, "sold": y}), file)
    else:
        file = folder / "f.npz"
        if kind == "inf":
            parts["shape"] = [2, np.inf]
        if kind == "text":
            parts["data"] = ["a", "b"]
        np.savez_compressed(file, **parts)
        if kind in ("inf", "text"):
            return file
        raw = bytearray(file.read_bytes())
        local, central = raw.find(b"PK\x03\x04"), raw.find(b"PK\x01\x02")
        if kind == "encrypted":
            raw[local + 6] |= 1
            raw[central + 8] |= 1
        elif kind == "packed":
            raw[local + 8] = raw[central + 10] = 97
        elif kind == "deflate":
            start = local + 30 + raw[local + 26] + raw[local + 28]
            raw[start : start + 40] = b"\xff" * 40
        file.write_bytes(raw)
        heads = {"header": "{'descr': ('<f8', ", "shape": None}
        if kind in heads:
            lie = "{'descr': '<f8', 'fortran_order': False, 'shape': (2000000000000,)}"
            text = (heads[kind] or lie).encode().ljust(117) + b"\n"
            with zipfile.ZipFile(file, "w") as archive:
                head = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little")
                archive.writestr("y.npy", head + text + bytes(16))
    return file


@pytest.mark.parametrize(
    "kind",
    ["csv", "jsonl", "parquet", "inf", "text", "encrypted", "packed", "deflate", "header", "shape"],
)
def test_broken_files_are_named(tmp_path: Path, kind: str) -> None:
    file, certificate = broken(tmp_path, kind), tmp_path / "c.json"
    named = "widrow-hoff" if file.suffix == ".npz" else "widrow-hoff, named"
    certificate_of(named).save(certificate)
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert run(["verify", str(certificate), str(file)]) == 1
    assert err.getvalue().startswith((f"noregret: {file}: ", f"noregret: {file}, line "))
    assert err.getvalue().count("\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("command", ["theorems", *sized([], full=["learners", "demo"])])
def test_any_encoding_can_be_written(command: str, encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from noregret.app.cli import main; main()", command],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_names_of_files_cannot_command_a_terminal(tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    certificate_of("widrow-hoff, named").save(certificate)
    file = tmp_path / "n\x1b[31mx.csv"
    frame().drop(columns="sold").to_csv(file, index=False)
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert run(["verify", str(certificate), str(file)]) == 1
    assert "\x1b" not in err.getvalue()
    assert r"n\x1b[31mx.csv" in err.getvalue()


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        ("widrow-hoff", {"target": "y", "prices": True}),
        ("ridge", {"target": "y", "prices": True}),
        ("ada-hedge", {"scale": "max"}),
        ("eg-portfolio", {"scale": "max"}),
        ("ada-hedge", {"positive": "heads"}),
    ],
)
def test_an_option_that_makes_no_difference_is_not_in_a_certificate(
    learner: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """The stated transforms were applied to the data; impossible ones are refused."""
    file = tmp_path / "d.csv"
    file.write_text("a,b,y\n0.1,0.9,0.5\n0.3,0.2,0.4\n", encoding="utf-8")
    family = {"ada-hedge": "experts", "eg-portfolio": "portfolios", "ridge": "batch"}.get(learner)
    player = noregret.make(learner) if family is None else getattr(noregret, family).make(learner)
    with pytest.raises(noregret.NoRegretError, match="leave it out"):
        play(player, noregret.streams.read(file, **options))


def test_words_about_a_search_open_no_class() -> None:
    """Each class has its own kind of witness, and no suffix makes it another."""
    losses = RNG.random((40, 3))
    bits = (RNG.random((60, 4)) < 0.5).astype(float)
    labels = np.where(bits[:, 0] + bits[:, 1] + RNG.normal(size=60) > 1, 1, -1)
    for player, data in (
        (noregret.experts.Hedge(), (losses,)),
        (noregret.Conjunction(), (bits, labels)),
        (noregret.batch.AdaBoost(), (bits, labels)),
    ):
        contents = play(player, *data).certificate().to_dict()
        assert verify(contents, *data).confirmed
        contents["hindsight"]["class"] += ", best found"
        contents["hindsight"] |= {"seconds": 0.001, "exact": False}
        assert "hindsight.class" in failed(contents, *data)


def test_time_that_ran_out_excuses_no_filter_beyond_what_is_proven() -> None:
    """The signal grows by 21 digits: only huge weights use its beginning."""
    x = np.sin(0.1 * np.arange(20)) * 10.0 ** np.linspace(-21, 0, 20)
    y = RNG.normal(size=20).round(2)
    contents = play(noregret.filters.Lms(taps=3), x, y).certificate().to_dict()
    best = contents["hindsight"]
    assert best["class"].startswith("linear predictors of norm at most")
    best |= {"class": "linear predictors of norm at most 1e+60", "seconds": 0.001, "exact": False}
    assert "hindsight.gap" in failed(contents, x, y)


@pytest.mark.parametrize("tolerance", [1e-15, 0.5])
def test_a_loose_method_excuses_no_other_weights(tolerance: float) -> None:
    method = noregret.batch.SoftMarginSvm(tolerance=tolerance)
    contents = play(method, X, LABELS).certificate().to_dict()
    assert verify(contents, X, LABELS).confirmed
    weights = 1.3 * np.array(list(contents["hindsight"]["witness"].values()))
    contents["hindsight"]["witness"] = dict(zip("01", weights.tolist(), strict=True))
    contents["loss"]["total"] = float(np.maximum(0.0, 1 - LABELS * (X @ weights)).sum())
    assert "loss.total" in failed(contents, X, LABELS)


def test_time_that_ran_out_excuses_no_count_of_rounds() -> None:
    bits = (RNG.random((60, 4)) < 0.5).astype(float)
    labels = np.where(bits.sum(axis=1) > 2, 1, -1)
    contents = play(noregret.Winnow(form="winnow1"), bits, labels).certificate().to_dict()
    at, fits = next(
        (k, each)
        for k, each in enumerate(contents["theorem"]["assumptions"], start=1)
        if each["name"].startswith("rounds that the best OR")
    )
    contents["hindsight"] |= {"seconds": 0.001, "exact": False}
    for change in ({"measured": fits["measured"] / 2}, {"first_violation": 61}):
        false = copy.deepcopy(contents)
        false["theorem"]["assumptions"][at - 1] |= change
        assert f"theorem.assumptions.{at}" in failed(false, bits, labels)


def test_steps_not_taken_are_not_claimed() -> None:
    """One step of descent is far from least squares, whose weights are another method's."""
    method = noregret.batch.LinearRegression(method="gradient-descent", steps=1)
    with pytest.warns(RuntimeWarning, match="has not converged"):
        contents = play(method, X, Y).certificate().to_dict()
    honest = contents["loss"]["total"]
    with pytest.warns(RuntimeWarning, match="has not converged"):
        assert verify(contents, X, Y).confirmed
    best = np.linalg.lstsq(X, Y, rcond=None)[0]
    contents["hindsight"]["witness"] = dict(zip("01", best.tolist(), strict=True))
    contents["loss"]["total"] = float(np.square(X @ best - Y).sum())
    assert contents["loss"]["total"] < honest
    with pytest.warns(RuntimeWarning, match="has not converged"):
        assert "loss.total" in failed(contents, X, Y)


def test_rows_on_the_border_are_counted_as_the_method_does() -> None:
    rows = np.column_stack([np.tile([1.0, -1.0, 0.0, 0.0], 10), np.tile([0, 0, 1.0, -1.0], 10)])
    labels = np.where(rows[:, 0] > 0, 1, np.where(rows[:, 0] < 0, -1, 1))
    contents = play(noregret.batch.SoftMarginSvm(), rows, labels).certificate().to_dict()
    assert contents["loss"]["mistakes"] == 20  # whose scores are zero
    contents["hindsight"]["witness"]["1"] = 1e-9
    contents["loss"]["mistakes"] = 10
    assert "loss.mistakes" in failed(contents, rows, labels)


def test_what_is_not_searched_does_not_run_out_of_time() -> None:
    losses = RNG.random((40, 3))
    contents = play(noregret.experts.Hedge(), losses).certificate().to_dict()
    contents["hindsight"] |= {"seconds": 0.001, "exact": False}
    assert "hindsight.exact" in failed(contents, losses)


def test_assumptions_may_have_their_names_of_the_first_version() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]), np.array([1, 1, 0, 0])
    contents = play(noregret.make("conjunction"), X, y).certificate().to_dict()
    named = next(a for a in contents["theorem"]["assumptions"] if "best AND" in a["name"])
    named["name"] = "rounds that no AND of literals fits"
    assert failed(contents, X, y) == []
    named["name"] = "rounds that no OR of features fits"
    assert failed(contents, X, y) != []
