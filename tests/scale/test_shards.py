"""Shards of one stream: one certificate for all rows, by the sum of the shards' bounds at one u."""

from __future__ import annotations

import contextlib
import copy
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret import streams
from noregret.errors import CertificateError, NoRegretError
from noregret.proof.certificates.certificate import seal
from noregret.proof.game.shards import Sharded, play_shards
from noregret.proof.record.parts_digest import Part
from noregret.scale import mixture, play
from tests.scale.inline import Inline
from tests.scale.test_fitting import read
from tests.scale.test_groups_on_workers import made, small_parts
from tests.thorough import THOROUGH, sized

assert small_parts  # a fixture
Floats = NDArray[np.float64]
LEARNERS = {"widrow-hoff": nr.WidrowHoff(rate=0.25, norm=8.0), "vaw": nr.Vaw(penalty=2.0)}


def numbers(rows: int = 120, seed: int = 0) -> tuple[Floats, Floats]:
    """Return small whole numbers, which arithmetic with fractions handles quickly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(rows, 2)).astype(float)
    return X, X @ [1.0, -2.0] + rng.integers(-2, 3, size=rows)


def sharded(learner: Any, X: Floats, y: Floats, sizes: list[int]) -> Any:
    """Play shards of these sizes in this process."""
    return play_shards(Sharded(learner), [Part(size, "") for size in sizes], X, y)


# With fractions.


def solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """Solve two equations."""
    det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
    return [
        (b[0] * A[1][1] - b[1] * A[0][1]) / det,
        (A[0][0] * b[1] - A[1][0] * b[0]) / det,
    ]


def widrow_hoff(rows: list[list[Fraction]], y: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return the loss of a shard; the step is rate/norm² of the learner above."""
    w, loss = [Fraction(0), Fraction(0)], Fraction(0)
    for x, outcome in zip(rows, y, strict=True):
        error = w[0] * x[0] + w[1] * x[1] - outcome
        loss += error**2
        w = [a - Fraction(1, 256) * error * v for a, v in zip(w, x, strict=True)]
    return loss, Fraction(1)


