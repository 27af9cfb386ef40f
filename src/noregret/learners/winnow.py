"""Winnow: a mistake bound that grows with the logarithm of the number of features.

After a mistake, multiply:

    if y (w·x) ≤ 0:   w_i ← w_i · exp(η y x_i) / Z

``normalised`` keeps the weights on the simplex, ``balanced`` allows either sign (a copy of every
feature with the opposite sign), and ``winnow1`` is Littlestone's first algorithm for features that
are 0 or 1: it predicts positive if the weights of the features present exceed n/2; weights start at
1, double after a false negative and become 0 after a false positive.

Promise. If x ∈ [−1,1]ⁿ and some u ≥ 0 with Σu_i = 1 has y (u·x) ≥ δ in every round, normalised
Winnow with η = ½ ln((1+δ)/(1−δ)) makes at most 2 ln(n)/δ² mistakes. If the label is an OR of k
of n features, Winnow1 makes at most 2k·log₂n + 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.base.registry import register
from noregret.checks import one_of, positive
from noregret.hindsight import Answer, Margin, Rows, largest_margin_of_weights
from noregret.hindsight.rules import best_disjunction
from noregret.linear.engine.boolean_rules import Winnow1
from noregret.linear.engine.engine import Engine
from noregret.linear.engine.multiplicative import Multiplicative
from noregret.linear.learner import Learner
from noregret.proof.theorems.assumptions import (
    AtMost,
    Finding,
    Shown,
    Structural,
    known_from_the_start,
)
from noregret.proof.theorems.shards import ADDED_UP
from noregret.proof.theorems.theorem import Theorem

FORMS = ("normalised", "balanced", "winnow1")


if TYPE_CHECKING:
    from noregret.proof.theorems.evidence import Evidence


def rate_of(params: Mapping[str, Any]) -> float:
    """Return the rate, or the default if none is given."""
    return 0.1 if params["rate"] is None else float(params["rate"])


def signed(evidence: Evidence) -> float | None:
    """Return the total weight of the balanced form."""
    return 1.0 if evidence.params["form"] == "balanced" else None


def wide_enough(evidence: Evidence) -> Finding:
    """Check that some weights have the margin for which the rate is tuned."""
    wanted = math.tanh(rate_of(evidence.params))
    name = f"margin >= {wanted:.6g}"
    first = too_narrow_after(evidence)
    if first is not None:
        there = margin_of(evidence, evidence.beginning(first))
        return Finding(name, wanted, there.upper, False, first)
    margin = evidence.margin_of_weights(signed(evidence))
    return Finding(name, wanted, margin.lower, True if margin.lower >= wanted else None, None)


def too_narrow_after(evidence: Evidence) -> int | None:
    """Return the first round after which no weights have the margin for which the rate is tuned."""
    wanted = math.tanh(rate_of(evidence.params))
    return evidence.once(
        "too narrow",
        lambda: evidence.first_round(lambda rows: margin_of(evidence, rows).upper < wanted),
    )


def margin_of(evidence: Evidence, rows: Rows) -> Margin:
    """Return the largest margin of weights over some rows."""
    return largest_margin_of_weights(rows, weight=signed(evidence), limits=evidence.limits)


def by_weights(evidence: Evidence) -> Answer:
    """Return the weights of the largest margin with their mistakes, or the best found."""
    first, least = too_narrow_after(evidence), 0.0
    tried = evidence.least_squares_of_labels()
    tried = tried if signed(evidence) else np.maximum(tried, 0.0)
    columns = evidence.used[1]
    uniform = np.zeros(len(tried))
    uniform[columns] = 1.0 / max(1, len(columns))
    candidates = [tried / np.abs(tried).sum() if tried.any() else uniform, uniform]
    if first is None:
        u = evidence.margin_of_weights(signed(evidence)).witness
        candidates.append(u[: len(u) // 2] - u[len(u) // 2 :] if signed(evidence) else u)
    elif margin_of(evidence, evidence.beginning(first)).upper <= 0:
        least = 1.0
    return evidence.fewest(candidates, "weights of sum 1, best found", least)


def is_disjunction(evidence: Evidence) -> Finding:
    """Check that some OR of features fits all labels."""
    missed = evidence.best_disjunction().loss
    first = None
    if missed:
        first = evidence.first_round(lambda rows: best_disjunction(rows).loss > 0)
    return Finding("rounds that the best OR found does not fit", 0, missed, missed == 0, first)


def tuned(margin: float, dimension: int | None = None) -> dict[str, Any]:
    """Return the parameters for weights that have this margin in every round."""
    if not positive("margin", margin) < 1:
        raise ValueError(f"margin must lie between 0 and 1: got {margin!r}")
    return {"rate": math.atanh(margin), "dimension": dimension}


@register
class Winnow(Learner):
    """Binary classification by multiplicative updates on mistakes.

    Parameters
    ----------
    rate
        η, above 0; by default 0.1. Not for ``winnow1``, whose factor is 2.
    form
        ``normalised``, ``balanced`` or ``winnow1``.
    dimension
        n, the number of features if known beforehand. By default the number of columns, or of the
        names seen so far.

    Examples
    --------
    >>> learner = Winnow(form="winnow1", dimension=8)
    >>> for x, y in [({"a": 1, "c": 1}, True), ({"b": 1, "c": 1}, False)] * 3:
    ...     learner.learn_one(x, y)
    >>> learner.predict_one({"a": 1}), learner.predict_one({"c": 1}), learner.mistakes
    (True, False, 4)

    References
    ----------
    N. Littlestone, "Learning quickly when irrelevant attributes abound", 1988.
    """

    name = "winnow"
    theorems = (
        Theorem(
            name="winnow",
            quantity="mistakes",
            formula=r"M \le \frac{2 \ln n}{\delta^2}",
            plain="mistakes <= 2 ln(n)/δ², 2n for n in the balanced form",
            assumptions=(
                AtMost(r"$x_t \in [-1,1]^n$ in every round", "peak", lambda p: 1.0, "max |x_i|"),
                Shown(
                    r"some $u \ge 0$ with $\|u\|_1 = 1$ has $y_t (u \cdot x_t) \ge \delta ="
                    r" \tanh \eta$ in every round; for the balanced form $u$ may have either sign,"
                    r" and $n$ reads $2n$",
                    wide_enough,
                ),
                Shown(
                    "all features appear in the first round, or `dimension` gives their number",
                    known_from_the_start,
                ),
            ),
            bound=lambda e: (
                2
                * math.log(e.features * (2 if e.params["form"] == "balanced" else 1))
                / math.tanh(rate_of(e.params)) ** 2
            ),
            covers=lambda p: p["form"] != "winnow1",
            best=by_weights,
            tune=tuned,
            tuning=r"$\eta = \tfrac12 \ln \frac{1+\delta}{1-\delta}$",
            needs_rows=True,
            over_shards=ADDED_UP,
            source="Littlestone, 1988",
        ),
        Theorem(
            name="winnow1",
            quantity="mistakes",
            formula=r"M \le 2k \log_2 n + 2",
            plain="mistakes <= 2k log2(n) + 2",
            assumptions=(
                Structural(r"$x_t \in \{0,1\}^n$ in every round (anything else is refused)"),
                Shown(
                    r"the label is the OR of $k$ of the features; a short one is found in"
                    " hindsight, and any that fits is valid",
                    is_disjunction,
                ),
                Shown(
                    "all features appear in the first round, or `dimension` gives their number",
                    known_from_the_start,
                ),
            ),
            bound=lambda e: (
                2 * e.best_disjunction().witness.sum() * math.log2(max(1, e.features)) + 2
            ),
            covers=lambda p: p["form"] == "winnow1",
            best=lambda e: e.best_disjunction(),
            needs_rows=True,
            over_shards=ADDED_UP,
            source="Littlestone, 1988",
        ),
    )

    def __init__(
        self, rate: float | None = None, form: str = "normalised", dimension: int | None = None
    ) -> None:
        one_of("form", form, FORMS)
        engine: Engine
        if form == "winnow1":
            if rate is not None:
                raise ValueError("winnow1 takes no rate: its factor is 2")
            engine = Winnow1(dimension)
        else:
            engine = Multiplicative(
                "mistake",
                rate=0.1 if rate is None else rate,
                mirrored=form == "balanced",
                dimension=dimension,
            )
        super().__init__(engine)
        self.rate, self.form, self.dimension = rate, form, dimension
