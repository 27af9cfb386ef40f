"""Every honest certificate is confirmed, whatever the offset or the scale of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.proof.certificates.roster import Entry, is_fixed, one_each
from tests.thorough import paired, sized

SIZES = (1.0, 1e4, 1e6, 1e8, 1e9)
# Whose columns are numbers of any size.
FAMILIES = ("learners", "experts", "filters")
ENTRIES = [
    entry
    for entry in one_each()
    if entry.name.partition(":")[0] in FAMILIES and isinstance(entry.X, np.ndarray)
]


def variants(entry: Entry) -> list[Entry]:
    """Return the entry with offsets and scales, of the rows alone and of the outcomes too."""
    made = []
    for size in SIZES:
        for change in (np.add, np.multiply):
            made.append(replace(entry, X=change(entry.X, size)))
            if not is_fixed(entry):
                made.append(replace(made[-1], y=change(entry.y, size)))
    return made


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_honest_certificate_is_confirmed_or_refused_when_it_is_issued(entry: Entry) -> None:
    with np.errstate(all="ignore"):
        tried = variants(entry)
        # All of them take minutes: one in so many, and others for the next learner.
        apart = sized(20, full=5)
        for one in tried[ENTRIES.index(entry) % apart :: apart]:
            try:
                certificate = one.certificate()
            except (nr.NoRegretError, ValueError):
                continue
            assert nr.verify(certificate, **one.data()).failed == ()


OFFSETS = (1e4, 1e6, 1e7, 1e8, 1e9, "seconds")
LEARNERS: dict[str, Any] = {
    "vaw": nr.Vaw,
    "auto": nr.Auto,
    "widrow-hoff": lambda: nr.WidrowHoff(rate=0.2, norm=1e12),
    "ball": lambda: nr.GradientDescent(radius=2.0),
    "simplex": nr.ExponentiatedGradient,
    "either sign": lambda: nr.ExponentiatedGradient(weight=2.0),
}


def data(offset: float | str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    noise = 0.1 * rng.normal(size=300)
    if offset == "seconds":
        began = 1.7e9 + 60.0 * np.arange(300)
        ended = began + rng.integers(0, 1000, 300)
        return np.column_stack([began, ended]), (ended - began) / 100 + noise
    Z = rng.normal(size=(300, 3))
    return Z + float(offset), Z @ [1.0, -2.0, 0.5] + noise


@pytest.mark.parametrize(("name", "offset"), paired(LEARNERS, OFFSETS, 2))
def test_offsets_of_columns_cost_no_digits_where_rows_are_kept(
    name: str, offset: float | str
) -> None:
    X, y = data(offset)
    certificate = nr.play(LEARNERS[name](), X, y).certificate()
    assert nr.verify(certificate, X, y).failed == ()
    best = certificate.hindsight
    if name in ("vaw", "widrow-hoff", "ball"):
        assert best.exact
        assert best.gap <= 1e-9 * best.loss


def from_sums(learner: Any, X: Any, y: Any) -> nr.Certificate | None:
    """Return the certificate of a game without rows; None where sums cannot tell enough."""
    game = nr.play(learner, X, y, keep="sums")
    try:
        certificate: nr.Certificate = game.certificate()
    except nr.NoRegretError:
        with pytest.raises(nr.NoRegretError, match="keep='rows'"):
            game.certificate()
        return None
    return certificate


@pytest.mark.parametrize("offset", [1.0, 1e4, 1e6, "seconds"])
@pytest.mark.parametrize("name", ["vaw", "widrow-hoff", "ball", "either sign"])
def test_sums_without_rows_state_what_they_prove_or_nothing(name: str, offset: float | str) -> None:
    X, y = data(offset)
    certificate = from_sums(LEARNERS[name](), X, y)
    assert (certificate is not None) == (offset == 1.0)
    if certificate is not None:
        assert nr.verify(certificate, X, y).failed == ()
        best, sharp = certificate.hindsight, nr.play(LEARNERS[name](), X, y).certificate().hindsight
        assert best.loss - best.gap <= sharp.loss
        assert best.loss >= sharp.loss - sharp.gap


def test_rows_give_way_to_sums_once_these_have_the_digits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_096, 100))  # of which the first rows fit without error
    y = X[:, 0] + rng.normal(size=4_096)
    game = nr.Vaw()._new_game(memory=0)
    game.play(X[:90], y[:90])
    assert game.ledger.pages is not None
    game.play(X[90:], y[90:])
    assert game.ledger.pages is None
    assert game.certificate().hindsight.exact


@pytest.mark.parametrize("offset", [1.0, 1e5])
def test_rows_give_way_to_sums_only_where_these_keep_the_digits(offset: float) -> None:
    X, y = data(offset)
    game = nr.play(nr.Vaw(), X, y, memory=1_000)
    assert (game.ledger.pages is None) == (offset == 1.0)
    certificate = game.certificate()
    assert certificate.hindsight.exact
    assert nr.verify(certificate, X, y).failed == ()


def test_rows_are_kept_where_sums_prove_nothing() -> None:
    rng, count = np.random.default_rng(0), np.arange(2_000)
    a = rng.normal(size=2_000)
    X = np.column_stack([np.ones(2_000), a, count, 1.7e9 + 60 * count])
    game = nr.play(nr.Vaw(), X, a + rng.normal(size=2_000), memory=1_000)
    interval = game.certificate().regret
    assert interval.lower - 1e-6 <= game.curve.regret[-1] <= interval.upper + 1e-6


@pytest.mark.parametrize("seed", [26, 38, 51])
def test_a_norm_that_depends_on_how_rows_were_summed_is_confirmed(seed: int) -> None:
    """Columns that depend on each other: a bound is proven again, up to about the same norm."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(5, 3))
    X, y = np.c_[Z, Z @ rng.normal(size=3)], rng.normal(size=5)
    certificate = nr.play(nr.Nlms(), X, y, memory=0).certificate()
    assert "of norm at most" in certificate.hindsight.comparator
    assert nr.verify(certificate, X, y).failed == ()
    best = certificate.hindsight
    for reach in ("1e+20", "1e+150"):  # of which nothing is proven
        words = f"linear predictors of norm at most {reach}"
        lie = replace(certificate, hindsight=replace(best, comparator=words))
        assert not nr.verify(lie, X, y).confirmed


