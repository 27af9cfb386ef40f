"""``noregret theorems``: list all theorems, or explain one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from noregret.app.cli.family_words import WORDS, path_of
from noregret.app.cli.latex_to_text import readable
from noregret.app.cli.options import argument
from noregret.app.commands.printing import heading, screen, show
from noregret.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from rich.console import Console

    from noregret.base.algorithm import Named
    from noregret.proof.theorems.theorem import Theorem

EXAMPLE = "noregret theorems widrow-hoff"
OPTIONS = [argument("name", "NAME", "The theorem to explain (default: list all).", required=False)]


def theorems(given: Namespace) -> None:
    """List the theorems that the algorithms satisfy, or explain one."""
    from noregret.proof.theorems.registry import find_theorem

    if given.name is None:
        everything(screen())
        return
    try:
        found = find_theorem(given.name)
    except ValueError as unknown:
        raise WrongUsage(f"{unknown} (see ‘noregret theorems’)") from None
    explain(screen(), *found)


def everything(console: Console) -> None:
    """List all theorems, by what they bound."""
    from noregret.proof.theorems.registry import all_theorems
    from noregret.proof.theorems.theorem import QUANTITIES

    known = all_theorems().values()
    groups = {
        f"Bounds on {words}": [(t, of) for t, of in known if t.quantity == about and not t.warning]
        for about, words in QUANTITIES.items()
    }
    groups["Warnings"] = [(t, of) for t, of in known if t.warning]
    for title, group in groups.items():
        if not group:
            continue
        show(console, title, style="bold")
        for theorem, learner in group:
            console.print()
            show(console, f"{theorem.name}, of {owner(learner)}", indent=2, hang=2)
            show(console, theorem.plain, indent=6, hang=2)
        console.print()
    show(console, "‘noregret theorems NAME’ explains a theorem.")


def explain(console: Console, theorem: Theorem, learner: type[Named] | None) -> None:
    """Explain a theorem."""
    from noregret.proof.theorems.theorem import QUANTITIES

    show(console, f"Theorem {theorem.name}", style="bold")
    what = QUANTITIES[theorem.quantity]
    console.print()
    show(
        console,
        f"A warning: for {owner(learner)}, {what} can grow like this."
        if theorem.warning
        else f"For {owner(learner)}, it bounds {what}.",
    )
    console.print()
    show(console, theorem.plain, indent=4, hang=2)
    if theorem.where:
        console.print()
        show(console, f"Here {readable(theorem.where)}.")
    heading(console, "Assumes")
    for assumption in theorem.assumptions:
        show(console, f"• {readable(assumption.statement)}", indent=2, hang=2)
    if theorem.tuning:
        heading(console, "Tuning")
        show(console, readable(theorem.tuning), indent=2)
    if theorem.tune is not None and learner is not None:
        show(console, how_to_tune(theorem, learner), indent=2, hang=2)
    heading(console, "Under attack")
    for line in attacked(theorem, learner):
        show(console, line, indent=2, hang=2)
    if not theorem.warning:
        heading(console, "Certificate")
        for line in how_to_certify(theorem, learner):
            show(console, line, indent=2, hang=4)
    heading(console, "Source")
    show(console, theorem.source, indent=2)


def owner(learner: type[Named] | None) -> str:
    """Return the name of a theorem's algorithm, with its family unless it is a learner."""
    if learner is None:
        return "every averaged learner"
    return learner.name if learner.family == "learners" else f"{learner.name} ({learner.family})"


def how_to_tune(theorem: Theorem, learner: type[Named]) -> str:
    """Write the call that builds a tuned learner."""
    from noregret.proof.theorems.tuning import takes_of

    takes = [part if "=" in part else f"{part}=…" for part in takes_of(theorem).split(", ")]
    if theorem is not next(other for other in learner.theorems if other.tune is not None):
        takes.insert(0, f'"{theorem.name}"')
    return f"{path_of(learner).removeprefix('noregret.')}.tuned({', '.join(takes)})"


def attacked(theorem: Theorem, learner: type[Named] | None) -> list[str]:
    """Return how tight a theorem was under attack."""
    from noregret.adversaries.table import of_theorem

    entries = of_theorem(theorem.name)
    if not entries and theorem.quantity == "risk":
        return ["It is about random examples, which no adversary may choose."]
    if not entries:
        return ["No adversary has been written for it."]
    return [f"{entry.adversary}: {entry.summary}. {entry.remark}" for entry in entries]


def how_to_certify(theorem: Theorem, learner: type[Named] | None) -> list[str]:
    """Write the calls that lead to a certificate."""
    asks = f", {theorem.asks}" if theorem.asks else ""
    play = WORDS["learners" if learner is None else learner.family].play
    who = "noregret.averaged(learner)" if learner is None else f"{path_of(learner)}(…)"
    return [
        re.sub(r"\(\w+,", f"({who},", play),
        f'game.certificate("{theorem.name}"{asks})',
    ]
