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
from noregret.app.report.run.curves import TOO_FEW_DIGITS, TOO_LONG, loss_chart, regret_chart
from noregret.app.report.run.found import STYLE as FOUND
from noregret.app.report.run.found import found_section
from noregret.app.report.run.head import head
from noregret.app.report.run.helped import promise_of
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
        certificate_section(result, promise_of(result)),
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
    unknown = element("p", why(result), class_="aside")
    charts = element("div", loss_chart(result), regret or "", class_="pair")
    return section("Loss and regret over time", charts, "" if regret else unknown)


def why(result: Result) -> str:
    """Say why the regret over time is not shown."""
    if result.certificate is None:
        return "Regret over time is not shown: this run was not compared with hindsight."
    if result.loss != "square":
        return (
            "Regret over time is shown only for the square loss; for other losses it would need a"
            " separate search at every point."
        )
    if result.curve.lost.any():
        return f"Regret over time is not shown: {TOO_FEW_DIGITS}."
    return f"Regret over time is not shown: {TOO_LONG}."


def outlook_section(result: Result) -> Html:
    """Return charts of predictions and outcomes."""
    charts = outlook_charts(result)
    if not charts:
        return Html("")
    return section("Predictions and outcomes", element("div", *charts, class_="pair"))
