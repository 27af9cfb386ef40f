"""``noregret run --shards N``: a learner for each part of the rows, one certificate for all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from noregret.app.commands.outputs import Outputs
from noregret.app.commands.printing import screen, show
from noregret.app.commands.tournament.deciding import Contender, decided
from noregret.errors import BadExample, NoRegretError, WrongUsage
from noregret.hindsight.proofs.answer import USUAL, Limits
from noregret.proof.certificates.issue import LostDigits
from noregret.proof.game.shards import Sharded, ShardsGame
from noregret.scale.playing import mixture, play

if TYPE_CHECKING:
    from noregret.proof.certificates.certificate import Certificate
    from noregret.scale.pool import Pool
    from noregret.streams.stream import Stream


@dataclass
class ShardsRun:
    """Learners that play the shards of a stream.

    Parameters
    ----------
    stream, contender
        The stream, and the learner as it was asked for; the first rows may choose its loss.
    shards
        How many.
    outputs
        The files to write: the certificate, and the mixture of the learners as the model.
    task
        What outcomes are: ``numbers`` or ``classes``; None if the first rows tell.
    hindsight, look_back, gap
        Whether to compare with hindsight, for how many seconds, and how precisely.
    """

    stream: Stream
    contender: Contender
    shards: int
    outputs: Outputs = field(default_factory=Outputs)
    task: str | None = None
    hindsight: bool = True
    look_back: float | None = None
    gap: float | None = None

    def __post_init__(self) -> None:
        self.outputs.check(self.stream.paths)

    def go(self, pool: Pool) -> tuple[ShardsGame, Certificate | None]:
        """Play, write the files, and return the game and its certificate."""
        learners, stream = decided({"shards": self.contender}, self.stream, self.task)
        learner = learners["shards"]
        try:
            Sharded(learner)
            game = play(learner, stream, shards=self.shards, pool=pool)
        except BadExample:
            raise
        except ValueError as error:
            raise WrongUsage(f"--shards: {error}") from None
        certificate = None
        if self.hindsight:
            try:
                certificate = game.certificate(limits=self.limits)
            except LostDigits:  # the rows tell more than sums over them
                game = play(learner, stream, shards=self.shards, keep="rows", pool=pool)
                certificate = game.certificate(limits=self.limits)
        if self.outputs.certificate is not None and certificate is not None:
            certificate.save(self.outputs.certificate)
        if self.outputs.model is not None:
            mixture(game).save(self.outputs.model)
        return game, certificate

    @property
    def limits(self) -> Limits:
        """The limits of the search in hindsight: no time counts unless it was asked for."""
        seconds = math.inf if self.look_back is None else self.look_back
        tolerance = USUAL.tolerance if self.gap is None else self.gap
        return replace(USUAL, seconds=seconds, tolerance=tolerance)


def summary(game: ShardsGame, certificate: Certificate | None) -> str:
    """Return the figures in a few lines."""
    sizes = [part.rounds for part in game.parts]
    few, many = min(sizes), max(sizes)
    each = f"{few:,} rows each" if few == many else f"{few:,} to {many:,} rows each"
    if game.learner.learner.engine.loss.labels:
        error = f"accuracy {1 - game.ledger.books.mistakes / game.rounds:.1%}"
    elif game.loss_name == "square":
        error = f"RMSE {math.sqrt(game.loss / game.rounds):.4g}"
    else:
        error = f"mean {game.loss_name} loss {game.loss / game.rounds:.4g}"
    told = [f"{game.rounds:,} rows in {len(sizes)} shards, {each}: {error}."]
    if certificate is not None:
        told += ["", str(certificate)]
    return "\n".join(told)


def conclude(game: ShardsGame, certificate: Certificate | None, quiet: bool, as_json: bool) -> None:
    """Print the figures."""
    if as_json:
        if certificate is None:
            raise NoRegretError("with --json, shards print their certificate", "--hindsight")
        print(certificate.to_json())
    elif not quiet:
        console: Any = screen()
        for line in summary(game, certificate).split("\n"):
            show(console, line)
