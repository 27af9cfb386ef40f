"""The promise of Mondrian forests, and their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.checks import seed_of, whole

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence

# Features that trees split by, as in forest.pxd.
MAX_SPLIT = 256
MAX_TREES, MIN_NODES, MAX_NODES = 1_000, 3, 10_000_000
PRICE = r"\ln\frac{1}{\pi(P)} + \ln\frac{1}{\rho}"
WHERE = (
    r"$P$ is any pruning of any tree as it is at the end: its leaves predict, each with the"
    r" outcomes that have come to it. Before a tree started, the forest's own losses count as those"
    r" of $P$. $\rho$ is $\frac{1}{8M}$ for the $M$ first trees, and $\frac{1}{8 F g (g + 1)}$ for"
    r" one of the $F$ fresh trees of the generation $g$. $\pi(P)$ is the product over the split"
    r" nodes of $\frac{\tau + 1000}{\tau' + 1000}$ and, over the leaves of $P$ that the tree splits"
    r" further, of $\frac{\tau' - \tau}{\tau' + 1000}$, where the node begins at time $\tau$"
    r" and is split at $\tau'$. $C$ is the measured cost of the subtrees that collapsed into leaves"
    r" of $P$: what the mixture of their prunings had lost more than those leaves. It is 0 while"
    r" the tree has fewer nodes than the budget"
)


def checked(trees: int, nodes: int, seed: int) -> tuple[int, int, int]:
    """Return the parameters of a forest, or raise ValueError."""
    count = whole("trees", trees, below=MAX_TREES + 1)
    room = whole("nodes", nodes, below=MAX_NODES + 1)
    if room < MIN_NODES:
        raise ValueError(f"nodes must be at least {MIN_NODES}: got {nodes!r}")
    return count, room, seed_of(seed)


def best_tree(evidence: Evidence) -> int:
    """Return the tree whose best pruning, with its price, gives the smallest bound."""
    return int((evidence.account("pruned") + evidence.account("price")).argmin())


def regret_to_the_best(evidence: Evidence) -> float:
    """Return the loss of the forest minus that of the pruning with the smallest bound."""
    return float(evidence.loss - evidence.account("pruned")[best_tree(evidence)])


def promised(evidence: Evidence) -> float:
    """Return the bound on the regret against that pruning."""
    return float(evidence.account("price")[best_tree(evidence)])
