"""The base class of the estimators for River."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from river import base

from noregret.errors import BadExample, Diverged
from noregret.limits import INTERCEPT
from noregret.linear.data_frames import is_frame
from noregret.linear.inputs import kind_of
from noregret.proof.game.certified_learner import Certified
from noregret.proof.theorems.averaging import averaged
from noregret.river.one_example import Port

if TYPE_CHECKING:
    from noregret.linear.learner import Learner
    from noregret.linear.regressor_or_classifier import Kind
    from noregret.proof.certificates.certificate import Certificate


class Estimator(Port):
    """A learner with River's methods."""

    kind: ClassVar[Kind]
    intercept: bool | float
    certified: bool

    def _begin(self, params: dict[str, Any]) -> None:
        """Set the parameters, and start untrained."""
        for name, value in params.items():
            setattr(self, name, value)
        if not isinstance(self.intercept, bool | int | float) or not 0 <= self.intercept < 1e75:
            raise ValueError(
                "intercept must be True, False, or the value of the constant feature: got"
                f" {self.intercept!r}"
            )
        self._player = self._fresh()
        self._direct()

    def _direct(self) -> None:
        """Pass examples directly to the learner, unless a game records them."""
        entry = None if isinstance(self._player, Certified) else self._player._entry
        self.lead_to(entry, float(self.intercept))

    def _fresh(self) -> Learner | Certified:
        """Return an untrained learner; with ``certified``, one that keeps its rows."""
        names = self.kind.signature.parameters
        learner = self.kind.make(**{name: getattr(self, name) for name in names})
        if "averaged" not in names and getattr(self, "averaged", False):
            learner = averaged(learner)
        return Certified(learner) if self.certified else learner

    # Copies.

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Any:
        """Return an untrained copy; with ``include_attributes``, a copy with its state."""
        made = base.Base.clone(self, new_params, include_attributes)
        made._direct()
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self), self.__dict__)

    # For River's checks.

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Yield parameters that are stable for features of any size.

        River's checks use dates as day numbers near 736,000. With such features, explicit steps at
        a usual rate diverge, which raises an error here.
        """
        own = cls.kind.signature.parameters
        calm: list[dict[str, Any]] = [{}, {"step": "implicit"}, {"norm": 1e6}, {"rate": 1e-13}]
        possible = (params for params in calm if own.keys() >= params.keys())
        yield next(params for params in possible if survives(cls.kind.make(**params)))

    # Results.

    @property
    def learner(self) -> Learner:
        """The learner of noregret; see ``learners`` if there is one per label."""
        return learner_of(self._player)

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each feature."""
        return dict(zip(self.learner.features, self.learner.weights.tolist(), strict=True))

    def certificate(self, theorem: str | None = None, **given: Any) -> Certificate:
        """Return a certificate: the loss, the best in hindsight, and the theorem.

        The estimator must be made with ``certified=True``. The arguments are those of
        ``noregret.Game.certificate``.

        Examples
        --------
        >>> from noregret import river
        >>> model = river.WidrowHoffRegressor(rate=0.5, certified=True)
        >>> for size in [0.5, 1.0] * 20:
        ...     model.learn_one({"size": size}, 2 * size)
        >>> model.certificate().data.rounds
        40
        """
        return certificate_of(self._player, theorem, given)

    # Reading rows.

    @staticmethod
    def _renamed(x: dict[Any, Any], refusal: BadExample) -> dict[str, Any]:
        """Return an example with its names as text; River also allows numbers as names.

        If all names are text already, raise the original error.
        """
        if all(isinstance(name, str) for name in x):
            raise refusal
        return dict(zip(texts(x), x.values(), strict=True))

    def _rows(self, X: Any) -> Any:
        """Return a data frame with its constant feature, and names that are text."""
        import narwhals as nw

        if not is_frame(X):
            raise BadExample(f"X must be a data frame: got {kind_of(X)}")
        frame = nw.from_native(X, eager_only=True)
        names = frame.columns
        if any(not isinstance(name, str) for name in names):
            frame = nw.from_native(frame.to_native().set_axis(texts(names), axis="columns"))
        if self.intercept and INTERCEPT not in names:
            frame = frame.with_columns(nw.lit(float(self.intercept)).alias(INTERCEPT))
        return frame


def _revive(kind: type[Estimator], attributes: dict[str, Any]) -> Estimator:
    made = kind.__new__(kind)
    made.__dict__.update(attributes)
    made._direct()
    return made


def survives(learner: Learner) -> bool:
    """Return whether a learner is stable on raw features of very different scales."""
    try:
        for day in range(100):
            learner.learn_one({"day": 736_000.0 + day, "poll": 40.0}, 1.0)
    except Diverged:
        return False
    except BadExample:  # it takes only 0 and 1
        return True
    return True


def teach(player: Learner | Certified, x: dict[str, Any], y: Any, w: float | None) -> None:
    """Learn from an example with weight ``w``."""
    if w is None or w == 1:
        player.learn_one(x, y)
    else:
        player.learn_many([x], [y], [w])


def shares(w: Any, rows: int) -> Any:
    """Return the weight of each row; None if all are 1. River passes one number or many."""
    if w is None:
        return None
    return np.full(rows, w) if np.ndim(w) == 0 else np.asarray(w)


def learner_of(player: Learner | Certified) -> Learner:
    """Return the learner, certified or not."""
    return player.learner if isinstance(player, Certified) else player


def certificate_of(
    player: Learner | Certified, theorem: str | None, given: Mapping[str, Any]
) -> Certificate:
    """Return the certificate of a learner that was recorded."""
    if not isinstance(player, Certified):
        raise ValueError("no record was kept for a certificate: use certified=True")
    return player.certificate(theorem, **given)


def texts(names: Any) -> list[str]:
    """Return names as text, all different."""
    written = [str(name) for name in names]
    if len(set(written)) < len(written):
        twice = next(name for name in written if written.count(name) > 1)
        raise BadExample(f"two features are called {twice!r} as text")
    return written
