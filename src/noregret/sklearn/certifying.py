"""The certificate of a fit: the same game, played again with its books kept."""

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
    """An estimator that can show what its learning is worth."""

    if TYPE_CHECKING:

        def _outcomes(self, y: Any, label: Any) -> Floats:
            """Return the outcomes as the learner of a label met them."""

    def rounds(self, X: Any, y: Any, *, label: Any = None) -> Iterator[tuple[Any, Floats]]:
        """Return the rounds of the fit again, in blocks (X, y): every pass, in its order.

        The column for the intercept is there too, as the last. This is the stream that the
        certificate is about: ``noregret.verify(certificate, estimator.rounds(X, y))``.

        Parameters
        ----------
        X, y
            What the estimator was fitted on, as it was given.
        label
            The class whose learner is meant, where there are more than two.
        """
        story, X, told = self._told(X, y, label)
        return self._blocks(story, X, told)

    def _told(self, X: Any, y: Any, label: Any) -> tuple[Story, Any, Floats]:
        check_is_fitted(self)
        story = self._story
        if story is None:
            raise NoRegretError(
                "there is no certificate of a fit that went on from another",
                "fit once, or call partial_fit only",
            )
        if story.weighted:
            raise NoRegretError(
                "there is no certificate of a fit with weights: certificates are about rounds that"
                " all count the same"
            )
        X, y = self._read(X, y)
        return story, X, self._outcomes(y, label)

    def _blocks(self, story: Story, X: Any, told: Floats) -> Iterator[tuple[Any, Floats]]:
        table, constant = self._table(X), self._constant
        for order in story.orders(table.rows, None):
            for part, block in table.blocks(order):
                yield with_constant(block, constant), told[part]

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

        It says what the learner lost while it learned, predicting each example before its outcome
        was seen, how that compares with the best fixed weights in hindsight, and what a theorem
        promises. The rounds are played again for it, and must come to what the estimator knows.

        Parameters
        ----------
        X, y
            What the estimator was fitted on, as it was given.
        label
            The class whose learner is meant, where there are more than two.
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
        game = play(self._learner(), blocks, progress=False)
        if not same(game.learner, mine):
            raise NoRegretError(
                "these are not the examples, in the order, that the estimator was fitted on: the"
                " learner that plays them comes to something else"
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
