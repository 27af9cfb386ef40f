"""For every theorem about several classes, learners and streams that meet its assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import noregret as nr
from tests.proof.theorems.drawing import Case, cases, choice, scale
from tests.proof.theorems.hostile import Plan, in_ball

CLASSES: dict[str, Case] = {}
case = cases(CLASSES)
LABELS = "abcd"


def examples(plan: Plan, learner: nr.Learner) -> Iterator[Any]:
    """Yield examples of norm at most 1; which the learner is surest of makes no difference here."""
    surest = plan.examples == "the worst of many"
    return in_ball(replace(plan, examples="corners") if surest else plan, learner)


def against(plan: Plan, learner: Any, norm: float) -> Iterator[tuple[Any, str]]:
    """Yield examples of norm at most ``norm``, and classes that may hurt the learner most."""
    rng = np.random.default_rng(plan.seed + 1)
    rule = rng.normal(size=(plan.columns, len(LABELS)))
    for x in examples(plan, learner):
        scores = dict.fromkeys(LABELS, 0.0) | learner.decision_one(norm * x)
        yield (
            norm * x,
            {
                "noise": str(rng.choice(list(LABELS))),
                "a rule": LABELS[int(np.argmax(x @ rule))],
                "against": min(LABELS, key=lambda label: scores[label]),
                "with": max(LABELS, key=lambda label: scores[label]),
                "constant": "a",
                "nothing": LABELS[int(rng.integers(2))],
            }[plan.outcomes],
        )


def tuned(kind: Any, plan: Plan) -> tuple[Any, Any]:
    rng = choice(plan)
    norm, horizon = scale(rng, 2), plan.rounds if rng.random() < 0.5 else None
    learner = kind.tuned(radius=scale(rng, 2), norm=norm, horizon=horizon)
    return learner, against(plan, learner, norm)


@case("softmax")
def softmax(plan: Plan) -> tuple[Any, Any]:
    return tuned(nr.Softmax, plan)


@case("multiclass-hinge")
def multiclass_hinge(plan: Plan) -> tuple[Any, Any]:
    return tuned(nr.MulticlassHinge, plan)


def untuned(kind: Any, plan: Plan) -> tuple[Any, Any]:
    rng = choice(plan)
    ball = scale(rng, 2) if rng.random() < 0.4 else None
    learner = kind(
        rate=scale(rng, 1),
        schedule="constant" if ball is not None and rng.random() < 0.5 else "sqrt",
        radius=ball,
        step="implicit" if ball is not None or rng.random() < 0.5 else "explicit",
    )
    return learner, against(plan, learner, scale(rng, 1))


@case("softmax-free")
def softmax_free(plan: Plan) -> tuple[Any, Any]:
    return untuned(nr.Softmax, plan)


@case("multiclass-hinge-free")
def multiclass_hinge_free(plan: Plan) -> tuple[Any, Any]:
    return untuned(nr.MulticlassHinge, plan)


@case("auto-classes")
def auto_classes(plan: Plan) -> tuple[Any, Any]:
    rng = choice(plan)
    learner = nr.AutoClasses(recent=bool(rng.random() < 0.7))
    return learner, against(plan, learner, scale(rng, 3))


@case("mondrian-forest-classes")
def mondrian_forest_classes(plan: Plan) -> tuple[Any, Any]:
    rng = choice(plan)
    learner = nr.MondrianForestClasses(
        trees=int(rng.integers(1, 5)), nodes=int(rng.choice([3, 10, 1000]))
    )
    return learner, against(plan, learner, scale(rng, 3))


@case("multiclass-perceptron")
def multiclass_perceptron(plan: Plan) -> tuple[Any, Any]:
    """Examples are pushed towards their class until it leads by a margin."""
    learner, rng = nr.MulticlassPerceptron(), choice(plan)
    axes = np.eye(len(LABELS))
    margin, norm = float(rng.choice([0.05, 0.2, 0.5])), scale(rng, 2)

    def stream() -> Iterator[tuple[Any, str]]:
        for x, label in against(replace(plan, columns=len(LABELS)), learner, 1.0):
            k = LABELS.index(label)
            short = margin - (x[k] - np.delete(x, k).max())
            yield norm * (x + max(0.0, short) * axes[k]), label

    return learner, stream()
