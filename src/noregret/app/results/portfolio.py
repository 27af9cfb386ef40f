"""The result of a portfolio strategy, compared with baselines in hindsight."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from noregret._version import __version__
from noregret.hindsight.portfolio import log_wealth_of_assets
from noregret.hindsight.proofs.answer import USUAL
from noregret.portfolios.costs import left_after

if TYPE_CHECKING:
    from noregret.hindsight.proofs.answer import Answer
    from noregret.portfolios.evidence import PortfolioEvidence
    from noregret.proof.certificates.certificate import Certificate
    from noregret.proof.game.table_game import TableGame

Floats = NDArray[np.float64]
# Moments that curves are drawn at.
MOMENTS = 400


@dataclass(frozen=True)
class Curves:
    """Log-wealth at some rounds, and the shares held, if a diary was kept."""

    rounds: Floats
    strategy: Floats
    asset: Floats
    uniform: Floats
    rebalanced: Floats
    shares: Floats


@dataclass(frozen=True)
class Outcome:
    """The finished game of a strategy.

    Parameters
    ----------
    name, params
        The strategy.
    assets, rounds
        The assets, and the number of rounds.
    log_wealth
        That of the strategy, after costs. Others that trade pay the same costs; the best asset is
        only held.
    asset, asset_log_wealth
        The best asset; None if all fell to 0.
    uniform
        The log-wealth of equal shares, restored in every round.
    rebalanced, best_shares
        The best constant rebalanced portfolio without costs, and its log-wealth after costs.
    certificate
        The certificate.
    curves
        Wealth and shares over time.
    sources, transforms, dates, seconds, command, outputs
        The data, the time it took, the command, and the files written.
    note
        A warning about the data; empty if there is none.
    """

    kind: ClassVar[str] = "portfolio"
    name: str
    params: dict[str, Any]
    assets: list[str]
    rounds: int
    log_wealth: float
    asset: str | None
    asset_log_wealth: float
    uniform: float
    rebalanced: Answer
    best_shares: float
    certificate: Certificate
    curves: Curves
    sources: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()
    dates: tuple[str, str] | None = None
    seconds: float = 0.0
    command: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    version: str = __version__
    note: str = ""

    @property
    def heaviest(self) -> list[tuple[str, float]]:
        """The best constant rebalanced portfolio, its largest shares first."""
        shares = zip(self.assets, self.rebalanced.witness.tolist(), strict=True)
        return sorted((one for one in shares if one[1] > 1e-6), key=lambda one: -one[1])


def outcome_of(game: TableGame, diary: list[Floats], **others: Any) -> Outcome:
    """Return the result of a game whose predictions were kept; the diary may be empty."""
    certificate = game.certificate()
    evidence = cast("PortfolioEvidence", game.evidence({}, USUAL))
    rebalanced = evidence.usual()
    wealth = log_wealth_of_assets(evidence.blocks)
    best = int(np.argmax(wealth))
    found = bool(wealth[best] > -math.inf)
    witness = np.zeros(game.width)
    witness[best] = 1.0
    paths = paths_of(game, witness, rebalanced.witness)
    return Outcome(
        game.player.name,
        dict(game.player.params),
        game.feature_names,
        game.rounds,
        -game.loss,
        game.feature_names[best] if found else None,
        float(wealth[best]),
        float(paths[2][-1]),
        rebalanced,
        float(paths[3][-1]) if game.player.params.get("cost") else -rebalanced.loss,
        certificate,
        sampled(paths, diary),
        **others,
    )


def paths_of(game: TableGame, *portfolios: Floats) -> list[Floats]:
    """Return log-wealth after every round: of the strategy, of two portfolios, of equal shares.

    The order is strategy, first, equal shares, second.
    """
    uniform = np.full(game.width, 1.0 / game.width)
    first, second = (steps_of(game, u) for u in portfolios)
    with np.errstate(divide="ignore"):
        own = np.log(game.predictions)
    return [np.cumsum(steps) for steps in (own, first, steps_of(game, uniform), second)]


def steps_of(game: TableGame, u: Floats) -> Floats:
    """Return ln(u·x) of every round, after the costs of restoring the shares u."""
    found, cost, drifted = list[Floats](), float(game.player.params.get("cost", 0.0)), u
    for X, _ in game.table.blocks():
        most = X.max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = X / most[:, None] * u
            gains = parts.sum(axis=1)
            steps = np.log(most) + np.log((X / most[:, None]) @ u)
        if cost and np.count_nonzero(u) > 1:
            for k in np.flatnonzero(gains > 0).tolist():
                steps[k] += math.log(left_after(drifted, u, cost))
                drifted = parts[k] / gains[k]
        found.append(steps)
    return np.concatenate(found)


def sampled(paths: list[Floats], diary: list[Floats]) -> Curves:
    """Return the paths at some rounds, evenly spread."""
    last = len(paths[0]) - 1
    at = np.unique(np.linspace(0, last, min(MOMENTS, last + 1)).round().astype(np.int64))
    own, asset, uniform, rebalanced = (path[at] for path in paths)
    shares = np.array([diary[k] for k in at.tolist()]) if diary else np.empty((0, 0))
    return Curves((at + 1).astype(np.float64), own, asset, uniform, rebalanced, shares)
