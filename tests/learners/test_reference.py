"""Every learner agrees with its pseudocode in every round, on chance and against adversaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from tests import reference
from tests.cases import CASES, ROUNDS, Case
from tests.following import follow
from tests.sequences import SEQUENCES, arriving, binary, enormous, fixed
from tests.thorough import draws, in_turn, paired, picked

N = 5


def generator(*parts: str) -> np.random.Generator:
    """Return a generator of its own for every test, the same in every run."""
    return np.random.default_rng(list(" ".join(parts).encode()))


@in_turn("case", CASES, share=3)
def test_learner_agrees_with_its_pseudocode(case: Case) -> None:
    for kind, sequence_of in picked([*SEQUENCES.items()], str(case), count=2):
        as_dict = kind == "sparse"
        more = {"dimension": N} if as_dict and case.takes_dimension else {}
        rng = generator(kind, str(case))
        sequence = sequence_of(rng, N, ROUNDS, case.labels, case.hurt)
        follow(case.learner(**more), case.reference(N), sequence, as_dict)


def cannot_run_away(case: Case) -> bool:
    """Return whether the weights stay where they are bounded, whatever the size of the examples."""
    if case.takes_dimension:
        return False  # a logarithm of 1e16 has no digits left to compare
    unbounded = case.reference(N).loss in ("linear", "square") and case.params.get("radius") is None
    bounded = case.params.get("step") == "implicit" or case.params.get("radius") is not None
    return not unbounded and (bounded or case.name in ("passive-aggressive", "perceptron"))


@in_turn("case", [*filter(cannot_run_away, CASES)], share=3)
def test_learner_agrees_with_its_pseudocode_on_examples_of_any_size(case: Case) -> None:
    rng = generator(str(case))
    follow(case.learner(), case.reference(N), enormous(rng, N, ROUNDS, case.labels, case.hurt))


@pytest.mark.parametrize(("case", "n"), paired(CASES[::9], [1, 2, 37]), ids=str)
def test_learner_agrees_with_its_pseudocode_in_any_number_of_dimensions(case: Case, n: int) -> None:
    rng = generator(str(case))
    follow(case.learner(), case.reference(n), SEQUENCES["dense"](rng, n, 60, case.labels, -1.0))


@pytest.mark.parametrize("kind", ["rule", "chance", "against"])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_winnow1_agrees_with_its_pseudocode(kind: str, n: int) -> None:
    rng = generator(kind)
    follow(nr.make("winnow", form="winnow1"), reference.Winnow1(n), binary(rng, n, 60, kind))
    learner = nr.make("winnow", form="winnow1", dimension=n)
    follow(learner, reference.Winnow1(n), binary(rng, n, 60, kind), as_dict=True)


@pytest.mark.parametrize("kind", ["rule", "chance", "against"])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_conjunction_agrees_with_its_pseudocode(kind: str, n: int) -> None:
    follow(nr.make("conjunction"), reference.Conjunction(n), binary(generator(kind), n, 60, kind))


# Names that come late join with log-weight 0; the weights run over the names seen so far.

LATE = [case for case in CASES if case.takes_dimension and case.params.get("rate", 1.0) <= 0.3]


@pytest.mark.parametrize("case", LATE[::3], ids=str)
def test_late_names_join_as_if_they_had_always_been_there(case: Case) -> None:
    model = case.reference(N)
    sequence = arriving(generator(str(case)), N, ROUNDS, case.labels, model)
    follow(case.learner(), model, sequence, as_dict=True)


def test_late_names_raise_the_threshold_of_winnow1() -> None:
    """n is the number of names seen so far, the ones of this example included."""
    rng = generator("winnow1")
    learner, model, seen = nr.make("winnow", form="winnow1"), reference.Winnow1(8), np.zeros(8)
    for t in range(60):
        x = (rng.random(8) < 0.4).astype(np.float64)
        x[: 7 - t // 6] = 0
        x[7] = 1
        seen[x > 0] = 1
        model.n = int(seen.sum())
        y = float(rng.choice([-1.0, 1.0]))
        follow(learner, model, iter([(x, fixed(y))]), as_dict=True, totals=False)


def test_the_simplex_survives_a_fall_of_all_logarithms() -> None:
    learner = nr.make("exponentiated-gradient", rate=1.0)
    learner.learn_one([100.0, 200.0], 0.0)
    np.testing.assert_allclose(learner.weights, [1.0, 0.0], atol=1e-12)
    learner.learn_one([1.0, 1.0], 0.0)
    np.testing.assert_allclose(learner.weights, [1.0, 0.0], atol=1e-12)
    assert learner.decision_one([3.0, 4.0]) == pytest.approx(3.0)


@pytest.mark.parametrize("value", [np.inf, 1e200])
def test_a_refused_newcomer_leaves_fallen_logarithms_alone(value: float) -> None:
    """A newcomer outweighs all others there; refused, it must not have pushed them to zero."""
    learner = nr.make("exponentiated-gradient", rate=1.0)
    learner.learn_one({"a": 100.0, "b": 200.0}, 0.0)
    before = learner.weights.tolist()
    with pytest.raises(nr.BadExample):
        learner.learn_one({"a": 1.0, "c": value}, 0.0)
    assert learner.weights.tolist() == before
    assert sum(before) == pytest.approx(1.0)


def test_implicit_multiplicative_step_is_exact_though_the_row_holds_all_the_mass() -> None:
    learner = nr.make("exponentiated-gradient", rate=20.0, step="implicit")
    model = reference.ExponentiatedGradient(2, "square", 20.0, step="implicit")
    follow(
        learner,
        model,
        iter([(np.array([0.9, 1.9]), fixed(1.8)), (np.array([1.0, 0.9]), fixed(-1.3))]),
    )


# Examples as hypothesis thinks them up.

numbers = st.integers(-10_000, 10_000).map(lambda thousandths: thousandths / 1000)
# No outcome is just out of reach, where a step to infinity and one that rounding ends look alike.
outcomes = numbers.map(lambda y: y + 0.00037)
SMOOTH = [case for case in CASES if case.params.get("rate", 9.0) <= 0.3 and "sqrt" in str(case)]
SMOOTH = [case for case in SMOOTH if case.reference(2).loss in ("huber", "logistic")]
SMOOTH += [case for case in CASES if case.name == "nlms" or case.params.get("step") == "implicit"]


@pytest.mark.parametrize("case", SMOOTH[::6], ids=str)
@draws(15)
@given(rows=st.lists(st.tuples(numbers, numbers, outcomes), max_size=8))
def test_continuous_updates_agree_on_any_examples(
    case: Case, rows: list[tuple[float, float, float]]
) -> None:
    sequence = (
        (np.array([a, b]), fixed((1.0 if y > 0 else -1.0) if case.labels else y))
        for a, b, y in rows
    )
    follow(case.learner(), case.reference(2), sequence)


EXACT = [case for case in CASES if case.name in ("perceptron", "follow-the-leader")]
EXACT = [case for case in EXACT if case.reference(2).loss in ("mistake", "linear")]
whole_numbers = st.integers(-4, 4).map(float)


@pytest.mark.parametrize("case", EXACT, ids=str)
@draws(60)
@given(
    rows=st.lists(
        st.tuples(whole_numbers, whole_numbers, whole_numbers, st.booleans()), max_size=12
    )
)
def test_updates_with_jumps_agree_on_whole_numbers(
    case: Case, rows: list[tuple[float, float, float, bool]]
) -> None:
    """Sums of whole numbers are exact, so that a tie is a tie in both."""
    sequence = ((np.array([a, b, c]), fixed(1.0 if y else -1.0)) for a, b, c, y in rows)
    follow(case.learner(), case.reference(3), sequence)


@pytest.mark.parametrize("radius", [1.0, 0.3])
def test_the_leader_is_found_where_huge_gradients_cancelled(radius: float) -> None:
    """Powers of two add up exactly: what huge gradients leave behind decides alone."""
    huge, small = np.array([2.0**30, -(2.0**28), 0.0]), np.array([2.0**-12, 2.0**-11, 2.0**-10])
    rows = [(small, 1.0), (huge, 1.0), (huge, -1.0), (small, 1.0), (huge, -1.0), (huge, 1.0)]
    sequence = ((x, fixed(y)) for x, y in rows * 3)
    learner = nr.make("follow-the-leader", radius=radius)
    follow(learner, reference.Leader(3, "linear", radius=radius), sequence)