@pytest.mark.parametrize("seed", [12, 30])
def test_a_gap_that_depends_on_how_rows_were_summed_is_confirmed(seed: int) -> None:
    """The tangent at the witness proves the lower end again; a higher one is proven by none."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(6, 2)) * [1e-3, 1e5]
    X, y = np.c_[Z, 3 * Z[:, 0], Z @ rng.normal(size=2)], rng.normal(size=6)
    certificate = nr.play(nr.Nlms(), X, y).certificate()
    best = certificate.hindsight
    assert "of norm at most" in best.comparator
    assert nr.verify(certificate, X, y).failed == ()
    for factor in (0.0, 0.01, 1e3):
        lie = replace(certificate, hindsight=replace(best, gap=factor * best.gap))
        failed = [line.name for line in nr.verify(lie, X, y).failed]
        assert "hindsight.gap" in failed, factor


@pytest.mark.parametrize("seed", [1412, 1421, 1424, 1436, 1466, 1885])
def test_dependent_columns_that_fit_almost_exactly_are_confirmed(seed: int) -> None:
    """Rounding decides the class, the loss and the gap."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(8, 1)) * 10.0 ** (seed % 4)
    X = np.c_[Z, 3 * Z, Z @ rng.normal(size=1)]
    y = X @ rng.normal(size=3) + 1e-6 * rng.normal(size=8)
    certificate = nr.play(nr.Nlms(), X, y).certificate()
    assert nr.verify(certificate, X, y).failed == ()
    best = certificate.hindsight
    for factor in (0.9, 1.5):
        lie = replace(certificate, hindsight=replace(best, loss=factor * best.loss))
        assert not nr.verify(lie, X, y).confirmed, factor


