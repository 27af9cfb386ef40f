"""Games with one learner per key: against the best predictor per key, and the best for all."""

from __future__ import annotations

import copy
import dataclasses
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.app.cli.app import run as command
from noregret.errors import NoRegretError
from noregret.hindsight import Limits
from noregret.proof.certificates.certificate import Certificate, seal
from noregret.proof.certificates.groups import Grouped
from noregret.proof.game import best_per_key
from tests.thorough import sized

ROWS, FEATURES = sized(60, 400), 3
Triples = list[tuple[Any, dict[str, float], Any]]


def triples(seed: int, rows: int = ROWS, keys: str = "abc", labels: bool = False) -> Triples:
    rng = np.random.default_rng(seed)
    weights = {key: rng.normal(size=FEATURES) for key in keys}
    made: Triples = []
    for _ in range(rows):
        key, x = keys[rng.integers(len(keys))], rng.normal(size=FEATURES).round(3)
        y = float(x @ weights[key] + 0.3 * rng.normal())
        made.append((key, dict(zip("pqr", x.tolist(), strict=True)), np.sign(y) if labels else y))
    return made


def grouped(certificate: Certificate) -> Grouped:
    assert certificate.groups is not None
    return certificate.groups


def tables(data: Triples) -> dict[Any, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    found: dict[Any, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
    for each in dict.fromkeys(key for key, _, _ in data):
        own = [(list(x.values()), y) for key, x, y in data if key == each]
        found[each] = np.array([x for x, _ in own]), np.array([y for _, y in own])
    return found


def least(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    u = np.linalg.lstsq(X, y, rcond=None)[0]
    return float(np.square(y - X @ u).sum())


# The figures.


@pytest.mark.parametrize("seed", range(sized(2, 8)))
def test_the_best_are_those_of_least_squares(seed: int) -> None:
    data = triples(seed)
    found = nr.play(nr.Groups(nr.Nlms()), data).certificate()
    each = [least(X, y) for X, y in tables(data).values()]
    best = grouped(found).hindsight
    assert best.exact
    assert best.reached == grouped(found).keys == 3
    assert best.loss == pytest.approx(sum(each), rel=1e-9)
    assert best.loss - best.gap <= sum(each) * (1 + 1e-12)
    X = np.array([list(x.values()) for _, x, _ in data])
    overall = least(X, np.array([y for _, _, y in data]))
    assert found.hindsight.loss == pytest.approx(overall, rel=1e-9)
    assert found.regret.lower == pytest.approx(found.loss.total - overall, rel=1e-6)
    assert grouped(found).regret.lower == pytest.approx(found.loss.total - sum(each), rel=1e-6)
    assert grouped(found).regret.lower >= found.regret.lower  # the best per key is no worse


def exact_least(X: list[list[int]], y: list[int]) -> Fraction:
    """Return the least square loss in exact arithmetic, by Gauss's elimination."""
    n = len(X[0])
    gram = [[Fraction(sum(r[i] * r[j] for r in X)) for j in range(n)] for i in range(n)]
    moment = [Fraction(sum(r[i] * t for r, t in zip(X, y, strict=True))) for i in range(n)]
    rows = [[*row, value] for row, value in zip(gram, moment, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    u = [row[-1] for row in rows]
    scores = [sum(a * b for a, b in zip(r, u, strict=True)) for r in X]
    return Fraction(sum((t - s) ** 2 for t, s in zip(y, scores, strict=True)))


@pytest.mark.parametrize("seed", range(sized(3, 30)))
def test_the_intervals_contain_the_exact_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 4, 40).tolist()
    X, y = rng.integers(-9, 10, (40, 2)), rng.integers(-99, 100, 40)
    found = nr.play(nr.Groups(nr.Nlms()), X.astype(float), y.astype(float), keys=keys).certificate()
    rows = {key: [row for row, k in enumerate(keys) if k == key] for key in keys}
    each = [exact_least(X[own].tolist(), y[own].tolist()) for own in rows.values()]
    best = grouped(found).hindsight
    assert Fraction(best.loss) - Fraction(best.gap) <= sum(each) <= Fraction(best.loss)
    overall = exact_least(X.tolist(), y.tolist())
    assert Fraction(found.hindsight.loss - found.hindsight.gap) <= overall
    assert overall <= Fraction(found.hindsight.loss)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nr.WidrowHoff(rate=0.02),
        nr.Vaw,
        nr.Auto,
        nr.OnlineNewton,
        lambda: nr.ExponentiatedGradient(weight=5.0),
    ],
)
def test_one_key_has_the_figures_of_a_plain_certificate(make: Any) -> None:
    data = triples(5, keys="a")
    found = nr.play(nr.Groups(make()), data).certificate()
    plain = nr.play(make(), [(x, y) for _, x, y in data], keep="rows").certificate()
    assert found.loss == plain.loss
    assert found.data.digest == plain.data.digest
    assert found.hindsight.loss == pytest.approx(plain.hindsight.loss, rel=1e-6)
    best, promise = grouped(found).hindsight, grouped(found).theorem
    assert (best.loss, best.gap) == (plain.hindsight.loss, plain.hindsight.gap)
    assert grouped(found).regret == plain.regret
    if plain.theorem is None:
        assert promise is None
        return
    assert promise is not None
    if promise.name == plain.theorem.name:
        assert (promise.quantity, promise.measured, promise.bound, promise.holds) == (
            plain.theorem.quantity,
            plain.theorem.measured,
            plain.theorem.bound,
            plain.theorem.holds,
        )


@pytest.mark.parametrize(
    ("make", "labels"),
    [(nr.Vaw, False), (nr.Nlms, False), (nr.Auto, False), (nr.Perceptron, True)],
)
def test_the_promise_is_the_sum_of_the_promises_of_the_keys(make: Any, labels: bool) -> None:
    data = triples(2, labels=labels)
    found = nr.play(nr.Groups(make()), data).certificate()
    promise = grouped(found).theorem
    assert promise is not None
    games = [nr.play(make(), X, y) for X, y in tables(data).values()]
    each = [game.certificate(promise.name).theorem for game in games]
    assert promise.keys == 3
    assert promise.bound == pytest.approx(math.fsum(t.bound for t in each if t and t.bound))
    assert promise.measured == pytest.approx(
        math.fsum(t.measured for t in each if t and t.measured)
    )
    assert promise.holds


def test_a_bound_is_not_claimed_unless_the_assumptions_hold_for_every_key() -> None:
    data = triples(3)
    short: Triples = [(k, {n: v / 10 for n, v in x.items()}, y / 10) for k, x, y in data]
    long: Triples = [
        (k, x if k == "a" else s, y) for (k, x, y), (_, s, _) in zip(data, short, strict=True)
    ]

    def make() -> nr.Groups:
        return nr.Groups(nr.WidrowHoff(rate=0.25, norm=1.0))

    promise = grouped(nr.play(make(), short).certificate()).theorem
    assert promise is not None
    assert (promise.keys, promise.holds) == (3, True)
    promise = grouped(nr.play(make(), long).certificate()).theorem
    assert promise is not None
    assert (promise.keys, promise.bound, promise.holds) == (2, None, None)
    assert (
        grouped(nr.play(nr.Groups(nr.Logistic()), triples(1, labels=True)).certificate()).theorem
        is None
    )


def test_another_interleaving_has_the_same_best_per_key() -> None:
    data = triples(4)
    sorted_by_key = sorted(data, key=lambda triple: triple[0])
    found, other = (
        nr.play(nr.Groups(nr.Vaw()), each).certificate() for each in (data, sorted_by_key)
    )
    assert grouped(found).hindsight == grouped(other).hindsight
    assert found.loss.total == pytest.approx(other.loss.total)
    assert found.data.digest != other.data.digest
    assert grouped(found).digest != grouped(other).digest


def test_an_adversary_that_gives_each_key_its_own_sign_defeats_the_best_for_all() -> None:
    data: Triples = [
        (key, {"x": 1.0}, sign) for _ in range(40) for key, sign in (("up", 1.0), ("down", -1.0))
    ]
    found = nr.play(nr.Groups(nr.WidrowHoff(rate=0.25)), data).certificate()
    assert found.hindsight.loss == pytest.approx(80)
    assert grouped(found).hindsight.loss == pytest.approx(0, abs=1e-9)
    promise = grouped(found).theorem
    assert promise is not None
    assert promise.holds
    assert found.regret.upper < -70
    one = nr.play(nr.WidrowHoff(rate=0.25), [(x, y) for _, x, y in data])
    assert one.loss > 80 > found.loss.total


# Data of all kinds, and their verification.


def test_tables_frames_files_and_triples_have_the_same_figures(tmp_path: Path) -> None:
    data = triples(6)
    frame = pd.DataFrame([{"shop": key, **x, "sold": y} for key, x, y in data])
    file = tmp_path / "sales.csv"
    frame.to_csv(file, index=False)
    X, y = frame[["p", "q", "r"]], frame["sold"]
    games: list[Any] = [
        nr.play(nr.Groups(nr.Nlms()), data),
        nr.play(nr.Groups(nr.Nlms()), X, y, keys=frame["shop"]),
        nr.play(nr.Groups(nr.Nlms()), frame, target="sold", keys="shop"),
        nr.play(nr.Groups(nr.Nlms()), file, target="sold", keys="shop"),
    ]
    made = [game.certificate() for game in games]
    for found in made:
        assert found.loss.total == pytest.approx(made[0].loss.total)
        assert grouped(found).hindsight.loss == pytest.approx(grouped(made[0]).hindsight.loss)
        assert grouped(found).digest == grouped(made[0]).digest
    assert nr.verify(made[0], data)
    assert nr.verify(made[1], X, y, keys=frame["shop"])
    assert nr.verify(made[2], frame)
    assert nr.verify(made[3], file)
    assert not nr.verify(made[2], frame.assign(shop=frame["shop"].to_numpy()[::-1]))
    with pytest.raises(nr.CertificateError, match="does not name the column"):
        nr.verify(made[0], frame, y)
    with pytest.raises(nr.CertificateError, match="one learner"):
        nr.verify(nr.play(nr.Nlms(), X, y).certificate(), X, y, keys=frame["shop"])


def test_sparse_rows_and_several_classes_are_certified() -> None:
    rng = np.random.default_rng(0)
    data: Triples = []
    for _ in range(60):
        word = f"w{rng.integers(12)}"
        key = "xy"[rng.integers(2)]
        data.append(
            (key, {word: 1.0, "c": 1.0}, "red" if (word < "w5") == (key == "x") else "blue")
        )
    for learner in (nr.Softmax(), nr.AutoClasses()):
        found = nr.play(nr.Groups(learner), data).certificate()
        assert found.loss.mistakes is not None
        assert nr.verify(found, data)
        assert not nr.verify(found, data[::-1])


def test_what_is_not_what_was_played_is_refused() -> None:
    data = triples(7)
    found = nr.play(nr.Groups(nr.Nlms()), data).certificate()
    assert nr.verify(found, data)
    key, x, y = data[0]
    moved = [("b" if key == "a" else "a", x, y), *data[1:]]
    changed = [(key, x | {"p": x["p"] + 1e-6}, y), *data[1:]]
    outcome = [(key, x, y + 1e-6), *data[1:]]
    for other in (moved, changed, outcome, data[1:], [*data[1:], data[0]]):
        assert not nr.verify(found, other)


def forged(found: Certificate, **parts: Any) -> dict[str, Any]:
    contents = copy.deepcopy(found.to_dict())
    del contents["seal"]
    for path, value in parts.items():
        *way, last = path.split("__")
        place = contents
        for name in way:
            place = place[name]
        place[last] = value(place[last]) if callable(value) else value
    best, paid = contents["groups"]["hindsight"], contents["loss"]["total"]
    contents["groups"]["regret"] = {
        "lower": paid - best["loss"],
        "upper": paid - (best["loss"] - best["gap"]),
    }
    return contents | {"seal": seal(contents)}


def test_forged_figures_are_refused_even_with_all_that_follows() -> None:
    data = triples(8)
    found = nr.play(nr.Groups(nr.Vaw()), data).certificate()
    assert nr.verify(forged(found), data)
    lies: list[dict[str, Any]] = [
        {"groups__hindsight__loss": lambda loss: 0.99 * loss},
        {"groups__hindsight__loss": lambda loss: 1.01 * loss},
        {"groups__hindsight__gap": lambda gap: gap + 0.1},
        {"groups__hindsight__gap": lambda gap: gap + 0.1, "groups__hindsight__exact": False},
        {"groups__hindsight__reached": 2},
        {"groups__hindsight__class": "all linear predictors of norm 1"},
        {"groups__keys": 2},
        {"groups__digest": found.data.digest},
        {"groups__columns": ["shop"]} if grouped(found).columns else {"groups__keys": 4},
        {"groups__theorem__bound": lambda bound: 1.01 * bound},
        {"groups__theorem__keys": 2},
        {"groups__theorem__holds": None},
        {"groups__theorem": None},
        {"hindsight__witness": lambda w: {name: 1.1 * value for name, value in w.items()}},
        {"groups__hindsight__seconds": 1.0},
    ]
    for lie in lies:
        assert not nr.verify(forged(found, **lie), data), lie


# Time and errors.


class Ticking:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_keys_that_were_not_reached_leave_the_interval_open() -> None:
    data = triples(9, keys="abcdefgh")
    game = nr.play(nr.Groups(nr.Vaw()), data)
    found = game.certificate(limits=Limits(seconds=20.0, clock=Ticking()))
    full = grouped(game.certificate()).hindsight
    best, promise = grouped(found).hindsight, grouped(found).theorem
    assert 1 <= best.reached < 8
    assert best.seconds is not None
    assert not best.exact
    assert best.loss - best.gap <= full.loss - full.gap + 1e-9
    assert best.loss >= full.loss
    assert promise is not None
    assert promise.bound is promise.holds is None
    assert nr.verify(found, data)
    assert "searched in time" in str(found)
    lie = dataclasses.replace(best, loss=0.9 * full.loss)
    assert not nr.verify(
        dataclasses.replace(found, groups=dataclasses.replace(grouped(found), hindsight=lie)), data
    )


def test_rows_are_gathered_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    data = triples(10, keys="abcdef")
    game = nr.play(nr.Groups(nr.Nlms()), data)
    found = game.certificate()
    monkeypatch.setattr(best_per_key, "MAX_GATHERED", 40)
    other = nr.play(nr.Groups(nr.Nlms()), data).certificate()
    assert grouped(found) == grouped(other)


def test_a_game_of_groups_says_what_it_needs() -> None:
    trained = nr.Groups(nr.Nlms())
    trained.learn_one("a", {"x": 1.0}, 1.0)
    with pytest.raises(NoRegretError, match="learned before"):
        nr.play(trained, triples(0))
    with pytest.raises(TypeError, match="triples"):
        nr.play(nr.Groups(nr.Nlms()), [({"x": 1.0}, 2.0)])
    with pytest.raises(TypeError, match="Groups"):
        nr.play(nr.Nlms(), [[1.0]], [1.0], keys=["a"])
    with pytest.raises(ValueError, match="rows, but"):
        nr.play(nr.Groups(nr.Nlms()), np.ones((2, 1)), [1.0], keys=["a", "b"])
    game = nr.play(nr.Groups(nr.Nlms()), triples(0))
    with pytest.raises(ValueError, match="radius"):
        game.certificate(radius=1.0)
    game.groups.learn_one("a", {"x": 1.0}, 1.0)
    with pytest.raises(NoRegretError, match="outside this game"):
        game.certificate()


def test_a_refused_row_is_no_part_of_the_game() -> None:
    data = triples(0)
    game = nr.Groups(nr.Nlms())._new_game()
    with pytest.raises(NoRegretError):
        game.play([*data[:20], ("b", {"p": math.inf}, 1.0)])
    assert game.certificate().data.rounds == 20
    assert nr.verify(game.certificate(), data[:20])
    assert nr.verify(game.play(data[20:]).certificate(), data)


# Many keys, whose best are found together.


def many_keys(seed: int, keys: int = 40, rows: int = 8) -> Triples:
    return triples(seed, keys * rows, "".join(chr(0x4E00 + k) for k in range(keys)))


@pytest.mark.parametrize("make", [nr.Nlms, nr.Vaw, nr.Auto])
def test_the_best_of_many_keys_are_those_of_their_games(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = many_keys(11)
    game = nr.play(nr.Groups(make()), data)
    found = game.certificate()
    monkeypatch.setattr(best_per_key, "MIN_STACKED", 10**9)
    plain = grouped(nr.play(nr.Groups(make()), data).certificate())
    best, each = grouped(found).hindsight, [least(X, y) for X, y in tables(data).values()]
    assert best.exact
    assert best.seconds is None
    assert best.loss == pytest.approx(math.fsum(each), rel=1e-12)
    assert best.gap < 1e-9 * best.loss
    assert best.loss == pytest.approx(plain.hindsight.loss, rel=1e-12)
    assert best.reached == plain.hindsight.reached
    assert grouped(found).theorem == dataclasses.replace(
        plain.theorem,  # type: ignore[type-var]
        measured=pytest.approx(plain.theorem and plain.theorem.measured, rel=1e-12),
        bound=pytest.approx(plain.theorem and plain.theorem.bound, rel=1e-12),
    )
    monkeypatch.undo()
    assert nr.verify(found, data)


def test_keys_with_dependent_columns_are_searched_one_by_one() -> None:
    data = [
        (key, x | {"z": 0.3 * x["p"] + 0.7 * x["q"]} if key < chr(0x4E05) else x | {"z": 1.0}, y)
        for key, x, y in many_keys(12)
    ]
    found = nr.play(nr.Groups(nr.Nlms()), data).certificate()
    best = grouped(found).hindsight
    assert best.reached == 40
    each = [least(X, y) for X, y in tables(data).values()]
    assert best.loss == pytest.approx(math.fsum(each), rel=1e-9)
    assert nr.verify(found, data)


def test_without_time_for_the_theorem_the_best_of_many_keys_are_known() -> None:
    data = many_keys(13)
    game = nr.play(nr.Groups(nr.Vaw()), data)
    found = game.certificate(limits=Limits(seconds=20.0, clock=Ticking()))
    full = grouped(game.certificate())
    best, promise = grouped(found).hindsight, grouped(found).theorem
    assert best == dataclasses.replace(full.hindsight, seconds=best.seconds)
    assert best.seconds is not None
    assert promise is not None
    assert full.theorem is not None
    assert full.theorem.bound is not None
    assert promise.bound is promise.holds is None
    assert promise.keys < full.theorem.keys == 40
    assert "no time" in str(found)
    assert nr.verify(found, data)
    for lie in (
        dataclasses.replace(grouped(found), theorem=dataclasses.replace(promise, keys=41)),
        dataclasses.replace(grouped(found), theorem=dataclasses.replace(promise, bound=1.0)),
        dataclasses.replace(
            grouped(found), hindsight=dataclasses.replace(best, loss=best.loss * (1 - 1e-6))
        ),
    ):
        assert not nr.verify(dataclasses.replace(found, groups=lie), data)


def test_parts_stay_finite_if_memory_keeps_them_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts grow while they take little time, and memory limits them all along."""
    file = tmp_path / "rows.csv"
    file.write_text("key,x,y\n" + "".join(f"{k % 3},{k % 7},{k % 5}\n" for k in range(600)))
    wide, narrow = tmp_path / "wide", tmp_path / "narrow"
    told = ["run", str(file), "--target", "y", "--group", "key", "--learner", "nlms", "--quiet"]
    assert command([*told, "--predictions", f"{wide}.csv"]) == 0
    monkeypatch.setattr(nr.Groups, "part_rows", 1)
    assert command([*told, "--predictions", f"{narrow}.csv"]) == 0
    assert Path(f"{narrow}.csv").read_bytes() == Path(f"{wide}.csv").read_bytes()
