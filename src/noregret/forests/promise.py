"""The promise of Mondrian forests, and their parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from noregret.checks import seed_of, whole
from noregret.proof.theorems.assumptions import Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence

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


def checked(
    trees: int, nodes: int, seed: int, edition: int, editions: int = 2
) -> tuple[int, int, int, int]:
    """Return the parameters of a forest, or raise ValueError."""
    count = whole("trees", trees, below=MAX_TREES + 1)
    room = whole("nodes", nodes, below=MAX_NODES + 1)
    if room < MIN_NODES:
        raise ValueError(f"nodes must be at least {MIN_NODES}: got {nodes!r}")
    return count, room, seed_of(seed), whole("edition", edition, below=editions + 1)


def best_tree(evidence: Evidence) -> int:
    """Return the tree whose best pruning, with its price, gives the smallest bound."""
    return int((evidence.account("pruned") + evidence.account("price")).argmin())


def regret_to_the_best(evidence: Evidence) -> float:
    """Return the loss of the forest minus that of the pruning with the smallest bound."""
    return float(evidence.loss - evidence.account("pruned")[best_tree(evidence)])


def regret_in_numbers(evidence: Evidence) -> float:
    """Return the same for numbers: all losses are without the first round's, which is common."""
    return float(evidence.account("lost")[0] - evidence.account("pruned")[best_tree(evidence)])


def promised(evidence: Evidence) -> float:
    """Return the bound on the regret against that pruning."""
    return float(evidence.account("price")[best_tree(evidence)])


def promise(
    name: str,
    loss: str,
    where: str = "",
    square: int = 0,
    covers: Callable[[Mapping[str, Any]], bool] = lambda params: True,
) -> Theorem:
    """Return the theorem of a forest.

    Parameters
    ----------
    name
        Its name.
    loss
        The assumption about the loss.
    where
        What is to be added to the explanation of the formula.
    square
        The edition of a forest for the square loss, in which nats cost more, and so do ranges that
        grow.
    covers
        For which parameters it is.
    """
    formula, plain = f"{PRICE} + C", "ln 1/π(P) + ln 1/ρ + C"
    if square == 1:
        formula = rf"2 S^2 \left( {PRICE} \right) + C + \tfrac83 S^2"
        plain = "2 S² (ln 1/π(P) + ln 1/ρ) + C + 8/3 S²"
    elif square:
        formula = rf"\tfrac12 S^2 \left( {PRICE} \right) + C + G"
        plain = "½ S² (ln 1/π(P) + ln 1/ρ) + C + G"
    return Theorem(
        name=name,
        quantity="regret to the best member",
        about="the regret against the best pruning of its trees",
        formula=rf"L_A - L_P \le {formula}",
        plain=f"regret against P <= {plain}",
        where=WHERE + where,
        assumptions=(Structural(loss),),
        measured=regret_in_numbers if square else regret_to_the_best,
        bound=promised,
        source="Mourtada, Gaïffas and Scornet, 2021, for weights that insertions preserve",
        covers=covers,
    )
