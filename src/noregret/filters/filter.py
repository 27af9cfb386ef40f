"""The base class of adaptive filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.algorithm import Named
from noregret.checks import state_numbers
from noregret.errors import BadExample
from noregret.filters.engine.window import Listener
from noregret.filters.signals import pair, signal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from noregret.filters.evidence import FilterEvidence
    from noregret.filters.game import FilterGame
    from noregret.hindsight import Limits
    from noregret.proof.record.table import Table

Floats = NDArray[np.float64]


class Filter(Named, Listener):
    """A filter with a fixed number of taps that learns to predict one signal from another.

    Its window x holds the newest ``taps`` samples of the input, with zeros before the first. It
    predicts d, the sample of the other signal at the same time, as w·x; then it learns from d. A
    sample that is rejected changes nothing.

    A filter stores its parameters under their own names, and chooses an engine.

    Examples
    --------
    >>> import numpy as np
    >>> from noregret.filters import Rls
    >>> x = np.random.default_rng(1).normal(size=200)
    >>> d = np.convolve(x, [0.5, -0.25])[:200]  # the echo of x along a path of two taps
    >>> filter = Rls(taps=3)
    >>> left = filter.cancel(x, d)
    >>> bool(np.mean(left[100:] ** 2) < 1e-6 * np.mean(d**2))
    True
    >>> filter.play_one(0.0, d=0.0) == filter.predict_one(0.0)
    False
    >>> filter.rounds
    201
    """

    family = "filters"
    _unrecorded = ("cancel", "play_block", "play_many", "reset", "set_state")
    loss_name = "square"
    mistakes: None = None
    # A game is over a table of one column, the input.
    width = 1
    names: None = None

    taps: int

    # Predicting and learning; ``play_one`` is compiled.

    def play_many(self, x: Any, d: Any) -> Floats:
        """Play two signals, sample by sample; return the predictions, each made before its d.

        The same as ``play_one`` for every sample, to the bit. If a sample is rejected, those before
        it have been learned; it and those after it have not.

        Parameters
        ----------
        x
            The input: a 1-d array.
        d
            The signal to predict: a 1-d array of the same length.
        """
        heard, wanted = pair(x, d, self.rounds)
        predictions = np.empty(len(heard))
        self._core.play_block(heard, wanted, predictions)
        return predictions

    def cancel(self, x: Any, d: Any) -> Floats:
        """Play two signals; return d minus the predictions."""
        heard, wanted = pair(x, d, self.rounds)
        return np.asarray(wanted - self.play_many(heard, wanted))

    def predict_one(self, x: Any) -> float:
        """Return the prediction for a next sample, without learning."""
        return self._core.predict_one(self._number("the input", x))

    def predict_many(self, x: Any) -> Floats:
        """Return the predictions for next samples with the present weights, without learning."""
        heard = signal("x", x, self.rounds)
        predictions = np.empty(len(heard))
        self._core.predict_block(heard, predictions)
        return predictions

    def reset(self) -> None:
        """Reset all state, including the window."""
        Listener.__init__(self, self.clone()._core)

    # Figures.

    @property
    def weights(self) -> Floats:
        """The weights, that of the newest sample first: the learned impulse response."""
        return self._core.impulse_response()

    @property
    def rounds(self) -> int:
        """The number of samples learned."""
        return self._core.rounds

    @property
    def total_loss(self) -> float:
        """The sum of (d − prediction)² over all samples."""
        return self._core.total_loss

    # Games.

    def _new_game(self, **options: Any) -> FilterGame:
        """Return a game; the options are those of ``noregret.play``."""
        from noregret.filters.game import FilterGame

        return FilterGame(self, **options)

    def play_block(
        self, X: Floats, y: Floats | None = None, predictions: Floats | None = None
    ) -> None:
        """Play the rows of a table of one column.

        Parameters
        ----------
        X
            The input, one sample per row.
        y
            The signal to predict.
        predictions
            Filled with the predictions.
        """
        if y is None:
            raise BadExample(
                "there is nothing to predict", "play(filter, x, d), or name the target"
            )
        out = np.empty(len(X)) if predictions is None else predictions
        self._core.play_block(np.ascontiguousarray(X[:, 0]), np.ascontiguousarray(y), out)

    def check_names(self, names: Sequence[str]) -> None:
        """Raise an error for more than one column."""
        if len(names) != 1:
            raise BadExample(
                f"a filter takes one column besides the target: got {', '.join(names[:5])}"
                f"{' …' if len(names) > 5 else ''}"
            )

    def regret_so_far(self) -> None:
        """Return None: the regret is known only after a game."""

    def bound_so_far(self) -> None:
        """Return None: the regret is known only after a game."""

    def evidence(
        self, table: Table, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any]
    ) -> FilterEvidence:
        """Return the evidence of a game for its theorems."""
        from noregret.filters.evidence import FilterEvidence

        return FilterEvidence(self, table, given, limits, answers)

    # Copies and files.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return the arrays, numbers and names of the state."""
        return *self._core.get_state(), []

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Restore a state; raise ValueError if it is invalid."""
        core = self.clone()._core
        expected, like = core.get_state()
        if arrays.keys() != expected.keys():
            raise ValueError(f"expected the arrays {sorted(expected)}, got {sorted(arrays)}")
        if names:
            raise ValueError("a filter has no column names")
        state_numbers(numbers, like, core.SIGNED)
        core.set_state(arrays, numbers)
        Listener.__init__(self, core)
