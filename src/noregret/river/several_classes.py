"""Learners over several classes, as River's classifiers: one learner has all labels.

Labels are strings, integers or booleans, all of one type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from noregret.errors import BadExample
from noregret.linear.class_learner import ClassLearner, softmax
from noregret.linear.data_frames import frame_like, labels_like, series_like
from noregret.river.classifier import Classifier, as_array, listed
from noregret.river.estimator import certificate_of, learner_of, shares, teach

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.proof.certificates.certificate import Certificate


class SeveralClasses(Classifier):
    """A learner over several classes behind River's methods."""

    def _direct(self) -> None:
        self.lead_to(None, float(self.intercept))

    @property
    def learner(self) -> ClassLearner:
        """The learner of noregret."""
        return cast("ClassLearner", learner_of(self._player))

    @property
    def learners(self) -> dict[Any, Learner]:
        """The one learner, by every label met."""
        return dict.fromkeys(self.learner.classes, self.learner)

    @property
    def weights(self) -> dict[str, dict[Any, float]]:  # type: ignore[override]
        """The weights of every feature, by label."""
        learner = self.learner
        rows = zip(learner.features, learner.weights.tolist(), strict=True)
        return {name: dict(zip(learner.classes, row, strict=True)) for name, row in rows}

    # One example.

    def _learn(self, x: dict[str, Any], y: Any, w: float | None) -> None:
        teach(self._player, x, y, w)

    def _predict(self, x: dict[str, Any]) -> Any:
        return self.learner.predict_one(x)

    def _probabilities(self, x: dict[str, Any]) -> dict[Any, float]:
        learner = self.learner
        chances = softmax(learner._entry.decision(x)).tolist()
        return dict(zip(learner.classes, chances, strict=False))

    # Many.

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a data frame, in order: the same as ``learn_one`` for each."""
        labels = listed(y)
        if len(labels) != len(X):
            raise BadExample(f"{len(X)} rows, but {len(labels)} outcomes")
        self._player.learn_many(self._rows(X), labels, shares(w, len(X)))

    def predict_many(self, X: Any) -> Any:
        """Predict the label of every row, as a series like the data frame."""
        scores = self._scores(X)
        labels = labels_like(X, self.learner.classes)
        found = [labels[k] for k in scores.argmax(axis=1)] if labels else [None] * len(scores)
        return series_like(X, as_array(found), "prediction")

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of every label met, a column each, as a frame like the given."""
        scores = self._scores(X)
        return frame_like(X, self.learner.classes[: scores.shape[1]], softmax(scores))

    def _scores(self, X: Any) -> Any:
        """Return the scores of every label, a column each."""
        return self.learner._scores(self._rows(X))

    def certificate(
        self, theorem: str | None = None, *, label: Any = None, **given: Any
    ) -> Certificate:
        """State how well it did, against the best in hindsight and what was promised.

        For this it must have been made with ``certified=True``. What may be given is that of
        ``noregret.Game.certificate``.

        Examples
        --------
        >>> from noregret import river
        >>> model = river.MulticlassPerceptronClassifier(certified=True)
        >>> for weather in ["sun", "rain", "snow"] * 20:
        ...     model.learn_one({weather: 1.0}, weather)
        >>> model.certificate().theorem.holds
        True
        """
        if label is not None:
            raise ValueError("one learner has all labels: leave label out")
        return certificate_of(self._player, theorem, given)
