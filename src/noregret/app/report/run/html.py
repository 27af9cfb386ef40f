"""The report of a run: one self-contained HTML page, without network or other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.page.document import document
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import (
    again_section,
    features_section,
    made_section,
    section,
    skipped_section,
)
from noregret.app.report.run.certificate import certificate_section
from noregret.app.report.run.curves import TOO_FEW_DIGITS, loss_chart, regret_chart
from noregret.app.report.run.found import STYLE as FOUND
from noregret.app.report.run.found import found_section
from noregret.app.report.run.head import head
from noregret.app.report.run.outlook import outlook_charts
from noregret.app.report.run.words import title

if TYPE_CHECKING:
    from noregret.app.results.run import Result


def page(result: Result) -> str:
    """Return the page."""
    style = "" if result.found is None else FOUND
    return document(title(result), result.version, sections(result), style)


def sections(result: Result) -> list[str]:
    """Return the sections of the page, top to bottom."""
    return [
        head(result),
        curves_section(result),
        found_section(result),
        certificate_section(result),
        features_section(result),
        outlook_section(result),
        skipped_section(result),
        made_section(result),
        again_section(result),
    ]


def curves_section(result: Result) -> Html:
    """Return loss and regret over time."""
    if not len(result.curve.rounds) or not result.rows:
        return Html("")
    regret = regret_chart(result)
    unknown = element("p", f"The regret over time is not shown: {why(result)}.", class_="aside")
    charts = element("div", loss_chart(result), regret or "", class_="pair")
    return section("Loss and regret over time", charts, "" if regret else unknown)


def why(result: Result) -> str:
    """Return the reason why the regret over time is not known."""
    if result.certificate is None:
        return "this run was not compared with hindsight"
    if result.loss != "square":
        return "it takes a search for the best predictor at every point, except for the square loss"
    if result.curve.lost.any():
        return TOO_FEW_DIGITS
    return "with this many features, it takes too long to find the best predictor at every point"


def outlook_section(result: Result) -> Html:
    """Return charts of predictions and outcomes."""
    charts = outlook_charts(result)
    if not charts:
        return Html("")
    return section("Predictions and outcomes", element("div", *charts, class_="pair"))
