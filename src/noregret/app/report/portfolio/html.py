"""A strategy's game as one page of HTML that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from noregret.app.report.certificate.sheet import told
from noregret.app.report.certificate.verdict import subject, verdict_of
from noregret.app.report.charts.areas import STYLE as AREAS
from noregret.app.report.charts.areas import area_chart, layers_of
from noregret.app.report.charts.bars import diverging
from noregret.app.report.charts.lines import Series, line_chart
from noregret.app.report.charts.plot import Axis, Key, figure_of
from noregret.app.report.charts.scale import Scale, fitted
from noregret.app.report.page.document import document, header, tile
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import again_section, facts, section, shown
from noregret.app.report.portfolio.words import compared, money, sentence, shares_of, title
from noregret.app.report.run.certificate import certificate_section
from noregret.app.report.run.curves import described, plain_rounds
from noregret.base.numbers import brief, count, duration, figure, part_of_bound, percent

if TYPE_CHECKING:
    from noregret.app.results.portfolio import Outcome

# Assets that have a layer of their own, and shares that are named.
LAYERS, HEAVIEST = 10, 12
MARKS = {True: "kept", False: "broken", None: "not claimed"}


def page(outcome: Outcome) -> str:
    """Return the page."""
    anything = cast("Any", outcome)
    sections = [
        head(outcome),
        section("How it went", wealth_chart(outcome)),
        section("What it held", shares_chart(outcome)),
        certificate_section(anything),
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
        verdict_of(outcome.certificate),
        sentence(outcome),
        headline_figures(outcome),
        sources=outcome.sources,
        notes=[note] if outcome.note else [],
    )


def headline_figures(outcome: Outcome) -> Iterable[Html]:
    """Yield the headline figures."""
    mine, certificate = outcome.log_wealth, outcome.certificate
    size = f"{count(outcome.rounds, 'round')}, {count(len(outcome.assets), 'asset')}"
    yield tile("wealth", money(mine), f"of 1; {size}")
    if outcome.asset is not None:
        how = compared(mine, outcome.asset_log_wealth)
        yield tile(
            "best asset", money(outcome.asset_log_wealth), f"{outcome.asset}; the strategy: {how}"
        )
    how = compared(mine, outcome.uniform)
    yield tile("equal shares", money(outcome.uniform), f"the strategy: {how}")
    best = -outcome.rebalanced.loss
    yield tile("best constant shares", money(best), f"the strategy: {compared(mine, best)}")
    yield tile("regret", brief(certificate.regret.upper), "in log-wealth")
    promise = certificate.theorem
    if promise is not None:
        most = "an assumption failed" if promise.failed else ""
        if promise.bound is not None:
            part = part_of_bound(promise.tightness)
            used = f", {part} used" if part else ""
            most = f"{subject(promise)} at most {brief(promise.bound)}{used}"
        mark = "open" if promise.holds is None and promise.bound is not None else ""
        mood = verdict_of(certificate).mood
        yield tile("bound", mark or MARKS[promise.holds], most, mood)


def rounds_of(outcome: Outcome) -> str:
    """Say what the rounds of a chart are, with the dates at their ends where there are any."""
    if outcome.dates is None:
        return "rounds"
    return f"rounds, from {outcome.dates[0]} to {outcome.dates[1]}"


def wealth_chart(outcome: Outcome) -> Html:
    """Return the logarithms of wealth as they went."""
    curves = outcome.curves
    series = [Series(outcome.name, curves.strategy, "learner")]
    if outcome.asset is not None:
        series.append(Series(f"best asset, {outcome.asset}", curves.asset, "constant"))
    series.append(Series("equal shares", curves.uniform, "level"))
    series.append(Series("best constant shares", curves.rebalanced, "hindsight"))
    words = (
        "The natural logarithm of what 1 has become: 0 is nothing gained, 2.3 is ten times as"
        " much. The best asset and the best shares are those of the whole time, known only at its"
        " end."
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
    """Return what the strategy held as it went."""
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
    words = "The share of each asset in the wealth, before the round; beside its name, the last."
    return figure_of("Shares", words, keys, drawn)


def best_section(outcome: Outcome) -> Html:
    """Return the best constant shares."""
    heaviest = outcome.heaviest[:HEAVIEST]
    gap = outcome.rebalanced.gap
    words = (
        f"The shares that, restored before every round, would have turned 1 into"
        f" {money(-outcome.rebalanced.loss)}: {shares_of(outcome)}. No constant shares have a"
        f" log-wealth above theirs by more than {gap:.2g}: proven."
    )
    return section(
        "The best constant shares",
        element(
            "figure",
            element("figcaption", element("h3", "In hindsight"), element("p", words)),
            diverging(heaviest),
            class_="chart",
        ),
    )


def made_section(outcome: Outcome) -> Html:
    """Return how the data were read, by whom, and how long it took."""
    data: list[tuple[str, str]] = [
        ("Data", element("div", *(element("div", shown(s)) for s in outcome.sources)))
    ]
    if outcome.dates is not None:
        data.append(("From – to", f"{outcome.dates[0]} – {outcome.dates[1]}"))
    changed = ", ".join(outcome.transforms) or "nothing was changed"
    data += [("Rounds", figure(outcome.rounds)), ("On the way", shown(changed))]
    run: list[tuple[str, str]] = [("Strategy", element("code", outcome.name))]
    run += [(name, shown(told(value))) for name, value in outcome.params.items()]
    run += [("Time", duration(outcome.seconds)), ("Version", f"noregret {outcome.version}")]
    columns = element("div", facts(data), facts(run), class_="columns")
    return section("How it was made", columns)
