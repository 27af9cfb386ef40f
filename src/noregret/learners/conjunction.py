"""Learning an AND of literals by elimination.

Start with all 2n literals (every feature and its negation). After each false negative, drop the
literals that the example falsifies:

    on a missed positive:   drop "x_i" where x_i is false,  "not x_i" where it is true

Promise. If the labels are those of a conjunction of literals over n features, there are at most
n + 1 mistakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.base.registry import register
from noregret.hindsight.rules import best_conjunction
from noregret.linear.engine.boolean_rules import Conjunction as Literals
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import Finding, Shown, Structural
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def is_conjunction(evidence: Evidence) -> Finding:
    """Check that some AND of literals fits all labels."""
    missed = evidence.best_conjunction().loss
    first = None
    if missed:
        first = evidence.first_round(lambda rows: best_conjunction(rows).loss > 0)
    return Finding("rounds that the best AND found does not fit", 0, missed, missed == 0, first)


@register
class Conjunction(Learner):
    """Binary classification by a conjunction of literals; features are 0 and 1, or booleans.

    The score is ½ minus the number of kept literals that the example falsifies (−½ before the first
    positive, when all are kept); the weight of a feature is +1 where the literal is kept, −1 where
    its negation is, 0 where neither.

    Examples
    --------
    >>> learner = Conjunction()
    >>> days = [
    ...     ({"sun": True, "wind": True, "rain": False}, True),
    ...     ({"sun": True, "wind": False, "rain": False}, True),
    ...     ({"sun": False, "wind": False, "rain": True}, False),
    ... ]
    >>> for x, y in days:
    ...     learner.learn_one(x, y)
    >>> learner.literals
    ['not rain', 'sun']
    >>> learner.predict_one({"sun": True, "rain": True})
    False

    References
    ----------
    L. G. Valiant, "A theory of the learnable", 1984; N. Littlestone, 1988.
    """

    name = "conjunction"
    theorems = (
        Theorem(
            name="conjunctions",
            quantity="mistakes",
            formula=r"M \le n + 1",
            plain="mistakes <= n + 1",
            assumptions=(
                Structural(r"$x_t \in \{0,1\}^n$ in every round (anything else is refused)"),
                Shown(r"the label is a conjunction of literals of the features", is_conjunction),
            ),
            bound=lambda e: e.features + 1.0,
            best=lambda e: e.best_conjunction(),
            needs_rows=True,
            over_shards=ADDED_UP,
            source="Valiant, 1984; Littlestone, 1988",
        ),
    )

    def __init__(self) -> None:
        super().__init__(Literals())

    @property
    def literals(self) -> list[str]:
        """The remaining literals; before the first positive example, all 2n of them."""
        pairs = list(zip(self.features, self.engine.weights().tolist(), strict=True))
        if not self.engine.scalars()["started"]:
            return sorted(literal for name, _ in pairs for literal in (name, f"not {name}"))
        return sorted(name if kept > 0 else f"not {name}" for name, kept in pairs if kept)
