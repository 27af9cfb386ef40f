"""Certificates of filters: hindsight beside SciPy's least squares, promises under attack."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import BadExample, NoRegretError
from noregret.filters import Lms, Nlms, Rls, SignLms
from noregret.hindsight.rows import Rows
from noregret.hindsight.sliding import Windows, correlated, norms
from tests.thorough import draws

from .reference import FORMS, Floats, made, signals, windows

seeds = st.integers(0, 2**32 - 1)
few = draws(15)


def shaped(kind: str, seed: int, samples: int) -> tuple[Floats, Floats]:
    """Return signals that are hard on sums: mostly silent, of many sizes, or dependent."""
    x, d = signals(seed, samples)
    if kind == "late":
        x[:-3] = 0.0
    elif kind == "early":
        x[3:] = 0.0
    elif kind == "fading":
        x *= np.geomspace(1e6, 1e-6, samples)
    elif kind == "tone":
        x = np.sin(0.3 * np.arange(samples))
    return x, d


kinds = st.sampled_from(["noise", "late", "early", "fading", "tone"])


# Hindsight.


@few
@given(kinds, seeds, st.integers(1, 90), st.integers(1, 12))
def test_sums_from_correlations_are_those_of_the_windows(
    kind: str, seed: int, samples: int, taps: int
) -> None:
    """Each is off by no more than its own columns allow, also where one column is tiny."""
    x, d = shaped(kind, seed, samples)
    X = windows(x, taps)
    cut = seed % (samples + 1)
    sums = correlated([(x[:cut], d[:cut]), (x[cut:], d[cut:])], taps)
    lengths = np.linalg.norm(X, axis=0)
    assert (np.abs(sums.gram - X.T @ X) <= 1e-13 * np.outer(lengths, lengths)).all()
    assert (np.abs(sums.moment - X.T @ d) <= 1e-13 * lengths * np.linalg.norm(d)).all()
    assert sums.energy == pytest.approx(d @ d)
    assert sums.rounds == samples
    measured = np.concatenate(list(norms([x[:cut], x[cut:]], taps)))
    np.testing.assert_allclose(measured, np.linalg.norm(X, axis=1), rtol=1e-12)


@few
@given(kinds, seeds, st.integers(1, 300), st.integers(1, 12))
def test_windows_are_rows_whether_or_not_they_are_written_out(
    kind: str, seed: int, samples: int, taps: int
) -> None:
    x, d = shaped(kind, seed, samples)
    cut = seed % (samples + 1)
    found = Windows(lambda: [(x[:cut], d[:cut]), (x[cut:], d[cut:])], taps)
    found.length = 1 + seed % 200
    rows, rng = Rows(windows(x, taps), d), np.random.default_rng(seed)
    w, a = rng.normal(size=taps), rng.normal(size=samples)
    assert (np.concatenate([np.asarray(X) for X, _ in found.blocks()]) == windows(x, taps)).all()
    assert (found.outcomes == d).all()
    for absolute in (False, True):
        u, b = (np.abs(w), np.abs(a)) if absolute else (w, a)
        slack = 1e-13 * rows.scores(np.abs(w), absolute=True) + 1e-300
        assert (
            np.abs(found.scores(u, absolute=absolute) - rows.scores(u, absolute=absolute)) <= slack
        ).all()
        slack = 1e-13 * rows.combine(np.abs(a), absolute=True) + 1e-300
        assert (
            np.abs(found.combine(b, absolute=absolute) - rows.combine(b, absolute=absolute))
            <= slack
        ).all()
    sums, off = found.combined(a)
    there, other = rows.combined(a)
    assert (np.abs(sums - there) <= off + other).all()
    np.testing.assert_allclose(off, other, rtol=1e-6)


def exact_loss(X: Floats, w: Floats, d: Floats) -> Fraction:
    """Return what a filter pays, without rounding."""
    u = [Fraction(a) for a in w.tolist()]
    scores = (sum(a * Fraction(b) for a, b in zip(u, row.tolist(), strict=True)) for row in X)
    return sum(
        ((s - Fraction(y)) ** 2 for s, y in zip(scores, d.tolist(), strict=True)), Fraction(0)
    )


@few
@given(kinds, seeds, st.integers(1, 60), st.integers(1, 8))
def test_the_best_filter_is_that_of_least_squares(
    kind: str, seed: int, samples: int, taps: int
) -> None:
    x, d = shaped(kind, seed, samples)
    certificate = nr.play(Nlms(taps=taps), x, d).certificate()
    best, X = certificate.hindsight, windows(x, taps)
    w = scipy.linalg.lstsq(X, d)[0]
    assert best.loss - best.gap <= float(exact_loss(X, w, d)) * (1 + 1e-15)
    witness = np.array([best.witness[str(lag)] for lag in range(taps)])
    assert float(exact_loss(X, witness, d)) <= best.loss * (1 + 1e-12) + 1e-25 * (d @ d)
    assert best.loss == pytest.approx(((X @ w - d) ** 2).sum(), rel=1e-6, abs=1e-9 * float(d @ d))


def test_long_signals_have_narrow_intervals() -> None:
    x, d = signals(1, 30_000)
    certificate = nr.play(Lms(taps=100), x, d).certificate()
    w = scipy.linalg.lstsq(windows(x, 100), d)[0]
    assert certificate.hindsight.loss == pytest.approx(
        ((np.convolve(x, w)[: len(x)] - d) ** 2).sum(), rel=1e-10
    )
    assert certificate.hindsight.gap < 1e-8 * certificate.hindsight.loss
    assert certificate.theorem is not None
    assert certificate.theorem.failed is None or "norm" in certificate.theorem.failed.name


# Promises.


def attacked(player: Any, x: Floats, size: float = 1.0) -> tuple[Floats, Floats]:
    """Play against one who always answers with the opposite sign; return the signals."""
    d = np.empty(len(x))
    twin = player.clone()
    for t, sample in enumerate(x.tolist()):
        d[t] = -size if twin.predict_one(sample) > 0 else size
        twin.play_one(sample, d[t])
    return x, d


PROMISED = [
    (Lms, {"rate": 0.5}),
    (Lms, {"rate": 0.05}),
    (Nlms, {"rate": 0.5}),
    (Nlms, {"rate": 0.95, "epsilon": 1e-3}),
    (SignLms, {"rate": 0.1}),
    (SignLms, {"rate": 0.003}),
    (Rls, {}),
    (Rls, {"penalty": 10.0}),
]


@few
@given(seeds, st.integers(1, 9), st.sampled_from(["noise", "signs", "constant", "tone"]))
def test_promises_hold_against_an_adversary(seed: int, taps: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    x = {
        "noise": rng.uniform(-1, 1, size=120),
        "signs": rng.choice([-1.0, 1.0], size=120),
        "constant": np.ones(120),
        "tone": np.sin(np.arange(120)),
    }[kind]
    for make, params in PROMISED:
        player = make(taps=taps, **params)
        theorem = nr.play(player, *attacked(player, x)).certificate().theorem
        assert theorem is not None
        assert theorem.failed is None
        assert theorem.holds is True
        if make is Rls:  # an identity
            assert theorem.tightness == pytest.approx(1.0, rel=1e-9)


def test_the_adversary_comes_near_the_bound() -> None:
    for player in (Lms(taps=1, rate=0.1), Nlms(taps=1, rate=0.1)):
        theorem = nr.play(player, *attacked(player, np.ones(2000))).certificate().theorem
        assert theorem is not None
        assert theorem.tightness is not None
        assert 0.9 < theorem.tightness <= 1.0


def test_the_sign_filter_answers_for_its_absolute_errors() -> None:
    x, d = signals(13, 200)
    d[::20] += 30.0
    player = SignLms(taps=3, rate=0.05)
    left = player.copy().cancel(x, d)
    theorem = nr.play(player, x, d).certificate().theorem
    assert theorem is not None
    assert theorem.measured == pytest.approx(np.abs(left).sum(), rel=1e-12)

    def cost(u: Floats) -> float:
        return float(np.abs(X @ u - d).sum() + 10.0 * (u @ u))

    X = windows(x, 3)
    best = scipy.optimize.minimize(cost, np.zeros(3), method="Nelder-Mead", tol=1e-10).fun
    assert theorem.bound == pytest.approx(best + 0.025 * (X**2).sum(), rel=1e-5)


def test_a_window_that_is_too_long_takes_the_bound_away() -> None:
    x, d = signals(4, 300)
    lengths = np.linalg.norm(windows(x, 8), axis=1)
    limit = float(np.median(lengths))
    certificate = nr.play(Lms(taps=8, norm=limit), x, d).certificate()
    assert certificate.theorem is not None
    failed = certificate.theorem.failed
    assert failed is not None
    assert failed.first_violation == int(np.argmax(lengths > limit)) + 1
    assert failed.measured == pytest.approx(lengths.max(), rel=1e-12)
    assert certificate.theorem.bound is None
    assert nr.verify(certificate, x, d).confirmed


def test_a_game_that_goes_on_says_so() -> None:
    x, d = signals(6, 200)
    player = Nlms(taps=4)
    player.play_many(x[:100], d[:100])
    certificate = nr.play(player, x[100:], d[100:]).certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.failed is not None
    assert certificate.theorem.measured is None


# Games, and certificates computed again.


def test_every_filter_plays_signals_tables_and_files(tmp_path: Path) -> None:
    x, d = signals(7, 250)
    frame = pd.DataFrame({"far": x, "mic": d})
    file = tmp_path / "signals.csv"
    frame.to_csv(file, index=False, float_format="%.17g")
    for form in FORMS:
        games = [
            nr.play(made(form), x, d, predictions=True),
            nr.play(made(form), list(x), list(d), predictions=True),
            nr.play(made(form), x[:, None], d, predictions=True),
            nr.play(made(form), frame, target="mic", predictions=True),
            nr.play(made(form), file, target="mic", predictions=True),
            nr.play(made(form), x[:100], d[:100], predictions=True).play(x[100:], d[100:]),
        ]
        told = made(form).play_many(x, d)
        for game in games:
            assert game.predictions.tolist() == told.tolist()
            assert game.loss == games[0].loss
        assert games[0].digest == games[1].digest == games[2].digest == games[5].digest
        certificate = games[4].certificate()
        certificate.save(tmp_path / "c.json")
        assert nr.load_certificate(tmp_path / "c.json") == certificate
        assert nr.verify(tmp_path / "c.json", file).confirmed
        certificate = games[3].certificate()
        assert nr.verify(certificate, frame).confirmed
        assert nr.verify(certificate, file).confirmed
        assert not nr.verify(certificate, frame[1:]).confirmed
        assert not nr.verify(certificate, frame.assign(mic=-d)).confirmed
        assert str(certificate)
        assert games[0].certificate()._repr_html_()


def test_what_was_changed_is_not_confirmed() -> None:
    x, d = signals(10, 200)
    told = nr.play(Nlms(taps=3), x, d).certificate().to_dict()
    for part, field, value in (
        ("hindsight", "witness", {"0": 1.0, "1": 0.0, "2": 0.0}),
        ("hindsight", "witness", {"0": 1.0}),
        ("hindsight", "loss", told["hindsight"]["loss"] * 0.9),
        ("theorem", "bound", told["theorem"]["bound"] * 0.9),
        ("theorem", "measured", told["theorem"]["measured"] * 0.9),
        ("loss", "total", told["loss"]["total"] * 0.9),
    ):
        changed = {**told, part: {**told[part], field: value}}
        assert not nr.verify(changed, x, d).confirmed, (part, field)


def test_what_cannot_be_played_is_refused() -> None:
    x, d = signals(12, 20)
    for data in ((x,), (np.column_stack([x, d]), None)):
        with pytest.raises(NoRegretError, match=r"nothing to predict|columns"):
            nr.play(Nlms(), *data)
    with pytest.raises(BadExample, match="x has 20 samples and d has 19"):
        nr.play(Nlms(), x, d[1:])
    frame = pd.DataFrame({"far": x, "near": x, "mic": d})
    with pytest.raises(BadExample, match="one column besides the target: got far, near"):
        nr.play(Nlms(), frame, target="mic")
    x[7] = np.nan
    player = Nlms()
    with pytest.raises(BadExample, match="sample 8: the input is nan"):
        nr.play(player, x, d)
    assert player.rounds == 7
