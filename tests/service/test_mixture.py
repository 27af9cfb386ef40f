"""A mixture of the models plays as ``noregret.experts`` does alone, and certifies its rounds."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.errors import NoRegretError
from noregret.experts import Blend
from noregret.service import NotCertified, Service, ServiceError


def example(k: int) -> dict[str, Any]:
    """Return a row."""
    return {"a": k % 7 / 7, "b": k % 3 / 3}


@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_a_mixture_is_that_of_experts(loss: str, tmp_path: Path) -> None:
    """Bit for bit, through promotion and a crash; ``verify`` confirms its certificate."""
    draw, path = random.Random(5), tmp_path / "s.db"
    first: Any = nr.Nlms() if loss == "square" else nr.Logistic()
    members = {"first": first.clone(), "other": nr.Auto(loss)}
    master = Blend("log" if first.engine.loss.labels else loss)
    service = Service(first, path, snapshot_every=17)
    service.challengers.add("other", nr.Auto(loss))
    service.challengers.mix("team")
    for k in range(90):
        y = draw.choice([False, True]) if loss == "logistic" else draw.random()
        if k == 30:
            service.challengers.promote("team")
        if k == 60:
            service.journal.close()  # as if it was killed
            service = Service(None, path, snapshot_every=17)
        scores = {name: member.decision_one(example(k)) for name, member in members.items()}
        if loss == "logistic":
            scores = {name: 1 / (1 + math.exp(-score)) for name, score in scores.items()}
        said = master.predict_one(scores)
        answer = service.learn(example(k), y)
        if k >= 30 and loss == "square":
            assert answer.prediction == said
        elif k >= 30:
            assert answer.chances is not None
            assert answer.chances[True] == pytest.approx(said, rel=1e-12)
            assert answer.prediction == (said > 0.5)
        master.learn_one(scores, float(y))
        for member in members.values():
            member.learn_one(example(k), y)
    assert service.learner.total_loss == pytest.approx(master.total_loss, rel=1e-12)
    if loss == "square":
        assert dumps(service.learner) == dumps(master)
    comparison = service.challengers.comparison()
    assert comparison["first"]["rounds"] == comparison["other"]["rounds"] == 60
    certificate = service.certificate(of="team")
    service.export(tmp_path / "rows.jsonl", "sold", of="team")
    assert certificate.data.rounds == 90
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    certificate.save(tmp_path / "c.json")
    assert nr.verify(tmp_path / "c.json", tmp_path / "rows.jsonl", target="sold").confirmed
    rows = (tmp_path / "rows.jsonl").read_text().splitlines()
    changed = json.loads(rows[40]) | {"sold": 0.25}
    (tmp_path / "rows.jsonl").write_text("\n".join([*rows[:40], json.dumps(changed), *rows[41:]]))
    assert not nr.verify(tmp_path / "c.json", tmp_path / "rows.jsonl", target="sold").confirmed
    with pytest.raises(NotCertified, match="of=team"):
        service.certificate()
    service.close()


def test_the_regret_to_the_best_model_is_bounded(tmp_path: Path) -> None:
    """Also where the best model changes: an adversary favours each in turn."""
    with Service(nr.Nlms(rate=0.01), tmp_path / "s.db") as service:
        service.challengers.add("fast", nr.Nlms(rate=0.9))
        service.challengers.mix("team")
        service.challengers.promote("team")
        for k in range(200):
            models = service.contenders.models
            said = [models[name].get(None).predict_one({"a": 1.0}) for name in ("first", "fast")]
            # Whatever the mixture favours is made wrong.
            master: Any = service.learner
            weights = master.weights() if k else np.array([0.5, 0.5])
            service.learn({"a": 1.0}, float(np.clip(said[int(np.argmin(weights))] + 0.1, 0, 1)))
        certificate = service.certificate(of="team")
        assert certificate.theorem is not None
        assert certificate.theorem.bound is not None
        assert certificate.regret.upper <= certificate.theorem.bound
        assert all(each.holds for each in certificate.further)


def test_late_labels_are_learned_and_no_bound_is_claimed(tmp_path: Path) -> None:
    """Each key has a mixture of its own; a member that refuses an example sits it out."""
    with Service(nr.Nlms(), tmp_path / "s.db", resident=1) as service:
        service.challengers.add("other", nr.WidrowHoff(rate=0.1))
        service.challengers.mix("team")
        service.challengers.promote("team")
        for k in range(30):
            service.predict(example(k), id=str(k), key="ab"[k % 2])
            if k >= 4:
                service.label(str(k - 4), k % 3)
        with pytest.raises(NotCertified, match="12 of 13 labels came after others"):
            service.certificate(of="team", key="a")
        assert service.contenders.models["team"].get("a").rounds == 13
        for k in range(5):
            service.learn(example(k), k % 2, key="in time")
        assert service.certificate(of="team", key="in time").data.rounds == 5
        with pytest.raises(NotCertified, match="no label came yet"):
            service.certificate(of="team")


def test_changes_are_checked(tmp_path: Path) -> None:
    """Members stay while their mixture plays; classes cannot be mixed; a bad label is refused."""
    with Service(nr.Logistic(), tmp_path / "s.db") as service:
        service.challengers.add("other", nr.Auto("logistic"))
        service.challengers.mix("team", "ada-hedge")
        with pytest.raises(ServiceError, match="'other' is a member of 'team'"):
            service.challengers.retire("other")
        with pytest.raises(ServiceError, match="there is no mixture 'other'"):
            service.certificate(of="other")
        service.challengers.promote("team")
        service.learn({"a": 1.0}, 1)
        before = [dumps(each.get(None)) for each in service.contenders.models.values()]
        with pytest.raises(NoRegretError):
            service.learn({"a": 1.0}, 7)
        assert [dumps(each.get(None)) for each in service.contenders.models.values()] == before
        service.challengers.rollback()
        with pytest.raises(ServiceError, match="has served"):
            service.challengers.retire("team")
    classes = Service(nr.Softmax(), tmp_path / "c.db")
    with classes, pytest.raises(TypeError, match="softmax loss cannot be mixed"):
        classes.challengers.mix("team")


def test_a_mixture_of_an_earlier_version_is_refused_with_a_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_of = Blend.get_state

    def former(self: Blend) -> Any:
        arrays, numbers, names = state_of(self)
        return arrays, {n: v for n, v in numbers.items() if not n.startswith("budget/")}, names

    with monkeypatch.context() as patch:
        patch.setattr(Blend, "get_state", former)
        with Service(nr.Nlms(), tmp_path / "s.db") as service:
            service.challengers.add("other", nr.Auto("square"))
            service.challengers.mix("team")
    with pytest.raises(NoRegretError, match=r"s\.db: a blend of an earlier .*retire it with"):
        Service(None, tmp_path / "s.db")
