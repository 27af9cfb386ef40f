"""The head of a mix's page: title, verdict, headline figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.mix.experts import best_asleep, loss_words
from noregret.app.report.mix.words import (
    Line,
    bound_words,
    company,
    lines,
    regret_words,
    sentence,
    title,
)
from noregret.app.report.page.document import header, tile
from noregret.app.report.page.markup import Html
from noregret.app.report.run.head import stopped
from noregret.app.report.run.words import compared, judged
from noregret.base.numbers import brief, figure, name_of

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult


def head(result: MixResult) -> Html:
    """Return the title, the verdict and the figures."""
    return header(
        title(result),
        None if result.groups else judged(result),
        sentence(result),
        headline_figures(result),
        sources=result.sources,
        notes=[stopped(result)] if result.interrupted else [],
    )


def headline_figures(result: MixResult) -> Iterable[Html]:
    """Yield the headline figures."""
    found = {line.kind: line for line in lines(result)}
    mine = found["mixture"]
    yield tile("rounds", figure(result.rows), company(result))
    if mine.rmse is not None:
        yield tile("RMSE", brief(mine.rmse), f"mean square loss {brief(mine.mean)}")
    else:
        yield tile("mean loss", brief(mine.mean), f"{loss_words(result)} loss")
    yield from versus(result, mine, found)
    if (regret := regret_words(result)) is not None:
        yield tile("regret", *regret)
    if (bound := bound_words(result)) is not None:
        mood = judged(result).mood if result.certificate is not None else ""
        yield tile("bound", *bound, mood)


def versus(result: MixResult, mine: Line, found: dict[str, Line]) -> Iterable[Html]:
    """Yield the comparisons."""
    slept = best_asleep(result).partition(";")[0]
    for kind, label in (
        ("average", "vs average"),
        ("best", "vs best expert"),
        ("convex", "vs best weights"),
    ):
        if kind in found:
            line = found[kind]
            size, other = (
                (mine.rmse, line.rmse) if line.rmse is not None else (mine.mean, line.mean)
            )
            words = {
                "average": f"the plain average has {brief(other or 0.0)}",
                "best": f"{name_of(line.name)} has {brief(other or 0.0)}"
                + (f", {slept}" if slept else ""),
                "convex": f"fixed weights chosen in hindsight have {brief(other or 0.0)}",
            }
            yield tile(label, compared(size, other) or "–", words[kind])
