"""Learning from a text file with `auto`, the whole command, against Vowpal Wabbit as it comes.

Both get the file, and neither a rate nor a loss. Vowpal Wabbit runs one linear learner, `auto` a
bank of them and the master that mixes them: linear ones only (`members=linear`), which is what the
targets are about, and all, trees included, as by default. The errors stand beside the times: each
prediction is made before its row is learned from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import vowpalwabbit  # noqa: F401  (it runs in processes of its own, but must be there)

import noregret
from benchmarks._command import LEARN_ONLY, QUIET, missing, noregret_run, python, runs
from benchmarks._files import dense_text, vw_text
from benchmarks._harness import Row, duration, faster, race, skipped, three_digits
from benchmarks.text_files import once, our_loss, peer_loss

PACKAGES = ("vowpalwabbit",)


def run(quick: bool) -> Iterator[Row]:
    reason = missing() or ("" if hasattr(noregret, "Auto") else "there is no noregret.Auto yet")
    if reason:
        yield skipped("auto on text files", reason)
        return
    less = 50 if quick else 1
    texts = {
        "20 dense features": (dense_text(500_000 // less, 20), 1.0),
        "100 dense features": (dense_text(150_000 // less, 100), 1.0),
        "30 of 50,000 features": (vw_text(200_000 // less), 0.5),
    }
    for what, (path, target) in texts.items():
        yield from compared(what, path, target)


def compared(what: str, path: Path, target: float) -> Iterator[Row]:
    """Time learning alone, which is what the peer does, and with hindsight and certificate."""
    work = f"auto, {path.stat().st_size / 1e6:.0f} MB of VW text, {what}"
    default = noregret_run(path, "--format", "vw", "--learner", "auto")
    linear = [*default, "-p", "members=linear"]
    peer = python("-m", "vowpalwabbit", "-d", path)
    error = f"mean square error {three_digits(peer_loss(peer))}"
    commands = [[*command, QUIET, LEARN_ONLY] for command in (linear, default)]
    theirs, *learning = race(*runs([*peer, "--quiet"], *commands), seconds=0)
    beside = f"Vowpal Wabbit {duration(theirs)}, {error}"
    rows = [(f"{work}, linear members", linear, target), (f"{work}, all members", default, None)]
    for (name, command, aim), took in zip(rows, learning, strict=True):
        figure = f"{duration(took)}, mean square error {three_digits(our_loss(command))}"
        yield faster(f"{name}, learning only", figure, beside, theirs / took, aim)
    certified = once([*linear, QUIET])
    name = f"{work}, linear members, with certificate, once"
    yield faster(name, duration(certified), beside, theirs / certified)
