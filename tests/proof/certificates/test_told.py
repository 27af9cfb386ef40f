"""The arguments of a certificate and its contents agree."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.base.plain_text import for_encoding

rng = np.random.default_rng(5)
X = rng.normal(size=(300, 4)) / 2
y = X @ [1.0, -1.0, 0.5, 0.0] + 0.2 * rng.normal(size=300)
labels = np.where(y + rng.normal(size=300) > 0, 1, -1)


@pytest.mark.parametrize(
    "learner",
    [nr.Logistic(), nr.Hinge(), nr.GradientDescent(loss="absolute"), nr.Ftrl(loss="hinge")],
)
def test_a_radius_is_kept_and_checked(learner: nr.Learner) -> None:
    outcomes = labels if learner.engine.loss.labels else y
    certificate = nr.play(learner, X, outcomes).certificate(radius=3.0)
    assert certificate.hindsight.comparator == "ball of radius 3"
    assert certificate.given == {"radius": 3.0}
    assert nr.verify(certificate, X, outcomes).confirmed
    contents = certificate.to_dict()
    assert not nr.verify(contents | {"given": {"radius": 2.0}}, X, outcomes).confirmed


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (nr.Perceptron(), {"radius": 2.0}),
        (nr.WidrowHoff(norm=3.0), {"chance": 0.1}),
        (nr.ExponentiatedGradient(), {"radius": 2.0}),
        (nr.Logistic.tuned(radius=1.0, norm=3.0), {"radius": 3.0}),
        (nr.Ftrl(radius=1.0), {"radius": 3.0}),
    ],
)
def test_what_makes_no_difference_is_refused(learner: nr.Learner, told: dict[str, float]) -> None:
    outcomes = labels if learner.engine.loss.labels else y
    with pytest.raises(ValueError, match=r"makes no difference|larger than the learner's own"):
        nr.play(learner, X, outcomes).certificate(**told)  # type: ignore[arg-type]


def test_averaging_is_named_and_so_is_whose_loss_it_is() -> None:
    game = nr.play(nr.averaged(nr.WidrowHoff(norm=3.0)), X, y)
    certificate = game.certificate()
    assert certificate.averaged
    assert certificate.to_dict()["learner"]["averaged"] is True
    for shown in (str(certificate), certificate._repr_html_()):
        assert "averaged(widrow-hoff)" in shown
        assert "of the weights being averaged" in " ".join(shown.replace("│", " ").split())
    assert nr.verify(certificate, X, y).confirmed
    plain = nr.play(nr.WidrowHoff(norm=3.0), X, y).certificate()
    assert "averaged" not in plain.to_dict()["learner"]
    assert plain.loss == certificate.loss


def test_the_best_found_is_no_worse_than_what_anyone_would_try() -> None:
    best = nr.play(nr.Perceptron(), X, labels).certificate().hindsight
    assert "best found" in best.comparator
    u = np.linalg.lstsq(X, labels.astype(float), rcond=None)[0]
    assert best.loss <= np.count_nonzero(labels * (X @ u) <= 0)
    assert best.loss - best.gap == 1  # not separable: that much is proven
    for form in ("normalised", "balanced"):
        found = nr.play(nr.Winnow(form=form), np.clip(X, -1, 1), labels).certificate().hindsight
        weights = np.array(list(found.witness.values()))
        assert np.abs(weights).sum() == pytest.approx(1.0)
        assert form == "balanced" or (weights >= 0).all()
        wrong = np.count_nonzero(labels * (np.clip(X, -1, 1) @ weights) <= 0)
        assert found.loss == wrong


def test_the_best_of_few_ors_is_the_best_of_all() -> None:
    bits = rng.integers(0, 2, size=(200, 6)).astype(float)
    noisy = np.where((bits[:, 0] + bits[:, 3] > 0) ^ (rng.random(200) < 0.1), 1, -1)
    best = nr.play(nr.Winnow(form="winnow1"), bits, noisy).certificate().hindsight
    least = min(
        np.count_nonzero(noisy * (bits @ np.array(chosen, float) - 0.5) <= 0)
        for chosen in itertools.product((0, 1), repeat=6)
    )
    assert best.loss == least


def test_files_and_column_names_are_played_directly(tmp_path: Path) -> None:
    file = tmp_path / "days.csv"
    file.write_text("sun,sky,sold\n0.5,blue,2\n0.25,grey,1\n", encoding="utf-8")
    game = nr.play(nr.Nlms(), file, target="sold")
    assert game.rounds == 2
    assert game.digest == nr.play(nr.Nlms(), str(file), "sold").digest
    assert game.certificate().data.target == "sold"
    assert nr.verify(game.certificate(), file).confirmed
    file.write_text("sun,sky,sold\n0.5,blue,2\n0.25,,1\n", encoding="utf-8")
    with pytest.raises(nr.BadExample, match=r"days\.csv, line 3: column 'sky' is empty"):
        nr.play(nr.Nlms(), file, target="sold")


def test_a_certificate_can_be_printed_anywhere() -> None:
    text = str(nr.play(nr.WidrowHoff(norm=3.0), X, y).certificate())
    for encoding in ("ascii", "cp1252", "latin-1", "no-such-encoding"):
        shown = for_encoding(text, encoding)
        assert shown.isascii()
        assert "PROMISE KEPT" in shown
        assert "?" not in shown
    assert for_encoding(text, "utf-8") == for_encoding(text, None) == text


def test_no_theorem_comes_with_a_way_out() -> None:
    text = " ".join(str(nr.play(nr.Logistic(), X, labels).certificate()).replace("│", "").split())
    assert "NO THEOREM" in text
    assert "Logistic.tuned(radius, norm, horizon=None)" in text
    with pytest.raises(ValueError, match=r"Logistic.tuned\(radius, norm, horizon=None\)"):
        nr.play(nr.Logistic(), X, labels).certificate("logistic")
