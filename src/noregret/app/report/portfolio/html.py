"""The report of a portfolio strategy: one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from noregret.app.report.certificate.sheet import told
from noregret.app.report.charts.areas import STYLE as AREAS
from noregret.app.report.charts.areas import area_chart, layers_of
from noregret.app.report.charts.bars import diverging
from noregret.app.report.charts.lines import Series, line_chart
from noregret.app.report.charts.plot import Axis, Key, figure_of
from noregret.app.report.charts.scale import Scale, fitted
from noregret.app.report.page.document import document, header, tile
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import again_section, bound_tile, facts, section, shown
from noregret.app.report.portfolio.words import (
    compared,
    helped_by,
    judged,
    money,
    sentence,
    shares_of,
    title,
)
from noregret.app.report.run.certificate import certificate_section
from noregret.app.report.run.curves import described, plain_rounds
from noregret.base.numbers import brief, count, duration, figure, percent

if TYPE_CHECKING:
    from noregret.app.results.portfolio import Outcome

# Assets drawn as layers of their own, and shares listed.
LAYERS, HEAVIEST = 10, 12


def page(outcome: Outcome) -> str:
    """Return the page."""
    anything = cast("Any", outcome)
    sections = [
        head(outcome),
        section("Wealth over time", wealth_chart(outcome)),
        section("Holdings", shares_chart(outcome)),
        certificate_section(anything, judged(outcome)),
        best_section(outcome),
        made_section(outcome),
        again_section(anything),
    ]
    return document(title(outcome), outcome.version, sections, AREAS)


def head(outcome: Outcome) -> Html:
    """Return the title, the verdict and the headline figures."""
    note = element("p", f"Note: {outcome.note}.", class_="verdict")
    return header(
        title(outcome),
        (helped_by(outcome), judged(outcome)),
        sentence(outcome),
        headline_figures(outcome),
        sources=outcome.sources,
        notes=[note] if outcome.note else [],
    )


def headline_figures(outcome: Outcome) -> Iterable[Html]:
    """Yield the headline figures."""
    mine, certificate = outcome.log_wealth, outcome.certificate
    size = f"{count(outcome.rounds, 'round')}, {count(len(outcome.assets), 'asset')}"
    yield tile("wealth", money(mine), f"starting from 1; {size}")
    if outcome.asset is not None:
        how = compared(mine, outcome.asset_log_wealth)
        yield tile(
            "best asset", money(outcome.asset_log_wealth), f"{outcome.asset}; the strategy: {how}"
        )
    how = compared(mine, outcome.uniform)
    yield tile("equal shares", money(outcome.uniform), f"the strategy: {how}")
    best = outcome.best_shares
    yield tile("best constant shares", money(best), f"the strategy: {compared(mine, best)}")
    yield tile("regret", brief(certificate.regret.upper), "in log-wealth")
    if certificate.theorem is not None:
        yield bound_tile(certificate.theorem, judged(outcome).mood)


def rounds_of(outcome: Outcome) -> str:
    """Return the label of the axis of rounds, with the first and last date if known."""
    if outcome.dates is None:
        return "rounds"
    return f"rounds, from {outcome.dates[0]} to {outcome.dates[1]}"


def wealth_chart(outcome: Outcome) -> Html:
    """Return log-wealth over time."""
    curves = outcome.curves
    series = [Series(outcome.name, curves.strategy, "learner")]
    if outcome.asset is not None:
        series.append(Series(f"best asset, {outcome.asset}", curves.asset, "constant"))
    series.append(Series("equal shares", curves.uniform, "level"))
    series.append(Series("best constant shares", curves.rebalanced, "hindsight"))
    words = (
        "Natural logarithm of what 1 has become: 0 means nothing gained, 2.3 ten times as much."
        " The best asset and the best shares are those for all rounds, known only at the end."
    )
    keys = [Key(one.look, one.name, money(float(one.y[-1]))) for one in series]
    drawn = line_chart(
        Axis(rounds_of(outcome), plain_rounds(curves.rounds), lines=False),
        Axis("log-wealth", fitted(*(one.y for one in series), zero=True)),
        curves.rounds,
        series,
        described("Log-wealth", series),
    )
    return figure_of("Log-wealth", words, keys, drawn)


def shares_chart(outcome: Outcome) -> Html:
    """Return the shares held over time."""
    curves = outcome.curves
    layers = layers_of(outcome.assets, curves.shares, LAYERS, "other assets")
    last = [percent(float(layer.y[-1])) for layer in layers]
    keys = [Key(layer.look, layer.name, at) for layer, at in zip(layers, last, strict=True)]
    mean = ", ".join(f"{layer.name} {percent(float(np.mean(layer.y)))}" for layer in layers[:3])
    drawn = area_chart(
        Axis(rounds_of(outcome), plain_rounds(curves.rounds), lines=False),
        Axis("share of wealth", Scale(0.0, 1.0)),
        curves.rounds,
        layers,
        f"Shares of wealth; on average {mean}.",
    )
    words = "Share of each asset in the wealth before each round. The figures are the last shares."
    return figure_of("Shares", words, keys, drawn)


def best_section(outcome: Outcome) -> Html:
    """Return the best constant shares."""
    heaviest = outcome.heaviest[:HEAVIEST]
    gap = outcome.rebalanced.gap
    words = (
        f"These shares, restored before every round, would have turned 1 into"
        f" {money(-outcome.rebalanced.loss)}: {shares_of(outcome)}. Provably, no constant shares"
        f" have a log-wealth higher by more than {gap:.2g}."
    )
    return section(
        "Best constant shares",
        element(
            "figure",
            element("figcaption", element("h3", "In hindsight"), element("p", words)),
            diverging(heaviest),
            class_="chart",
        ),
    )


def made_section(outcome: Outcome) -> Html:
    """Return the data, the strategy and the time."""
    data: list[tuple[str, str]] = [
        ("Data", element("div", *(element("div", shown(s)) for s in outcome.sources)))
    ]
    if outcome.dates is not None:
        data.append(("Dates", f"{outcome.dates[0]} – {outcome.dates[1]}"))
    changed = ", ".join(outcome.transforms) or "none"
    data += [("Rounds", figure(outcome.rounds)), ("Preprocessing", shown(changed))]
    run: list[tuple[str, str]] = [("Strategy", element("code", outcome.name))]
    run += [(name, shown(told(value))) for name, value in outcome.params.items()]
    run += [("Time", duration(outcome.seconds)), ("Version", f"noregret {outcome.version}")]
    columns = element("div", facts(data), facts(run), class_="columns")
    return section("Details", columns)
