"""Learners for two labels with a counterpart for several classes, as River's classifiers.

While all labels are False and True, or 0 and 1, the learner for two labels has them. With the first
other label its counterpart begins, without what the first has learned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noregret.errors import BadExample
from noregret.proof.game.certified_learner import Certified
from noregret.river.classifier import is_boolean, is_missing, listed
from noregret.river.estimator import learner_of, shares, teach
from noregret.river.several_classes import SeveralClasses

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.proof.certificates.certificate import Certificate


class TwoOrSeveral(SeveralClasses):
    """A learner of two labels, or of several classes, behind River's methods."""

    @property
    def _several(self) -> bool:
        """True if the present learner is that of several classes."""
        return learner_of(self._player)._of_classes

    @property
    def _form(self) -> Any:
        """The methods for the present learner."""
        return super() if self._several else super(SeveralClasses, self)

    def _direct(self) -> None:
        self._form._direct()

    def _counterpart(self) -> Learner | Certified:
        """Return the learner of several classes, untrained."""
        names = self.kind.signature.parameters
        learner = self.kind.make_several(**{name: getattr(self, name) for name in names})
        return Certified(learner) if self.certified else learner

    def _switch_to(self, player: Learner | Certified) -> None:
        self._player, self._labels = player, {}
        self._direct()

    @property
    def learner(self) -> Any:
        """The learner of noregret."""
        return learner_of(self._player)

    @property
    def learners(self) -> dict[Any, Learner]:
        """The learner, by every label that it has."""
        found: dict[Any, Learner] = self._form.learners
        return found

    @property
    def weights(self) -> dict[str, Any]:
        """The weights of every feature, by label if there are several."""
        found: dict[str, Any] = self._form.weights
        return found

    # One example.

    def _learn(self, x: dict[str, Any], y: Any, w: float | None) -> None:
        if self._several or is_two(y):
            self._form._learn(x, y, w)
        else:
            player = self._counterpart()
            teach(player, x, y, w)
            self._switch_to(player)

    def _predict(self, x: dict[str, Any]) -> Any:
        return self._form._predict(x)

    def _probabilities(self, x: dict[str, Any]) -> dict[Any, float]:
        found: dict[Any, float] = self._form._probabilities(x)
        return found

    # Many.

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a data frame, in order: the same as ``learn_one`` for each."""
        labels, counts = listed(y), shares(w, len(X))
        if self._several or len(labels) != len(X) or all(map(is_two, labels)):
            self._form.learn_many(X, labels, counts)
            return
        if counts is not None and counts.shape != (len(X),):
            raise BadExample(f"{len(X)} rows, but importances of shape {counts.shape}")
        rows = self._rows(X).to_native()
        first = next(k for k, label in enumerate(labels) if not is_two(label))
        before, after = slice(0, first), slice(first, None)
        if first:
            part = None if counts is None else counts[before]
            self._form.learn_many(rows[before], labels[before], part)
        player, part = self._counterpart(), None if counts is None else counts[after]
        try:
            player.learn_many(rows[after], labels[after], part)
        finally:
            if learner_of(player).rounds:
                self._switch_to(player)

    def predict_many(self, X: Any) -> Any:
        """Predict the label of every row, as a series like the data frame."""
        return self._form.predict_many(X)

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of every label met, a column each, as a frame like the given."""
        return self._form.predict_proba_many(X)

    def _scores(self, X: Any) -> Any:
        return self._form._scores(X)

    def certificate(
        self, theorem: str | None = None, *, label: Any = None, **given: Any
    ) -> Certificate:
        """Return the certificate of the present learner.

        The estimator must be made with ``certified=True``. The arguments are those of
        ``noregret.Game.certificate``; ``label`` may be the positive one of two labels.
        """
        found: Certificate = self._form.certificate(theorem, label=label, **given)
        return found


def is_two(label: Any) -> bool:
    """Return whether a label is False or True, 0 or 1, or missing, which is refused."""
    try:
        return is_missing(label) or is_boolean(label)
    except (TypeError, ValueError):
        return False