def vaw(rows: list[list[Fraction]], y: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return the loss of a shard, and det(A/λ)."""
    A, b, loss = [[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]], [Fraction(0)] * 2, 0
    total = Fraction(loss)
    for x, outcome in zip(rows, y, strict=True):
        for i in range(2):
            for j in range(2):
                A[i][j] += x[i] * x[j]
        u = solved(A, x)
        total += (b[0] * u[0] + b[1] * u[1] - outcome) ** 2
        b = [a + outcome * v for a, v in zip(b, x, strict=True)]
    return total, (A[0][0] * A[1][1] - A[0][1] * A[1][0]) / 4


def least(
    rows: list[list[Fraction]], y: list[Fraction], scale: Fraction, penalty: Fraction
) -> Fraction:
    """Return min over u of  scale · L(u) + penalty · ‖u‖²."""
    A = [
        [scale * sum(x[i] * x[j] for x in rows) + (penalty if i == j else 0) for j in range(2)]
        for i in range(2)
    ]
    u = solved(A, [scale * sum(x[i] * t for x, t in zip(rows, y, strict=True)) for i in range(2)])
    loss = sum(
        ((u[0] * x[0] + u[1] * x[1] - t) ** 2 for x, t in zip(rows, y, strict=True)), Fraction(0)
    )
    return scale * loss + penalty * (u[0] ** 2 + u[1] ** 2)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("sizes", [[12], [5, 1, 6], [1] * 12])
def test_loss_and_bound_are_those_of_exact_arithmetic(name: str, sizes: list[int]) -> None:
    X, y = numbers(12)
    certificate = sharded(LEARNERS[name], X, y, sizes).certificate()
    rows = [[Fraction(v) for v in x] for x in X]
    outcomes = [Fraction(v) for v in y]
    ends = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    one = vaw if name == "vaw" else widrow_hoff
    found = [one(rows[a:b], outcomes[a:b]) for a, b in pairwise(ends)]
    loss, K = sum((loss for loss, _ in found), Fraction(0)), len(sizes)
    if name == "vaw":
        bound = float(least(rows, outcomes, Fraction(1), Fraction(2 * K)))
        volume = math.fsum(math.log(volume) for _, volume in found)
        bound += float(max(map(abs, outcomes))) ** 2 * volume
    else:
        bound = float(least(rows, outcomes, Fraction(4, 3), Fraction(256 * K)))
    assert certificate.loss.total == pytest.approx(float(loss), rel=1e-12)
    assert certificate.theorem is not None
    assert certificate.theorem.bound == pytest.approx(bound, rel=1e-9)
    assert float(loss) <= bound
    assert certificate.theorem.holds
    assert certificate.theorem.name == f"{name}-shards"


# Adversaries.


@pytest.mark.parametrize("shards", [1, 7, 50])
def test_one_row_per_shard_nearly_reaches_the_bound(shards: int) -> None:
    """The first row of a shard costs what the theorem allows: learners start from nothing."""
    X, y = np.ones((shards, 1)), np.ones(shards)
    tight = sharded(nr.WidrowHoff(rate=0.3), X, y, [1] * shards).certificate().theorem
    assert tight.measured == shards
    assert tight.bound == pytest.approx(shards, rel=1e-9)  # with equality
    assert tight.holds
    nearly = sharded(nr.Vaw(penalty=100.0), X, y, [1] * shards).certificate().theorem
    assert nearly.measured > 0.9999 * nearly.bound
    assert nearly.holds


def test_signs_that_depend_on_the_predictions_stay_within_the_bound() -> None:
    rng = np.random.default_rng(3)
    for learner in (nr.WidrowHoff(rate=0.5), nr.Vaw()):
        rows, outcomes = [], []
        for _ in range(5):
            fresh: Any = learner.clone()
            for _ in range(30):
                x = np.eye(3)[rng.integers(3)]
                y = -1.0 if fresh.predict_one(x) > 0 else 1.0
                fresh.learn_one(x, y)
                rows.append(x)
                outcomes.append(y)
        found = sharded(learner, np.array(rows), np.array(outcomes), [30] * 5).certificate()
        assert found.theorem.holds
        assert found.theorem.measured > 0.3 * found.theorem.bound


# On workers.


@pytest.mark.parametrize(
    ("form", "name"), [("csv", "widrow-hoff"), ("files", "vaw"), ("parquet", "vaw")]
)
@pytest.mark.usefixtures("small_parts")
def test_workers_make_no_difference_and_verify_confirms(
    form: str, name: str, tmp_path: Path
) -> None:
    paths = made(form, tmp_path)
    learner = nr.Vaw() if name == "vaw" else nr.WidrowHoff(rate=0.2, norm=50.0)
    found = []
    for workers in (1, 2, 3, 7):
        game = play(learner, read(paths), shards=5, pool=Inline(workers))
        weights = [each.weights.tobytes() for each in game.learners]
        found.append((weights, game.certificate().to_json()))
    assert found[1:] == found[:-1]
    certificate = game.certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    assert certificate.shards == 5
    done = nr.verify(certificate, [str(path) for path in paths])
    assert done.confirmed, done.failed


def test_each_shard_is_what_its_rows_alone_would_be(tmp_path: Path) -> None:
    X, y = numbers(100)
    files = [str(tmp_path / f"{k}.csv") for k in range(3)]
    cut = [slice(0, 10), slice(10, 70), slice(70, 100)]
    for file, part in zip(files, cut, strict=True):
        rows = zip(X[part].tolist(), y[part].tolist(), strict=True)
        Path(file).write_text("a,b,y\n" + "".join(f"{a},{b},{t}\n" for (a, b), t in rows))
    game = play(nr.Vaw(), files, "y", pool=Inline(1))
    alone = [nr.play(nr.Vaw(), X[part], y[part]) for part in cut]
    assert [part.rounds for part in game.parts] == [10, 60, 30]
    assert game.loss == pytest.approx(sum(each.loss for each in alone), rel=1e-12)
    for one, other in zip(game.learners, alone, strict=True):
        assert one.weights.tobytes() == other.learner.weights.tobytes()
    # One file of all rows has the same data and the same certificate.
    whole = tmp_path / "whole.csv"
    whole.write_text("a,b,y\n" + "".join(Path(file).read_text()[6:] for file in files))
    assert nr.verify(game.certificate(), whole).confirmed
    assert game.certificate().hindsight.loss == pytest.approx(
        nr.play(nr.Vaw(), X, y).certificate().hindsight.loss, rel=1e-9
    )


# Forgeries.


def test_fifty_changed_shards_are_each_named() -> None:
    X, y = numbers(150)
    certificate = sharded(nr.Vaw(), X, y, [3] * 50).certificate()
    for k in range(0, 50, sized(7, full=1)):
        other = y.copy()
        other[3 * k + 1] = np.nextafter(other[3 * k + 1], np.inf)
        failed = [line for line in nr.verify(certificate, X, other).failed if "parts" in line.name]
        assert [line.name for line in failed] == [f"data.parts.{k + 1}"]
        assert f"rows {3 * k + 1} to {3 * k + 3} have changed" in failed[0].note


def fields(contents: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every number, text and truth value."""
    items = contents.items() if isinstance(contents, dict) else enumerate(contents)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from fields(value, (*path, key))
        elif value is not None:
            yield (*path, key)


@pytest.mark.parametrize("name", LEARNERS if THOROUGH else ["vaw"])
def test_every_changed_figure_is_refused(name: str) -> None:
    X, y = numbers()
    contents = sharded(LEARNERS[name], X, y, [50, 30, 40]).certificate().to_dict()
    text = json.dumps(contents, default=dict)
    assert nr.verify(json.loads(text), X, y).confirmed
    for path in fields(json.loads(text)):
        if path in (("seal",), ("format",)):
            continue
        other = json.loads(text)
        inner = other
        for key in path[:-1]:
            inner = inner[key]
        value = inner[path[-1]]
        if isinstance(value, bool):
            inner[path[-1]] = not value
        elif isinstance(value, str):
            inner[path[-1]] = value[:-1] + ("0" if value[-1] != "0" else "1")
        else:
            inner[path[-1]] = value + (1 if isinstance(value, int) else 1e-3 * (abs(value) + 1e-3))
        del other["seal"]
        other["seal"] = seal(other)
        with contextlib.suppress(CertificateError):
            assert not nr.verify(other, X, y).confirmed, path
    del contents["learner"]["shards"]
    with pytest.raises(CertificateError, match="does not learn from parts"):
        nr.verify(contents, X, y)


def test_a_row_that_is_too_long_voids_the_bound_and_is_named() -> None:
    X, y = numbers(60)
    X[41] = [30.0, 40.0]
    certificate = sharded(nr.WidrowHoff(rate=0.1, norm=6.0), X, y, [20, 20, 20]).certificate()
    assert certificate.theorem is not None
    assert certificate.theorem.bound is None
    assert certificate.theorem.failed is not None
    assert certificate.theorem.failed.first_violation == 42
    assert nr.verify(certificate, X, y).confirmed


def test_files_and_text(tmp_path: Path) -> None:
    X, y = numbers()
    certificate = sharded(nr.Vaw(), X, y, [60, 60]).certificate()
    certificate.save(tmp_path / "certificate.json")
    assert nr.load_certificate(tmp_path / "certificate.json") == certificate
    assert "2 shards of vaw" in str(certificate)


def test_what_shards_cannot_do_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,2\n2,3\n")
    pool = Inline(1)
    with pytest.raises(ValueError, match="weight per feature"):
        play(nr.AutoClasses(), path, "y", pool=pool)
    with pytest.raises(ValueError, match="sums are enough for the square loss only"):
        play(nr.GradientDescent("absolute"), path, "y", keep="sums", pool=pool)
    assert play(nr.WidrowHoff(step="implicit"), path, "y", pool=pool).certificate().theorem is None
    with pytest.raises(NoRegretError, match="3 shards of 2 rows"):
        play(nr.Vaw(), path, "y", shards=3, pool=pool)
    with pytest.raises(ValueError, match="at most 4,096"):
        play(nr.Vaw(), path, "y", shards=5_000, pool=pool)
    trained = nr.Vaw()
    trained.learn_one([1.0], 1.0)
    with pytest.raises(NoRegretError, match="has learned before"):
        play(trained, path, "y", pool=pool)
    with pytest.raises(TypeError, match="such as Vaw"):
        play(streams, path, "y", pool=pool)  # type: ignore[arg-type]


# Data far from zero.


def test_rows_are_kept_where_sums_have_too_few_digits(tmp_path: Path) -> None:
    X, y = numbers(200)
    path = tmp_path / "rows.csv"
    rows = zip(X.tolist(), (y + 1e6).tolist(), strict=True)
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{t}\n" for (a, b), t in rows))
    options: dict[str, Any] = {"shards": 4, "intercept": True}
    with pytest.raises(NoRegretError, match="play with keep='rows'"):
        play(nr.Vaw(), path, "y", pool=Inline(1), **options).certificate()
    found = [
        play(nr.Vaw(), path, "y", pool=Inline(workers), keep="rows", **options).certificate()
        for workers in (1, 3)
    ]
    assert found[0] == found[1]
    A = np.column_stack([X, np.ones(len(y))])  # centred here, so that nothing is lost
    best = np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2)
    assert found[0].hindsight.loss == pytest.approx(best, rel=1e-6)
    assert found[0].theorem is not None
    assert found[0].theorem.holds
    assert nr.verify(found[0], path).confirmed
    with pytest.raises(ValueError, match="unknown keep"):
        play(nr.Vaw(), path, "y", pool=Inline(1), keep="all")


