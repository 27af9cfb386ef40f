"""Every learner in every form, each beside its reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import noregret as nr
from tests import reference
from tests.learners import adaptive_reference as adaptive
from tests.reference import LABELLED, VALUES, Reference

ROUNDS = 30


@dataclass(frozen=True)
class Case:
    """A learner with its parameters, and how to build its reference for n features."""

    name: str
    params: dict[str, Any]
    reference: Callable[[int], Reference]

    def learner(self, **more: Any) -> nr.Learner:
        learner: nr.Learner = nr.make(self.name, **self.params, **more)
        return learner

    @property
    def takes_dimension(self) -> bool:
        return isinstance(self.reference(2), reference.ExponentiatedGradient)

    @property
    def labels(self) -> bool:
        return self.reference(2).loss in LABELLED

    @property
    def hurt(self) -> float:
        return 1.0 if self.reference(2).loss == "linear" else -1.0

    def __str__(self) -> str:
        given = "-".join(f"{v}" for k, v in self.params.items() if v is not None and k != "horizon")
        return f"{self.name}-{given}" if given else self.name


SCHEDULES: list[dict[str, Any]] = [
    {"schedule": "constant"},
    {"schedule": "sqrt"},
    {"schedule": "horizon", "horizon": 2 * ROUNDS},
]


def gradient_descent() -> list[Case]:
    def case(**p: Any) -> Case:
        return Case("gradient-descent", p, lambda n: reference.GradientDescent(n, **p))

    domains: list[dict[str, Any]] = [
        {"domain": "everything"},
        {"domain": "ball", "radius": 0.7},
        {"domain": "box", "radius": 0.2},
    ]
    cases = [
        case(loss=loss, rate=0.3, step=step, **domain, **schedule)
        for loss in VALUES
        for step in ("explicit", "implicit")
        if (loss, step) != ("mistake", "implicit")
        for domain in domains
        for schedule in SCHEDULES
    ]
    own = [("quantile", 0.9), ("epsilon-insensitive", 0.0), ("epsilon-insensitive", 0.5)]
    own += [("squared-epsilon-insensitive", 0.3), ("huber", 0.2), ("huber", 5.0)]
    cases += [
        case(loss=loss, rate=0.3, step=step, loss_parameter=parameter)
        for loss, parameter in own
        for step in ("explicit", "implicit")
    ]
    cases += [case(loss=loss, rate=1000.0, step="implicit") for loss in VALUES if loss != "mistake"]
    return cases


def multiplicative() -> list[Case]:
    def gradient(**p: Any) -> Case:
        return Case("exponentiated-gradient", p, lambda n: reference.ExponentiatedGradient(n, **p))

    def leader(**p: Any) -> Case:
        return Case(
            "ftrl",
            p | {"regulariser": "entropic"},
            lambda n: reference.ExponentiatedGradient(n, **p),
        )

    def winnow(rate: float, form: str, weight: float | None) -> Case:
        return Case(
            "winnow",
            {"rate": rate, "form": form},
            lambda n: reference.ExponentiatedGradient(n, "mistake", rate, weight=weight),
        )

    cases = [
        gradient(loss=loss, rate=0.3, weight=weight, step=step, **schedule)
        for loss in VALUES
        for step in ("explicit", "implicit")
        if (loss, step) != ("mistake", "implicit")
        for weight in (None, 1.0, 2.5)
        for schedule in (SCHEDULES if weight == 2.5 else SCHEDULES[:1])
    ]
    cases += [
        gradient(loss=loss, rate=50.0, weight=weight, step="implicit")
        for loss in ("square", "hinge", "logistic", "absolute")
        for weight in (None, 2.5)
    ]
    cases += [
        gradient(loss="quantile", rate=0.3, weight=2.0, step=step, loss_parameter=0.9)
        for step in ("explicit", "implicit")
    ]
    cases += [
        leader(loss=loss, rate=0.3, weight=weight, **schedule)
        for loss in ("linear", "square", "logistic")
        for weight in (None, 2.5)
        for schedule in (SCHEDULES[0], SCHEDULES[2])
    ]
    cases += [winnow(rate, "normalised", None) for rate in (0.1, 2.0)]
    cases += [winnow(rate, "balanced", 1.0) for rate in (0.1, 2.0)]
    return cases


def leaders() -> list[Case]:
    def leader(**p: Any) -> Case:
        return Case("follow-the-leader", p, lambda n: reference.Leader(n, **p))

    def regularised(**p: Any) -> Case:
        return Case("ftrl", p, lambda n: reference.Leader(n, **p))

    losses = ("linear", "square", "hinge", "logistic", "huber")
    cases = [
        leader(loss=loss, domain=domain, radius=radius)
        for loss in losses
        for domain in ("ball", "box")
        for radius in (1.0, 0.3)
    ]
    cases += [
        regularised(loss=loss, rate=0.3, radius=radius, **schedule)
        for loss in losses
        for radius in (None, 0.5)
        for schedule in SCHEDULES
    ]
    return cases


def named() -> list[Case]:
    """The learners that are one algorithm each."""

    def widrow_hoff(**p: Any) -> Case:
        return Case("widrow-hoff", p, lambda n: reference.WidrowHoff(n, **p))

    def nlms(**p: Any) -> Case:
        return Case("nlms", p, lambda n: reference.Nlms(n, **p))

    def aggressive(**p: Any) -> Case:
        return Case("passive-aggressive", p, lambda n: reference.PassiveAggressive(n, **p))

    def descent(name: str, **p: Any) -> Case:
        domain = "ball" if "radius" in p else "everything"
        return Case(name, p, lambda n: reference.GradientDescent(n, loss=name, domain=domain, **p))

    cases = [Case("perceptron", {}, reference.Perceptron)]
    cases += [widrow_hoff(rate=rate, norm=norm) for rate in (0.1, 0.9) for norm in (1.0, 3.0)]
    cases += [
        widrow_hoff(rate=rate, norm=norm, step="implicit")
        for rate in (0.1, 5.0, 1e4)
        for norm in (1.0, 3.0)
    ]
    cases += [
        nlms(rate=rate, epsilon=epsilon) for rate in (0.5, 1.0, 1.9) for epsilon in (1e-6, 1.0)
    ]
    cases += [
        aggressive(form=form, aggressiveness=c, loss="hinge")
        for form in ("pa", "pa-i", "pa-ii")
        for c in (0.05, 1.0)
    ]
    cases += [
        aggressive(form=form, aggressiveness=c, loss="epsilon-insensitive", epsilon=epsilon)
        for form in ("pa", "pa-i", "pa-ii")
        for c in (0.05, 1.0)
        for epsilon in (0.0, 0.1)
    ]
    cases += [descent("hinge", rate=0.7, **schedule) for schedule in SCHEDULES]
    cases += [descent("logistic", rate=0.7, **schedule) for schedule in SCHEDULES]
    cases += [
        descent("logistic", rate=2.0, radius=0.5, step=step, **schedule)
        for step in ("explicit", "implicit")
        for schedule in SCHEDULES
    ]
    return cases


def without_tuning() -> list[Case]:
    """The learners whose rate follows the gradients, or that have none."""

    def adagrad(**p: Any) -> Case:
        return Case("adagrad", p, lambda n: adaptive.Adagrad(n, **p))

    def proximal(**p: Any) -> Case:
        return Case("ftrl-proximal", p, lambda n: adaptive.FtrlProximal(n, **p))

    def betting(**p: Any) -> Case:
        return Case("coin-betting", p, lambda n: adaptive.CoinBetting(n, **p))

    def invariant(**p: Any) -> Case:
        return Case("scale-invariant", p, lambda n: adaptive.ScaleInvariant(n, **p))

    losses = ("square", "linear", "hinge", "logistic", "huber")
    cases = [
        adagrad(loss=loss, rate=0.3, form=form, radius=radius)
        for loss in losses
        for form in ("diagonal", "norm")
        for radius in (None, 0.5)
    ]
    cases += [
        proximal(loss=loss, rate=0.5, beta=beta, l1=l1, l2=l2)
        for loss in losses
        for beta, l1, l2 in ((1.0, 0.0, 0.0), (0.1, 0.2, 0.0), (1.0, 0.1, 0.5))
    ]
    cases += [
        # Not a wealth of 1: the first bet would then be just right, but for rounding.
        betting(loss=loss, form=form, wealth=wealth, lipschitz=lipschitz)
        for loss in losses
        for form in ("coordinate", "norm")
        for wealth, lipschitz in ((0.7, 1.0), (0.1, 3.0))
    ]
    cases += [
        invariant(loss=loss, wealth=wealth, lipschitz=lipschitz)
        for loss in losses
        for wealth, lipschitz in ((1.0, 1.0), (0.1, 3.0))
    ]
    return cases


CASES = [*named(), *without_tuning(), *gradient_descent(), *multiplicative(), *leaders()]
