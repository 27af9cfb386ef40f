"""Laws of every batch method: input, files, copies, certificates, refusals."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.app.commands.run.scoring import score
from noregret.batch import Batch
from noregret.errors import BadExample, CertificateError, ModelFileError, NoRegretError
from tests.thorough import picked

from .problems import MACHINES, METHODS, NAMES, clone, examples_for, forms, short

each = pytest.mark.parametrize("method", METHODS, ids=short)
each_machine = pytest.mark.parametrize("method", MACHINES, ids=short)


def fitted(method: Batch, rows: int = 60) -> Any:
    return clone(method).fit(*examples_for(method, rows))


# Input.


@each
def test_every_form_of_the_examples_gives_the_same_weights(method: Batch) -> None:
    X, y = examples_for(method)
    expected = clone(method).fit(X, y)
    for name, rows, outcomes in forms(X, y):
        found = clone(method).fit(rows, outcomes)
        order = [NAMES.index(f) for f in found.features] if found.features[0] in NAMES else ...
        assert np.allclose(found.weights, expected.weights[order], rtol=1e-7, atol=1e-9), name
        assert found.constant == pytest.approx(expected.constant, rel=1e-7, abs=1e-9)
        assert found.rounds == len(y)


@each
def test_a_frame_a_file_and_play_are_the_same_fit(method: Batch, tmp_path: Path) -> None:
    X, y = examples_for(method)
    frame = pd.DataFrame(X, columns=NAMES).assign(outcome=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    of_frame = clone(method).fit(frame, target="outcome")
    of_file = clone(method).fit(tmp_path / "data.csv", target="outcome")
    played = clone(method)
    game = nr.play(played, frame, target="outcome")
    assert np.array_equal(of_frame.weights, played.weights)
    assert np.allclose(of_frame.weights, of_file.weights, rtol=1e-9)
    assert game.rounds == of_file.rounds == len(y)
    assert game.digest == of_file.certificate().data.digest


@each
def test_one_prediction_is_one_of_many(method: Batch) -> None:
    X, _ = examples_for(method)
    found = fitted(method)
    scores = found.decision_many(X)
    assert np.allclose(scores, X @ found.weights + found.constant, rtol=1e-12, atol=1e-12)
    assert scores.tolist() == [found.decision_one(x) for x in X]
    assert found.predict_many(X).tolist() == [found.predict_one(x) for x in X]


@each
def test_fit_forgets_what_it_was_fitted_to_before(method: Batch) -> None:
    X, y = examples_for(method, 80)
    again = clone(method).fit(X, y).fit(X[:50, :3], y[:50] if y.max() > 1 else np.sign(X[:50, 0]))
    other = clone(method).fit(X[:50, :3], y[:50] if y.max() > 1 else np.sign(X[:50, 0]))
    assert np.array_equal(again.weights, other.weights)
    assert again.features == ["0", "1", "2"]


@each
def test_features_that_only_some_examples_have_count_as_zero(method: Batch) -> None:
    X, y = examples_for(method)
    X[:20, 3] = 0.0
    if not isinstance(y.max(), float) or method in MACHINES:
        y = np.where(X @ [1.0, -2.0, 0.5, 3.0] > 0, 1.0, -1.0)
    rows = [{n: v for n, v in zip(NAMES, x, strict=True) if v} for x in X.tolist()]
    late, full = clone(method).fit(rows, y), clone(method).fit(X, y)
    order = [late.features.index(name) for name in NAMES]
    assert np.allclose(late.weights[order], full.weights, rtol=1e-7, atol=1e-9)


@each_machine
def test_labels_come_back_as_they_were_written(method: Batch) -> None:
    X, y = examples_for(method)
    plain = clone(method).fit(X, y).predict_many(X)
    assert set(plain.tolist()) == {-1, 1}
    zeros = clone(method).fit(X, (y > 0).astype(float)).predict_many(X)
    assert np.array_equal(zeros, (plain + 1) // 2)
    truths = clone(method).fit(X, y > 0).predict_many(X)
    assert truths.dtype == bool
    assert np.array_equal(truths, plain > 0)


# Refusals.


@each
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e200])
def test_what_is_refused_changes_nothing(method: Batch, wrong: float) -> None:
    X, y = examples_for(method)
    found = clone(method).fit(X, y)
    before = found.weights
    bad = X.copy()
    bad[17, 2] = wrong
    with pytest.raises(BadExample, match="round 18: column 2"):
        found.fit(bad, y)
    worse = y.copy()
    worse[30] = wrong
    with pytest.raises(BadExample, match="round 31"):
        found.fit(X, worse)
    assert np.array_equal(found.weights, before)
    assert found.certificate().data.rounds == len(y)


@each
def test_errors_say_what_to_do(method: Batch) -> None:
    X, y = examples_for(method)
    fresh = clone(method)
    with pytest.raises(NoRegretError, match="not fitted yet: call fit"):
        fresh.predict_one(X[0])
    with pytest.raises(NoRegretError, match="not fitted yet"):
        fresh.certificate()
    with pytest.raises(NoRegretError, match="no examples to fit"):
        fresh.fit(np.zeros((0, 3)), [])
    with pytest.raises(BadExample, match="60 rows, but 59 outcomes"):
        fresh.fit(X, y[1:])
    with pytest.raises(TypeError, match="needs its outcomes"):
        fresh.fit(X)
    with pytest.raises(ValueError, match="predict_many"):
        nr.play(fresh, X, y, predictions=True)
    found = fresh.fit(X, y)
    with pytest.raises(BadExample, match="expected 4 columns, got 3"):
        found.predict_many(X[:, :3])
    with pytest.raises(ValueError, match="does not answer for 'perceptron'"):
        found.certificate("perceptron")
    with pytest.raises(ValueError, match="unknown 'radius'"):
        found.certificate(radius=1.0)


@each_machine
def test_labels_are_two(method: Batch) -> None:
    X, y = examples_for(method)
    with pytest.raises(BadExample, match="labels are"):
        clone(method).fit(X, y + 1)
    with pytest.raises(BadExample, match="the label is"):
        clone(method).fit(X, ["yes" if v > 0 else "no" for v in y])


# Copies and files.


@each
def test_copies_and_files_predict_the_same_to_the_bit(method: Batch, tmp_path: Path) -> None:
    X, _ = examples_for(method)
    found = fitted(method)
    found.save(tmp_path / "model")
    expected = found.decision_many(X)
    for other in (
        nr.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(found)),
        copy.copy(found),
        copy.deepcopy(found),
        found.copy(),
    ):
        assert type(other) is type(found)
        assert repr(other) == repr(found)
        assert other.rounds == found.rounds
        assert other.features == found.features
        assert np.array_equal(other.decision_many(X), expected)
        assert other.predict_many(X).dtype == found.predict_many(X).dtype
        if hasattr(found, "support"):
            assert np.array_equal(other.support, found.support)
    fresh = found.clone()
    assert fresh.rounds == 0
    assert repr(fresh) == repr(found)


@each
def test_a_method_that_was_never_fitted_can_be_saved(method: Batch, tmp_path: Path) -> None:
    clone(method).save(tmp_path / "model")
    assert np.array_equal(
        nr.load(tmp_path / "model").fit(*examples_for(method)).weights, fitted(method).weights
    )


@each
def test_a_changed_file_is_refused(method: Batch, tmp_path: Path) -> None:
    path = tmp_path / "model"
    fitted(method).save(path)
    contents = bytearray(path.read_bytes())
    contents[-3] ^= 1
    path.write_bytes(contents)
    with pytest.raises(ModelFileError, match="damaged"):
        nr.load(path)


@each
def test_states_that_make_no_sense_are_refused(method: Batch) -> None:
    found = fitted(method)
    arrays, numbers, names = found.get_state()
    for wrong in (arrays["weights"][1:], np.full_like(arrays["weights"], np.nan)):
        with pytest.raises(ValueError, match="weight"):
            clone(method).set_state(arrays | {"weights": wrong}, numbers, names)
    with pytest.raises((ValueError, KeyError)):
        clone(method).set_state({}, numbers, names)
    with pytest.raises((ValueError, KeyError)):
        clone(method).set_state(arrays, {}, names)


@each
def test_the_command_predicts_with_a_saved_method(method: Batch, tmp_path: Path) -> None:
    X, y = examples_for(method, 20)
    frame = pd.DataFrame(X, columns=NAMES).assign(outcome=y)
    found = clone(method).fit(frame, target="outcome")
    found.save(tmp_path / "model")
    frame.drop(columns="outcome").to_csv(tmp_path / "data.csv", index=False)
    score(
        str(tmp_path / "model"),
        [str(tmp_path / "data.csv")],
        str(tmp_path / "out.csv"),
        format=None,
        missing=None,
        on_error="stop",
    )
    written = pd.read_csv(tmp_path / "out.csv")
    assert np.allclose(written["prediction"], found.predict_many(named(X)))


def named(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=NAMES)


@each
def test_rows_that_do_not_fit_in_memory(method: Batch) -> None:
    X, y = examples_for(method)
    game = nr.play(clone(method), X, y, memory=500)
    assert np.allclose(game.method.weights, clone(method).fit(X, y).weights, rtol=1e-9)
    assert nr.verify(game.certificate(), X, y).confirmed


# Certificates.


@each
def test_a_certificate_is_confirmed_by_its_data(method: Batch, tmp_path: Path) -> None:
    X, y = examples_for(method)
    frame = pd.DataFrame(X, columns=NAMES).assign(outcome=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    found = clone(method).fit(tmp_path / "data.csv", target="outcome")
    certificate = found.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds is True
    assert certificate.family == "batch"
    assert certificate.learner == method.name
    assert method.name in str(certificate)
    certificate.save(tmp_path / "c.json")
    again = nr.load_certificate(tmp_path / "c.json")
    assert again == certificate or again.to_dict() == certificate.to_dict()
    done = nr.verify(tmp_path / "c.json", tmp_path / "data.csv")
    assert done.confirmed, done.failed
    frame.iloc[5, 1] += 1e-6
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert not nr.verify(tmp_path / "c.json", tmp_path / "data.csv").confirmed


def changes(contents: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Return figures of a certificate with values that are better than the truth."""
    witness = dict(contents["hindsight"]["witness"])
    heaviest = max(witness, key=lambda name: abs(witness[name]))
    found = [
        ("loss", "total", contents["loss"]["total"] / 2 - 1.0),
        ("hindsight", "loss", contents["hindsight"]["loss"] + 1.0),
        ("hindsight", "witness", witness | {heaviest: witness[heaviest] * 1.01}),
        ("regret", "lower", -1.0),
        ("data", "rounds", contents["data"]["rounds"] + 1),
        ("theorem", "bound", contents["theorem"]["bound"] * 0.9 + 1e-5),
        ("theorem", "measured", (contents["theorem"]["measured"] or 0.0) * 0.9 - 0.1),
    ]
    if "mistakes" in contents["loss"]:
        found.append(("loss", "mistakes", contents["loss"]["mistakes"] + 1))
    return found


