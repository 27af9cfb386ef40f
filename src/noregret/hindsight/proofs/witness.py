"""The loss of a certificate's witness, computed from the rows without any solver."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from noregret.base.compiled.losses import Loss
from noregret.hindsight.blocks import padded
from noregret.hindsight.classes.ball import Ball
from noregret.hindsight.losses import Losses, as_labels, is_square, losses_of
from noregret.hindsight.proofs.rounding import Floats, norm, total, upward
from noregret.hindsight.rows import Rows, score_error
from noregret.hindsight.solvers.quadratic import lower_over, up_to
from noregret.hindsight.solvers.tangent import OnRows
from noregret.hindsight.solvers.triangular import Careful, careful_scores


class Paid(NamedTuple):
    """A witness's own loss.

    Parameters
    ----------
    loss
        The sum over the rows.
    rounding
        A bound on its rounding error.
    """

    loss: float
    rounding: float


# The relative rounding error from which on the square loss is computed in twice the precision, and
# the most columns for that, as it needs dense rows.
SHARP_SHARE = 1e-12
MAX_CAREFUL_COLUMNS = 2_000
MAX_CAREFUL_NUMBERS = 10_000_000  # of rows times columns, for other losses than the square


# The classes with a limit on weights, in the texts of ``hindsight``, and those without one.
NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]\d+)?)"
DETAIL = "(?:, .*)?"
REACH = re.compile(rf"linear predictors of norm at most {NUMBER}")
LIMITED_NORM = re.compile(rf"(?:linear predictors of norm at most|ball of radius) {NUMBER}{DETAIL}")
BALL = re.compile(rf"ball of radius {NUMBER}{DETAIL}")
BOX = re.compile(rf"box of half-width {NUMBER}{DETAIL}")
SIGNED = re.compile(rf"weights of either sign, total {NUMBER}{DETAIL}")
SIMPLEX = re.compile(rf"simplex{DETAIL}")
SUM_OF_ONE = re.compile(rf"weights of sum 1{DETAIL}")
UNLIMITED = re.compile(rf"(?:all|any) (?:linear predictors?|predictor|weights){DETAIL}")
# Factor by which a witness may exceed a limit: the rounding error of a search.
ROUNDED = 1 + 1e-9
# Factor by which a norm in three digits may exceed the one proven.
THREE_DIGITS = 1.01
# Factor by which the norm up to which sums prove a bound depends on how rows were summed.
NORM_FACTOR = 10.0


def is_within(
    witness: Mapping[str, float], comparator: str, unseen: int = 0, signed: bool = False
) -> bool:
    """Return whether a witness belongs to its class; False for a class that is not known.

    Weights that must sum to 1 may be partly on announced features that were ``unseen``. Those of
    sum 1 are of either sign if ``signed``, and then their sizes sum to 1.
    """
    from noregret.hindsight.rules import WEIGHTS

    weights = np.array(list(witness.values()), dtype=np.float64)
    sizes = np.abs(weights)
    whole = total(sizes)
    if found := LIMITED_NORM.fullmatch(comparator):
        return norm(weights) <= float(found[1]) * ROUNDED
    if found := BOX.fullmatch(comparator):
        return float(sizes.max(initial=0.0)) <= float(found[1]) * ROUNDED
    if found := SIGNED.fullmatch(comparator):
        return whole <= float(found[1]) * ROUNDED
    if SIMPLEX.fullmatch(comparator) or SUM_OF_ONE.fullmatch(comparator):
        free = signed and not SIMPLEX.fullmatch(comparator)
        return (free or bool((weights >= 0.0).all())) and (
            abs(whole - 1) <= ROUNDED - 1 or (unseen > 0 and whole < 1)
        )
    rule = comparator.removesuffix(", best found")
    if rule in WEIGHTS:
        return bool(np.isin(weights, WEIGHTS[rule]).all())
    return UNLIMITED.fullmatch(comparator) is not None


def is_of_weights(comparator: str) -> bool:
    """Return whether a class is one of weights, among which is searched; not one of a few items."""
    kinds = LIMITED_NORM, BOX, SIGNED, SIMPLEX, SUM_OF_ONE, UNLIMITED
    return any(kind.fullmatch(comparator) for kind in kinds)


def mistakes_at_most(rows: Rows, weights: Floats) -> int:
    """Return an upper bound of a linear predictor's mistakes; scores of uncertain sign count."""
    sure = as_labels(rows.outcomes) * rows.scores(weights) - score_error(rows, weights)
    return int(np.count_nonzero(~(sure > 0)))


