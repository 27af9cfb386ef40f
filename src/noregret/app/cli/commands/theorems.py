"""``noregret theorems``: what is promised, under which assumptions, and how tight that is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from noregret.adversaries.table import of_theorem
from noregret.app.cli.family_words import WORDS, path_of
from noregret.app.cli.latex_to_text import readable
from noregret.app.commands.screen import screen, show
from noregret.proof.theorems.registry import all_theorems, find_theorem
from noregret.proof.theorems.theorem import QUANTITIES, Theorem
from noregret.proof.theorems.tuning import takes_of

if TYPE_CHECKING:
    from noregret.base.algorithm import Named


def theorems(
    name: str = typer.Argument(None, help="The theorem to explain; without it, all are listed."),
) -> None:
    """List the theorems that learners answer for, or explain one."""
    console = screen()
    if name is None:
        everything(console)
        return
    try:
        found = find_theorem(name)
    except ValueError as unknown:
        raise typer.BadParameter(str(unknown)) from None
    explain(console, *found)


def everything(console: Console) -> None:
    """List all theorems, by what they bound."""
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
    show(console, "‘noregret theorems NAME’ explains one.")


def explain(console: Console, theorem: Theorem, learner: type[Named] | None) -> None:
    """Say all there is to say of a theorem."""
    show(console, f"Theorem {theorem.name}", style="bold")
    what = QUANTITIES[theorem.quantity]
    console.print()
    show(
        console,
        f"A warning: {what} of {owner(learner)} can grow like this."
        if theorem.warning
        else f"It bounds {what} of {owner(learner)}.",
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
    heading(console, "When attacked")
    for line in attacked(theorem, learner):
        show(console, line, indent=2, hang=2)
    if not theorem.warning:
        heading(console, "Certificate")
        for line in how_to_certify(theorem, learner):
            show(console, line, indent=2, hang=4)
    heading(console, "Source")
    show(console, theorem.source, indent=2)


def heading(console: Console, text: str) -> None:
    """Begin a part."""
    console.print()
    show(console, text, style="bold")


def owner(learner: type[Named] | None) -> str:
    """Name the learner that answers for a theorem, and its family unless it is the linear one."""
    if learner is None:
        return "every averaged learner"
    return learner.name if learner.family == "learners" else f"{learner.name} ({learner.family})"


def how_to_tune(theorem: Theorem, learner: type[Named]) -> str:
    """Write the call that builds a tuned learner."""
    takes = [part if "=" in part else f"{part}=…" for part in takes_of(theorem).split(", ")]
    if theorem is not next(other for other in learner.theorems if other.tune is not None):
        takes.insert(0, f'"{theorem.name}"')
    return f"{path_of(learner).removeprefix('noregret.')}.tuned({', '.join(takes)})"


def attacked(theorem: Theorem, learner: type[Named] | None) -> list[str]:
    """Say how tight a theorem was when attacked."""
    entries = of_theorem(theorem.name)
    if not entries and learner is not None and learner.family != "learners":
        return ["No adversary has been written for it."]
    if not entries:
        return ["No adversary may choose the examples, so nobody attacked it."]
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
