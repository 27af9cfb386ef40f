"""Findings of ``auto``: the names and weights of its members, and a summary in words.

Members have a fixed order. The summary states which of them lead, whether the data drift, whether
recent outcomes help, and which features matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.auto.bank import Bank
from noregret.auto.settings import (
    KEEP,
    KEEP_ABOVE,
    KEEP_COMBINED,
    KEEP_FIRST,
    LABEL_STEPS,
    STEPS,
)

if TYPE_CHECKING:
    from noregret.auto.class_bank import ClassBank

Floats = NDArray[np.float64]
GUESSES, LONG, SHORT = "plain guesses", "long memory", "short memory"
STEADY, COMBINED, RECENT = "first order", "combinations", "recent outcomes"
TREES = "trees"
# The constant members that use recent outcomes begin with this.
LAST = "last outcome"
FREQUENCIES, ALL = "class frequencies", "combination of all members"
GROUPS = (LONG, SHORT, STEADY, TREES, COMBINED, RECENT, GUESSES)
# The groups in sentences, and what their members are.
NOUNS = {
    LONG: "long-memory filters",
    SHORT: "short-memory filters",
    STEADY: "first-order learners",
    TREES: "trees",
    COMBINED: "combinations of members",
    RECENT: "members that use recent outcomes",
    GUESSES: "plain guesses",
}
MEANINGS = {
    LONG: "filters over the last 10,000 rounds or all rounds",
    SHORT: "filters over the last 100 or 1,000 rounds",
    STEADY: "AdaGrad and diagonal filters",
    TREES: "a Mondrian forest, and boosted trees",
    COMBINED: "filters over the other members' predictions",
    RECENT: "members that also use the latest outcomes",
    GUESSES: "constants, and the last outcome",
}
FORMS = ("", ", clipped to the range", ", robust")
# Smaller relative differences in loss, and leads over a smaller share of rounds, are not mentioned.
MIN_DIFFERENCE, MIN_LEAD_SHARE = 0.01, 0.04
# Differences below this, over the root of the rounds, occur by chance in independent rows: 95% of
# 120 such games of 100 to 5,000 rows were below.
NOISE = 2.5
# Most features named, the least influence of each, and the rounds needed for more than the weights.
MAX_FEATURES, MIN_FEATURE_SHARE, MIN_ROUNDS = 5, 0.005, 30


def memory_of(keep: float) -> str:
    """Return the memory of a filter in words, from the share of the past kept per round."""
    return "all rounds" if keep == 1 else f"{round(1 / (1 - keep)):,} rounds"


def roll_of(bank: Bank | ClassBank) -> list[tuple[str, str]]:
    """Return the name and the group of every member, in order."""
    if not isinstance(bank, Bank):
        return class_roll(bank)
    labels = bank.loss.labels
    named = [
        (f"filter over {memory_of(keep)}{form}", LONG if keep > 0.999 else SHORT)
        for form in (FORMS[:1] if labels else FORMS)
        for keep in KEEP
    ]
    named += [(f"adagrad, rate {step:g}", STEADY) for step in (LABEL_STEPS if labels else STEPS)]
    named += [(f"diagonal filter over {memory_of(keep)}", STEADY) for keep in KEEP_FIRST]
    named += [("forest", TREES)] * bank.trees
    named += [("running mean", GUESSES)] + [("even odds", GUESSES)] * labels
    named += [(f"combination over {memory_of(keep)}", COMBINED) for keep in KEEP_ABOVE]
    named += [("running mean, unclipped", GUESSES)] * (bank.edition > 1 and not labels)
    if bank.members.forward is not None:
        named += [("forward filter over all rounds", LONG)]
    if bank.members.boosted is not None:
        named += [("boosted trees", TREES)]
    if bank.recent:
        named += [(f"filter with outcomes over {memory_of(keep)}", RECENT) for keep in KEEP]
        named += [(LAST, GUESSES)] + [(f"{LAST} a period before", GUESSES)] * (bank.edition > 1)
        named += [(f"corrected mixture over {memory_of(keep)}", RECENT) for keep in KEEP_ABOVE]
        named += [(f"{ALL} over {memory_of(keep)}", RECENT) for keep in KEEP_ABOVE]
    return named


def class_roll(bank: ClassBank) -> list[tuple[str, str]]:
    """Return the name and the group of every member over several classes."""
    named = [(f"filter over {memory_of(keep)}", LONG if keep > 0.999 else SHORT) for keep in KEEP]
    named += [(f"adagrad, rate {step:g}", STEADY) for step in LABEL_STEPS]
    named += [(f"diagonal filter over {memory_of(keep)}", STEADY) for keep in KEEP_FIRST]
    named += [(FREQUENCIES, GUESSES), ("even odds", GUESSES)]
    named += [(f"combination over {memory_of(keep)}", COMBINED) for keep in KEEP_COMBINED]
    if bank.recent:
        named += [(f"latest {FREQUENCIES}", RECENT), (f"{FREQUENCIES} after the last", RECENT)]
        named += [(f"{ALL} over {memory_of(keep)}", RECENT) for keep in KEEP_COMBINED]
    named += [("forest", TREES)] * bank.trees
    return named


class Member(NamedTuple):
    """A learner of the bank: its weight in the next prediction, and its cumulative loss."""

    name: str
    group: str
    weight: float
    loss: float


def members_of(bank: Bank | ClassBank) -> list[Member]:
    """Return every member, in the order of ``history``."""
    told = zip(roll_of(bank), bank.member_weights(), bank.member_losses(), strict=False)
    return [Member(*who, float(weight), float(loss)) for who, weight, loss in told]


def sees_outcomes(bank: Bank | ClassBank) -> NDArray[np.bool_]:
    """Return a mask of the members that use recent outcomes, including the last outcome itself."""
    return np.array([group == RECENT or name.startswith(LAST) for name, group in roll_of(bank)])


def seeing_weight(bank: Bank | ClassBank) -> float:
    """Return the total weight of the members that use recent outcomes."""
    return float(bank.member_weights()[sees_outcomes(bank)].sum())


def grouped(bank: Bank | ClassBank, weights: Floats) -> dict[str, Any]:
    """Return weights by group, largest first: one number each, or one column over time."""
    groups = [group for _, group in roll_of(bank)]
    sums = {g: weights[..., [own == g for own in groups]].sum(axis=-1) for g in GROUPS}
    return dict(sorted(sums.items(), key=lambda item: -np.mean(item[1])))


def findings_of(bank: Bank | ClassBank, name_of: Callable[[int], str]) -> dict[str, Any]:
    """Return the findings of a bank as plain values; ``name_of`` maps positions to names."""
    names, weights = [name for name, _ in roll_of(bank)], bank.member_weights()
    paid = bank.member_losses()[: len(names)]
    # The loss of the first round is the same for all, and may exceed all others together.
    losses = np.maximum(0.0, paid - bank.first_loss)
    leader = int(np.argmax(weights))
    influence = bank.influence()
    moving = np.flatnonzero(influence)
    top = moving[np.argsort(-influence[moving], kind="stable")[:MAX_FEATURES]]
    whole = float(influence.sum()) or 1.0
    return {
        "leader": names[leader],
        "leader_weight": float(weights[leader]),
        "groups": {group: float(share) for group, share in grouped(bank, weights).items()},
        "members": [
            {
                "name": names[k],
                "weight": float(weights[k]),
                "mean_loss": float(paid[k]) / max(1, bank.played),
            }
            for k in np.argsort(-weights, kind="stable")[:8]
        ],
        "drift": drift_of(bank, losses),
        "recent_gain": recent_gain(bank, losses),
        "features": [
            {"name": name_of(int(j)), "share": float(influence[j]) / whole}
            for j in top
            if influence[j] > MIN_FEATURE_SHARE * whole
        ],
    }


def drift_of(bank: Bank | ClassBank, losses: Floats) -> float:
    """Return the share of its loss that the filter without forgetting would save by forgetting."""
    filters = losses[: len(KEEP)] if bank.full else losses[len(losses) :]
    if not len(filters):
        return 0.0
    return 1 - float(filters.min()) / float(filters[0]) if filters[0] > 0 else 0.0


def recent_gain(bank: Bank | ClassBank, losses: Floats) -> float | None:
    """Return the share of the loss that recent outcomes save; None if no member uses them.

    This compares the best member that uses them with the best that does not. The latter learn
    nearly the same whether others use outcomes or not.
    """
    if not bank.recent:
        return None
    sees = sees_outcomes(bank)
    without = float(losses[~sees].min())
    return 1 - float(losses[sees].min()) / without if without > 0 else 0.0


def caveat_of(bank: Bank | ClassBank) -> str | None:
    """Return a caveat if predictions depend on recent outcomes."""
    share = seeing_weight(bank)
    if share < 10 * MIN_DIFFERENCE:
        return None
    return (
        f"{share:.0%} of the weight is on members that use recent outcomes, so predictions assume"
        " that each row directly follows the last learned row; if it does not, train with"
        " recent=false"
    )


def words_of(bank: Bank | ClassBank, name_of: Callable[[int], str]) -> str:
    """Return the findings of a bank in a few sentences."""
    if not bank.played:
        return "Nothing has been learned yet."
    found = findings_of(bank, name_of)
    shares = [(group, share) for group, share in found["groups"].items() if share >= 0.01]
    led = [f"{NOUNS[group]} ({share:.0%})" for group, share in shares]
    told = [
        f"Most weight is on {', then '.join(led[:2])}; the largest single weight is on"
        f" “{found['leader']}” ({found['leader_weight']:.0%}).",
        *changes(bank),
    ]
    drift, gain = found["drift"], found["recent_gain"]
    if bank.played < MIN_ROUNDS:
        told.append("There are too few rows to say more.")
        return " ".join(told)
    least = max(MIN_DIFFERENCE, NOISE / math.sqrt(bank.played))  # of what is not by chance
    if drift > least:
        told.append(
            f"The data are drifting: forgetting old rows reduces a filter's loss by {drift:.0%}."
        )
    elif bank.full:
        told.append("No notable drift: the filter without forgetting does as well as any.")
    if gain is not None and gain > least:
        told.append(f"Recent outcomes help: they reduce the loss by {gain:.0%}.")
    elif gain is not None and seeing_weight(bank) >= 10 * MIN_DIFFERENCE:
        told.append("Recent outcomes help little, if at all.")
    elif gain is not None:
        told.append("Recent outcomes do not help to predict the next one.")
    if season := getattr(bank, "season", 0):
        told.append(f"Outcomes resemble those of {season} rounds before.")
    if bank.delay:
        latest = f"{bank.delay:,} outcomes were" if bank.delay > 1 else "outcome was"
        told.append(
            f"Losses are those of predictions made while the latest {latest} still unknown."
        )
    if found["features"]:
        named = ", ".join(f"{f['name']} ({f['share']:.0%})" for f in found["features"])
        told.append(f"Most influential features: {named}.")
    return " ".join(told)


def changes(bank: Bank | ClassBank) -> list[str]:
    """Return the groups that led before the current leader."""
    rounds, weights = bank.history()
    groups = [group for _, group in roll_of(bank)]
    table = np.stack([weights[:, [own == g for own in groups]].sum(axis=1) for g in GROUPS])
    leaders = table.argmax(axis=0)
    starts = [0, *(np.flatnonzero(np.diff(leaders)) + 1).tolist()] if len(leaders) else []
    ends = [*starts[1:], len(leaders)]
    spans = [
        (GROUPS[leaders[start]], int(rounds[start]))
        for start, end in zip(starts, ends, strict=True)
        if end - start >= MIN_LEAD_SHARE * len(leaders)
    ]
    lasting = [span for k, span in enumerate(spans) if k == 0 or span[0] != spans[k - 1][0]]
    if len(lasting) < 2:
        return []
    told = [f"{NOUNS[group]} from round {start:,}" for group, start in lasting[-3:]]
    return [f"Leading over time: {', then '.join(told)}."]
