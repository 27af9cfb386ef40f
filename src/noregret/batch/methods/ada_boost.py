"""AdaBoost: many weak classifiers, each a little better than chance, vote as one strong one.

Each round asks for a classifier that does well on the examples of much weight, lets it vote with

    α_t = ½ ln((1 − ε_t)/ε_t),  where ε_t is the weight of the examples that it gets wrong,

and makes these examples heavier:  weight(x, y) ← weight(x, y) · exp(−α_t y h_t(x)).  This is Hedge
over the examples, where the loss of an example is 1 when it is classified rightly and 0 when it is
not: what is still hard keeps its weight.

Promise. The votes get at most  Π_t 2 √(ε_t (1 − ε_t))  of the examples wrong, which is at most
exp(−2 Σ_t γ_t²) where γ_t = ½ − ε_t: classifiers that are a little better than chance, and enough
of them, get everything right.
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
    """Return how many mistakes the errors of the weak classifiers leave."""
    return evidence.rounds * math.exp(evidence.log_factor(0.0))


def margin_bound(evidence: BoostingEvidence) -> float:
    """Return how many examples of a small margin they leave."""
    return evidence.rounds * math.exp(min(0.0, evidence.log_factor(evidence.margin_asked)))


BETTER = Shown("some weak classifier does better than chance", all_vote)
VOTES = Structural(r"the votes are $\alpha_t = \frac12 \ln((1-\varepsilon_t)/\varepsilon_t)$")


@register
class AdaBoost(Vote):
    """A vote of weak classifiers that pays attention to what is still wrong.

    Parameters
    ----------
    members
        The most classifiers that vote.
    weak
        Who finds them: None for the best decision stump. Or anything with ``fit(X, y,
        sample_weight)`` and ``predict(X)``, such as a scikit-learn classifier; or a function of
        (X, y, weights) that returns one with ``predict``, or a function. Labels are 1 and −1.
    rate
        What every vote counts, above 0; None for α_t as above, which is best.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> method = AdaBoost(members=3).fit(X, [1, 1, -1, -1, 1, 1])
    >>> method.predict_many(X)
    array([ 1,  1, -1, -1,  1,  1])
    >>> method.staged_mistakes  # after the first vote, two, and all three
    [2, 2, 0]

    Notes
    -----
    A classifier that is wrong more often than right votes against what it says. One that is never
    wrong decides alone. Where no classifier is better than chance, there are fewer members;
    ``stopped`` says why.

    References
    ----------
    Y. Freund and R. E. Schapire, "A decision-theoretic generalization of on-line learning and an
    application to boosting", 1997. Margins: R. E. Schapire, Y. Freund, P. Bartlett and W. S. Lee,
    "Boosting the margin", 1998.
    """

    name = "ada-boost"
    loss_name = "mistake"
    proven_by_weights = False
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
                r" at most ½ as who is wrong more often votes against himself"
            ),
            assumptions=(
                BETTER,
                Structural(r"every vote counts $\eta$, the parameter `rate`"),
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
            plain="examples of margin <= θ  <=  m Π 2 sqrt(ε_t^(1-θ) (1 - ε_t)^(1+θ))",
            where=(
                r"$m$ is the number of examples, $\varepsilon_t$ the weighted error of round $t$;"
                r" the margin of an example is $y F(x)/\sum_t |\alpha_t|$, between $-1$ and $1$,"
                r" where $F(x)$ is the sum of the votes; $\theta$ is `margin`, 0.1 if not given"
            ),
            about="the number of examples of a small margin",
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
                "weak is a learner with fit(X, y, sample_weight) and predict(X), or a function of"
                f" (X, y, weights): got {weak!r}"
            )
        super().__init__()

    # Fitting.

    def new_game(self, **options: Any) -> BoostingGame:
        """Return a game that takes examples in and fits this method to them, from scratch."""
        return BoostingGame(self, **options)

    def solve(self, examples: BatchEvidence) -> Solution:
        """Boost."""
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