# One model of all shards.


def test_the_mixture_of_shards_keeps_its_promise_about_later_rows(tmp_path: Path) -> None:
    X, y = numbers(300)
    y[:100] = -y[:100]  # the first shard learns something else
    path = tmp_path / "rows.csv"
    rows = zip(X[:200].tolist(), y[:200].tolist(), strict=True)
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{t}\n" for (a, b), t in rows))
    game = play(nr.Vaw(), path, "y", shards=2, pool=Inline(2))
    before = [learner.weights.tobytes() for learner in game.learners]
    model = mixture(game)
    model.save(tmp_path / "model")
    later = [({"a": a, "b": b}, t) for (a, b), t in zip(X[200:].tolist(), y[200:], strict=True)]
    played = nr.play(nr.load(tmp_path / "model"), later)
    # The shards' models go on, each by itself.
    losses = []
    for learner in game.learners:
        alone = copy.deepcopy(learner)
        loss = 0.0
        for x, t in later:
            loss += (alone.predict_one(x) - t) ** 2
            alone.learn_one(x, t)
        losses.append(loss)
    certificate = played.certificate()
    assert certificate.hindsight.loss == pytest.approx(min(losses), rel=1e-12)
    assert losses[1] < losses[0]
    assert certificate.theorem is not None
    assert certificate.theorem.holds
    assert certificate.theorem.measured == pytest.approx(played.loss - min(losses), rel=1e-9)
    assert nr.verify(certificate, played.advice, played.outcomes).confirmed
    assert played.experts.weights["shard 2"] > 0.9
    assert [learner.weights.tobytes() for learner in game.learners] == before
    with pytest.raises(TypeError, match="game of shards"):
        mixture(nr.play(nr.Vaw(), X, y))
    assert "shard 01" in mixture(play(nr.Vaw(), path, "y", shards=11, pool=Inline(1))).members


@pytest.mark.parametrize(
    "learner",
    [
        nr.ExponentiatedGradient(rate=0.01, weight=2.0),
        nr.OnlineNewton(form="diagonal"),
        nr.WidrowHoff(rate=0.2, norm=4.0),
    ],
)
def test_features_that_a_shard_never_meets_are_known_to_its_learner(
    learner: Any, tmp_path: Path
) -> None:
    """A replay knows all features from the first row on, so workers must, or weights differ."""
    rng, file = np.random.default_rng(4), tmp_path / "rows.jsonl"
    rows = [{"a": a, "y": y} for a, y in rng.normal(size=(40, 2)).tolist()]
    for number, row in enumerate(rows[15:]):
        row[f"z{9 - number % 4}"] = 1.5
    file.write_text("\n".join(map(json.dumps, rows)))
    game = play(learner, file, "y", shards=4, pool=Inline(1))
    assert all(each.features == ["a", "z9", "z8", "z7", "z6"] for each in game.learners)
    verified = nr.verify(game.certificate(), file)
    assert verified.confirmed, verified.failed
