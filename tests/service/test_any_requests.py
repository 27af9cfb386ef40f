"""Whatever is asked, in any order: refused requests leave no trace, and a restart finds all."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.app.commands.serve.bodies import lines_of, request_of
from noregret.base.model_file import dumps
from noregret.errors import BadExample, BadLabel, NoRegretError
from noregret.service import NotCertified, Request, Service, Stopped, UnknownId
from noregret.service.mixture import MASTERS
from noregret.service.wire import Malformed
from noregret.streams.json_lines import MAX_NESTING
from tests.thorough import sized

LEARNERS: dict[str, list[Callable[[], Any]]] = {
    "numbers": [nr.Nlms, lambda: nr.WidrowHoff(rate=0.5), nr.Auto, nr.Vaw, nr.OnlineNewton],
    "labels": [nr.Logistic, lambda: nr.Auto("logistic"), nr.FtrlProximal],
    "classes": [nr.Softmax, nr.AutoClasses, nr.MulticlassPerceptron],
}
OUTCOMES: dict[str, list[Any]] = {
    "numbers": [0, 0.25, 1, 2], "labels": [0, 1], "classes": ["p", "q", "r"],
}  # fmt: skip
ODD_EXAMPLES: list[Any] = [
    {"a": [1]}, {"a": {"b": 1}}, [], ["x"], [10**400], {"a": 10**400}, {"a": 1e149}, {"a": None},
    {}, {"a": True}, {"b": 1e140},
]  # fmt: skip
ODD_OUTCOMES: list[Any] = [7, -3, 1e149, "x", 10**400, 0.5, [1]]
KEYS = (None, None, "k1", "k2")


def state(service: Service) -> list[Any]:
    """Return all that a restart must restore."""
    models = {
        (name, key): dumps(model)
        for name, models in service.contenders.models.items()
        for key in KEYS
        if (model := models.get(key)).rounds
    }
    counts = service.metrics()
    for since_start in ("refused", "repeated", "mistakes"):
        counts.pop(since_start, None)
    challengers = service.challengers
    return [models, repr(challengers.comparison()), challengers.serving, counts]


@pytest.mark.parametrize("seed", range(sized(2, full=60)))
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_restart_finds_what_was_there(kind: str, seed: int, tmp_path: Path) -> None:
    draw, path, now = random.Random(seed), tmp_path / "s.db", [0.0]
    options: Any = {
        "snapshot_every": draw.choice([3, 7, 50]), "resident": draw.choice([1, 2, 50]),
        "retain": draw.choice([None, 5, 20]), "clock": lambda: now[0],
    }  # fmt: skip
    ttl = draw.choice([None, 20.0])
    service = Service(draw.choice(LEARNERS[kind])(), path, ttl=ttl, **options)
    ids: list[str] = []

    def example() -> Any:
        odd = draw.random() < 0.15
        return draw.choice(ODD_EXAMPLES) if odd else {"a": draw.random(), "b": draw.choice([0, 1])}

    def outcome() -> Any:
        return draw.choice(ODD_OUTCOMES if draw.random() < 0.15 else OUTCOMES[kind])

    def predict() -> None:
        ids.append(f"i{step}")
        service.predict(example(), id=ids[-1], key=draw.choice(KEYS))

    def label() -> None:
        service.label(draw.choice(ids[-12:] or ["none"]), outcome())

    def learn() -> None:
        key, count = draw.choice(KEYS), draw.randint(1, 4)
        asked = [Request("learn", f"l{step}-{k}", example(), outcome(), key) for k in range(count)]
        assert not any(isinstance(each, Stopped) for each in service.answer_many(asked))

    def restart() -> None:
        nonlocal service
        before = state(service)
        service.journal.close()  # as a crash would
        service = Service(None, path, **options)
        assert state(service) == before

    def certify() -> None:
        assert service.pending >= 0
        try:
            assert 0 < service.certificate().data.rounds <= service.labels
        except NoRegretError as error:
            if not isinstance(error, NotCertified) and "too large for a cert" not in str(error):
                raise

    asks: dict[Callable[[], Any], int] = {
        predict: 35, label: 25, learn: 20, restart: 4,
        lambda: service.challengers.add(f"c{step}", draw.choice(LEARNERS[kind])()): 4,
        lambda: service.challengers.mix(f"m{step}", draw.choice(MASTERS)): 2,
        lambda: service.challengers.promote(draw.choice([*service.contenders.models])): 3,
        lambda: service.challengers.rollback(): 1,  # noqa: PLW0108 (another service by then)
        lambda: service.challengers.retire(draw.choice([*service.contenders.models])): 2,
    }  # fmt: skip
    for step in range(sized(60, full=300)):
        now[0] += 3 * draw.random()
        with suppress(NoRegretError, TypeError, ValueError):
            draw.choices([*asks], [*asks.values()])[0]()
        assert service.stopped is None
        if step % 20 == 19:
            certify()
    restart()
    service.close()


def test_a_refused_label_leaves_nothing_of_challengers(tmp_path: Path) -> None:
    with Service(nr.Logistic(), tmp_path / "s.db") as service:
        service.challengers.add("other", nr.Auto("logistic"))
        service.learn({"a": 1.0}, 1, id="0")
        with pytest.raises(BadLabel):
            service.learn({"a": 1.0}, 7, id="1")
        assert service.journal.database.fetch("SELECT max(seq) FROM shadows") == [(1,)]
        # What an earlier version left behind.
        service.journal.database.run(
            "INSERT INTO shadows"
            " SELECT 2, name, made, score, scores, round, loss, note FROM shadows"
        )
        service.journal.close()
    with Service(None, tmp_path / "s.db") as service:
        service.learn({"a": 1.0}, 0, id="1")
        assert service.labels == service.contenders.models["other"].get(None).rounds == 2


def nested(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


def test_deeply_nested_values_are_refused(tmp_path: Path) -> None:
    """They must not reach what writes, shows or reads them with a call per level."""
    with Service(nr.streams.prepared(nr.Nlms()), tmp_path / "s.db") as service:
        service.predict({"a": 1.0}, id="known")
        for depth in (MAX_NESTING + 1, 300, 700, *range(900, 1000, 3)):
            deep, value = "[" * depth + "]" * depth, nested(depth)
            for name in ("known", "new"):
                bodies = {
                    "predict": f'{{"id": "{name}", "x": {{"a": {deep}}}}}',
                    "learn": f'{{"id": "{name}", "x": {{"a": {deep}}}, "y": 1}}',
                    "label": f'{{"id": "{name}", "y": {deep}}}',
                }
                for action, body in bodies.items():
                    with pytest.raises((BadExample, Malformed), match=r"nested|recursion"):
                        service.submit(request_of(action, body.encode(), "y"))
                assert lines_of([bodies["learn"].encode()], "y") is None
                asked = [
                    Request("predict", name, {"a": value}), Request("learn", name, value, 1),
                    Request("label", name, y=value),
                ]  # fmt: skip
                answers = service.answer_many(asked)
                assert all("nested too deeply" in str(each) for each in answers)
        service.label("known", 1.0)
        service.journal.close()
    with Service(None, tmp_path / "s.db") as service:
        assert (service.labels, service.journal.seq) == (1, 1)


def test_values_that_no_number_holds_are_refused(tmp_path: Path) -> None:
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        for x in ([10**400], [[1, 2], [3]], [{"a": 1}], ["x"], {"a": 10**400}):
            with pytest.raises((NoRegretError, TypeError)):
                service.predict(x, id="x")
            with pytest.raises((NoRegretError, TypeError)):
                service.learn(x, 10**400, id="x")
        with pytest.raises(UnknownId):
            service.label("x", 1.0)


def test_examples_without_features_are_certified(tmp_path: Path) -> None:
    """Also among labels that came late."""
    rows = tmp_path / "rows.jsonl"
    with Service(nr.Nlms(), tmp_path / "s.db") as service:
        for k in range(9):
            service.predict({"a": k % 3}, id=str(k))
            service.learn({}, k % 2, id=f"empty {k}")
            if k > 2:
                service.label(str(k - 2), k % 2)
        found = service.certificate()
        service.export(rows)
    assert found.data.rounds == 15
    assert nr.verify(found, rows, target="y").confirmed
