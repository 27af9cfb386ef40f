"""Write the README's table against peers, from docs/auto.md and benchmarks/results.md.

    python tools/peers_table.py

``tools/quality_table.py`` and ``python -m benchmarks`` measure the figures that it takes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks._pages import fill, table  # noqa: E402

README = ROOT / "README.md"
# What the README says, and the row of benchmarks/results.md that has the figures.
MEASURED = (
    ("Predict and learn one dict of 20 numbers", "dict of 20, predict_one + learn_one"),
    (
        "Learn from 624 MB of Vowpal Wabbit text, `widrow-hoff`",
        "624 MB of VW text, whole command, learning only",
    ),
    (
        "Learn from 128 MB of Vowpal Wabbit text, `auto` with linear members",
        "auto, 128 MB of VW text, 20 dense features, linear members, learning only",
    ),
    (
        "The same, `auto` as by default, with trees",
        "auto, 128 MB of VW text, 20 dense features, all members, learning only",
    ),
)
CERTIFIED = "certificate of a game over the 20,460 bundled flights"


def peers() -> str:
    """Return the table."""
    quality = (ROOT / "docs" / "auto.md").read_text(encoding="utf-8")
    found = re.search(
        r"Of (\d+) sets.*?every default on (\d+).*?anything tuned on (\d+)", quality, re.DOTALL
    )
    if found is None:
        raise SystemExit("docs/auto.md does not say on how many sets auto is as good as its peers")
    sets, default, tuned = found.groups()
    results = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in results.splitlines() if "|" in line]
    cells = {line[0]: line[1:] for line in lines}
    best = "best of Vowpal Wabbit, River and scikit-learn"
    rows = [
        [
            "Data sets where `auto` is at least as good",
            "untuned",
            f"{best}, untuned",
            f"{default} of {sets}",
        ],
        [
            "Data sets where `auto` is at least as good as tuned peers",
            "untuned",
            f"{best}, tuned in hindsight",
            f"{tuned} of {sets}",
        ],
    ]
    rows += [[words, *cells[name][:3]] for words, name in MEASURED]
    none = "none of them has certificates"
    rows.append(["Certificate for 20,460 flights", cells[CERTIFIED][0], none, ""])
    return table(["", "noregret", "peer", "result"], rows)


if __name__ == "__main__":
    fill(README, "peers", peers())
