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
    """A filter of a fixed number of taps that learns to predict one signal from another.

    Its window x holds the newest ``taps`` samples of the input, zeros before the first. It predicts
    w·x for d, the sample of the other signal that goes with the newest; then it sees d, and learns.
    A sample that is refused leaves no trace.

    Each stores its parameters under their own names, and picks an engine.

    Examples
    --------
    >>> import numpy as np
    >>> from noregret.filters import Rls
    >>> x = np.random.default_rng(1).normal(size=200)
    >>> d = np.convolve(x, [0.5, -0.25])[:200]  # what a path of two taps makes of x
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

        The same as ``play_one`` for every sample, to the bit. When a sample is refused, those
        before it have been learned; it and those after it have not.

        Parameters
        ----------
        x
            The input: a 1-d array.
        d
            What is to be predicted: a 1-d array of the same length.
        """
        heard, wanted = pair(x, d, self.rounds)
        predictions = np.empty(len(heard))
        self._core.play_block(heard, wanted, predictions)
        return predictions

    def cancel(self, x: Any, d: Any) -> Floats:
        """Play two signals, and return what is left of d when the predictions are taken from it."""
        heard, wanted = pair(x, d, self.rounds)
        return np.asarray(wanted - self.play_many(heard, wanted))

    def predict_one(self, x: Any) -> float:
        """Return what ``play_one`` would predict for this sample; nothing changes."""
        return self._core.predict_one(self._number("the input", x))

    def predict_many(self, x: Any) -> Floats:
        """Return what the weights as they are make of samples that come next; nothing changes."""
        heard = signal("x", x, self.rounds)
        predictions = np.empty(len(heard))
        self._core.predict_block(heard, predictions)
        return predictions

    def reset(self) -> None:
        """Forget everything, the window too."""
        Listener.__init__(self, self.clone()._core)

    # What it has learned.

    @property
    def weights(self) -> Floats:
        """The weights, that of the newest sample first: the impulse response that was learned."""
        return self._core.impulse_response()

    @property
    def rounds(self) -> int:
        """Number of samples learned."""
        return self._core.rounds

    @property
    def total_loss(self) -> float:
        """The sum of (d − prediction)² over all samples."""
        return self._core.total_loss

    # Games.

    def new_game(self, **options: Any) -> FilterGame:
        """Return a game for it to play in; the options are those of ``noregret.play``."""
        from noregret.filters.game import FilterGame

        return FilterGame(self, **options)

    def play_block(
        self, X: Floats, y: Floats | None = None, predictions: Floats | None = None
    ) -> None:
        """Play the rows of a table of one column.

        Parameters
        ----------
        X
            The input, one sample a row.
        y
            What is to be predicted.
        predictions
            To be filled in.
        """
        if y is None:
            raise BadExample(
                "there is nothing to predict", "play(filter, x, d), or name the target"
            )
        out = np.empty(len(X)) if predictions is None else predictions
        self._core.play_block(np.ascontiguousarray(X[:, 0]), np.ascontiguousarray(y), out)

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse more columns than one."""
        if len(names) != 1:
            raise BadExample(
                f"a filter takes one column beside the target: got {', '.join(names[:5])}"
                f"{' …' if len(names) > 5 else ''}"
            )

    def regret_so_far(self) -> None:
        """Return nothing: hindsight is asked when a game is over."""

    def bound_so_far(self) -> None:
        """Return nothing: hindsight is asked when a game is over."""

    def evidence(
        self, table: Table, given: Mapping[str, Any], limits: Limits, answers: dict[Any, Any]
    ) -> FilterEvidence:
        """Return what a theorem may look at when a game is over."""
        from noregret.filters.evidence import FilterEvidence

        return FilterEvidence(self, table, given, limits, answers)

    # Copies and files.

    def get_state(self) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Return all that it has learned."""
        return *self._core.get_state(), []

    def set_state(self, arrays: dict[str, Any], numbers: dict[str, Any], names: list[str]) -> None:
        """Go on from a state; raise ValueError where it makes no sense."""
        core = self.clone()._core
        expected, like = core.get_state()
        if arrays.keys() != expected.keys():
            raise ValueError(f"expected the arrays {sorted(expected)}, got {sorted(arrays)}")
        if names:
            raise ValueError("a filter has no names of columns")
        state_numbers(numbers, like, core.SIGNED)
        core.set_state(arrays, numbers)
        Listener.__init__(self, core)
