"""For every theorem about mistakes, learners and streams that meet its assumptions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import noregret as nr
from tests.proof.theorems.drawing import Case, cases, choice, scale
from tests.proof.theorems.hostile import Floats, Pairs, Plan, against, in_ball, in_box

MISTAKES: dict[str, Case] = {}
case = cases(MISTAKES)


def separated(plan: Plan, learner: nr.Learner) -> Pairs:
    """Yield examples at least so far on the right side of a hidden plane."""
    rng = choice(plan)
    v = rng.normal(size=plan.columns)
    v /= np.linalg.norm(v)
    margin, norm = float(rng.choice([0.02, 0.1, 0.5])), scale(rng, 2)
    for x in in_ball(plan, learner):
        label = 1.0 if v @ x > 0 else -1.0
        if plan.outcomes in ("against", "with"):
            wrong = 1.0 if learner.decision_one(x) <= 0 else -1.0
            label = wrong if plan.outcomes == "against" else -wrong
        yield norm * (x + (label * margin - v @ x) * v * (label * (v @ x) < margin)), label


@case("perceptron")
def perceptron(plan: Plan) -> tuple[nr.Learner, Pairs]:
    learner = nr.Perceptron(averaged=plan.seed % 2 == 0)
    return learner, separated(plan, learner)


@case("max-margin")
def max_margin(plan: Plan) -> tuple[nr.Learner, Pairs]:
    learner = nr.MaxMargin(accuracy=float(choice(plan).choice([0.1, 0.5, 0.9, 1.0])))
    return learner, separated(plan, learner)


def kernel_of(plan: Plan, **budget: int) -> nr.Learner:
    rng = choice(plan)
    kernel = str(rng.choice(["rbf", "polynomial", "linear"]))
    width, degree, offset = 0.3 * scale(rng, 1), int(rng.integers(1, 4)), float(rng.choice([0, 1]))
    made: nr.Learner = nr.KernelPerceptron(
        kernel=kernel, width=width, degree=degree, offset=offset, **budget
    )
    return made


@case("kernel-perceptron")
def kernel_perceptron(plan: Plan) -> tuple[nr.Learner, Pairs]:
    learner = nr.KernelPerceptron(kernel=str(choice(plan).choice(["polynomial", "linear"])))
    return learner, separated(plan, learner)


@case("kernel-perceptron-any-data")
def kernel_perceptron_any_data(plan: Plan) -> tuple[nr.Learner, Pairs]:
    learner = kernel_of(plan)
    return learner, against(plan, learner)


@case("kernel-perceptron-budget")
def kernel_perceptron_budget(plan: Plan) -> tuple[nr.Learner, Pairs]:
    learner = kernel_of(plan, budget=int(choice(plan).integers(1, 12)))
    return learner, against(plan, learner)


@case("passive-aggressive")
def passive_aggressive(plan: Plan) -> tuple[nr.Learner, Pairs]:
    learner = nr.PassiveAggressive(form="pa")
    return learner, separated(plan, learner)


@case("perceptron-any-data")
def perceptron_any_data(plan: Plan) -> tuple[nr.Learner, Pairs]:
    learner = nr.Perceptron()
    return learner, against(plan, learner, norm=scale(choice(plan)))


@case("passive-aggressive-i")
def passive_aggressive_i(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.PassiveAggressive(form="pa-i", aggressiveness=scale(rng, 2))
    return learner, against(plan, learner, norm=scale(rng, 1))


@case("arow")
def arow(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    form = str(rng.choice(["full", "diagonal"]))
    learner = nr.make("arow", form=form, penalty=scale(rng, 3))
    if rng.random() < 0.4:
        return learner, separated(plan, learner)
    return learner, against(plan, learner, norm=scale(rng, 3))


@case("winnow")
def winnow(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng, n = choice(plan), plan.columns
    margin = float(rng.choice([0.05, 0.2, 0.6]))
    form = str(rng.choice(["normalised", "balanced"]))
    dimension = None if rng.random() < 0.5 else n + int(rng.integers(0, 4))
    # The hidden weights have a little more margin than is asked for, which rounding may take.
    learner = nr.Winnow.tuned(margin=margin * 0.999, dimension=dimension, form=form)
    hidden = rng.dirichlet(np.full(n, 0.5))
    if form == "balanced":
        hidden *= rng.choice([-1.0, 1.0], size=n)

    def stream() -> Pairs:
        for x in in_box(plan, learner):
            label = 1.0 if hidden @ x > 0 else -1.0
            if plan.outcomes in ("against", "with"):
                wrong = 1.0 if learner.decision_one(x) <= 0 else -1.0
                label = wrong if plan.outcomes == "against" else -wrong
            # Towards the corner that is right until the margin is met.
            right, have = label * np.where(hidden < 0, -1.0, 1.0), label * float(hidden @ x)
            share = max(0.0, (margin - have) / (1 - have)) if have < margin else 0.0
            yield (1 - share) * x + share * right, label

    return learner, stream()


def booleans(plan: Plan, learner: nr.Learner, rule: Callable[[Floats], bool]) -> Pairs:
    """Yield examples of zeros and ones, labelled by a rule; the worst are those it gets wrong."""
    rng = choice(plan)
    for x in in_box(plan, learner):
        many = [(x > 0).astype(float), *(rng.integers(0, 2, size=(6, plan.columns)).astype(float))]
        wrong = [z for z in many if (learner.decision_one(z) > 0) != rule(z)]
        z = wrong[0] if wrong and plan.outcomes == "against" else many[0]
        yield z, 1.0 if rule(z) else -1.0


@case("winnow1")
def winnow1(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng, n = choice(plan), plan.columns
    relevant = rng.random(n) < 0.4
    dimension = None if rng.random() < 0.5 else n + int(rng.integers(0, 4))
    learner = nr.Winnow(form="winnow1", dimension=dimension)
    return learner, booleans(plan, learner, lambda x: bool(np.any(x[relevant])))


@case("conjunctions")
def conjunctions(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng, n = choice(plan), plan.columns
    chosen = rng.random(n) < 0.5
    wanted = rng.integers(0, 2, size=n)
    learner = nr.Conjunction()
    return learner, booleans(plan, learner, lambda x: bool(np.all((x == wanted)[chosen])))
