"""Figures for the dashboard that take their time: members, and the best in hindsight."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from noregret.app.commands.serve.desk import Desk
from noregret.auto.banked import Banked
from noregret.errors import NoRegretError
from noregret.service.service import Service

# Members in the table.
MAX_MEMBERS = 8
# The next certificate waits for so many times the seconds that the last took, and for so many
# times its labels.
PAUSE, GROWTH = 20.0, 1.1


class Insight:
    """What a model has found, and its regret so far.

    Parameters
    ----------
    desk
        The model.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.members: dict[str, Any] = {}
        self.standing: dict[str, Any] = {}
        self.next = 0.0  # when the next certificate may begin
        self.task: asyncio.Task[None] | None = None

    @property
    def now(self) -> dict[str, Any]:
        """The figures."""
        return {"found": self.members, "standing": self.standing}

    async def refresh(self) -> None:
        """Compute what is due; requests are answered meanwhile."""
        service = self.desk.service
        self.members = await self.desk.do(lambda: service.undisturbed(lambda: members_of(service)))
        enough = service.labels >= GROWTH * self.standing.get("labels", 0) and service.labels > 0
        busy = self.task is not None and not self.task.done()
        if enough and not busy and time.monotonic() >= self.next:
            self.task = asyncio.create_task(self._certify())

    async def _certify(self) -> None:
        began = time.monotonic()
        self.standing = await self.desk.report(lambda: standing_of(self.desk.service))
        ended = time.monotonic()
        self.next = ended + PAUSE * (ended - began)


def members_of(service: Service) -> dict[str, Any]:
    """Return what ``auto`` has found and its heaviest members, or the members of a mixture."""
    learner: Any = service.learner
    mixture = service.contenders.mixtures.get(service.challengers.serving)
    if mixture is not None and learner.rounds:
        weights = zip(mixture.members, learner.weights().tolist(), strict=True)
        losses = (learner.expert_losses / learner.rounds).tolist()
        found = [[name, weight, loss] for (name, weight), loss in zip(weights, losses, strict=True)]
        return {"words": "", "members": found}
    if not isinstance(learner, Banked) or not learner.rounds:
        return {}
    heaviest = sorted(learner.members, key=lambda each: -each.weight)[:MAX_MEMBERS]
    found = [[each.name, each.weight, each.loss / learner.rounds] for each in heaviest]
    return {"words": learner.describe(), "members": found}


def standing_of(service: Service) -> dict[str, Any]:
    """Return the regret so far, or why there is none."""
    serving = service.challengers.serving
    of = serving if serving in service.contenders.mixtures else None
    try:
        found = service.certificate(of=of)
    except (NoRegretError, ArithmeticError, ValueError) as error:
        return {"labels": service.labels, "why": str(error)}
    return {
        "labels": found.data.rounds,
        "regret": found.regret.upper,
        "best": found.hindsight.loss,
        "against": found.hindsight.comparator,
    }
