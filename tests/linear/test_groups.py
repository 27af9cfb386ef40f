"""One learner per key: the same as a dict of learners, in bounded memory."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import noregret as nr
from noregret.base.model_file import dumps
from noregret.errors import BadExample, ModelFileError
from noregret.linear.groups import Groups
from noregret.linear.pooled import bytes_of
from noregret.streams import prepared
from tests.thorough import paired

RNG = np.random.default_rng(5)
KEYS = [f"shop{k}" if k % 2 else k for k in RNG.integers(0, 7, 120).tolist()]
X = RNG.normal(size=(120, 3))
Y = X @ [1.0, -2.0, 0.5] + RNG.normal(size=120)
LEARNERS = [nr.Auto(), nr.Nlms(), nr.Vaw(), nr.Softmax(), nr.KernelGradientDescent()]


def outcome(learner: Any, y: float) -> Any:
    return f"class {int(y > 0)}" if learner.name == "softmax" else y


def apart(learner: Any) -> dict[Any, Any]:
    """Train a dict of learners, one example at a time."""
    found: dict[Any, Any] = {}
    for key, x, y in zip(KEYS, X, Y, strict=True):
        found.setdefault(key, learner.clone()).learn_one(
            dict(zip("abc", x.tolist(), strict=True)), outcome(learner, float(y))
        )
    return found


@pytest.mark.parametrize(
    ("learner", "resident"),
    paired(LEARNERS, [1, 1000]),
    ids=lambda part: getattr(part, "name", None),
)
def test_groups_are_a_dict_of_learners(learner: Any, resident: int, tmp_path: Path) -> None:
    groups = Groups(learner, resident=resident)
    for row, (key, x, y) in enumerate(zip(KEYS, X, Y, strict=True)):
        groups.learn_one(key, dict(zip("abc", x.tolist(), strict=True)), outcome(learner, float(y)))
        if row == 60:  # a file in between changes nothing
            groups.save(tmp_path / "groups")
            groups = Groups.load(tmp_path / "groups", resident=resident)
    wanted = apart(learner)
    assert set(groups) == set(wanted)
    for key, alone in wanted.items():
        assert dumps(groups[key]) == dumps(alone), key
    assert groups.rounds == len(KEYS)
    assert groups.total_loss == pytest.approx(sum(a.total_loss for a in wanted.values()), rel=1e-9)
    assert {r.key: r.rounds for r in groups.records()} == {k: a.rounds for k, a in wanted.items()}


def test_memory_bounds_the_learners_that_are_held() -> None:
    groups, wanted = Groups(nr.Nlms(), memory=100_000), {k: nr.Nlms() for k in range(200)}
    for row in range(600):
        key, x = row * 7 % 200, {"a": 1.0 + row % 3, "b": -1.0}
        groups.learn_one(key, x, float(key))
        wanted[key].learn_one(x, float(key))
        assert sum(map(bytes_of, groups._live.values())) <= 100_000 * 1.1
    assert 10 < len(groups._live) < len(groups) == 200
    assert all(dumps(groups[key]) == dumps(alone) for key, alone in wanted.items())


def frames() -> dict[str, tuple[Any, Any]]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = dict(zip("abc", X.T, strict=True)) | {"shop": [str(key) for key in KEYS]}
    return {
        "array": (X, [str(key) for key in KEYS]),
        "sparse": (sparse.csr_array(X), np.array([str(key) for key in KEYS])),
        "dicts": (
            [dict(zip("abc", x.tolist(), strict=True)) for x in X],
            [str(key) for key in KEYS],
        ),
        "pandas": (pd.DataFrame(columns), "shop"),
        "polars": (pl.DataFrame(columns), "shop"),
        "arrow": (pa.table(columns), "shop"),
    }


def test_tables_of_every_kind_give_the_same() -> None:
    wanted = Groups(nr.Nlms())
    for key, x, y in zip(KEYS, X, Y, strict=True):
        wanted.learn_one(str(key), dict(zip("abc", x.tolist(), strict=True)), y)
    for kind, (table, keys) in frames().items():
        groups = Groups(nr.Nlms(), resident=3)
        groups.learn_many(table, Y, keys)
        said = groups.predict_many(table, keys)
        for row, key in enumerate(map(str, KEYS)):
            x = dict(zip("abc", X[row].tolist(), strict=True))
            assert said[row] == pytest.approx(wanted.predict_one(key, x), rel=1e-12), kind


def test_asking_for_an_unknown_key_keeps_nothing() -> None:
    groups = Groups(nr.Nlms())
    assert groups.predict_one("nobody", {"a": 1.0}) == 0.0
    assert "nobody" not in groups
    with pytest.raises(KeyError):
        groups["nobody"]
    with pytest.raises(BadExample):
        groups.learn_one("nobody", {"a": float("inf")}, 1.0)
    assert len(groups) == 0
    assert list(groups.predict_many(np.empty((0, 2)), [])) == []


def test_a_bad_row_loses_no_count() -> None:
    groups = Groups(nr.Nlms())
    bad = X.copy()
    bad[3] = np.nan
    with pytest.raises(BadExample) as refused:
        groups.learn_many(bad, Y, ["two", *["one"] * (len(bad) - 1)])
    assert refused.value.row == 4
    assert (groups["two"].rounds, groups["one"].rounds, groups.rounds) == (1, 2, 3)


@pytest.mark.parametrize("key", [None, 1.5, True, b"a", ("a",)])
def test_keys_are_strings_or_integers(key: Any) -> None:
    with pytest.raises(TypeError, match="string or a whole number"):
        Groups(nr.Nlms()).learn_one(key, {"a": 1.0}, 1.0)


def test_wrong_uses_are_explained() -> None:
    trained = nr.Nlms()
    trained.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(ValueError, match="clone"):
        Groups(trained)
    with pytest.raises(TypeError, match="such as Auto"):
        Groups(nr.Nlms)
    with pytest.raises(ValueError, match="resident"):
        Groups(nr.Nlms(), resident=0)
    groups = Groups(nr.Nlms())
    with pytest.raises(ValueError, match="120 rows, but 119 keys"):
        groups.predict_many(X, KEYS[1:])
    with pytest.raises(TypeError, match="needs a data frame"):
        groups.predict_many(X, "shop")
    with pytest.raises(ValueError, match="did you mean 'shop'"):
        groups.predict_many(frames()["pandas"][0], "shap")


def test_a_loss_in_python_goes_to_disk_and_back(tmp_path: Path) -> None:
    loss = nr.PythonLoss(
        lambda p, y: abs(p - y) ** 1.5, lambda p, y: 1.5 * np.sign(p - y) * abs(p - y) ** 0.5
    )
    groups = Groups(nr.GradientDescent(loss=loss, rate=0.1), resident=1)
    for key in "abab":
        groups.learn_one(key, {"x": 1.0}, 2.0)
    groups.save(tmp_path / "g")
    again = Groups.load(tmp_path / "g", loss=loss)
    assert again.predict_one("a", {"x": 1.0}) == groups.predict_one("a", {"x": 1.0}) > 0


def test_threads_wait_for_each_other() -> None:
    groups = Groups(nr.Nlms(), resident=2)

    def learn(key: str) -> None:
        for _ in range(50):
            groups.learn_one(key, {"x": 1.0}, 1.0)

    threads = [threading.Thread(target=learn, args=[key]) for key in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {record.key: record.rounds for record in groups.records()} == dict.fromkeys("abcd", 50)


def use(path: Path) -> None:
    groups = Groups.load(path)
    for key in "ac":
        groups.predict_one(key, {"x": 1.0})


def change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as rows:
        rows.execute(statement)
    rows.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE models SET key = '\"c\"' WHERE key = '\"a\"'",
        "UPDATE models SET rounds = 5 WHERE key = '\"a\"'",
        "UPDATE models SET model = x'00' WHERE key = '\"a\"'",
        "UPDATE facts SET value = 'other' WHERE name = 'format'",
        "UPDATE facts SET value = x'00' WHERE name = 'learner'",
        "DROP TABLE models",
    ],
)
def test_damage_is_found(statement: str, tmp_path: Path) -> None:
    groups = Groups(nr.Nlms())
    groups.learn_one("a", {"x": 1.0}, 2.0)
    groups.save(tmp_path / "g")
    change(tmp_path / "g", statement)
    with pytest.raises(ModelFileError):
        use(tmp_path / "g")


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no models here " * 100)
    nr.Nlms().save(tmp_path / "model")
    for name in ("text", "model"):
        with pytest.raises(ModelFileError, match="not a file of models"):
            Groups.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Groups.load(tmp_path / "missing")


@pytest.mark.parametrize(
    ("column", "value"),
    [("key", 1.5), ("key", "{}"), ("key", "1.5"), ("rounds", "x"), ("loss", "x"), ("loss", None)],
)
def test_damaged_records_are_refused_in_words(column: str, value: Any, tmp_path: Path) -> None:
    groups = Groups(nr.Nlms())
    groups.learn_one("Oslo", {"a": 1.0}, 2.0)
    groups.save(tmp_path / "g")
    with sqlite3.connect(tmp_path / "g") as rows:
        rows.execute(f"UPDATE models SET {column} = ?", [value])
    rows.close()
    with pytest.raises(ModelFileError, match="damaged"):
        list(Groups.load(tmp_path / "g").records())


def test_a_key_is_found_as_text_or_as_a_number() -> None:
    shops = nr.Groups(nr.Nlms())
    shops.learn_one("101", {"sun": 1.0}, 5.0)
    shops.learn_one(102, {"sun": 1.0}, 7.0)
    for key in ("101", "102"):
        assert shops.predict_one(key, {"sun": 1.0}) == shops.predict_one(int(key), {"sun": 1.0}) > 0
        assert key in shops
        assert int(key) in shops
    shops.learn_one(101, {"sun": 1.0}, 5.0)
    shops.learn_many([{"sun": 1.0}] * 2, [5.0, 7.0], keys=[101, "102"])
    assert sorted(map(str, shops)) == ["101", "102"]
    assert "0101" not in shops


def test_a_key_of_another_kind_is_refused() -> None:
    shops = nr.Groups(nr.Nlms())
    shops.learn_one(("Oslo", 1), {"sun": 1.0}, 5.0)
    with pytest.raises(TypeError, match="such as"):
        shops.predict_one("Oslo", {"sun": 1.0})
    assert shops.predict_one(("Oslo", "2"), {"sun": 1.0}) == 0.0


def test_groups_take_raw_rows(tmp_path: Path) -> None:
    """Each key has the model of a learner of its own that takes the same rows."""
    words = ["warm, not late", "cold and late", None]
    rows = [
        (
            k % 3,
            {"remark": words[k % 2 + k // 20], "day": f"2024-01-{k % 28 + 1:02}", "n": k},
            k % 5,
        )
        for k in range(40)
    ]
    groups = nr.Groups(prepared(nr.Nlms(), text="remark"), resident=2)
    alone = {key: prepared(nr.Nlms(), text="remark") for key in range(3)}
    for key, x, y in rows:
        assert groups.predict_one(key, x) == pytest.approx(alone[key].predict_one(x), rel=1e-12)
        groups.learn_one(key, x, y)
        alone[key].learn_one(x, y)
    groups.save(tmp_path / "groups")
    many = nr.Groups(prepared(nr.Nlms(), text="remark"))
    many.learn_many([x for _, x, _ in rows], [y for *_, y in rows], keys=[key for key, *_ in rows])
    for found in (groups, many, nr.Groups.load(tmp_path / "groups")):
        for key, x, _ in rows:
            assert found.predict_one(key, x) == pytest.approx(alone[key].predict_one(x), rel=1e-12)


def test_a_service_refuses_scaled_rows() -> None:
    with pytest.raises(ValueError, match="rows that are not scaled"):
        nr.Service(prepared(nr.Nlms(), scale="max"), ":memory:")
