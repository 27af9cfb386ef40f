"""A mixture of the models that play: a master weighs what they predict by how they did.

Its forecasts are those of ``noregret.experts``, with the models as experts, so that its regret to
the best of them is bounded, and its certificate is one of that family.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.base.registry import find
from noregret.errors import NoRegretError
from noregret.linear.learn_many import label_pair
from noregret.linear.learner import Learner
from noregret.proof.game.served_loss import outcome_of, served_loss
from noregret.service.errors import NotCertified
from noregret.service.events import Event, as_json
from noregret.service.scoring import Served
from noregret.service.values import plain

if TYPE_CHECKING:
    from noregret.experts.master import Master
    from noregret.proof.certificates.certificate import Certificate

# The masters that can mix models; the last one follows the best where it changes.
MASTERS = ("blend", "ada-hedge", "ml-poly", "boa", "squint", "fixed-share")
DEFAULT = MASTERS[0]
# The score of a probability of 1.
CERTAIN = 745.0


class Played(NamedTuple):
    """A round of a mixture: the forecast of each member, and the outcome, as the master has them.

    Parameters
    ----------
    forecasts, outcome
        NaN for a member that sat the round out.
    loss, late
        The loss as it was served, and whether other labels were learned since it was.
    """

    forecasts: list[float]
    outcome: float
    loss: float
    late: bool


class Mixture:
    """How scores of models become forecasts for a master, and its forecasts become scores.

    Parameters
    ----------
    members
        The names of the models.
    learner
        The first of them: all have its loss.
    """

    def __init__(self, members: Sequence[str], learner: Learner) -> None:
        self.members, self.learner = tuple(members), learner
        self.of_chances = learner.engine.loss.name == "logistic"

    def forecasts(self, scores: Mapping[str, float]) -> list[float]:
        """Return the forecast of each member; NaN for one without a score."""
        found = [scores.get(name, math.nan) for name in self.members]
        return [chance_of(score) for score in found] if self.of_chances else found

    def named(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Return the forecast of each member by its name."""
        return dict(zip(self.members, self.forecasts(scores), strict=True))

    def served(self, master: Master, scores: Mapping[str, float], model: Learner) -> Served:
        """Return the prediction, given the scores of the members; ``model`` knows the labels."""
        said = float(master.predict_one(self.named(scores)))
        if not self.of_chances:
            return Served(said, said)
        score = score_of(said)
        if not model.rounds:
            return Served(score, None, [])
        low, high = map(plain, label_pair(model._entry))
        return Served(score, high if score > 0 else low, [(low, 1 - said), (high, said)])

    def taught(self, master: Master, scores: Mapping[str, float], event: Event) -> float:
        """Learn the label of an event, and return the loss of the prediction as it was served."""
        master.learn_one(self.named(scores), self.outcome(event))
        return served_loss(self.learner, event.score, event.outcome)

    def outcome(self, event: Event) -> float:
        """Return the outcome of an event as the master takes it."""
        y = outcome_of(self.learner, event.outcome)
        return max(0.0, y) if self.of_chances else y

    def certificate(self, master: Master, played: Iterable[Played], **options: Any) -> Certificate:
        """Return the certificate of all rounds, by an untrained master."""
        import pyarrow

        rounds = list(played)
        if not rounds:
            raise NotCertified("no label came yet that the mixture had predicted")
        if late := sum(each.late for each in rounds):
            raise NotCertified(
                f"{late:,} of {len(rounds):,} labels came after others were learned: what a mixture"
                " promises is about labels that come before the next prediction"
            )
        columns = np.array([each.forecasts for each in rounds]).T
        game: Any = master._new_game(progress=False)
        table = pyarrow.table(dict(zip(self.members, columns, strict=True)))
        game.play(table, np.array([each.outcome for each in rounds]))
        game.describe(("missing=asleep",), None)
        found: Certificate = game.certificate(**options)
        served = math.fsum(each.loss for each in rounds)
        if not math.isclose(found.loss.total, served, rel_tol=1e-6, abs_tol=1e-9):
            raise NotCertified(
                f"played again, the loss is {found.loss.total:.9g}, but what was served had"
                f" {served:.9g}: the journal was changed or damaged",
                "restore it from a backup",
            )
        return found

    def lines(self, played: Iterable[Played], target: str) -> Iterator[bytes]:
        """Yield the rounds as JSON lines: the forecasts and the outcome, called ``target``."""
        if target in self.members:
            what = f"there is a model called {target!r}"
            raise NoRegretError(what, "choose another name for the target")
        for each in played:
            row = {
                name: None if math.isnan(said) else said
                for name, said in zip(self.members, each.forecasts, strict=True)
            }
            yield (as_json(row | {target: each.outcome}) + "\n").encode()


def master_for(learner: Learner, name: str = DEFAULT) -> Master:
    """Return an untrained master for models with the loss of a learner."""
    loss = learner.engine.loss
    if name not in MASTERS:
        raise ValueError(f"no master {name!r} mixes models: there are {', '.join(MASTERS)}")
    if learner._of_classes or (loss.labels and loss.name != "logistic"):
        what = f"models with the {loss.name} loss cannot be mixed"
        raise TypeError(f"{what}: only numbers, and labels with the logistic loss")
    given: dict[str, Any] = {"loss": "log" if loss.labels else loss.name}
    if (parameter := learner.params.get("loss_parameter")) is not None:
        given["loss_parameter"] = parameter
    found: Master = find(name, "experts")(**given)
    return found


def chance_of(score: float) -> float:
    """Return the probability of a score; NaN for NaN."""
    return score if math.isnan(score) else math.exp(-np.logaddexp(0.0, -score))


def score_of(chance: float) -> float:
    """Return the score of a probability."""
    if not 0 < chance < 1:
        return math.copysign(CERTAIN, chance - 0.5)
    return math.log(chance) - math.log1p(-chance)
