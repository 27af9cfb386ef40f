"""Mondrian forest for several classes: trees that grow with the stream, mixed over their prunings.

The trees of ``mondrian-forest``, which has the update and the proof. Every node predicts the
frequencies of its classes, and a class joins every node with half an outcome in the round in which
it first appears.

    p(c) = (outcomes of class c + 1/2) / (all outcomes + K/2)   for K classes, in the root

Promise. For every pruning P of every tree as it is at the end,

    L_A ≤ L_P + ln 1/π(P) + ln 1/ρ + C,

where L_P is the log loss of the nodes that are the leaves of P, π(P) its prior probability, ρ that
of the tree, and C
the measured cost of subtrees that collapsed into leaves of P.
"""

from __future__ import annotations

from typing import Any, ClassVar

from noregret.base.registry import register
from noregret.forests.class_forest import ClassForest
from noregret.forests.promise import checked, promise
from noregret.linear.class_learner import ClassLearner


@register
class MondrianForestClasses(ClassLearner):
    """A forest of online decision trees, for several classes.

    Scores are logarithms of probabilities. ``weights`` are 0, as a forest has none.

    Parameters
    ----------
    trees
        Number of trees, up to 1,000. Time and memory grow with it.
    nodes
        Maximum number of nodes per tree, at least 3. A node takes about 160 bytes, and 16 per
        feature (400 for all with more than 256 features) and 8 per class.
    seed
        Seed of the random splits.
    edition
        The arithmetic: 2, or 1 for that of earlier models and certificates. 3 also splits leaves
        with few outcomes of other classes, which is better with many classes.

    Examples
    --------
    >>> learner = MondrianForestClasses()
    >>> for t in range(1000):
    ...     x = {"height": t % 7, "weight": t % 5}
    ...     learner.learn_one(x, ["even", "odd", "top"][2 if t % 7 == 6 else t % 7 % 2])
    >>> learner.predict_one({"height": 6, "weight": 1}), learner.predict_one({"height": 3})
    ('top', 'odd')

    References
    ----------
    J. Mourtada, S. Gaïffas and E. Scornet, "AMF: Aggregated Mondrian forests for online learning",
    2021.
    """

    name = "mondrian-forest-classes"
    _for_classes = "mondrian-forest-classes"
    _weightless = True
    engine: ClassForest
    _earlier: ClassVar[dict[str, Any]] = {"edition": 1}
    theorems = (
        promise(
            "mondrian-forest-classes",
            "the log loss; probabilities are mixed",
            "; a class takes part from the round in which it first appears",
        ),
    )

    def __init__(self, trees: int = 10, nodes: int = 3500, seed: int = 0, edition: int = 2) -> None:
        super().__init__(ClassForest(*checked(trees, nodes, seed, edition, 3)))
        self.trees, self.nodes = trees, nodes
        self.seed, self.edition = seed, edition
