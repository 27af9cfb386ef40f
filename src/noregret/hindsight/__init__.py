"""The best fixed predictor in hindsight, with a proof of how good the answer is.

The functions ``best_…`` return an ``Answer`` and ``largest_margin…`` a ``Margin``: intervals whose
ends are both proven. They read ``Rows``, which can be iterated repeatedly; ``LeastSquares`` needs
only sums over the rows.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret.hindsight.best import best_in_ball, best_in_simplex, best_linear, best_ridge
    from noregret.hindsight.classes.box import best_in_box
    from noregret.hindsight.experts import best_convex, best_expert
    from noregret.hindsight.margin import Margin, largest_margin
    from noregret.hindsight.perceptron import best_mistake_bound
    from noregret.hindsight.proofs.answer import Answer, Limits
    from noregret.hindsight.rows import Rows
    from noregret.hindsight.rules import best_conjunction, best_disjunction
    from noregret.hindsight.several_classes import best_classes, largest_class_margin
    from noregret.hindsight.solvers.penalised import best_penalised
    from noregret.hindsight.solvers.square import LeastSquares
    from noregret.hindsight.switches import Segment, Sequences, best_sequences
    from noregret.hindsight.weights_margin import largest_margin_of_weights

__all__ = [
    "Answer",
    "LeastSquares",
    "Limits",
    "Margin",
    "Rows",
    "Segment",
    "Sequences",
    "best_classes",
    "best_conjunction",
    "best_convex",
    "best_disjunction",
    "best_expert",
    "best_in_ball",
    "best_in_box",
    "best_in_simplex",
    "best_linear",
    "best_mistake_bound",
    "best_penalised",
    "best_ridge",
    "best_sequences",
    "largest_class_margin",
    "largest_margin",
    "largest_margin_of_weights",
]
# The module of each public name, imported on first use: most commands need only a few of them.
_MODULES = {
    "Answer": "proofs.answer",
    "LeastSquares": "solvers.square",
    "Limits": "proofs.answer",
    "Margin": "margin",
    "Rows": "rows",
    "Segment": "switches",
    "Sequences": "switches",
    "best_classes": "several_classes",
    "best_conjunction": "rules",
    "best_convex": "experts",
    "best_disjunction": "rules",
    "best_expert": "experts",
    "best_in_ball": "best",
    "best_in_box": "classes.box",
    "best_in_simplex": "best",
    "best_linear": "best",
    "best_mistake_bound": "perceptron",
    "best_penalised": "solvers.penalised",
    "best_ridge": "best",
    "best_sequences": "switches",
    "largest_class_margin": "several_classes",
    "largest_margin": "margin",
    "largest_margin_of_weights": "weights_margin",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
