"""One literal at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.adversaries import Attack, Rounds, adversary

if TYPE_CHECKING:
    from noregret.linear.learner import Learner


@adversary(
    Attack("conjunctions", {}, {"dimension": 50}, "Every round is a mistake: exact."),
)
def one_literal(learner: Learner, dimension: int = 50) -> Rounds:
    """Label everything true, and let every mistake strike out a single literal.

    The hidden conjunction is the empty one. The first example, all zeros, strikes out the n
    literals ``x_i``; each of the n that follow falsifies one more, ``not x_i``, and no other.

    Parameters
    ----------
    learner
        ``conjunction``; its state is not used.
    dimension
        n; there are n + 1 rounds.

    Examples
    --------
    >>> from noregret import Conjunction, play
    >>> learner = Conjunction()
    >>> play(learner, one_literal(learner, dimension=50)).mistakes
    51
    """
    yield np.zeros(dimension), True
    for x in np.eye(dimension):
        yield x, True
