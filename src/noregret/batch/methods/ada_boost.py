"""AdaBoost: combine many weak classifiers, each slightly better than chance, into a strong one.

Each round finds a classifier with a small weighted error, lets it vote with the weight

    α_t = ½ ln((1 − ε_t)/ε_t),  where ε_t is the weight of the examples that it gets wrong,

and increases the weight of these examples:  weight(x, y) ← weight(x, y) · exp(−α_t y h_t(x)).  This
is Hedge over the examples, where the loss of an example is 1 if it is classified correctly and 0
otherwise, so that hard examples keep their weight.

Promise. The vote gets at most a fraction  Π_t 2 √(ε_t (1 − ε_t))  of the examples wrong, which is
at most exp(−2 Σ_t γ_t²) with γ_t = ½ − ε_t: enough classifiers that are slightly better than chance
get all of them right.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.registry import register
from noregret.batch.boosting import boosted
from noregret.batch.boosting_game import BoostingGame
from noregret.batch.method import Solution
from noregret.batch.stumps import as_arrays
from noregret.batch.tables import as_rows, by_columns
from noregret.batch.vote import Vote
from noregret.batch.weak import Foreign, StumpFinder, WeakLearner, check_again
from noregret.checks import positive, whole
from noregret.hindsight.losses import as_labels
from noregret.proof.theorems.assumptions import Finding, Shown, Structural
from noregret.proof.theorems.theorem import Theorem

if TYPE_CHECKING:
    from noregret.batch.boosting_game import BoostingEvidence
    from noregret.batch.evidence import BatchEvidence


def all_vote(evidence: BoostingEvidence) -> Finding:
    """Check that some classifier was better than chance."""
    return Finding("classifiers that vote >= 1", 1, evidence.voters, evidence.voters >= 1)


def training_bound(evidence: BoostingEvidence) -> float:
    """Return the bound on the number of mistakes."""
    return evidence.rounds * math.exp(evidence.log_factor(0.0))


def margin_bound(evidence: BoostingEvidence) -> float:
    """Return the bound on the number of examples with a small margin."""
    return evidence.rounds * math.exp(min(0.0, evidence.log_factor(evidence.margin_asked)))


BETTER = Shown("some weak classifier is better than chance", all_vote)
VOTES = Structural(r"the votes are $\alpha_t = \frac12 \ln((1-\varepsilon_t)/\varepsilon_t)$")


@register
class AdaBoost(Vote):
    """A weighted vote of weak classifiers, each trained on the mistakes of those before it.

    Parameters
    ----------
    members
        The largest number of classifiers that vote.
    weak
        The weak learner: None for the best decision stump, an object with ``fit(X, y,
        sample_weight)`` and ``predict(X)``, such as a scikit-learn classifier, or a function of
        (X, y, weights) that returns an object with ``predict`` or a function. Labels are 1 and −1.
    rate
        The weight of every vote, above 0; None for α_t as above, which is best.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> method = AdaBoost(members=3).fit(X, [1, 1, -1, -1, 1, 1])
    >>> method.predict_many(X)
    array([ 1,  1, -1, -1,  1,  1])
    >>> method.staged_mistakes  # after one vote, two, and all three
    [2, 2, 0]

    Notes
    -----
    A classifier that is wrong more often than right gets a negative vote. One that is never wrong
    decides alone. If no classifier is better than chance, there are fewer members; ``stopped`` has
    the reason.

    References
    ----------
    Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
    application to boosting", 1997. Margins: R. E. Schapire, Y. Freund, P. Bartlett and W. S. Lee,
    "Boosting the margin", 1998.
    """

    name = "ada-boost"
    loss_name = "mistake"
    _proven_by_weights = False
    theorems = (
        Theorem(
            name="ada-boost",
            quantity="training mistakes",
            formula=(
                r"M \le m \prod_t 2\sqrt{\varepsilon_t(1-\varepsilon_t)}"
                r" \le m \exp\left(-2 \sum_t \left(\tfrac12 - \varepsilon_t\right)^2\right)"
            ),
            plain="mistakes <= m Π 2 sqrt(ε_t (1 - ε_t))  <=  m exp(-2 Σ (1/2 - ε_t)²)",
            where=r"$m$ is the number of examples, $\varepsilon_t$ the weighted error of round $t$",
            assumptions=(BETTER, VOTES),
            bound=training_bound,
            measured=lambda evidence: float(evidence.mistakes),
            covers=lambda params: params["rate"] is None,
            source="Freund and Schapire, 1997",
        ),
        Theorem(
            name="ada-boost-rate",
            quantity="training mistakes",
            formula=(
                r"M \le m \prod_t \left[(1-\varepsilon_t) e^{-\eta} + \varepsilon_t e^{\eta}\right]"
            ),
            plain="mistakes <= m Π [(1 - ε_t) exp(-rate) + ε_t exp(rate)]",
            where=(
                r"$m$ is the number of examples, $\varepsilon_t$ the weighted error of round $t$,"
                r" at most ½, as a classifier with more gets a negative vote"
            ),
            assumptions=(
                BETTER,
                Structural(r"every vote has the weight $\eta$, the parameter `rate`"),
            ),
            bound=training_bound,
            measured=lambda evidence: float(evidence.mistakes),
            covers=lambda params: params["rate"] is not None,
            source="Freund and Schapire, 1997",
        ),
        Theorem(
            name="ada-boost-margins",
            quantity="training mistakes",
            formula=(
                r"\left|\{i : \mathrm{margin}_i \le \theta\}\right| \le"
                r" m \prod_t 2\sqrt{\varepsilon_t^{1-\theta}(1-\varepsilon_t)^{1+\theta}}"
            ),
            plain="examples with margin <= θ  <=  m Π 2 sqrt(ε_t^(1-θ) (1 - ε_t)^(1+θ))",
            where=(
                r"$m$ is the number of examples, $\varepsilon_t$ the weighted error of round $t$;"
                r" the margin of an example is $y F(x)/\sum_t |\alpha_t|$, between $-1$ and $1$,"
                r" where $F(x)$ is the sum of the votes; $\theta$ is `margin`, by default 0.1"
            ),
            about="the number of examples with a small margin",
            assumptions=(BETTER, VOTES),
            bound=margin_bound,
            measured=lambda evidence: float(evidence.small_margins(evidence.margin_asked)),
            covers=lambda params: params["rate"] is None,
            asks="margin=0.1",
            beside=True,
            source="Schapire, Freund, Bartlett and Lee, 1998, theorem 5",
        ),
    )

    def __init__(
        self, members: int = 50, weak: WeakLearner | None = None, rate: float | None = None
    ) -> None:
        self.members, self.weak = whole("members", members), weak
        self.rate = None if rate is None else positive("rate", rate)
        learns = hasattr(weak, "fit") and not isinstance(weak, type)
        makes = callable(weak) and not hasattr(weak, "fit")
        if not (weak is None or learns or makes):
            raise TypeError(
                "weak must be a learner with fit(X, y, sample_weight) and predict(X), or a function"
                f" of (X, y, weights): got {weak!r}"
            )
        super().__init__()

    # Fitting.

    def _new_game(self, **options: Any) -> BoostingGame:
        """Return a game that reads examples and fits this method to them, from scratch."""
        return BoostingGame(self, **options)

    def _solve(self, examples: BatchEvidence) -> Solution:
        """Find the classifiers and their votes."""
        labels = as_labels(examples.rows.outcomes)
        table = by_columns(examples.rows)
        if self.weak is None:
            run = boosted(StumpFinder(table, labels), labels, self.members, self.rate)
            found = as_arrays(run.found)
        else:
            weak = Foreign(self.weak, as_rows(table, examples.features), labels)
            run = boosted(weak, labels, self.members, self.rate)
            check_again(run.found, run.votes, as_rows(table, examples.features), run.scores)
            found = {"classifiers": np.array([*run.found, None], dtype=object)[:-1]}
        return Solution(np.zeros(examples.features), {}, found | run.figures())