@each
def test_a_certificate_that_was_changed_is_not_confirmed(method: Batch, tmp_path: Path) -> None:
    from noregret.proof.certificates.certificate import seal

    X, y = examples_for(method)
    contents = clone(method).fit(X, y).certificate().to_dict()
    assert nr.verify(contents, X, y).confirmed
    for part, figure, value in picked(changes(contents), repr(method), 2):
        changed = json.loads(json.dumps(contents))
        changed[part][figure] = value
        unsealed = nr.verify(changed, X, y)
        assert "seal" in [line.name for line in unsealed.failed]
        changed.pop("seal")
        changed["seal"] = seal(changed)
        if (part, figure) == ("hindsight", "witness") and method.name in ("cycled",):
            continue  # any other separator would do there
        assert not nr.verify(changed, X, y).confirmed, (part, figure)
    (tmp_path / "c.json").write_text(json.dumps(contents | {"learner": {"name": "ridge"}}))
    with pytest.raises(CertificateError):
        nr.verify(tmp_path / "c.json", X, y)


@each
@pytest.mark.parametrize("size", [1e150, 1e308])
def test_weights_beyond_all_measure_confirm_nothing(method: Batch, size: float) -> None:
    X, y = examples_for(method)
    contents = clone(method).fit(X, y).certificate().to_dict()
    contents["hindsight"]["witness"] = dict.fromkeys(contents["hindsight"]["witness"], size)
    assert not nr.verify(contents, X, y).confirmed


