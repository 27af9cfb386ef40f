"""Learners that challenge the one that serves: play in shadow, be compared, be promoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noregret.checks import positive
from noregret.linear.learner import Learner
from noregret.service.errors import Conflict
from noregret.service.mixture import DEFAULT, master_for
from noregret.service.requests import Reply
from noregret.service.scoring import begun, check_learner
from noregret.streams.preparing import like

if TYPE_CHECKING:
    from noregret.service.service import Service


class Challengers:
    """The challengers of a service; changes are in its journal, and survive crashes.

    Parameters
    ----------
    service
        The service.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from noregret import Nlms, WidrowHoff
    >>> from noregret.service import Service
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "shop.db"
    >>> with Service(WidrowHoff(rate=0.01), store) as service:
    ...     service.challengers.add("faster", Nlms(), bound=4.0)
    ...     for k in range(200):
    ...         _ = service.learn({"sun": k % 3 / 2}, k % 3)
    ...     found = service.challengers.comparison()["faster"]
    ...     service.challengers.promote("faster")
    ...     service.challengers.serving
    'faster'
    >>> found["challenger"] < found["champion"], found["p_better"] < 0.05
    (True, True)
    """

    def __init__(self, service: Service) -> None:
        self.service = service

    @property
    def serving(self) -> str:
        """The name of the model that serves; ``first`` is the one that the service began with."""
        return self.service.contenders.serving

    def add(self, name: str, learner: Learner, bound: float = 1.0) -> None:
        """Let another learner play every event from now on in shadow.

        Parameters
        ----------
        name
            Its name.
        learner
            A learner for the same labels, untrained or trained.
        bound
            The largest difference of losses that the comparison counts: larger ones are cut.
        """
        check_learner(learner)
        fresh = self.service.fresh
        prepare = fresh._entry.prepare
        if prepare is not None and learner._entry.prepare is None and not learner.rounds:
            learner = learner.clone()
            learner._entry.prepare = prepare.renewed() or like(prepare.options)
        if learner._of_classes != fresh._of_classes:
            raise TypeError("a challenger has the same kind of labels as the model that serves")
        mine, other = loss_of(fresh), loss_of(learner)
        if mine != other:
            what = f"a challenger has the loss of the model that serves, {mine}: got {other}"
            raise Conflict(what, "losses of two kinds cannot be compared")
        self._change("challenge", name, begun(learner), positive("bound", bound))

    def mix(self, name: str, master: str = DEFAULT, bound: float = 1.0) -> None:
        """Let a mixture of all models that play now play from now on, in shadow until promoted.

        A master weighs what they predict by how they did: its regret to the best of them is
        bounded, and ``service.certificate(of=name)`` says how large it was.

        Parameters
        ----------
        name
            Its name.
        master
            The name of the master, one of ``noregret.experts``.
        bound
            As in ``add``.
        """
        found = master_for(self.service.fresh, master)
        self._change("mix", name, found, positive("bound", bound))

    def promote(self, name: str) -> None:
        """Let a challenger serve; the model that served goes on in shadow."""
        self._change("promote", name)

    def rollback(self) -> None:
        """Let the model serve that did before the last promotion."""
        if self.service.contenders.previous is None:
            raise Conflict("no other model served before")
        self._change("rollback", self.service.contenders.previous)

    def retire(self, name: str) -> None:
        """Remove a challenger that never served."""
        self._change("retire", name)

    def comparison(self) -> dict[str, dict[str, Any]]:
        """Return mean losses and p-values of each challenger beside the model that serves.

        They may be looked at at any time. If the challenger is in truth never better in conditional
        mean, by losses whose differences are cut at the bound, ``p_better`` falls below 0.05 at
        some time with a probability of at most 5 %; likewise for ``p_worse``.
        """
        return self.service.undisturbed(
            lambda: {n: each.found() for n, each in self.service.contenders.comparisons.items()}
        )

    def _change(self, what: str, name: str, fresh: Any = None, bound: float = 1.0) -> None:
        service = self.service

        def act() -> Reply:
            service.change(what, name, fresh, bound)
            return Reply(None, name, 0)

        service.submit(act)


def loss_of(learner: Learner) -> str:
    """Return the loss of a learner, with its parameter if it has one."""
    parameter = learner.params.get("loss_parameter")
    return learner.engine.loss.name + ("" if parameter is None else f" of {parameter:g}")
