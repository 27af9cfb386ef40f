"""The report of a mix: one self-contained HTML page, without network or other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.charts.areas import STYLE as AREAS
from noregret.app.report.mix.charts import behind_chart, leader_strips, regret_chart, weights_chart
from noregret.app.report.mix.head import head
from noregret.app.report.mix.tables import (
    STYLE,
    comparison_table,
    experts_section,
    groups_section,
    notes_list,
)
from noregret.app.report.mix.words import title
from noregret.app.report.page.document import document
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import again_section, made_section, section, skipped_section
from noregret.app.report.run.certificate import certificate_section

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
        "" if result.groups else certificate_section(result),
        skipped_section(result),
        made_section(result),
        again_section(result),
    ]


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
