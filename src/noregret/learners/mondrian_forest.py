"""Mondrian forest: trees that grow with the stream, mixed over all their prunings.

Each tree divides the rows by splits of one feature each, drawn by the Mondrian process: the wider
the box around the rows of a node, the sooner it is split. A row outside of that box may insert a
split above the node, at a random time τ between the time at which the node begins and its own
split. The node then moves down with its record, and the row starts a leaf of its own, whose first
forecast is that of the mixture below the node. Every node predicts the mean of its outcomes, or,
for labels, their frequencies, and each tree mixes the predictions of all its prunings.

    w̄(v) = (1 − s(v)) e^(−η·loss of v) + s(v)·w̄(left)·w̄(right),   s(v) = (τ + c)/(τ' + c)

Here the node v begins at time τ and is split at τ'; a leaf has w̄ = e^(−η·loss). With c = 1000,
deep prunings are preferred, which are best for an average over trees. A second set of weights in
each node has c = 1 and 128 times the rate η for numbers, 2 times for labels, to find shallow
prunings where outcomes are mostly noise. The forest mixes both, of each tree and averaged over the
trees, by their losses.

Features are compared by their ranges so far, so units do not matter, and those whose splits have
reduced the loss are split sooner. An absent feature counts as 0. With more than 256 features, a
node keeps the ranges of up to 16 that were not 0 in its rows, and is split outside of these: so a
row costs what is not 0 in it, and a feature that is always 0 changes nothing. At the budget of
nodes, the eighth of a tree that has saved least collapses: a leaf takes over the weight of all
prunings of the subtree.

Beside the M trees, F fresh ones (a fifth of M, at least one) start again every 256 rounds, every
second generation after 512, every fourth after 1024. Every 64 rounds they are compared with the old
trees. If one has lost less than the worst old tree since it started, by 3 nats or, for numbers, by
what is as unlikely if errors are normal, then old rows do harm, and it takes that tree's place.

Promise. For every pruning P of every tree as it is at the end,

    L_A ≤ L_P + (1/η)(ln 1/π(P) + ln 1/ρ) + C   for labels, η = 1,
    L_A ≤ L_P + (1/η)(ln 1/π(P) + ln 1/ρ) + C + G   for numbers, η = 2/S²,

where π(P) is the product of the s(v) of the split nodes of P and of 1 − s(v) of its leaves that the
tree splits further, and ρ is 1/(8M) for the first trees, 1/(8Fg(g+1)) for those of the generation g
of fresh ones. Before a tree started, the losses of the forest count as those of P. S is the length
of an interval [a, b] around the outcomes, which grows by a quarter at least: so S is at most 25/16
of their range. G is the measured cost of the rounds in which it grew, at most 25/9·S². C is the
measured cost of the subtrees that collapsed into leaves of P: −(1/η) ln w̄ of the subtree minus the
loss of the leaf, then.

Proof. Call Φ = −(1/η) ln w̄(root). (1) A round of labels: the log loss of the mixture is the
increase of Φ. Of numbers: call g(y) the increase of −(1/η) ln of the sum of all weights, trees and
averages, if the outcome is y. The forest predicts the mean m of all, moved into [b − √g(b), a +
√g(a)], so that its loss at a and at b is at most g. That interval is not empty for η ≤ 2/S² (Vovk),
and in between e^(η(m−y)² − ηg(y)) is convex in y, a sum of exponentials of linear functions: so its
loss is at most g(y) for every y in [a, b]. (2) A split inserted at time σ between τ and τ' leaves Φ
as it is: no row has come to the new leaf, so its w̄ is 1; the node above and the node below have
the same record; and s = (τ+c)/(σ+c) · (σ+c)/(τ'+c). The row at hand was predicted before the split
was drawn, but the first forecast of the new leaf is what the mixture below the split predicts for
that row, so the tree with the split predicts the same; of numbers, the leaf's loss in that round is
that of the mixture below the split, −(1/η) ln Σ w e^(−η·loss). (With a probability of ½ per node in
place of s, an insertion does change Φ, and a bound of ln 2 per node can fail. Nor may the new leaf
begin with the forecast of the node above.) (3) If the range grows, all weights are computed again
with the smaller η. −(1/η) ln E e^(−ηL) falls with η, so Φ can only grow; the round itself is
predicted with the old weights and the old interval, and G adds what it loses above the increase of
Φ, at most S². As S grows by a quarter at least, G ≤ S²·Σ (4/5)^2k = 25/9·S². (4) A collapse leaves
Φ as it is: the leaf has the w̄ of the subtree from then on, as if its loss were larger by what is
added to C. At the end Φ ≤ L_P + (1/η) ln 1/π(P) + C, and the mixture over the trees, in which each
has the prior weight ρ at the rate η, adds (1/η) ln 1/ρ. (5) Trees and averages that start late, or
are replaced, are specialists: while one is absent, it counts as losing what the forest loses, which
changes neither the prediction nor the bound, and the weights of all that ever start add up to at
most 1. (6) The first number is predicted as 0 by every tree and pruning, so its loss is on both
sides, and is left out of both. The trees then learn how far outcomes are above the first one, which
changes no difference between a prediction and an outcome. So where outcomes lie takes no digits
from weights, predictions or the measured regret.

Edition 1, of earlier models and certificates, predicts the mean of numbers, for which η = 1/(2S²)
and S is the range rounded up to a power of two; rounds in which it grew cost 4/3·S² at most, once
for the tree and once for the mixture: 8/3·S² in place of G. It splits by the first 256 features.
"""

