"""A learner or a game as a card in a notebook: parameters, figures, largest weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.app.report.certificate.html import (
    CARD,
    FAINT,
    LEFT,
    NUMBER,
    TABLE,
    figures,
    row,
    table,
    titles,
)
from noregret.app.report.certificate.sheet import (
    COLUMNS,
    DUST,
    HEAVIEST,
    Fact,
    by_weight,
    loss_of,
    told,
)
from noregret.app.report.page.markup import Html, element, joined
from noregret.base.numbers import clean, count, figure, name_of, percent, signed, weight
from noregret.errors import NoRegretError

if TYPE_CHECKING:
    from noregret.base.algorithm import Named
    from noregret.experts.ensemble import Experts
    from noregret.proof.certificates.certifiable import Certifiable

# The name of one of a family, and the title of its weights.
KINDS = {
    "learners": ("learner", "Largest weights"),
    "batch": ("batch method", "Largest weights"),
    "experts": ("master", "Weights for the next round"),
    "bandits": ("policy", "Probabilities for the next round"),
    "portfolios": ("strategy", "Shares for the next period"),
    "filters": ("filter", "Largest weights, by lag"),
}
# Computing the probabilities of more arms takes too long.
MAX_ARMS = 100
GAP = "margin-top:8px"


class Weights(NamedTuple):
    """Names and their weights; with ``shares``, the weights sum to 1."""

    names: list[str]
    values: list[float]
    shares: bool


def learner_card(player: Named) -> str:
    """Return a learner, master, policy, strategy or batch method as HTML."""
    kind, title = KINDS.get(player.family, ("learner", "Weights"))
    lines = list(facts(player.rounds, player)) if player.rounds else []
    nothing = "" if lines else element("div", "It has not learned anything yet.", style=GAP)
    return element(
        "div",
        head(f"noregret {kind}", player),
        nothing,
        figures(lines),
        heaviest(asked(lambda: weighed(player)), title) if lines else "",
        style=CARD,
    )


def experts_card(experts: Experts) -> str:
    """Return members and their master as HTML."""
    master, shares = experts.master, experts.weights
    lines = list(facts(master.rounds, master)) if master.rounds else []
    retired = experts.retired.items()
    lines += [Fact(name_of(name), "retired", why) for name, why in retired]
    nothing = "" if lines else element("div", "They have not learned anything yet.", style=GAP)
    title = f"{count(len(experts.members), 'member')}, mixed by {type(master).__name__}"
    return element(
        "div",
        titles("noregret experts", title, parameters(master)),
        nothing,
        figures(lines),
        heaviest(Weights([*shares], [*shares.values()], True), KINDS["experts"][1]),
        style=CARD,
    )


def game_card(game: Certifiable) -> str:
    """Return a game as HTML."""
    player: Any = game.learner
    _, title = KINDS.get(player.family, ("", "Weights"))
    lines = list(facts(game.rounds, player, game)) if game.rounds else []
    hint = "game.certificate() compares this with the best in hindsight and with the proven bound."
    return element(
        "div",
        head("noregret game", player),
        figures(lines),
        heaviest(asked(lambda: weighed(player)), title) if lines else "",
        element(
            "div", hint if lines else "No rounds were played yet.", style=FAINT + ";margin-top:12px"
        ),
        style=CARD,
    )


def head(over: str, player: Named) -> Html:
    """Return the name and the parameters."""
    name = type(player).__name__
    averages = getattr(getattr(player, "engine", None), "mean_kept", False)
    if averages and "averaged" not in player.params:
        name = f"averaged({name})"
    return titles(over, name, parameters(player))


def parameters(player: Named) -> str:
    """Return the parameters that have a value."""
    given = player.params.items()
    return ", ".join(f"{clean(key)} = {told(value)}" for key, value in given if value is not None)


def facts(rounds: int, player: Any, game: Certifiable | None = None) -> Iterator[Fact]:
    """Yield the figures of a game, or of everything learned."""
    width = len(asked(lambda: named(player)) or [])
    of = (COLUMNS | {"filters": "tap"}).get(player.family, "feature")
    yield Fact("rounds", figure(rounds), f"with {count(width, of)}" if width else "")
    loss = asked(lambda: float(player.total_loss if game is None else game.loss))
    if loss is not None and np.isfinite(loss):
        name = asked(lambda: loss_of(loss_name(player)))
        yield Fact("loss", figure(loss), f"{figure(loss / rounds)} per round ({name})")
    mistakes = asked(lambda: mistakes_of(player) if game is None else game.counted_mistakes)
    if mistakes is not None:
        yield Fact("mistakes", figure(mistakes), percent(mistakes / rounds))
    if game is None and player.family == "portfolios":
        yield Fact("wealth", figure(player.wealth), "of 1 at the start")


def mistakes_of(player: Any) -> float | None:
    """Return the number of labels predicted wrongly; None if outcomes are not labels."""
    engine = getattr(player, "engine", None)
    labels = player.family == "experts" if engine is None else engine.loss.labels
    return player.mistakes if labels else None


def loss_name(player: Any) -> str:
    """Return the name of the loss."""
    return str(player.engine.loss.name if hasattr(player, "engine") else player.loss_name)


def named(player: Any) -> list[str]:
    """Return the names of the columns."""
    if player.family == "portfolios":
        return list(player.assets)
    if player.family == "filters":
        return [str(lag) for lag in range(player.taps)]
    return list(player.features if hasattr(player, "features") else player.names)


def weighed(player: Any) -> Weights | None:
    """Return the weights of a player."""
    names = named(player)
    if player.family in ("learners", "batch", "filters"):
        if hasattr(player, "engine") and not player.engine.linear:
            return None
        return Weights(names, player.weights.tolist(), False)
    if player.family == "bandits":
        return Weights(names, list(player.propensities()), True) if len(names) <= MAX_ARMS else None
    return Weights(names, list(player.weights()), True)


def heaviest(found: Weights | None, title: str) -> Html:
    """Return the largest weights as a table."""
    if found is None or len(found.names) != len(found.values):
        return Html()
    pairs = zip(found.names, found.values, strict=True)
    largest = max(map(abs, found.values), default=0.0)
    ordered = sorted((pair for pair in pairs if abs(pair[1]) > DUST * largest), key=by_weight)
    if not ordered:
        return Html()
    write = weight if found.shares else signed
    rows = (
        row(
            (
                element("td", write(value), style=NUMBER),
                element("td", name_of(name), style=LEFT + ";width:99%"),
            )
        )
        for name, value in ordered[:HEAVIEST]
    )
    rest = len(ordered) - HEAVIEST
    heading = title + (f", and {rest:,} more" if rest > 0 else "")
    narrow = TABLE.replace("margin:12px 0 0", "margin:2px 0 0")
    return joined((element("div", heading, style=FAINT + ";margin-top:14px"), table(rows, narrow)))


def asked(ask: Any) -> Any:
    """Return an answer, or None if asking fails: a card shows what is available."""
    try:
        return ask()
    except (AttributeError, LookupError, TypeError, ValueError, NoRegretError):
        return None
