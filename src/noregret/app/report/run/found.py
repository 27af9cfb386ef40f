"""The page's section on what the learner found: sentences, weights over time, its best members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noregret.app.report.charts.areas import STYLE as AREAS
from noregret.app.report.charts.areas import Layer, area_chart, look_of
from noregret.app.report.charts.plot import Axis, Key, figure_of
from noregret.app.report.charts.scale import Scale
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.roster import STYLE as ROSTER
from noregret.app.report.page.roster import bar, chip, heading
from noregret.app.report.page.sections import section, shown
from noregret.app.report.run.curves import plain_rounds
from noregret.app.report.run.words import standing_of
from noregret.base.numbers import MIN_SHOWN_WEIGHT, brief, clean, count, name_of, weight

if TYPE_CHECKING:
    from noregret.app.results.findings import Found, Member
    from noregret.app.results.run import Result

MAX_LISTED_MEMBERS, MAX_MEMBER_NAME = 8, 60
STYLE = (
    AREAS
    + ROSTER
    + """
.told { max-width: 46em; margin-bottom: 28px; }
.roster tr.whole th, .roster tr.whole td { font-weight: 700; }
.roster caption { text-align: left; margin: 34px 0 10px; }
.roster caption p { color: var(--soft); font-size: 0.88rem; margin: 2px 0 0; }
.roster .wide { width: 50%; }
.roster .group { color: var(--soft); }
@media (max-width: 560px) { .roster .group { display: none; } }
"""
)


def found_section(result: Result) -> Html:
    """Return the section; empty for learners without findings."""
    found = result.found
    if found is None:
        return Html("")
    told = [element("p", clean(part)) for part in found.words.split("\n") if part.strip()]
    return section(
        "What it found",
        element("div", *told, class_="told"),
        shares_chart(found) if len(found.rounds) else "",
        members_table(result, found) if found.members else "",
        features_table(found) if found.features else "",
    )


def layers(found: Found) -> list[Layer]:
    """Return the weights by group, in the learner's order, so that colours stay the same."""
    return [
        Layer(name, found.shares[:, k], look_of(k))
        for k, name in enumerate(found.groups)
        if found.shares[:, k].max(initial=0.0) >= MIN_SHOWN_WEIGHT
    ]


def shares_chart(found: Found) -> Html:
    """Return the weights of the groups of members over time."""
    rounds, drawn = found.rounds.astype(float), layers(found)
    now = dict.fromkeys(found.groups, 0.0)
    for member in found.members:
        now[member.group] = now.get(member.group, 0.0) + member.weight
    scale = plain_rounds(rounds)._replace(low=min(1.0, float(rounds[0])))
    ends = "; ".join(f"{one.name} {weight(now[one.name])}" for one in drawn)
    return figure_of(
        "Weights over time",
        f"Weights of the {count(len(found.members), 'learner')} that it combines (its members), by"
        f" kind. Percentages are the weights for the next round. {legend(drawn)}".strip(),
        [Key(one.look, one.name, weight(now[one.name])) for one in drawn],
        area_chart(
            Axis("rounds", scale, lines=False),
            Axis("weight", Scale(0.0, 1.0)),
            rounds,
            drawn,
            f"Weights over time; at the end: {ends}.",
        ),
    )


def legend(drawn: list[Layer]) -> str:
    """Explain the groups of members in one sentence; empty for groups of other learners."""
    from noregret.auto.findings import MEANINGS

    told = "; ".join(f"{one.name}: {MEANINGS[one.name]}" for one in drawn if one.name in MEANINGS)
    return f"{told[:1].upper()}{told[1:]}." if told else ""


def leading(found: Found) -> list[Member]:
    """Return the members with the largest weights."""
    return [member for member in found.members if member.weight >= MIN_SHOWN_WEIGHT][
        :MAX_LISTED_MEMBERS
    ]


def members_table(result: Result, found: Found) -> Html:
    """Return the members with the largest weights, each with its own mean loss."""
    looks = {name: look_of(k) for k, name in enumerate(found.groups)}
    best = min(found.members, key=lambda member: member.loss)
    shown, added = leading(found), ""
    if best not in shown:
        shown, added = [*shown, best], " and the one with the least loss"
    largest = max(member.weight for member in shown)
    rows = [member_row(member, looks[member.group], largest) for member in shown]
    own = standing_of(result).loss
    if own is not None:
        rows.append(whole_row(f"{name_of(result.name)} (all members combined)", own))
    names = [("", ""), ("kind", "group name"), ("mean loss on its own", "number")]
    names += [("weight now", "number"), ("", "bar")]
    words = f"The largest weights of {count(len(found.members), 'learner')}{added}."
    return element(
        "table",
        caption("Members", f"{words} Each member learns from every row, whatever its weight."),
        heading(names),
        element("tbody", *rows),
        class_="roster",
    )


def caption(title: str, words: str) -> Html:
    """Return the title of a table and a sentence about it."""
    return element("caption", element("h3", title), element("p", words))


def whole_row(name: str, loss: float) -> Html:
    """Return the row of the learner itself."""
    return element(
        "tr",
        element("th", name, scope="row"),
        element("td", class_="group name"),
        element("td", brief(loss), class_="number"),
        element("td", "100%", class_="number"),
        element("td", class_="bar"),
        class_="whole",
    )


def member_row(member: Member, look: str, largest: float) -> Html:
    """Return the row of a member."""
    return element(
        "tr",
        element("th", chip(look), name_of(member.name, MAX_MEMBER_NAME), scope="row"),
        element("td", name_of(member.group), class_="group name"),
        element("td", brief(member.loss), class_="number"),
        element("td", weight(member.weight), class_="number"),
        element("td", bar(member.weight / largest if largest else 0.0), class_=f"bar {look}"),
    )


def features_table(found: Found) -> Html:
    """Return the features that matter most."""
    rows = [
        element(
            "tr",
            element("th", shown(name, 60), scope="row"),
            element("td", weight(share), class_="number"),
            element("td", bar(share), class_="bar wide layer layer-1"),
        )
        for name, share in found.features
    ]
    return element(
        "table",
        caption(
            "Most influential features",
            "Each feature's share of the variation in the linear members' predictions.",
        ),
        element("tbody", *rows),
        class_="roster",
    )
