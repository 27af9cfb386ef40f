"""Set every adversary on its learners, and write down how close to the bounds they came.

    python tools/attack.py

writes ``src/noregret/adversaries/tightness.json``, which is shipped, and ``docs/attacks.md``.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from noregret.adversaries import Adversary, all_adversaries
from noregret.adversaries.table import FILE, Entry, as_json, carry_out_all
from noregret.proof.theorems import averaging
from noregret.proof.theorems.registry import all_theorems
from noregret.proof.theorems.shards import ENDING

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "src" / "noregret" / "adversaries" / FILE
PAGE = ROOT / "docs" / "attacks.md"

OPENING = """\
# Attacks on the theorems

<!-- Written by tools/attack.py: change it there. -->

A theorem holds on every sequence that meets its assumptions, so to measure its slack, play against
the learner. An adversary sees the prediction before it chooses the outcome. Each of these is a
public generator; with `noregret.play`, it sees the current learner in every round:

```python
from noregret import WidrowHoff, play
from noregret.adversaries import sign_flip

learner = WidrowHoff(rate=0.1)
game = play(learner, sign_flip(learner, rounds=2000))
promise = game.certificate().theorem
print(f"loss {promise.measured:.1f}, bound {promise.bound:.1f}")
```

```text
loss 2216.0, bound 2222.2
```

The table shows the strongest attack on each theorem that has one, and the measured quantity
divided by the bound. A ratio of 1.000 means that the theorem cannot be improved; a smaller one,
that the theorem or the adversary can.

::::{list-table}
:header-rows: 1
:widths: 24 20 10 13 13 20
:class: stacks

* - Theorem
  - Adversary
  - Rounds
  - Measured
  - Bound
  - Measured / bound
"""


def page(entries: list[Entry]) -> str:
    """Write the page: the table, the adversaries, and what was not attacked."""
    text = OPENING + "\n".join(row(entry) for entry in entries) + "\n::::\n"
    text += "\n## The adversaries\n"
    for adversary in all_adversaries().values():
        text += "\n" + section(adversary, [e for e in entries if e.adversary == adversary.name])
    attacked = {e.theorem for e in entries}
    spared = [(t, of) for t, of in all_theorems().values() if t.name not in attacked]
    by_chance = linked([theorem.name for theorem, _ in spared if theorem.quantity == "risk"])
    text += (
        f"\n## Not attacked\n\n{by_chance}: there the examples are random, and no"
        " adversary may choose them. The tests draw many samples from populations whose risk is"
        " known.\n"
    )
    sharded = [t.name for t, of in spared if t.name.endswith(ENDING)]
    text += (
        f"\n{linked(sharded)}: an adversary chooses the shards too, so it is not one of these"
        " generators. `tests/scale/test_shards.py` has two. One cuts the stream after every row, as"
        " each learner begins from nothing: widrow-hoff then pays exactly the bound, and vaw, with"
        " a penalty of 100, more than 0.9999 of it. The other flips signs within shards, and"
        " reaches more than 0.3 of their bounds. `tests/scale/test_shard_theorems.py` compares all"
        " with the learners' own theorems, shard by shard.\n"
    )
    left = [t.name for t, of in spared if of and t.quantity != "risk" and t.name not in sharded]
    if others := linked(left):
        text += f"\n{others}: no adversary has been written.\n"
    return text


def linked(names: list[str]) -> str:
    """Write links to theorems."""
    links = [linked_theorem(name) for name in names]
    return " and ".join([", ".join(links[:-1]), links[-1]] if len(links) > 1 else links)


def linked_theorem(name: str) -> str:
    """Write a link to the source file of a theorem, which is a link to its page on the site."""
    _, learner = all_theorems()[name]
    module = learner.__module__ if learner else averaging.__name__
    return f"[{name}](../src/{module.replace('.', '/')}.py#theorem-{name})"


def row(entry: Entry) -> str:
    """Write a row of the table."""
    bound = "none" if entry.bound is None else f"{entry.bound:.6g}"
    ratio = "" if entry.ratio is None else f"{entry.ratio:.3f}"
    cells = (
        linked_theorem(entry.theorem),
        f"`{entry.adversary}`",
        f"{entry.rounds:,}",
        f"{entry.measured:.6g}",
        bound,
        ratio,
    )
    return "* - " + "\n  - ".join(cells)


def section(adversary: Adversary, entries: list[Entry]) -> str:
    """Write what an adversary does, and what it reached."""
    told = [
        part
        for part in (adversary.play.__doc__ or "").split("\n\n")[:2]
        if not part.lstrip().startswith("Parameters")
    ]
    prose = "\n\n".join(" ".join(part.split()).replace("``", "`") for part in told)
    lines = [
        f"- {linked_theorem(entry.theorem)}, {called(entry.params)}:"
        f" {entry.summary}. {entry.remark}"
        for entry in entries
    ]
    opening = f"### {adversary.name}\n\n`noregret.adversaries.{signature(adversary)}`"
    return f"{opening}\n\n{prose}\n\n" + "\n".join(lines) + "\n"


def signature(adversary: Adversary) -> str:
    """Write how an adversary is called."""
    takes = inspect.signature(adversary.play).parameters.values()
    shown = ", ".join(f"{p.name}{default(p)}" for p in takes)
    return f"{adversary.play.__name__}({shown})"


def default(parameter: inspect.Parameter) -> str:
    """Write what a parameter is if not given."""
    return "" if parameter.default is inspect.Parameter.empty else f"={parameter.default!r}"


def called(params: object) -> str:
    """Write the parameters of a learner."""
    assert isinstance(params, dict)
    shown = ", ".join(
        f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in params.items()
    )
    return f"`{shown}`" if shown else "default parameters"


if __name__ == "__main__":
    found = list(carry_out_all())
    FIGURES.write_text(as_json(found), encoding="utf-8")
    PAGE.write_text(page(found), encoding="utf-8")
    for entry in found:
        print(f"{entry.theorem:28} {entry.adversary:14} {entry.summary}")
