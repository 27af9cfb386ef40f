"""Masters that weigh experts by regrets and their squares."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.base.compiled.losses import Loss
from noregret.base.compiled.second_order_weights import Bernstein, Grid, Polynomial, Scaled
from noregret.experts.master import Master, checked_prior


class SecondOrder(Master):
    """A master without a rate to choose or a range to know.

    Parameters
    ----------
    loss
        The loss of a forecast: ``square``, ``absolute``, ``zero-one``, ``log``, ``quantile``,
        ``percentage``, or a custom loss. Without advice, losses are given.
    loss_parameter
        The quantile, for ``quantile``.
    gradient
        Whether the loss of an expert is the slope of the mixture's loss times the forecast: then
        it competes with the best mixture of experts, not only with the best expert.
    prior
        Weights before the first round, one per expert; by default equal.
    """

    _weighing: type[Bernstein | Grid | Polynomial]
    _weigher: Scaled

    def __init_subclass__(cls) -> None:
        """Add the parameters, which are the same for all, to the docstring."""
        _, title, shared = inspect.cleandoc(SecondOrder.__doc__ or "").partition("\n\nParameters\n")
        own = inspect.cleandoc(cls.__doc__ or "")
        cls.__doc__ = own.replace("\n\nExamples\n", f"{title}{shared}\n\nExamples\n", 1)

    def __init__(
        self,
        loss: str | Loss = "square",
        loss_parameter: float | None = None,
        gradient: bool = True,
        prior: Any = None,
    ) -> None:
        super().__init__(self._weighing(checked_prior(prior)), loss, loss_parameter, gradient)
        self.loss, self.loss_parameter, self.gradient = loss, loss_parameter, gradient
        self.prior = prior

    @property
    def price(self) -> NDArray[np.float64]:
        """The bound on the regret to each expert."""
        return np.asarray(self._weigher.bounds())