from __future__ import annotations

from typing import Any, ClassVar

from noregret.base.registry import register
from noregret.checks import one_of
from noregret.forests.forest import LOSSES, Forest
from noregret.forests.promise import checked, promise
from noregret.linear.learner import Learner


@register
class MondrianForest(Learner):
    """A forest of online decision trees, for numbers and for two labels.

    It sees what linear learners cannot: thresholds, products of features, categories that interact.
    ``weights`` are 0, as a forest has none.

    Parameters
    ----------
    loss
        ``square`` for numbers, ``logistic`` for labels. Several classes have a learner of their
        own, MondrianForestClasses.
    trees
        Number of trees, up to 1,000. Time and memory grow with it.
    nodes
        Maximum number of nodes per tree, at least 3. A node takes about 160 bytes and 16 per
        feature, and 550 with more than 256 features: with 20 features, ten trees of 3,500 nodes
        take 19 MB.
    seed
        Seed of the random splits.
    edition
        The arithmetic: 2, or 1 for that of earlier models and certificates, which have four times
        the bound for numbers.

    Examples
    --------
    The sign of a product is no linear function of its factors:

    >>> learner = MondrianForest(loss="logistic")
    >>> for t in range(2000):
    ...     x = {"a": t % 41 - 20, "b": t % 37 - 18}
    ...     learner.learn_one(x, x["a"] * x["b"] > 0)
    >>> learner.predict_one({"a": 10, "b": 10}), learner.predict_one({"a": 10, "b": -10})
    (True, False)

    References
    ----------
    J. Mourtada, S. Gaïffas and E. Scornet, "AMF: Aggregated Mondrian forests for online learning",
    2021. V. Vovk, "Aggregating strategies", 1990. B. Lakshminarayanan, D. M. Roy and Y. W. Teh,
    "Mondrian forests: efficient online random forests", 2014. Y. Freund, R. E. Schapire, Y. Singer
    and M. K. Warmuth, "Using and combining predictors that specialize", 1997. F. M. J. Willems, Y.
    M. Shtarkov and T. J. Tjalkens, "The context-tree weighting method", 1995.
    """

    name = "mondrian-forest"
    _for_classes = "mondrian-forest-classes"
    _weightless = True
    engine: Forest
    _earlier: ClassVar[dict[str, Any]] = {"edition": 1}
    theorems = (
        promise(
            "mondrian-forest-square",
            "the square loss; any outcomes, their range is measured",
            r"; the first round of a leaf counts with the loss of the mixture of the prunings in"
            r" whose place it came. $S$ is the length of an interval around the outcomes, at most"
            r" $\tfrac{25}{16}$ of their range. $G$ is the measured cost of the rounds in which it"
            r" grew, at most $\tfrac{25}{9} S^2$",
            square=2,
            covers=lambda p: p["loss"] == "square" and p["edition"] > 1,
        ),
        promise(
            "mondrian-forest",
            "the square loss; any outcomes, their range is measured",
            r"; $S$ is the range of the outcomes, rounded up to a power of two",
            square=1,
            covers=lambda p: p["loss"] == "square" and p["edition"] == 1,
        ),
        promise(
            "mondrian-forest-chances",
            "the logistic loss; probabilities are mixed",
            covers=lambda p: p["loss"] == "logistic",
        ),
    )

    def __init__(
        self,
        loss: str = "square",
        trees: int = 10,
        nodes: int = 3500,
        seed: int = 0,
        edition: int = 2,
    ) -> None:
        if loss == "softmax":
            raise ValueError(
                "the softmax loss is for several classes: use mondrian-forest-classes"
                " (MondrianForestClasses in Python)"
            )
        one_of("loss", loss, LOSSES)
        super().__init__(Forest(loss, *checked(trees, nodes, seed, edition)))
        self.loss, self.trees, self.nodes = loss, trees, nodes
        self.seed, self.edition = seed, edition
