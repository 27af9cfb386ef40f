"""Labels that come late: served losses, late gradients, and the theorem about them."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.base.model_file import dumps
from noregret.proof.game.late_game import LateEvent, LateGame
from noregret.service import Expired, NotCertified, Service
from tests.thorough import sized

FIXTURES = Path(__file__).parents[1] / "fixtures" / "journals"
GRADIENT = [
    nr.GradientDescent(rate=0.05),
    nr.GradientDescent(loss="absolute", rate=0.1, radius=1.5),
    nr.GradientDescent(loss="hinge", rate=0.1),
    nr.WidrowHoff(rate=0.2),
    nr.Logistic(rate=0.3, schedule="constant"),
    nr.Ftrl(loss="absolute", rate=0.1, radius=2.0),
]


def slope_of(learner: Any, score: float, y: float) -> float:
    """Return the derivative of a loss, written once more."""
    name = learner.engine.loss.name
    if name == "square":
        return 2 * (score - y)
    if name == "absolute":
        return float(np.sign(score - y))
    sign = 1.0 if y > 0 else -1.0
    if name == "hinge":
        return -sign if sign * score < 1 else 0.0
    assert name == "logistic"
    return float(-sign / (1 + np.exp(sign * score)))


@pytest.mark.parametrize("learner", GRADIENT, ids=repr)
def test_late_steps_use_the_gradients_of_the_weights_that_predicted(
    learner: Any, tmp_path: Path
) -> None:
    """Gradient descent in NumPy, with labels in random order."""
    draw, rng = random.Random(5), np.random.default_rng(5)
    rate, radius = learner.engine.fixed_rate, learner.params.get("radius")
    lazy = isinstance(learner, nr.Ftrl)
    w, total, waiting, k, late = np.zeros(3), np.zeros(3), list[Any](), 0, 0
    with Service(learner, tmp_path / "s.db", snapshot_every=9) as service:
        while k < 60 or waiting:
            if k < 60 and (not waiting or draw.random() < 0.55):
                x = rng.uniform(-0.6, 0.6, 3)
                y = bool(x[0] > 0) if learner.engine.loss.labels else float(x[0] - x[2])
                service.predict(x, id=str(k))
                waiting.append((str(k), x, y, float(w @ x), service.labels))
                k += 1
                continue
            name, x, y, score, made = waiting.pop(draw.randrange(len(waiting)))
            late += service.labels - made
            service.label(name, y)
            step = slope_of(learner, score, y) * x
            total += step
            w = -rate * total if lazy else w - rate * step
            if radius is not None and np.linalg.norm(w) > radius:
                w *= radius / np.linalg.norm(w)
            np.testing.assert_allclose(service.learner.weights, w, atol=1e-12)
        assert service.metrics()["delay"] == late > 0
        before = dumps(service.learner)
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl")
        service.journal.close()  # as a crash would
    with Service(None, tmp_path / "s.db") as again:
        assert dumps(again.learner) == before
        theorem = certificate.theorem
        assert theorem is not None
        assert (theorem.name, theorem.holds) == ("delayed-gradient", True)
        assert certificate.loss.total == pytest.approx(again.metrics()["loss"], rel=1e-12)
    assert nr.verify(certificate, tmp_path / "rows.jsonl").confirmed


def test_a_changed_row_or_order_is_found(tmp_path: Path) -> None:
    with Service(nr.WidrowHoff(rate=0.2), tmp_path / "s.db") as service:
        for k in range(30):
            service.predict({"a": (k % 7) / 7, "b": 0.5}, id=str(k))
            if k >= 2:
                service.label(str(k - 2), (k % 4) / 4)
        certificate = service.certificate()
        service.export(tmp_path / "rows.jsonl")
    lines = (tmp_path / "rows.jsonl").read_text().splitlines(keepends=True)
    assert nr.verify(certificate, tmp_path / "rows.jsonl").confirmed
    for change in ("value", "order", "label"):
        other = list(lines)
        place = next(k for k, line in enumerate(lines) if k > 9 and '"a"' in line)
        if change == "value":
            other[place] = json.dumps(json.loads(other[place]) | {"b": 0.25}) + "\n"
        elif change == "order":  # predicted before an earlier label was learned
            other[place - 1 : place + 1] = [lines[place], lines[place - 1]]
        else:
            other[place + 1] = json.dumps(json.loads(other[place + 1]) | {"y": 0.9}) + "\n"
        (tmp_path / "other.jsonl").write_text("".join(other))
        assert not nr.verify(certificate, tmp_path / "other.jsonl").confirmed
    twice = [*lines[:place], '{"a":5,' + lines[place][1:], *lines[place + 1 :]]
    (tmp_path / "other.jsonl").write_text("".join(twice))
    with pytest.raises(nr.NoRegretError, match="'a' is given twice") as raised:
        nr.verify(certificate, tmp_path / "other.jsonl")
    assert raised.value.line == place + 1
    for line, words in (
        (b"\xff\n", "byte 1 is not UTF-8"),
        (b"[" * 100_000, "not a JSON"),
    ):
        (tmp_path / "other.jsonl").write_bytes("".join(lines[:2]).encode() + line)
        with pytest.raises(nr.NoRegretError, match=words) as raised:
            nr.verify(certificate, tmp_path / "other.jsonl")
        assert raised.value.line == 3


@pytest.mark.parametrize("learner", [nr.Auto(), nr.Vaw(), nr.Perceptron(), nr.Logistic()], ids=repr)
def test_others_state_the_regret_of_what_was_served_and_claim_no_bound(
    learner: Any, tmp_path: Path
) -> None:
    with Service(learner, tmp_path / "s.db") as service:
        for k in range(40):
            x = {"a": (k % 7) / 7, "b": (k % 3) / 3}
            service.predict(x, id=str(k))
            if k >= 4:
                y = (k - 4) % 7 / 7
                service.label(str(k - 4), y > 0.4 if learner.engine.loss.labels else y)
        certificate = service.certificate()
        assert certificate.loss.total == pytest.approx(service.metrics()["loss"], rel=1e-9)
        service.export(tmp_path / "rows.jsonl")
    if certificate.theorem is not None:
        assert certificate.theorem.bound is certificate.theorem.holds is None
        found = {each.name: each for each in certificate.theorem.assumptions}["delay = 0"]
        assert (found.holds, found.measured) == (False, service.delay)
    assert nr.verify(certificate, tmp_path / "rows.jsonl").confirmed


def adversary(learner: Any, rounds: int, delay: int, draw: random.Random) -> LateGame:
    """Play outcomes that are far from what was served, up to ``delay`` of them late."""
    rng, game, events = np.random.default_rng(draw.randrange(99)), LateGame(learner), []
    direction, waiting = rng.normal(size=2), list[tuple[str, float]]()
    for k in range(rounds):
        x = rng.normal(size=2) if k % 3 else direction.copy()
        x /= max(1.0, float(np.linalg.norm(x)))
        events.append(LateEvent(str(k), {"a": x[0], "b": x[1]}))
        waiting.append((str(k), float(-np.sign(x @ direction) * draw.choice([1, 1, -1]))))
        while len(waiting) > delay or (waiting and draw.random() < 0.2):
            name, y = waiting.pop(draw.randrange(len(waiting)))
            events.append(LateEvent(name, None, y))
    return game.play_events(events)


@pytest.mark.parametrize("delay", [0, 1, 7, 40])
@pytest.mark.parametrize("learner", GRADIENT, ids=repr)
def test_the_bound_holds_on_adversarial_outcomes(learner: Any, delay: int) -> None:
    draw = random.Random(delay)
    for _ in range(sized(2, full=100)):
        game = adversary(learner.clone(), 120, delay, draw)
        certificate = game.certificate("delayed-gradient", radius=1.0)
        assert certificate.theorem is not None
        assert certificate.theorem.holds


def test_prompt_labels_change_nothing() -> None:
    """Without delay, the game is the ordinary one to the last bit."""
    learner, rng = nr.GradientDescent(rate=0.1), np.random.default_rng(0)
    rows = [({"a": float(a)}, float(b)) for a, b in rng.uniform(-1, 1, (50, 2))]
    game = LateGame(learner.clone()).play_events(
        event
        for k, (x, y) in enumerate(rows)
        for event in (LateEvent(str(k), x), LateEvent(str(k), None, y))
    )
    plain = nr.play(learner.clone(), rows)
    assert dumps(game.learner) == dumps(plain.learner)
    assert (game.loss, game.delayed) == (plain.loss, False)


def test_journals_of_the_first_version_continue(tmp_path: Path) -> None:
    """Their late labels were learned by the gradients of the latest weights."""
    shutil.copy(FIXTURES / "version_1.db", tmp_path / "s.db")
    with Service(None, tmp_path / "s.db") as service:
        assert dumps(service.learner) == (FIXTURES / "version_1.model").read_bytes()
        assert (service.labels, service.pending) == (17, 3)
        service.label("e17", 0.5)
        with pytest.raises(NotCertified, match="earlier version"):
            service.certificate()
    with Service(None, tmp_path / "s.db") as service:
        assert (service.labels, service.pending) == (18, 2)


def test_journals_of_the_second_version_continue(tmp_path: Path) -> None:
    """One with keys, late labels, a challenger, and labels after the last snapshot."""
    shutil.copy(FIXTURES / "version_2.db", tmp_path / "s.db")
    known = json.loads((FIXTURES / "version_2.json").read_text())
    for _ in range(2):
        with Service(None, tmp_path / "s.db") as service:
            for each, model in known["models"].items():
                name, _, key = each.partition("|")
                found = service.contenders.models[name].get(None if key == "None" else key)
                assert dumps(found).hex() == model
            counts = service.metrics()
            assert counts.pop("loss") == pytest.approx(known["metrics"]["loss"], rel=1e-12)
            for name in ("predictions", "labels", "pending", "late_labels", "delay"):
                assert counts[name] == known["metrics"][name]
            events = [[e.id, e.learned, e.made, e.loss, e.round] for e in service.journal.learned()]
            assert events == known["learned"]
            assert service.keys() == [
                each | {"mean_loss": pytest.approx(each["mean_loss"])} for each in known["keys"]
            ]
            rows = [b"".join(service.exported(key=k)).decode() for k in (None, "shop 0", "shop 1")]
            assert rows == known["rows"]
            service.journal.close()  # as a crash would
    with Service(None, tmp_path / "s.db") as service:
        for name in known["waiting"]:
            service.label(name, 1.0)
        assert service.pending == 0


def test_the_time_to_live_is_kept(tmp_path: Path) -> None:
    """A start that does not name one has that of the last; infinity lifts it."""
    now, path = [0.0], tmp_path / "s.db"
    for given, kept in ((60.0, 60.0), (None, 60.0), (5.0, 5.0), (None, 5.0), (math.inf, None)):
        with Service(nr.Nlms(), path, ttl=given, clock=lambda: now[0]) as service:
            assert service.ttl == kept
            service.predict({"a": 1.0}, id=f"{given} {kept}")
            now[0] += 30
            if kept == 5.0:
                with pytest.raises(Expired):
                    service.label(f"{given} {kept}", 1.0)
            else:
                service.label(f"{given} {kept}", 1.0)
    with pytest.raises(ValueError, match="ttl must be a positive number"):
        Service(nr.Nlms(), path, ttl=-1)
