"""Every honest certificate is confirmed, whatever the offset or the scale of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.proof.certificates.roster import Entry, one_each

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
            if entry.y is not None:
                made.append(replace(made[-1], y=change(entry.y, size)))
    return made


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_honest_certificate_is_confirmed_or_refused_when_it_is_issued(entry: Entry) -> None:
    with np.errstate(all="ignore"):
        tried = variants(entry)
        # All of them take minutes: every fifth, and another fifth for the next learner.
        start = ENTRIES.index(entry) % 5
        for one in tried[start::5]:
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


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("name", LEARNERS)
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


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("name", ["vaw", "widrow-hoff", "ball", "either sign"])
def test_sums_without_rows_state_what_they_prove_and_are_confirmed(
    name: str, offset: float | str
) -> None:
    X, y = data(offset)
    certificate = nr.play(LEARNERS[name](), X, y, keep="sums").certificate()
    assert nr.verify(certificate, X, y).failed == ()
    best = certificate.hindsight
    sharp = nr.play(LEARNERS[name](), X, y).certificate().hindsight
    if best.comparator == sharp.comparator:
        assert best.loss - best.gap <= sharp.loss
        assert best.loss >= sharp.loss - sharp.gap


def test_a_gap_of_rounding_taken_away_is_refused_where_sums_leave_much_open() -> None:
    X, y = data(1e6)
    certificate = nr.play(nr.Vaw(), X, y, keep="sums").certificate()
    best = certificate.hindsight
    assert best.gap > 0.1 * best.loss
    lie = replace(
        certificate,
        hindsight=replace(best, gap=0.0),
        regret=replace(certificate.regret, upper=certificate.regret.lower),
    )
    assert not nr.verify(lie, X, y).confirmed


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
