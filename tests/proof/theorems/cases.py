"""For every theorem with a bound, learners and streams that meet its assumptions."""

from __future__ import annotations

from typing import Any

import numpy as np

import noregret as nr
from tests.proof.theorems.class_cases import CLASSES
from tests.proof.theorems.drawing import Case, cases, choice, scale
from tests.proof.theorems.hostile import Pairs, Plan, against, in_box
from tests.proof.theorems.mistake_cases import MISTAKES

LIPSCHITZ = ("absolute", "hinge", "logistic", "linear", "quantile", "epsilon-insensitive", "huber")
CASES: dict[str, Case] = MISTAKES | CLASSES
case = cases(CASES)


# Regression.


@case("widrow-hoff")
def widrow_hoff(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    norm, size = scale(rng), scale(rng)
    if rng.random() < 0.5:
        learner = nr.WidrowHoff.tuned(norm=norm, radius=scale(rng), loss=scale(rng))
    else:
        learner = nr.WidrowHoff(rate=float(rng.uniform(1e-3, 0.999)), norm=norm)
    return learner, against(plan, learner, size, norm)


@case("nlms")
def nlms(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.Nlms(rate=float(rng.uniform(1e-3, 0.999)), epsilon=scale(rng))
    return learner, against(plan, learner, scale(rng), scale(rng))


@case("vaw")
def vaw(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.make("vaw", penalty=scale(rng))
    return learner, against(plan, learner, scale(rng), scale(rng))


def newton(plan: Plan, form: str, radius: float | None) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    losses = ("square", "logistic", "squared-hinge") if radius is not None else ("square",)
    loss = str(rng.choice(losses))
    learner = nr.make("online-newton", loss=loss, form=form, radius=radius, penalty=scale(rng))
    return learner, against(plan, learner, scale(rng, 2), scale(rng, 2))


@case("online-newton")
def online_newton(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return newton(plan, "full", scale(np.random.default_rng([plan.seed, 5]), 2))


@case("online-newton-everywhere")
def online_newton_everywhere(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return newton(plan, "full", None)


@case("online-newton-diagonal")
def online_newton_diagonal(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = np.random.default_rng([plan.seed, 5])
    return newton(plan, "diagonal", scale(rng, 2) if rng.random() < 0.7 else None)


@case("eg")
def eg(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng, n = choice(plan), plan.columns
    weight = None if rng.random() < 0.5 else scale(rng, 1)
    size, spread = scale(rng, 2), 2 * (weight or 1.0)
    dimension = None if rng.random() < 0.3 else n + int(rng.integers(0, 4))
    learner: nr.Learner
    if rng.random() < 0.5:
        learner = nr.ExponentiatedGradient.tuned(
            peak=size, dimension=dimension or n, loss=scale(rng), weight=weight
        )
    else:
        rate = float(rng.uniform(1e-3, 1.99)) / (spread * size) ** 2
        learner = nr.ExponentiatedGradient(rate=rate, weight=weight, dimension=dimension)

    def stream() -> Pairs:
        outcomes = np.random.default_rng([plan.seed, 3])
        for x in in_box(plan, learner):
            score = learner.decision_one(size * x)
            y = {
                "noise": float(outcomes.normal()),
                "a rule": float(x[0]),
                "against": -1.0 if score > 0 else 1.0,
                "with": 1.0 if score > 0 else -1.0,
                "constant": 1.0,
                "nothing": 0.0,
            }[plan.outcomes]
            yield size * x, size * y

    return learner, stream()


# Convex losses. All in LIPSCHITZ have slopes up to 1.


def descent(plan: Plan, theorem: str, **known: Any) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    norm, radius = scale(rng, 2), scale(rng, 2)
    if rng.random() < 0.2:  # the square loss, with G = 4 U X²
        steep, size, loss = 4 * radius * norm**2, radius * norm, "square"
    else:
        steep, size, loss = norm, 1.0, str(rng.choice(LIPSCHITZ))
    learner = nr.GradientDescent.tuned(theorem, radius=radius, lipschitz=steep, loss=loss, **known)
    return learner, against(plan, learner, size, norm)


@case("projected-gradient")
def projected_gradient(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return descent(plan, "projected-gradient", horizon=plan.rounds + plan.seed % 3)


@case("projected-gradient-anytime")
def projected_gradient_anytime(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return descent(plan, "projected-gradient-anytime")


@case("ogd-anytime")
def ogd_anytime(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return descent(plan, "ogd-anytime")


@case("ogd")
def ogd(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    loss = str(rng.choice([*LIPSCHITZ, "square"]))
    norm, radius = scale(rng, 1), None if rng.random() < 0.5 else scale(rng, 1)
    learner = nr.GradientDescent(loss=loss, radius=radius, rate=scale(rng, 1) / norm**2 / 20)
    return learner, against(plan, learner, 1.0, norm)


@case("kernel-gradient-descent")
def kernel_gradient_descent(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    kernel = str(rng.choice(["rbf", "polynomial", "linear"]))
    learner = nr.KernelGradientDescent(
        loss=str(rng.choice([*LIPSCHITZ, "square"])),
        radius=None if rng.random() < 0.5 else scale(rng, 1),
        rate=scale(rng, 1) / 40,
        kernel=kernel,
        width=scale(rng, 1),
        budget=int(rng.integers(1, 15)),
    )
    return learner, against(plan, learner)


@case("ftrl")
def ftrl(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    loss = str(rng.choice([*LIPSCHITZ, "square"]))
    norm, radius = scale(rng, 1), None if rng.random() < 0.5 else scale(rng, 1)
    if rng.random() < 0.5:
        learner = nr.Ftrl.tuned(
            loss=loss, radius=radius or 1.0, lipschitz=norm, horizon=plan.rounds
        )
    else:
        learner = nr.Ftrl(loss=loss, radius=radius, rate=scale(rng, 1) / norm**2 / 20)
    return learner, against(plan, learner, 1.0, norm)


@case("hinge-ogd")
def hinge_ogd(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    norm = scale(rng, 2)
    learner = nr.Hinge.tuned(radius=scale(rng, 2), norm=norm, horizon=plan.rounds + plan.seed % 3)
    return learner, against(plan, learner, norm=norm)


@case("logistic")
def logistic(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    norm, horizon = scale(rng, 2), None if rng.random() < 0.5 else plan.rounds
    learner = nr.Logistic.tuned(radius=scale(rng, 2), norm=norm, horizon=horizon)
    return learner, against(plan, learner, norm=norm)


# Rates that follow the gradients, or none.


def adagrad_of(plan: Plan, form: str, bounded: bool) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    loss = str(rng.choice([*LIPSCHITZ, "square", "squared-hinge"]))
    radius = scale(rng, 2) if bounded else None
    rate = None if rng.random() < 0.5 else scale(rng, 1)
    learner = nr.Adagrad(loss=loss, form=form, radius=radius, rate=rate)
    return learner, against(plan, learner, scale(rng, 2), scale(rng, 3))


@case("adagrad")
def adagrad(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return adagrad_of(plan, "diagonal", bounded=True)


@case("adagrad-norm")
def adagrad_norm(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return adagrad_of(plan, "norm", bounded=True)


@case("adagrad-free")
def adagrad_free(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return adagrad_of(plan, str(choice(plan).choice(["diagonal", "norm"])), bounded=False)


@case("ftrl-proximal")
def ftrl_proximal(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    loss = str(rng.choice([*LIPSCHITZ, "square", "squared-hinge"]))
    l1, l2 = (0.0 if rng.random() < 0.4 else scale(rng, 2) for _ in range(2))
    learner = nr.FtrlProximal(loss=loss, rate=scale(rng, 2), beta=scale(rng, 2), l1=l1, l2=l2)
    return learner, against(plan, learner, 1.0, scale(rng, 3))


def betting(plan: Plan, form: str) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    lipschitz, wealth, loss = scale(rng, 3), scale(rng, 3), str(rng.choice(LIPSCHITZ))
    learner = nr.CoinBetting(loss=loss, form=form, wealth=wealth, lipschitz=lipschitz)
    size = 1.0 if loss == "linear" else scale(rng, 3)
    return learner, against(plan, learner, size, lipschitz)


@case("coin-betting")
def coin_betting(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return betting(plan, "norm")


@case("coin-betting-coordinates")
def coin_betting_coordinates(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return betting(plan, "coordinate")


@case("scale-invariant")
def scale_invariant(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    loss = str(rng.choice(LIPSCHITZ))
    size = 1.0 if loss == "linear" else scale(rng, 3)
    lipschitz = 1.0 if loss == "linear" or rng.random() < 0.2 else None
    learner = nr.ScaleInvariant(loss=loss, wealth=scale(rng, 2), lipschitz=lipschitz)
    units = 10.0 ** rng.integers(-9, 10, size=plan.columns)
    return learner, ((units * x, y) for x, y in against(plan, learner, size))


@case("auto-mixing")
def auto_mixing(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return auto(plan)


@case("auto-linear")
def auto_linear(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.make("auto", recent=bool(rng.random() < 0.7))
    return learner, against(plan, learner, scale(rng, 3), scale(rng, 3))


@case("auto")
def auto(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.make(
        "auto",
        loss=str(rng.choice(["square", "absolute", "quantile"])),
        recent=bool(rng.random() < 0.7),
        delay=0,
    )
    return learner, against(plan, learner, scale(rng, 3), scale(rng, 3))


@case("auto-chances")
def auto_chances(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.make("auto", loss="logistic", recent=bool(rng.random() < 0.7))
    return learner, against(plan, learner, 1.0, scale(rng, 3))


def forest_of_numbers(plan: Plan, edition: int) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.make(
        "mondrian-forest",
        trees=int(rng.integers(1, 5)),
        nodes=int(rng.choice([3, 10, 1000])),
        edition=edition,
    )
    return learner, against(plan, learner, scale(rng, 3), scale(rng, 3))


@case("mondrian-forest-square")
def mondrian_forest_square(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return forest_of_numbers(plan, edition=2)


@case("mondrian-forest")
def mondrian_forest(plan: Plan) -> tuple[nr.Learner, Pairs]:
    return forest_of_numbers(plan, edition=1)


@case("mondrian-forest-chances")
def mondrian_forest_chances(plan: Plan) -> tuple[nr.Learner, Pairs]:
    rng = choice(plan)
    learner = nr.make(
        "mondrian-forest",
        loss="logistic",
        trees=int(rng.integers(1, 5)),
        nodes=int(rng.choice([3, 10, 1000])),
    )
    return learner, against(plan, learner, 1.0, scale(rng, 3))


def linear_theorems() -> dict[str, nr.Theorem]:
    """Return the theorems of linear learners; the other families are tried in their own folders."""
    return {
        name: theorem
        for name, (theorem, kind) in nr.all_theorems().items()
        if kind is None or kind.family == "learners"
    }
