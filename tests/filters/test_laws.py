"""Laws of every filter: the textbook's numbers, one sample at a time or many."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import BadExample, Diverged
from noregret.filters import AffineProjection, Lms, Nlms, Rls, SignLms
from tests.thorough import draws

from .reference import FORMS, made, played, signals, state

seeds = st.integers(0, 2**32 - 1)
few = draws(12)


# The numbers.


@few
@given(seeds, st.integers(1, 160))
def test_predictions_and_weights_are_those_of_the_textbook(seed: int, samples: int) -> None:
    x, d = signals(seed, samples)
    for form in FORMS:
        player = made(form)
        predictions, weights = played(player.name, player.params, x, d)
        np.testing.assert_allclose(player.play_many(x, d), predictions, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(player.weights, weights, rtol=1e-6, atol=1e-9)
        assert player.total_loss == pytest.approx(((d - predictions) ** 2).sum(), rel=1e-8)


@few
@given(seeds, st.integers(1, 40), st.floats(0.1, 1.9), st.integers(1, 6))
def test_any_number_of_taps_is_like_the_textbook(
    seed: int, taps: int, rate: float, order: int
) -> None:
    x, d = signals(seed, 120)
    for player in (
        Nlms(taps=taps, rate=rate),
        AffineProjection(taps=taps, rate=min(rate, 1.0), order=order, epsilon=0.1),
        Rls(taps=taps, forgetting=0.95),
    ):
        predictions, _ = played(player.name, player.params, x, d)
        np.testing.assert_allclose(player.play_many(x, d), predictions, rtol=1e-7, atol=1e-8)


def test_affine_projection_of_order_1_is_nlms() -> None:
    x, d = signals(3, 500)
    one = AffineProjection(taps=20, order=1, epsilon=1e-3).play_many(x, d)
    np.testing.assert_allclose(one, Nlms(taps=20, epsilon=1e-3).play_many(x, d), rtol=1e-8)


# One law for one sample and for many.


@few
@given(seeds, st.integers(0, 3000), st.integers(0, 3000))
def test_many_are_one_by_one_to_the_bit(seed: int, first: int, second: int) -> None:
    """Also after a pickle and a copy in between; the line is moved back twice on the way."""
    x, d = signals(seed, 3000)
    cuts = [0, min(first, second), max(first, second), len(x)]
    for form in FORMS:
        one, many = made(form), made(form)
        alone = [one.play_one(a, b) for a, b in zip(x.tolist(), d.tolist(), strict=True)]
        together = []
        for start, stop in pairwise(cuts):
            together += many.play_many(x[start:stop], d[start:stop]).tolist()
            _ = many.weights
            many = pickle.loads(pickle.dumps(many)) if start else many.copy()
        assert alone == together
        assert one.weights.tobytes() == many.weights.tobytes()
        assert one.total_loss == many.total_loss


def test_files_go_on_where_they_stopped(tmp_path: Path) -> None:
    x, d = signals(5, 400)
    for form in FORMS:
        player = made(form)
        player.play_many(x[:123], d[:123])
        player.save(tmp_path / "filter")
        other = nr.load(tmp_path / "filter")
        assert type(other) is type(player)
        assert state(other) == state(player)
        assert other.play_many(x[123:], d[123:]).tolist() == [
            player.play_one(a, b) for a, b in zip(x[123:], d[123:], strict=True)
        ]


@few
@given(seeds)
def test_predicting_changes_nothing_and_is_what_playing_predicts(seed: int) -> None:
    x, d = signals(seed, 90)
    for form in FORMS:
        player = made(form)
        player.play_many(x[:70], d[:70])
        before = player.copy()
        frozen = player.predict_many(x[70:])
        heard = np.convolve(x, player.weights)[70:90]
        np.testing.assert_allclose(frozen, heard, rtol=1e-9, atol=1e-12)
        for a, b in zip(x[70:], d[70:], strict=True):
            guess = player.predict_one(a)
            assert guess == player.predict_one(a)
            assert guess == player.play_one(a, b) == before.play_one(a, b)
        assert player.weights.tobytes() == before.weights.tobytes()


def test_what_is_cancelled_is_what_is_left() -> None:
    x, d = signals(8, 300)
    for form in FORMS:
        left = made(form).cancel(x, d)
        assert left.tolist() == (d - made(form).play_many(x, d)).tolist()


def test_reset_is_a_new_start() -> None:
    x, d = signals(9, 50)
    for form in FORMS:
        player = made(form)
        player.play_many(x, d)
        player.reset()
        assert state(player) == state(made(form))
        assert (player.rounds, player.total_loss) == (0, 0.0)
        assert not player.weights.any()


def test_any_kind_of_array_is_the_same_signal() -> None:
    import pandas as pd

    x, d = np.array([3, 1, -2, 5], dtype=np.int16), np.array([1, 0, 2, -1], dtype=np.float32)
    for form in FORMS:
        told = made(form).play_many(x, d).tolist()
        for kind in (list, tuple, pd.Series, lambda a: np.repeat(a, 2)[::2]):
            assert made(form).play_many(kind(x), kind(d)).tolist() == told
        assert made(form).play_many([], []).tolist() == []


# What is refused leaves no trace.


BAD: list[Any] = [math.nan, math.inf, -math.inf, 1e101, None, "1.0", b"1", 1j, [1.0], object()]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_bad_sample_is_named_and_leaves_no_trace(form: Any) -> None:
    x, d = signals(11, 40)
    player = made(form)
    player.play_many(x, d)
    _ = player.predict_one(0.0)  # takes the step that waits
    before = state(player)
    for bad in BAD:
        with pytest.raises(BadExample, match=r"^sample 41: the input is .*") as caught:
            player.play_one(bad, 1.0)
        assert caught.value.round == 41
        with pytest.raises(BadExample, match=r"^sample 41: the outcome is "):
            player.play_one(1.0, bad)
        with pytest.raises(BadExample, match="sample 41: the input is "):
            player.predict_one(bad)
        assert state(player) == before
    with pytest.raises(BadExample, match="sample 43: the input is nan"):
        player.predict_many([0.0, 0.0, math.nan])
    with pytest.raises(BadExample, match=r"sample 42: x is 'loud': a number is expected"):
        player.play_many([0.0, "loud"], [0.0, 0.0])
    for wrong in (np.zeros((2, 2)), 5.0, "x", {"x": 1}, np.zeros(2, dtype=complex)):
        with pytest.raises(BadExample, match="x must be a 1-d array"):
            player.play_many(wrong, [0.0, 0.0])
    with pytest.raises(BadExample, match="x has 3 samples and d has 2"):
        player.cancel([1.0, 2.0, 3.0], [1.0, 2.0])
    assert state(player) == before
    # Of many, those before the bad one have been learned.
    other = player.copy()
    other.play_many(x[:2], d[:2])
    with pytest.raises(BadExample, match="sample 43: the outcome is inf"):
        player.play_many(x[:4], [d[0], d[1], math.inf, d[3]])
    assert state(player) == state(other)


def test_divergence_is_told_and_leaves_finite_weights() -> None:
    player = Lms(taps=4, rate=1.9, norm=0.1)
    rng = np.random.default_rng(0)
    x, d = rng.normal(size=3000), rng.normal(size=3000)
    with pytest.raises(Diverged, match=r"^sample \d+: .* use norm=\d") as caught:
        player.play_many(x, d)
    assert caught.value.round == player.rounds + 1
    assert np.isfinite(player.weights).all()
    before = state(player)
    for _ in range(3):
        with pytest.raises(Diverged, match=f"sample {player.rounds + 1}:"):
            player.play_one(x[player.rounds], d[player.rounds])
        assert state(player) == before
    player.reset()
    player.play_many(np.zeros(10), np.zeros(10))
    assert player.rounds == 10


@few
@given(seeds, st.sampled_from([1e-160, 1e-90, 1e-9, 1e9, 1e60, 1e99]))
def test_extreme_sizes_never_make_a_nan(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.choice([size, 1.0, 0.0], size=(2, 120))
    x, d = sizes * rng.normal(size=(2, 120)).clip(-0.9, 0.9)
    for form in FORMS:
        player = made(form)
        for a, b in zip(x, d, strict=True):
            try:
                assert math.isfinite(player.play_one(a, b))
            except Diverged:
                continue
        assert np.isfinite(player.weights).all()
        assert math.isfinite(player.total_loss)


def test_threads_do_not_play_the_same_filter_at_once() -> None:
    x, d = signals(1, 200_000)
    player = Nlms(taps=512)
    with ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(player.play_many, x, d) for _ in range(4)]
    failed = [task.exception() for task in tasks]
    assert all(error is None or "another thread" in str(error) for error in failed)
    assert player.rounds == len(x) * failed.count(None)
    assert np.isfinite(player.weights).all()


WHOLE: list[Any] = [0, -1, 1.5, "8", None, True, math.nan, 2**30]
NUMBER: list[Any] = [0, -1.0, "1", None, True, math.nan, math.inf]
REFUSED: list[tuple[Any, str, list[Any]]] = [
    *((kind, "taps", WHOLE) for kind in (Lms, Nlms, SignLms, AffineProjection, Rls)),
    *((kind, "rate", [*NUMBER, 2.0]) for kind in (Lms, Nlms, AffineProjection)),
    (SignLms, "rate", NUMBER),
    (Lms, "norm", [value for value in NUMBER if value is not None]),
    *((kind, "epsilon", [*NUMBER, 1e-30]) for kind in (Nlms, AffineProjection)),
    (AffineProjection, "order", [*WHOLE, 65]),
    (Rls, "forgetting", [*NUMBER, 1.5, 1e-12]),
    (Rls, "penalty", NUMBER),
]


def test_parameters_out_of_range_are_refused_by_name() -> None:
    for kind, name, values in REFUSED:
        for value in values:
            with pytest.raises(ValueError, match=name):
                kind(**{name: value})


def test_states_that_make_no_sense_are_refused() -> None:
    x, d = signals(2, 50)
    for form in FORMS:
        player = made(form)
        player.play_many(x, d)
        arrays, numbers, names = player.get_state()
        before = state(player)
        for name, array in arrays.items():
            for wrong in (array[1:], array * np.nan, array + 1e301, array.astype(np.float32)):
                with pytest.raises(ValueError, match=name):
                    player.set_state(arrays | {name: wrong}, numbers, names)
        for name in numbers:
            for bad in (math.nan, -1, "1", 2**63):
                if name.endswith("rest") and bad == -1:
                    continue
                with pytest.raises(ValueError, match=name.rpartition(".")[2]):
                    player.set_state(arrays, numbers | {name: bad}, names)
        with pytest.raises(ValueError, match="expected the arrays"):
            player.set_state(arrays | {"more": x}, numbers, names)
        with pytest.raises(ValueError, match="names"):
            player.set_state(arrays, numbers, ["x"])
        assert state(player) == before