@each
def test_a_game_keeps_its_own_weights(method: Batch) -> None:
    X, y = examples_for(method)
    found = clone(method)
    game = nr.play(found, X, y)
    before = game.certificate().to_dict()
    found.fit(X[10:], y[10:])
    assert game.certificate().to_dict() == before
    assert found.certificate().to_dict() != before


# The same with units as large or small as they come.


@each
@pytest.mark.parametrize("scale", [1e-20, 1e-6, 1e6, 1e20])
def test_units_do_not_matter_where_nothing_is_penalised(method: Batch, scale: float) -> None:
    if method.intercept or method.name in ("ridge", "soft-margin-svm"):
        method = clone(method).__class__(**(method.params | {"intercept": False}))
    X, y = examples_for(method)
    if method.params.get("penalty"):
        params = method.params | {"penalty": method.params["penalty"] * scale**2}
        scaled = type(method)(**params)
    else:
        scaled = clone(method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        here, there = clone(method).fit(X, y), scaled.fit(scale * X, y)
        factor = scale**2 if method.name == "cycled" else 1.0
        scores = factor * here.decision_many(X)
        assert np.allclose(there.decision_many(scale * X), scores, rtol=1e-5, atol=0)
        assert nr.verify(there.certificate(), scale * X, y).confirmed
