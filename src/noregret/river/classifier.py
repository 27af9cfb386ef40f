"""Learners that predict labels, as River's classifiers.

Labels are anything that can be a key of a dict. While all are False and True, or 0 and 1, there is
one learner. With other labels, each label has its own learner, which separates it from the rest; it
starts in the round in which its label first appears, or, for the label False, in which the first
other label appears.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from river import base

from noregret.errors import BadExample, NoRegretError
from noregret.linear.data_frames import frame_like, labels_like, series_like
from noregret.river.estimator import Estimator, certificate_of, learner_of, shares, teach
from noregret.river.one_example import LabelPort, squashed

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.game.certified_learner import Certified

Floats = NDArray[np.float64]


class Classifier(LabelPort, Estimator, base.MiniBatchClassifier):
    """A learner of labels with River's methods; those for one example are compiled."""

    def _begin(self, params: dict[str, Any]) -> None:
        self._labels: dict[Any, Any] = {}  # as they were first written
        self._players: dict[
            Any, Learner | Certified
        ] = {}  # one per label, unless they are False and True
        super()._begin(params)

    @property
    def _multiclass(self) -> bool:
        return True

    # Labels.

    def _with(self, label: Any) -> dict[Any, Learner | Certified]:
        """Return the learners for an example with a new label, including its own."""
        if is_missing(label):
            raise BadExample(f"the label is {label!r}: a label must not be None or NaN")
        if not self._players and is_boolean(label):
            return {}
        players = dict(self._players)
        for known in [] if players else self._labels:
            players[known] = self._player if known else self._fresh()
        return players | {label: self._player if not self._labels else self._fresh()}

    def _meet(self, label: Any, players: dict[Any, Learner | Certified]) -> None:
        """Add a label, once an example of it was learned."""
        self._labels[label] = label.item() if isinstance(label, np.generic) else label
        self._players = players
        self._direct()

    @property
    def _pair(self) -> tuple[Any, Any]:
        """The negative and the positive label, if there is one learner."""
        written = type(next(iter(self._labels.values()), False))
        return self._labels.get(False, written(False)), self._labels.get(True, written(True))

    def _direct(self) -> None:
        """Pass examples directly to the learner once it knows two labels."""
        super()._direct()
        if len(self._labels) == 2 and not self._players:
            self.tell_apart(*self._pair)
        else:
            self.lead_to(None, float(self.intercept))

    # One example.

    def _learn(self, x: dict[str, Any], y: Any, w: float | None) -> None:
        known = firsts([y]).keys() <= self._labels.keys()
        players = self._players if known else self._with(y)
        for label, player in (players or {True: self._player}).items():
            teach(player, x, bool(label == y), w)
        if not known:
            self._meet(y, players)

    def _predict(self, x: dict[str, Any]) -> Any:
        if not self._players:
            positive = self._player.decision_one(x) > 0
            return self._pair[positive] if self._labels else None
        scores = {label: player.decision_one(x) for label, player in self._players.items()}
        return self._labels[max(scores, key=scores.__getitem__)]

    def _probabilities(self, x: dict[str, Any]) -> dict[Any, float]:
        if not self._players:
            chance = squashed(self._player.decision_one(x))
            if not self._labels:
                return {}
            negative, positive = self._pair
            return {negative: 1.0 - chance, positive: chance}
        chances = [squashed(player.decision_one(x)) for player in self._players.values()]
        total = sum(chances)
        shares = [c / total if total else 1 / len(chances) for c in chances]
        return dict(zip(self._labels.values(), shares, strict=True))

    # Many examples.

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn from the rows of a data frame, in order: the same as ``learn_one`` for each."""
        labels, counts = listed(y), shares(w, len(X))
        if len(labels) != len(X):
            raise BadExample(f"{len(X)} rows, but {len(labels)} outcomes")
        if counts is not None and counts.shape != (len(X),):
            raise BadExample(f"{len(X)} rows, but importances of shape {counts.shape}")
        rows = self._rows(X)
        first = firsts(labels)
        new = sorted(k for label, k in first.items() if label not in self._labels)
        for start, stop in pairwise(sorted({0, *new, len(labels)})):
            part = slice(start, stop)
            self._learn_part(rows[part], labels[part], None if counts is None else counts[part])

    def _learn_part(self, X: Any, labels: list[Any], counts: Any) -> None:
        """Learn from rows of which only the first may have a new label."""
        known = labels[0] in self._labels
        players = self._players if known else self._with(labels[0])
        learned, refusal = len(labels), None
        for label, player in (players or {True: self._player}).items():
            before = learner_of(player).rounds
            told = [each == label for each in labels[:learned]]
            try:
                player.learn_many(X[:learned], told, None if counts is None else counts[:learned])
            except NoRegretError as error:  # the others learn as far as this one did
                learned, refusal = learner_of(player).rounds - before, error
        if learned and not known:
            self._meet(labels[0], players)
        if refusal is not None:
            raise refusal

    def _scores(self, X: Any) -> Floats:
        """Return the scores of each label, one column per label."""
        rows = self._rows(X)
        players = self._players.values() if self._players else [self._player]
        return np.column_stack([np.asarray(player.decision_many(rows)) for player in players])

    def predict_many(self, X: Any) -> Any:
        """Predict the label of each row, as a series like the data frame."""
        scores = self._scores(X)
        if self._players:
            labels = labels_like(X, self._labels.values())
            found = [labels[k] for k in scores.argmax(axis=1)]
        else:
            pair = labels_like(X, self._pair if self._labels else (None, None))
            found = [pair[int(score > 0)] for score in scores[:, 0]]
        return series_like(X, as_array(found), "prediction")

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of each known label per row, as a data frame like X."""
        scores = self._scores(X)
        chances = np.exp(-np.logaddexp(0.0, -scores))
        if self._players:
            total = chances.sum(axis=1, keepdims=True)
            shares = np.divide(
                chances, total, out=np.full(chances.shape, 1 / chances.shape[1]), where=total > 0
            )
            return frame_like(X, self._labels.values(), shares)
        if not self._labels:
            return frame_like(X, [], np.empty((len(scores), 0)))
        return frame_like(X, self._pair, np.hstack([1.0 - chances, chances]))

    # Results.

    @property
    def learners(self) -> dict[Any, Learner]:
        """The learner of each label that has one."""
        players = self._players or {self._pair[1]: self._player}
        return {label: learner_of(player) for label, player in players.items()}

    @property
    def learner(self) -> Learner:
        """The learner, if there are two labels."""
        if len(self._players) > 1:
            raise AttributeError("there is one learner per label: see learners")
        return learner_of(self._player)

    def certificate(
        self, theorem: str | None = None, *, label: Any = None, **given: Any
    ) -> Certificate:
        """Return a certificate; with more than two labels, of the learner of one label.

        The estimator must be made with ``certified=True``. The arguments are those of
        ``noregret.Game.certificate``.

        Examples
        --------
        >>> from noregret import river
        >>> model = river.PerceptronClassifier(certified=True)
        >>> for weather in ["sun", "rain"] * 20:
        ...     model.learn_one({weather: 1.0}, weather == "sun")
        >>> model.certificate().loss.mistakes
        2
        """
        players = self._players or {self._pair[1]: self._player}
        if label is None and len(players) > 1:
            raise ValueError(f"pass one of the labels, label=…: {', '.join(map(repr, players))}")
        if label is not None and label not in players:
            raise ValueError(f"there is no learner for the label {label!r}")
        player = next(iter(players.values())) if label is None else players[label]
        return certificate_of(player, theorem, given)


def firsts(labels: list[Any]) -> dict[Any, int]:
    """Return the first position of each label."""
    try:
        return {label: k for k, label in reversed(list(enumerate(labels)))}
    except TypeError as error:
        raise BadExample(f"a label must be hashable: {error}") from None


def is_missing(label: Any) -> bool:
    """Return whether a label is missing: None or any NaN."""
    try:
        return label is None or bool(label != label)  # noqa: PLR0124
    except TypeError:  # pandas' NA is neither equal to itself nor different
        return True


def is_boolean(label: Any) -> bool:
    """Return whether a label is False or True, or 0 or 1."""
    return isinstance(label, bool | int | float | np.generic) and label in (0, 1)


def listed(y: Any) -> list[Any]:
    """Return labels as a list."""
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(y, name):
            found: list[Any] = getattr(y, name)()
            return found
    return list(y)


def as_array(labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels as an array that keeps their types."""
    found = list(labels)
    kinds = {type(label) for label in found}
    if kinds <= {bool} or kinds <= {int} or kinds <= {float} or kinds <= {str}:
        return np.array(found)
    array = np.empty(len(found), dtype=object)
    array[:] = found
    return array
