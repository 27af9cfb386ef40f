"""The best sequences of experts, against brute force and against a plain dynamic program."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.errors import BadExample, NoRegretError
from noregret.hindsight import Rows, Segment, best_expert, best_sequences
from noregret.hindsight.switches import paid_along
from tests.hindsight.problems import Floats
from tests.thorough import draws


def by_trying_all(table: Floats, most: int) -> list[Fraction]:
    """The least losses without rounding, over all sequences of experts."""
    rounds, experts = table.shape
    exact = [[Fraction(v) for v in row] for row in table.tolist()]
    least = [Fraction(10) ** 400] * (most + 1)
    for path in itertools.product(range(experts), repeat=rounds):
        switches = sum(a != b for a, b in itertools.pairwise(path))
        paid = sum((exact[t][i] for t, i in enumerate(path)), Fraction(0))
        for k in range(switches, most + 1):
            least[k] = min(least[k], paid)
    return least


def plainly(table: Floats, most: int) -> Floats:
    """The same recursion, written down as it stands."""
    ways = np.tile(table[0], (most + 1, 1))
    for row in table[1:]:
        coming = np.concatenate([[math.inf], ways.min(axis=1)[:-1]])
        ways = row + np.minimum(ways, coming[:, None])
    return np.asarray(ways.min(axis=1))


def in_blocks(table: Floats, length: int):  # type: ignore[no-untyped-def]
    return lambda: (table[start : start + length] for start in range(0, len(table), length))


numbers = st.one_of(
    st.floats(-10, 10),
    st.integers(-2, 2).map(float),
    st.sampled_from([0.0, 1e-300, 1e300, -1e300, 1.0, 1e16, 5e-324, 0.1]),
)


@st.composite
def small_tables(draw: st.DrawFn) -> Floats:
    rounds, experts = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    row = st.lists(numbers, min_size=experts, max_size=experts)
    return np.array(draw(st.lists(row, min_size=rounds, max_size=rounds)))


@draws(150)
@given(small_tables(), st.integers(0, 6))
def test_no_sequence_is_better(table: Floats, most: int) -> None:
    found = best_sequences(table, most)
    for k, least in enumerate(by_trying_all(table, most)):
        answer = found.answer(k)
        assert Fraction(answer.lower) <= least <= Fraction(answer.loss)
        assert abs(Fraction(float(found.losses[k])) - least) <= Fraction(float(found.rounding[k]))


@draws(100)
@given(small_tables(), st.integers(0, 6))
def test_the_segments_cover_the_rounds_and_attain_the_least(table: Floats, most: int) -> None:
    found = best_sequences(in_blocks(table, 2), most)
    for k in range(most + 1):
        segments = found.segments(k)
        assert len(segments) <= k + 1
        assert segments[0].first == 1
        assert segments[-1].last == len(table)
        paid = Fraction(0)
        for one, then in itertools.pairwise(segments):
            assert then.first == one.last + 1
            assert then.expert != one.expert
        for part in segments:
            column = table[part.first - 1 : part.last, part.expert].tolist()
            exact = sum(map(Fraction, column), Fraction(0))
            size = sum(map(abs, map(Fraction, column)))
            assert abs(Fraction(part.loss) - exact) <= abs(exact) / 2**52 + size / 2**140
            paid += exact
        assert paid <= Fraction(found.answer(k).loss)


@draws(30)
@given(
    seed=st.integers(0, 10**6),
    rounds=st.integers(1, 300),
    experts=st.integers(1, 9),
    most=st.integers(0, 12),
    kind=st.sampled_from(["any", "whole", "drifting"]),
)
def test_as_the_plain_recursion_has_it(
    seed: int, rounds: int, experts: int, most: int, kind: str
) -> None:
    draw = np.random.default_rng(seed)
    table = draw.random((rounds, experts))
    if kind == "whole":
        table = draw.integers(0, 2, (rounds, experts)).astype(float)
    if kind == "drifting":
        table = np.abs(np.cumsum(draw.normal(size=(rounds, experts)), axis=0))
    found = best_sequences(in_blocks(table, 37), most)
    np.testing.assert_allclose(found.losses, plainly(table, most), rtol=1e-12)
    assert (np.diff(found.losses) <= 0).all()
    assert found.losses[0] == pytest.approx(best_expert(table).loss, rel=1e-14)
    segments = found.segments(most)
    assert math.fsum(s.loss for s in segments) == pytest.approx(found.losses[most], rel=1e-14)


def test_blocks_do_not_matter() -> None:
    table = np.random.default_rng(3).normal(size=(500, 4))
    whole, cut = best_sequences(table, 9), best_sequences(in_blocks(table, 7), 9)
    assert whole.losses.tobytes() == cut.losses.tobytes()
    assert whole.segments(9) == cut.segments(9)


def test_a_planted_sequence_is_found() -> None:
    draw = np.random.default_rng(1)
    table = 0.5 + 0.5 * draw.random((3000, 6))
    for first, last, expert in ((0, 1000, 3), (1000, 1100, 0), (1100, 3000, 5)):
        table[first:last, expert] = 0.1
    segments = best_sequences(table, 2).segments(2)
    assert [(s.first, s.last, s.expert) for s in segments] == [
        (1, 1000, 3),
        (1001, 1100, 0),
        (1101, 3000, 5),
    ]


def test_advice_is_judged_by_the_loss() -> None:
    rows = Rows([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], [0.0, 0.25, 1.0])
    found = best_sequences(rows, 1, "square")
    assert found.losses.tolist() == [1.0625, 0.0625]
    assert found.segments(1) == [Segment(1, 2, 0, 0.0625), Segment(3, 3, 1, 0.0)]
    tilted = best_sequences(rows, 0, "quantile", loss_parameter=0.9)
    assert tilted.losses[0] == pytest.approx(0.175)


def test_small_differences_are_seen_next_to_huge_losses() -> None:
    """Each path pays 1e300 once; what decides is far below the last digit of that."""
    table = np.full((4, 2), 1.0)
    table[1] = 1e300
    table[2:, 1] = 1 - 1e-9
    found = best_sequences(table, 2)
    assert found.segments(0)[0].expert == 1
    assert [s.expert for s in found.segments(2)] == [1]


def test_an_expert_that_pays_without_end_can_be_left() -> None:
    table = np.array([[0.0, 1.0], [0.0, 1.0], [math.inf, 1.0], [math.inf, 0.0], [0.0, math.inf]])
    found = best_sequences(table, 3)
    assert found.losses.tolist() == [math.inf, 3.0, 1.0, 1.0]
    assert found.segments(2) == [
        Segment(1, 2, 0, 0.0),
        Segment(3, 4, 1, 1.0),
        Segment(5, 5, 0, 0.0),
    ]
    assert found.answer(0).loss == math.inf
    assert found.answer(2).gap < 1e-14


def test_whole_numbers_are_summed_without_rounding() -> None:
    table = np.random.default_rng(0).integers(-3, 9, (500, 4)).astype(float)
    found = best_sequences(table, 5)
    for k, least in enumerate(plainly(table, 5)):
        assert found.answer(k).loss == found.answer(k).lower == least


def test_more_switches_than_rounds_are_no_trouble() -> None:
    table = np.eye(3)
    found = best_sequences(table, 40)
    assert found.losses[2:].tolist() == [0.0] * 39
    assert len(found.segments(40)) <= 3


def test_a_witness_can_be_checked_from_the_rows_alone() -> None:
    table = np.random.default_rng(2).random((200, 5))
    answer = best_sequences(table, 6).answer(6)
    stays = [(int(first), int(expert)) for first, expert in answer.witness.reshape(-1, 2)]
    paid = math.fsum(part.loss for part in paid_along(table, stays))
    assert answer.lower <= paid <= answer.loss
    assert answer.comparator == "sequences of experts with at most 6 switches"
    assert best_sequences(table, 1).answer(1).comparator.endswith("at most 1 switch")


@pytest.mark.parametrize("stays", [[], [(2, 0)], [(1, 0), (1, 1)], [(1, 0), (9, 1)]])
def test_segments_that_do_not_fit_are_refused(stays: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="segment"):
        paid_along(np.ones((5, 2)), stays)


def test_what_cannot_be_answered_is_refused() -> None:
    with pytest.raises(ValueError, match="most must not be negative"):
        best_sequences([[1.0]], -1)
    with pytest.raises(ValueError, match="between 0 and 2, got 3"):
        best_sequences([[1.0]], 2).segments(3)
    with pytest.raises(NoRegretError, match="no rounds"):
        best_sequences(np.zeros((0, 2)), 1)
    with pytest.raises(NoRegretError, match="no experts"):
        best_sequences(np.zeros((2, 0)), 1)
    with pytest.raises(BadExample, match="round 2: the loss of expert 1 is nan"):
        best_sequences([[1.0], [math.nan]], 1)
    with pytest.raises(BadExample, match="a block has 3 experts, but earlier ones have 2"):
        best_sequences(lambda: [np.ones((2, 2)), np.ones((2, 3))], 1)
    with pytest.raises(ValueError, match="outcomes need a loss"):
        best_sequences(Rows([[1.0]], [1.0]), 1)
    with pytest.raises(ValueError, match="needs outcomes"):
        best_sequences([[1.0]], 1, "square")
