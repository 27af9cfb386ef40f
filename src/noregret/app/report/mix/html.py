"""The report of a mix: one self-contained HTML page, without network or other files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.charts.areas import STYLE as AREAS
from noregret.app.report.mix.charts import behind_chart, leader_strips, regret_chart, weights_chart
from noregret.app.report.mix.experts import best_asleep, loss_words
from noregret.app.report.mix.tables import (
    STYLE,
    comparison_table,
    experts_section,
    groups_section,
    notes_list,
)
from noregret.app.report.mix.words import (
    Line,
    bound_words,
    company,
    helped_by,
    judged,
    lines,
    regret_words,
    sentence,
    title,
)
from noregret.app.report.page.document import document, header, tile
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import again_section, made_section, section, skipped_section
from noregret.app.report.run.certificate import certificate_section
from noregret.app.report.run.head import stopped
from noregret.app.report.run.words import compared
from noregret.base.numbers import brief, figure, name_of

if TYPE_CHECKING:
    from noregret.app.results.mix import MixResult


def page(result: MixResult) -> str:
    """Return the page."""
    return document(title(result), result.version, sections(result), AREAS + STYLE)


def sections(result: MixResult) -> list[str]:
    """Return the sections of the page, top to bottom."""
    return [
        head(result),
        section("Comparison", comparison_table(result), notes_list(result)),
        weights_section(result),
        course_section(result),
        experts_section(result),
        groups_section(result),
        "" if result.groups else certificate_section(result, judged(result)),
        skipped_section(result),
        made_section(result),
        again_section(result),
    ]


def head(result: MixResult) -> Html:
    """Return the title, the verdict and the figures."""
    return header(
        title(result),
        (helped_by(result), None if result.groups else judged(result)),
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


def weights_section(result: MixResult) -> Html:
    """Return the weights over time."""
    if result.history is None or not len(result.history.rounds):
        return Html("")
    return section("Weights over time", weights_chart(result), leader_strips(result))


def course_section(result: MixResult) -> Html:
    """Return losses and regret over time."""
    if result.history is None or not len(result.history.rounds):
        return Html("")
    regret = regret_chart(result)
    charts = [behind_chart(result), *([regret] if regret else [])]
    return section("Loss and regret over time", element("div", *charts, class_="pair"))
