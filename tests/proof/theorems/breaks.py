"""For every assumption that can fail, learners and rounds that break it in round r."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import noregret as nr

Break = Callable[[int], tuple[nr.Learner, list[tuple[Any, Any]]]]
BREAKS: dict[tuple[str, str], list[Break]] = {}
AFTER = 4  # rounds that follow the broken one


def breaks(theorem: str, finding: str) -> Callable[[Break], Break]:
    """Register what breaks the assumption whose finding starts like that, in round r."""

    def register(make: Break) -> Break:
        BREAKS.setdefault((theorem, finding), []).append(make)
        return make

    return register


def then(usual: tuple[Any, Any], bad: tuple[Any, Any], r: int) -> list[tuple[Any, Any]]:
    """Return rounds that are all as usual but the r-th."""
    return [usual] * (r - 1) + [bad] + [usual] * AFTER


@breaks("widrow-hoff", "norm(x)")
@breaks("online-to-batch", "norm(x)")
def too_long(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.WidrowHoff(rate=0.3), then(([0.6, 0.8], 1.0), ([0.6, 0.81], 1.0), r)


def beyond_digits(r: int) -> list[tuple[Any, Any]]:
    return then(([0.6, 0.8], 1.0), ([0.6e10, 0.81e10], 1.0), r)


@breaks("vaw", "norm(x)")
def too_long_for_vaw(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.make("vaw"), beyond_digits(r)


@breaks("online-newton", "norm(x)")
def too_long_for_newton(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.make("online-newton", radius=1.0), beyond_digits(r)


@breaks("online-newton-everywhere", "norm(x)")
def too_long_for_newton_everywhere(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.make("online-newton"), beyond_digits(r)


@breaks("nlms", "rate < 1")
def too_fast(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Nlms(rate=1.2), [([1.0], 1.0)] * r


@breaks("eg", "spread(x)")
def too_wide(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.ExponentiatedGradient(rate=0.5), then(([1.0, -0.9], 1.0), ([1.0, -1.0], 1.0), r)


@breaks("eg", "spread(x)")
def too_wide_with_signs(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    learner = nr.ExponentiatedGradient(rate=0.5, weight=2.0)  # 2U|x| < 2
    return learner, then(([0.4], 1.0), ([0.6], 1.0), r)


@breaks("eg", "features that joined")
def late(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    rows = then(({"a": 0.1}, 0.1), ({"a": 0.1, "b": 0.1}, 0.1), max(2, r))
    return nr.ExponentiatedGradient(rate=0.5), rows


@breaks("eg", "features that joined")
def more_than_announced(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    rows = then(({"a": 0.1}, 0.1), ({"a": 0.1, "b": 0.1, "c": 0.1}, 0.1), max(2, r))
    return nr.ExponentiatedGradient(rate=0.5, dimension=2), rows


def linear(r: int, slope: float = 1.01) -> list[tuple[Any, Any]]:
    return then(([0.6, 0.8], 1.0), ([0.6, 0.8], slope), r)


@breaks("projected-gradient", "norm(gradient)")
def too_steep(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    learner = nr.GradientDescent.tuned(loss="linear", radius=2.0, lipschitz=1.0, horizon=50)
    return learner, linear(r)


@breaks("projected-gradient", "norm(gradient)")
def too_steep_for_the_box(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    """The box of half-width 2 lies in the ball of radius √8, so L is √2."""
    learner = nr.GradientDescent(
        loss="linear", rate=2.0, schedule="horizon", horizon=50, radius=2.0, domain="box"
    )
    return learner, linear(r, 1.42)


@breaks("projected-gradient", "rounds <=")
def too_many(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    learner = nr.GradientDescent.tuned(
        loss="linear", radius=1.0, lipschitz=1.0, horizon=max(1, r - 1)
    )
    return learner, [([1.0], 1.0)] * (r + AFTER)


@breaks("projected-gradient-anytime", "norm(gradient)")
def too_steep_at_any_time(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.GradientDescent.tuned(loss="linear", radius=2.0, lipschitz=1.0), linear(r)


@breaks("ogd-anytime", "norm(gradient)")
def too_steep_for_ogd(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    learner = nr.GradientDescent.tuned("ogd-anytime", loss="linear", radius=2.0, lipschitz=1.0)
    return learner, linear(r)


@breaks("hinge-ogd", "rounds <=")
def too_many_for_hinge(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    learner = nr.Hinge.tuned(radius=1.0, norm=1.0, horizon=max(1, r - 1))
    return learner, [([1.0], 1)] * (r + AFTER)


@breaks("logistic", "rounds <=")
def too_many_for_logistic(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    learner = nr.Logistic.tuned(radius=1.0, norm=1.0, horizon=max(1, r - 1))
    return learner, [([1.0], 1)] * (r + AFTER)


@breaks("logistic", "norm(x)")
def too_long_for_logistic(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Logistic.tuned(radius=3.0, norm=1.0), then(([0.6, 0.8], 1), ([0.8, 0.8], 1), r)


@breaks("coin-betting", "norm(gradient)")
def too_steep_for_a_bet(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.CoinBetting(loss="linear", form="norm"), linear(r)


@breaks("coin-betting-coordinates", "max |gradient_i|")
def too_steep_for_some_bet(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.CoinBetting(loss="linear"), linear(r, 1.26)


@breaks("scale-invariant", "|slope|")
def too_steep_whatever_the_units(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.ScaleInvariant(loss="linear", lipschitz=1.0), linear(r)


@breaks("perceptron", "margin > 0")
def contradicted(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    """The fourth side of a square, of which three could still be separated."""
    rows = [([1.0, 0.2], 1), ([-0.2, 1.0], 1)] * r
    return nr.Perceptron(), [*rows[: max(2, r - 1)], ([0.4, 0.6], -1), *rows[:AFTER]]


@breaks("perceptron", "margin > 0")
def nothing_to_see(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Perceptron(), then(([1.0, 2.0], 1), ([0.0, 0.0], 1), r)


@breaks("passive-aggressive", "margin > 0")
def contradicted_passively(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.PassiveAggressive(form="pa"), contradicted(r)[1]


@breaks("max-margin", "margin > 0")
def contradicted_shrinking(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.MaxMargin(), contradicted(r)[1]


@breaks("kernel-perceptron", "margin > 0")
def contradicted_in_space(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    """The same point with the other label, which no function of any space can separate."""
    rows = [([1.0, 0.2], 1), ([-0.2, 1.0], 1)] * r
    learner = nr.KernelPerceptron(kernel="linear")
    return learner, [*rows[: max(2, r - 1)], ([1.0, 0.2], -1), *rows[:AFTER]]


def far(r: int) -> list[tuple[Any, Any]]:
    return then(([0.6, 0.8], 1), ([600.0, 801.0], 1), r)


@breaks("kernel-perceptron", "norm(x)")
@breaks("kernel-perceptron-any-data", "norm(x)")
@breaks("kernel-perceptron-budget", "norm(x)")
def far_away(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.KernelPerceptron(), far(r)


@breaks("kernel-gradient-descent", "norm(x)")
def far_away_for_descent(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.KernelGradientDescent(), far(r)


@breaks("kernel-perceptron", "support vectors removed")
@breaks("kernel-perceptron-any-data", "support vectors removed")
def one_too_many(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    """Every row is a mistake until the same one with the other label."""
    rows = [([float(t)], (-1) ** t) for t in range(r + AFTER)]
    return nr.KernelPerceptron(width=0.2, budget=max(1, r - 1)), rows


@breaks("winnow", "max |x_i|")
def outside_the_box(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Winnow(rate=0.1), then(([1.0, -1.0], 1), ([1.001, -1.0], 1), r)


@breaks("winnow", "margin >=")
def too_close(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Winnow.tuned(margin=0.5), then(([1.0, -1.0], 1), ([0.4, 0.3], 1), r)


@breaks("winnow", "features that joined")
def late_for_winnow(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Winnow.tuned(margin=0.5), then(({"a": 1}, 1), ({"a": 1, "b": 1}, 1), max(2, r))


@breaks("winnow1", "rounds that the best OR")
def no_or(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Winnow(form="winnow1"), then(([1, 0], 1), ([0, 0], 1), r)


@breaks("winnow1", "features that joined")
def late_for_winnow1(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    rows = then(({"a": 1}, 1), ({"a": 1, "b": 1}, 1), max(2, r))
    return nr.Winnow(form="winnow1"), rows


@breaks("conjunctions", "rounds that the best AND")
def no_and(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    return nr.Conjunction(), then(([1, 0], True), ([1, 0], False), max(2, r))


@breaks("online-to-batch-high-probability", "loss <=")
def too_dear(r: int) -> tuple[nr.Learner, list[tuple[Any, Any]]]:
    learner = nr.averaged(nr.GradientDescent(loss="absolute", rate=1e-6))
    return learner, then(([1.0], 0.9), ([1.0], 1.1), r)
