"""``noregret learners``: every learner by name."""

from __future__ import annotations

import inspect

from noregret.cli.screen import screen, show
from noregret.registry import all_learners


def learners() -> None:
    """List the learners, with the theorems they answer for."""
    console = screen()
    for name, learner in all_learners().items():
        show(console, name, style="bold")
        about = inspect.cleandoc(learner.__doc__ or "").split("\n\n")[0]
        show(console, " ".join(about.split()).replace("``", ""), indent=4)
        if learner.theorems:
            promised = ", ".join(theorem.name for theorem in learner.theorems)
            show(console, f"theorems: {promised}", indent=4, hang=4)
        console.print()
    show(console, '‘noregret theorems NAME’ explains a theorem; noregret.make("NAME") builds one.')