def test_a_witness_worse_than_sums_would_find_is_refused() -> None:
    X, y = data(1e4)
    certificate = nr.play(nr.Vaw(), X, y).certificate()
    best = certificate.hindsight
    nothing = float(y @ y)  # what weights of zero pay
    lie = replace(
        certificate,
        hindsight=replace(
            best,
            loss=nothing,
            gap=nothing - (best.loss - best.gap),
            witness=dict.fromkeys(best.witness, 0.0),
        ),
        regret=replace(certificate.regret, lower=certificate.loss.total - nothing),
    )
    assert not nr.verify(lie, X, y).confirmed


SUMMED: dict[str, Any] = LEARNERS | {
    "less free": lambda: nr.Vaw(penalty=0.1),
    "online-newton": lambda: nr.make("online-newton"),
    "online-newton, ball": lambda: nr.make("online-newton", radius=3.0),
    "ftrl": lambda: nr.make("ftrl", radius=0.5, rate=1e-3),
    "follow-the-leader": lambda: nr.make("follow-the-leader", loss="square", radius=0.5),
    "adagrad": lambda: nr.make("adagrad", loss="square", form="norm", radius=0.5, rate=1e-3),
}


def few_examples(seed: int) -> tuple[Any, Any]:
    """Return few rows, offset or not; some columns twice, constant, or whole numbers."""
    rng = np.random.default_rng(seed)
    offset = float(rng.choice([0.0, 1.0, 1e4, 1e5, 1e6, 1e7, 1e8, 1e10, 1e12]))
    rows, columns = int(rng.choice([1, 2, 3, 4, 8, 12, 30])), int(rng.integers(1, 6))
    Z = rng.normal(size=(rows, columns))
    X = Z + offset * (rng.normal(size=columns) if rng.random() < 0.4 else 1.0)
    y = Z @ rng.normal(size=columns) + float(rng.choice([0.0, 1e-5, 0.1])) * rng.normal(size=rows)
    kind = rng.random()
    if kind < 0.2:
        X = np.c_[X, np.ones(rows)]
    elif kind < 0.3:
        X = np.c_[X, X[:, 0]]
    elif kind < 0.4:
        X = np.round(X)
    return X, y + offset if rng.random() < 0.2 else y


@pytest.mark.parametrize("name", SUMMED)
def test_sums_over_few_rows_state_what_they_prove_or_nothing(name: str) -> None:
    for seed in range(sized(5, full=200)):
        X, y = few_examples(1_000 * list(SUMMED).index(name) + seed)
        with np.errstate(all="ignore"):
            certificate = from_sums(SUMMED[name](), X, y)
            assert certificate is None or nr.verify(certificate, X, y).failed == (), seed


def test_what_rows_prove_of_some_is_not_confirmed_of_all() -> None:
    """Here rows prove a bound up to a norm."""
    rng = np.random.default_rng(1870)
    tried = 0
    for _ in range(60):
        Z = rng.normal(size=(2, 4))
        X, y = Z + 1e7, Z @ rng.normal(size=4)
        found = nr.play(nr.Vaw(), X, y).certificate()
        best, words = found.hindsight, "all linear predictors"
        if best.comparator != words:
            lie = replace(found, hindsight=replace(best, comparator=words))
            assert not nr.verify(lie, X, y).confirmed
            tried += 1
        if tried == sized(3, full=60):
            break
    assert tried


@pytest.mark.parametrize(("seed", "form"), paired([0, 1, 4, 13], ["full", "diagonal"]))
def test_a_bound_found_by_another_search_is_confirmed(form: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    noise = 1.0 if form == "diagonal" else 0.5
    y = np.where(X @ [1, -2, 0.5] + noise * rng.normal(size=60) > 0, 1, -1)
    pairs = list(zip(X, y.tolist(), strict=True))
    for certificate in (
        nr.play(nr.Arow(form=form), X, y).certificate(),
        nr.play(nr.Arow(form=form), pairs).certificate(),
        nr.play(nr.Arow(form=form), X, y).certificate(limits=nr.hindsight.Limits(tolerance=1e-3)),
    ):
        assert nr.verify(certificate, X, y).failed == ()