def is_proven(stated: str, found: str) -> bool:
    """Return whether a result for one class of predictors also holds for the stated class.

    They are equal, or the stated one is limited to some norm: for dependent columns the norm up to
    which a proof holds depends on whether rows, or only sums over them, were available.
    """
    here, there = REACH.fullmatch(stated), REACH.fullmatch(found)
    if here is None or (there is None and found != "all linear predictors"):
        return stated == found
    reach, own = math.inf if there is None else float(there[1]), float(here[1])
    return stated == up_to(own) and own <= reach * THREE_DIGITS


def is_as_far(stated: str, *others: str) -> bool:
    """Return whether the norm limit of a class is about as large as one of the others."""
    here, there = REACH.fullmatch(stated), [REACH.fullmatch(other) for other in others]
    reaches = [float(found[1]) for found in there if found is not None]
    return here is not None and bool(reaches) and float(here[1]) >= min(reaches) / NORM_FACTOR


def paid_by(weights: Floats, comparator: str, rows: Rows, loss: Loss) -> Paid:
    """Return the loss of a witness over all rounds."""
    from noregret.hindsight.rules import SCORED

    outcomes = rows.outcomes
    if loss.name == "mistake" and comparator not in SCORED:
        return Paid(float(mistakes_at_most(rows, weights)), 0.0)
    if comparator in SCORED:
        score = SCORED[comparator]
        labels, missed, at = as_labels(outcomes), 0, 0
        for block, y in rows.blocks():
            scores = score(padded(block, len(weights)), weights)
            missed += int(np.count_nonzero(labels[at : at + len(y)] * scores <= 0))
            at += len(y)
        return Paid(float(missed), 0.0)
    losses = losses_of(loss, outcomes)
    paid = paid_for(losses, rows.scores(weights), score_error(rows, weights))
    if paid.rounding > SHARP_SHARE * paid.loss and len(weights) <= MAX_CAREFUL_COLUMNS:
        if is_square(loss):
            low, high = Careful(rows).interval(weights)
            sharp = Paid(low + 0.5 * (high - low), upward(high - low, high))
        elif rows.shape[0] * len(weights) <= MAX_CAREFUL_NUMBERS:
            sharp = paid_for(losses, *careful_scores(rows, weights))
        else:
            sharp = paid
        paid = min(paid, sharp, key=lambda each: each.rounding)
    return paid


def paid_for(losses: Losses, scores: Floats, doubt: Floats) -> Paid:
    """Return the loss of scores, and how much more it may be where these have an error."""
    own = total(losses.value(scores))
    return Paid(own, abs(upward(total(losses.value_above(scores, doubt)) - own, abs(own))))


def lowest_by_tangent(weights: Floats, radius: float, rows: Rows) -> float:
    """Return a lower bound of the square loss up to a norm: the tangent at any weights proves one.

    It is at least as high as the bound by the same tangent from scores that are rounded as usual.
    """
    loss = Careful(rows) if len(weights) <= MAX_CAREFUL_COLUMNS else OnRows(rows)
    lower = lower_over(Ball(radius), loss.tangent(weights), weights)
    return lower if math.isfinite(lower) else 0.0


def highest_paid(weights: Floats, rows: Rows) -> float:
    """Return the upper bound of the square loss that a solver states: as scores are rounded."""
    loss = OnRows(rows)
    return loss.between(*loss.residues(weights))[1]
