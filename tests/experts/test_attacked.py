"""Former successes of attackers: doctored certificates, false promises, threads, half updates."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import experts
from noregret.proof.certificates.certificate import seal

LOSSES = np.random.default_rng(0).random((100, 4))


def doctored(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return Hedge's certificate, changed and sealed again."""
    contents: dict[str, Any] = copy.deepcopy(nr.play(nr.Hedge(), LOSSES).certificate().to_dict())
    contents.pop("seal")
    change(contents)
    return contents | {"seal": seal(contents)}


def loosened(contents: dict[str, Any]) -> None:
    contents["hindsight"]["tolerance"] = 0.01
    contents["theorem"]["bound"] *= 1.09


def sharpened(contents: dict[str, Any]) -> None:
    contents["theorem"]["bound"] *= 1 - 9e-6


def worst_for_best(contents: dict[str, Any]) -> None:
    totals = LOSSES.sum(axis=0)
    worst, best = int(np.argmax(totals)), contents["hindsight"]
    best["witness"] = {str(k): float(k == worst) for k in range(4)}
    best["gap"] += totals[worst] - best["loss"]
    best["loss"] = float(totals[worst])
    contents["regret"]["lower"] = contents["loss"]["total"] - best["loss"]


def test_the_certificate_itself_is_confirmed() -> None:
    assert nr.verify(doctored(lambda contents: None), LOSSES).confirmed


@pytest.mark.parametrize("change", [loosened, sharpened, worst_for_best])
def test_what_is_exact_is_held_to_rounding(change: Callable[[dict[str, Any]], None]) -> None:
    assert not nr.verify(doctored(change), LOSSES).confirmed


@pytest.mark.parametrize("params", [{"loss": "absolute"}, {"loss": "quantile"}])
def test_losses_that_are_not_exp_concave_promise_nothing(params: dict[str, str]) -> None:
    X, y = np.array([[0.0, 1.0]] * 30), np.repeat([0.0, 1.0], 15)
    promise = nr.play(nr.WeightedAverage(rate=1.0, **params), X, y).certificate().theorem
    assert promise.bound is None
    assert promise.failed.name == "the loss is exp-concave at this rate"


@pytest.mark.parametrize("kind", [nr.MlPoly, nr.Boa, nr.Squint])
def test_certificates_do_not_hang_on_which_of_many_mixtures_is_best(kind: Any) -> None:
    for seed in range(10):
        draw = np.random.default_rng(seed)
        X, y = draw.random((40, 3)), draw.random(40)
        game = nr.play(kind(loss="quantile", loss_parameter=0.5), X, y)
        assert nr.verify(game.certificate(), X, y).confirmed


@pytest.mark.parametrize("kind", [nr.AdaHedge, nr.Boa, nr.Squint])
def test_experts_that_were_certain_and_wrong(kind: Any) -> None:
    X, y = np.tile([[0.0, 0.5, 1.0]], (6, 1)), np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    certificate = nr.play(kind(loss="log"), X, y).certificate()
    assert certificate.theorem.holds
    assert nr.verify(certificate, X, y).confirmed
    assert certificate.to_json()


@pytest.mark.parametrize("kind", [nr.Squint, nr.Hedge])
def test_threads_wait_for_each_other(kind: Any) -> None:
    X = np.random.default_rng(0).random((50_000, 3))
    master = kind()
    master.learn_many(X[:2])
    threads = [threading.Thread(target=master.play_block, args=(X, None, None)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        assert np.isfinite(master.weights()).all()
    for thread in threads:
        thread.join()
    assert master.rounds == 150_002


def test_nobody_has_learned_what_one_could_not_say() -> None:
    draw = np.random.default_rng(1)
    X, y = draw.random((50, 2)), draw.random(50)
    team = nr.Experts({"a": nr.WidrowHoff(rate=0.1), "z": lambda x: 1 / 0})
    with pytest.raises(ZeroDivisionError):
        team.learn_many(X, y)
    assert team.rounds == team["a"].rounds == 0


def test_mixtures_stay_in_step_with_a_loss_that_fails() -> None:
    calls = 0

    def value(x: float, y: float) -> float:
        nonlocal calls
        calls += 1
        if calls > 100:
            raise RuntimeError("enough")
        return (x - y) ** 2

    master = nr.Blend(loss=nr.PythonLoss(value, lambda x, y: 2 * (x - y)))
    with pytest.raises(RuntimeError, match="enough"):
        master.learn_many(LOSSES, LOSSES[:, 0])
    assert {mixture.rounds for mixture in master._mixtures} == {master.rounds}


def test_who_joined_on_the_way_is_not_certified() -> None:
    master = nr.Hedge()
    game = nr.play(master, LOSSES)
    master.add_expert()
    with pytest.raises(nr.NoRegretError, match="joined"):
        game.certificate()


@pytest.mark.parametrize("prior", ["12", [True, True], [10**400, 1]])
def test_priors_are_lists_of_numbers(prior: Any) -> None:
    with pytest.raises(ValueError, match="prior must be positive numbers"):
        experts.make("hedge", prior=prior)


def test_names_are_text() -> None:
    master = nr.Hedge()
    master.learn_losses({"a": 0.0, "b": 1.0})
    with pytest.raises(TypeError, match="is text"):
        master.add_expert(5)
