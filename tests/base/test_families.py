"""The families beside each other: names, classes, files and certificates by the same code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.app.cli.learner_facts import explain
from noregret.base import families, registry
from noregret.base.algorithm import Named
from noregret.errors import CertificateError, ModelFileError, NoRegretError
from tests.proof.game.steady import Steady

RNG = np.random.default_rng(7)
X = RNG.uniform(size=(200, 3))
y = RNG.uniform(size=200)
FRAME = pd.DataFrame(X, columns=["ann", "bob", "cyd"])


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> type[Steady]:
    """A player that is registered for as long as a test runs."""
    monkeypatch.setitem(registry._registered["experts"], "steady", Steady)
    return Steady


# Names.


def test_every_class_is_in_the_family_whose_folder_it_is_in() -> None:
    for family, package in families.FAMILIES.items():
        for name, kind in registry.all_of(family).items():
            assert kind.family == family
            assert kind.__module__ == f"{package}.{name.replace('-', '_')}"
            assert issubclass(kind, Named)
            assert registry.find(name, family) is kind
            place = nr if family == "learners" else getattr(nr, family)
            assert getattr(place, kind.__name__) is kind


def test_names_are_looked_up_in_the_order_of_the_families() -> None:
    for kind in registry.all_algorithms():
        first = registry.families_with(kind.name)[0]
        assert registry.find(kind.name) is registry.all_of(first)[kind.name]
        assert getattr(nr, kind.__name__) is registry.find(kind.name)
    assert all(kind.family == "learners" for kind in nr.all_learners().values())


@pytest.mark.parametrize("family", ["experts", "bandits", "portfolios", "filters"])
def test_the_package_of_a_family_offers_its_classes(family: str) -> None:
    package = getattr(nr, family)
    for name, kind in registry.all_of(family).items():
        assert kind.__name__ in dir(package)
        assert kind.__name__ in package.__all__
        assert type(package.make(name)) is kind
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = package.NoSuchThing
    with pytest.raises(ValueError, match="is not one of the"):
        package.make("widrow-hoff")


def test_theorems_have_names_of_their_own() -> None:
    told = [theorem.name for kind in registry.all_algorithms() for theorem in kind.theorems]
    assert len(set(told)) == len(told)
    assert set(told) <= set(nr.all_theorems())


def test_what_is_registered_wrongly_is_refused(steady: type[Steady]) -> None:
    with pytest.raises(ValueError, match="two experts are called 'steady'"):
        nr.register(Steady)
    with pytest.raises(ValueError, match="unknown family 'singers'"):
        nr.register(type("Carol", (Steady,), {"name": "carol", "family": "singers"}))
    with pytest.raises(ValueError, match="must be called LaLa"):
        nr.register(type("Tune", (Steady,), {"name": "la-la"}))


def test_making_by_name(steady: type[Steady]) -> None:
    assert type(nr.make("steady", high=0.5)) is Steady
    assert repr(nr.experts.make("steady", high=0.5)) == "Steady(high=0.5)"
    with pytest.raises(ValueError, match=r"steady has no parameter 'hihg': did you mean high\?"):
        nr.make("steady", hihg=1)
    with pytest.raises(ValueError, match=r"did you mean steady\?"):
        nr.make("stedy")
    with pytest.raises(ValueError, match="is not one of the"):
        nr.bandits.make("steady")


def test_importing_the_front_pages_loads_no_algorithm() -> None:
    code = (
        "import sys, noregret, noregret.experts, noregret.bandits, noregret.portfolios,"
        " noregret.filters\n"
        "print([m for m in sys.modules if m.startswith('noregret.') and m.count('.') > 2],"
        " 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"


# Copies and files.


def test_copies_and_files_go_on_where_they_stopped(steady: type[Steady], tmp_path: Path) -> None:
    player = Steady(high=0.7)
    nr.play(player, FRAME, y)
    player.save(tmp_path / "model")
    for other in (player.copy(), nr.load(tmp_path / "model")):
        assert type(other) is Steady
        assert other.params == {"high": 0.7}
        assert (other.rounds, other.total_loss) == (player.rounds, player.total_loss)
    assert player.clone().rounds == 0


def test_a_model_file_names_its_family_unless_it_is_a_linear_learner(
    steady: type[Steady], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors import safe_open

    found = []
    for learner in (Steady(), nr.WidrowHoff()):
        learner.save(tmp_path / "model")
        with safe_open(tmp_path / "model", framework="numpy") as file:
            found.append(json.loads(file.metadata()["noregret"]).get("family"))
    assert found == ["experts", None]
    Steady().save(tmp_path / "model")
    monkeypatch.delitem(registry._registered["experts"], "steady")
    with pytest.raises(ModelFileError, match="steady"):
        nr.load(tmp_path / "model")


# Certificates.


def test_a_certificate_is_saved_read_and_verified(steady: type[Steady], tmp_path: Path) -> None:
    game = nr.play(Steady(), FRAME, y)
    certificate = game.certificate()
    told = certificate.to_dict()
    assert told["learner"] == {"name": "steady", "params": {"high": 1.0}, "family": "experts"}
    assert told["theorem"]["holds"] is True
    assert told["theorem"]["bound"] == 800.0
    assert "target" not in told["data"]
    assert set(told["hindsight"]["witness"]) == {"ann", "bob", "cyd"}
    losses = ((X - y[:, None]) ** 2).sum(axis=0)
    assert told["hindsight"]["loss"] == pytest.approx(losses.min(), rel=1e-12)
    assert told["regret"]["upper"] == pytest.approx(game.loss - losses.min(), rel=1e-9)
    certificate.save(tmp_path / "c.json")
    assert nr.load_certificate(tmp_path / "c.json") == certificate
    assert nr.Certificate.from_dict(told) == certificate
    assert nr.verify(tmp_path / "c.json", FRAME, y).confirmed
    assert str(certificate)
    assert certificate._repr_html_()
    assert str(nr.verify(certificate, FRAME, y))


def test_files_are_verified_with_a_target_and_without(steady: type[Steady], tmp_path: Path) -> None:
    FRAME.assign(sold=y).to_csv(tmp_path / "advice.csv", index=False, float_format="%.17g")
    FRAME.to_csv(tmp_path / "losses.csv", index=False, float_format="%.17g")
    for name, target in (("advice", "sold"), ("losses", None)):
        file = tmp_path / f"{name}.csv"
        game = nr.play(Steady(), file, target=target)
        certificate = game.certificate()
        assert certificate.data.target == target
        assert nr.verify(certificate, file).confirmed
    frame = pd.read_csv(tmp_path / "advice.csv")
    again = nr.play(Steady(), frame, target="sold").certificate()
    assert again.data.target == "sold"
    assert nr.verify(again, frame).confirmed
    assert nr.verify(again, tmp_path / "advice.csv").confirmed


@pytest.mark.parametrize(
    ("part", "field", "value", "lines"),
    [
        ("loss", "total", 1.0, {"loss.total", "regret.lower", "regret.upper"}),
        ("hindsight", "loss", 1.0, {"hindsight.loss"}),
        ("hindsight", "class", "the second best expert", {"hindsight.class"}),
        ("hindsight", "witness", {"ann": 0.5, "bob": 0.5, "cyd": 0.0}, {"hindsight.witness"}),
        ("hindsight", "witness", {"ann": 1.0}, {"hindsight.witness", "hindsight.loss"}),
        ("theorem", "bound", 1.0, {"theorem.bound"}),
        ("data", "rounds", 7, {"data.rounds"}),
    ],
)
def test_what_was_changed_is_not_confirmed(
    steady: type[Steady], part: str, field: str, value: Any, lines: set[str]
) -> None:
    told = nr.play(Steady(), FRAME, y).certificate().to_dict()
    told[part][field] = value
    failed = {line.name for line in nr.verify(told, FRAME, y).failed}
    assert lines <= failed
    assert "seal" in failed


def test_other_data_are_not_confirmed(steady: type[Steady]) -> None:
    certificate = nr.play(Steady(), FRAME, y).certificate()
    for data in ((FRAME, y[::-1]), (X, y), (FRAME[1:], y[1:]), (FRAME,)):
        assert not nr.verify(certificate, *data).confirmed


def test_a_certificate_of_no_known_family_or_name_is_refused(steady: type[Steady]) -> None:
    told = nr.play(Steady(), X, y).certificate().to_dict()
    wrong = ("singers", "learner.family"), ("bandits", "learner: .steady. is not one of")
    for family, words in wrong:
        told["learner"]["family"] = family
        with pytest.raises(CertificateError, match=words):
            nr.verify(told, X, y)


def test_what_a_theorem_was_told_in_vain_is_refused(steady: type[Steady]) -> None:
    game = nr.play(Steady(), X, y)
    with pytest.raises(ValueError, match="unknown 'radius': a theorem can be told chance"):
        game.certificate(radius=1.0)
    with pytest.raises(ValueError, match="chance makes no difference"):
        game.certificate(chance=0.1)
    with pytest.raises(ValueError, match="does not answer for 'online-to-batch'"):
        game.certificate("online-to-batch")


def test_a_failed_assumption_takes_the_bound_away(steady: type[Steady]) -> None:
    certificate = nr.play(Steady(high=9.0), 2 * X, y).certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None
    assert certificate.theorem.failed is not None
    assert nr.verify(certificate, 2 * X, y).confirmed


def test_a_game_after_others_says_that_it_is_one() -> None:
    player = Steady()
    nr.play(player, X, y)
    game = nr.play(player, X, y)
    certificate = game.certificate()
    assert certificate.data.rounds == len(X)
    assert certificate.loss.total == pytest.approx(player.total_loss / 2)
    assert certificate.theorem is not None
    assert certificate.theorem.failed is not None
    player.play_block(X, y, None)
    with pytest.raises(NoRegretError, match="learned outside this game"):
        game.certificate()


def test_nothing_played_is_nothing_to_certify() -> None:
    with pytest.raises(NoRegretError, match="nothing was played"):
        Steady()._new_game().certificate()


# What is told of them.


def test_the_facts_of_a_player_name_what_to_type(steady: type[Steady]) -> None:
    told = explain(Steady)
    assert told["family"] == "experts"
    assert told["command"] == "noregret mix FORECASTS.csv --target y --learner steady -p high=1.0"
