"""Challengers play in shadow exactly as they would alone, and are compared safely."""

from __future__ import annotations

import random
from math import exp
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.service import Conflict, NotCertified, Service, ServiceError
from noregret.service.comparison import Comparison
from tests.thorough import sized


def example(k: int) -> dict[str, Any]:
    return {"a": (k % 7) / 7, "b": 1.0}


def test_models_in_shadow_are_those_of_services_of_their_own(tmp_path: Path) -> None:
    """With late labels, keys, promotion, rollback and crashes in between."""
    learners = {"first": nr.WidrowHoff(rate=0.1), "nlms": nr.Nlms(), "auto": nr.Auto()}
    alone = {name: Service(each, tmp_path / f"{name}.db") for name, each in learners.items()}
    service = Service(learners["first"], tmp_path / "s.db", snapshot_every=9, resident=1)
    for name in ("nlms", "auto"):
        service.challengers.add(name, learners[name])
    draw, waiting, serving = random.Random(6), list[int](), "first"
    for k in range(90):
        key = None if k % 3 else "shop"
        answer = service.predict(example(k), id=str(k), key=key)
        expected = {n: each.predict(example(k), id=str(k), key=key) for n, each in alone.items()}
        assert answer.prediction == expected[serving].prediction
        waiting.append(k)
        while waiting and draw.random() < 0.5:
            done = waiting.pop(draw.randrange(len(waiting)))
            for each in (service, *alone.values()):
                each.label(str(done), done % 5)
        if k == 40:
            service.challengers.promote("auto")
            serving = "auto"
        if k == 70:
            service.challengers.rollback()
            serving = "first"
        if k % 20 == 13:
            service.journal.close()  # as a crash would
            service = Service(None, tmp_path / "s.db", snapshot_every=9, resident=1)
            assert service.challengers.serving == serving
    for name, each in alone.items():
        for key in (None, "shop"):
            mine = service.contenders.models[name].get(key)
            assert dumps(mine) == dumps(each.models.get(key))
        each.close()
    found = service.challengers.comparison()
    assert set(found) == {"nlms", "auto"}
    assert 0 < found["auto"]["rounds"] < 90
    with pytest.raises(NotCertified, match="several models served"):
        service.certificate()
    service.close()


def test_changes_are_checked_and_a_failing_challenger_harms_nobody(tmp_path: Path) -> None:
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        with pytest.raises(ServiceError, match="no other model"):
            service.challengers.rollback()
        with pytest.raises(ServiceError, match="there is no model 'x'"):
            service.challengers.promote("x")
        service.challengers.add("wild", nr.WidrowHoff(rate=0.9))
        for bad in ("wild", "first"):
            with pytest.raises(Conflict):
                service.challengers.add(bad, nr.Nlms())
        for bad in ("a/b", "é", "", "a" * 65):
            with pytest.raises(TypeError, match="is a word"):
                service.challengers.add(bad, nr.Nlms())
        with pytest.raises(TypeError, match="same kind of labels"):
            service.challengers.add("classes", nr.Softmax())
        with pytest.raises(Conflict, match="has the loss of the model that serves, square"):
            service.challengers.add("absolute", nr.Auto("absolute"))
        plain = nr.Nlms()
        for k in range(40):
            service.learn({"a": 1e5}, (-1.0) ** k)  # 'wild' diverges
            plain.learn_one({"a": 1e5}, (-1.0) ** k)
        assert dumps(service.learner) == dumps(plain)
        assert service.contenders.models["wild"].get(None).rounds < 40
        service.journal.close()
    with Service(None, tmp_path / "s.db") as service:
        assert dumps(service.learner) == dumps(plain)
        service.challengers.retire("wild")
        assert service.challengers.comparison() == {}
        assert service.certificate().data.rounds == 40


def test_equal_challengers_are_seldom_called_better() -> None:
    """The chance that the p-value is ever below 0.1 is at most 0.1, watched at every label."""
    draw, games, called = random.Random(8), sized(200, full=5000), 0
    for _ in range(games):
        state = Comparison()
        for _ in range(300):
            state = state.after(draw.random(), draw.random())
        called += state.found()["p_better"] < 0.1
    assert called / games <= 0.1 + 3 * (0.1 * 0.9 / games) ** 0.5


def test_the_wealth_is_a_fair_game() -> None:
    """Whatever was played, the mean over both signs of the next difference changes nothing."""
    draw, state = random.Random(9), Comparison(bound=2.0)
    for _ in range(200):
        step = draw.uniform(0, 3)
        ways = [state.after(step, 0.0), state.after(0.0, step)]
        for side in ("better", "worse"):
            mean = sum(exp(getattr(way, side)) for way in ways) / 2
            assert mean == pytest.approx(exp(getattr(state, side)), rel=1e-12)
        state = draw.choice(ways)
