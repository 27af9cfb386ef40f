"""The certificate of a fit: its rounds, replayed with a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from noregret.errors import NoRegretError
from noregret.linear.learner import Learner
from noregret.proof.game.game import play
from noregret.sklearn.estimator import Online, Story
from noregret.sklearn.tables import with_constant

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate

Floats = NDArray[np.float64]


class Certified(Online):
    """An estimator with a certificate of its fit."""

    if TYPE_CHECKING:

        def _outcomes(self, y: Any, label: Any) -> Floats:
            """Return the outcomes for the learner of a label."""

    def rounds(self, X: Any, y: Any, *, label: Any = None) -> Iterator[tuple[Any, Floats]]:
        """Yield the rounds of the fit in blocks (X, y): every pass, in its order.

        The last column is that of the intercept. The certificate is about this stream:
        ``noregret.verify(certificate, estimator.rounds(X, y))``.

        Parameters
        ----------
        X, y
            The data that the estimator was fitted on, unchanged.
        label
            The class of the learner, if there are more than two.
        """
        story, X, outcomes = self._replayed(X, y, label)
        return self._blocks(story, X, outcomes)

    def _replayed(self, X: Any, y: Any, label: Any) -> tuple[Story, Any, Floats]:
        check_is_fitted(self)
        story = self._story
        if story is None:
            raise NoRegretError(
                "there is no certificate of a fit that continued from another",
                "fit once, or call partial_fit only",
            )
        if story.weighted:
            raise NoRegretError(
                "there is no certificate of a fit with weights: certificates need rounds of equal"
                " weight"
            )
        X, y = self._read(X, y)
        return story, X, self._outcomes(y, label)

    def _blocks(self, story: Story, X: Any, outcomes: Floats) -> Iterator[tuple[Any, Floats]]:
        table, constant = self._table(X), self._constant
        for order in story.orders(table.rows, None):
            for part, block in table.blocks(order):
                yield with_constant(block, constant), outcomes[part]

    def certificate(
        self,
        X: Any,
        y: Any,
        *,
        label: Any = None,
        theorem: str | None = None,
        **given: Any,
    ) -> Certificate:
        """Return the certificate of the fit on these examples.

        It states the loss of the learner, with each example predicted before it was learned, that
        of the best fixed weights in hindsight, and the bound of a theorem. The rounds are replayed
        for it, and must lead to the same weights.

        Parameters
        ----------
        X, y
            The data that the estimator was fitted on, unchanged.
        label
            The class of the learner, if there are more than two.
        theorem, **given
            As for ``noregret.Game.certificate``.

        Examples
        --------
        >>> from noregret.sklearn import NlmsRegressor
        >>> X, y = [[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0]
        >>> certificate = NlmsRegressor().fit(X, y).certificate(X, y)
        >>> certificate.theorem.name, certificate.theorem.holds
        ('nlms', True)
        """
        blocks = self.rounds(X, y, label=label)
        mine = self._learner_of(label)
        game = play(mine.clone(), blocks, progress=False)
        if not same(game.learner, mine):
            raise NoRegretError(
                "these are not the examples that the estimator was fitted on, in their order: a"
                " replay leads to other weights"
            )
        return game.certificate(theorem, **given)

    def _learner_of(self, label: Any) -> Learner:
        if len(self.learners_) == 1:
            return self.learners_[0]
        classes: list[Any] = self.classes_.tolist()
        return self.learners_[classes.index(label)]


def same(one: Learner, other: Learner) -> bool:
    """Return whether two learners have the same state."""
    arrays, others = one.get_state()[0], other.get_state()[0]
    return (
        one.rounds == other.rounds
        and one.total_loss == other.total_loss
        and all(np.array_equal(array, others[name]) for name, array in arrays.items())
    )
