"""The words of the site: spelled right, and one spelling of English throughout, the British one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OTHERS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in OTHERS)]
# Names: of a loss, of a class, of an airport.
ALLOWED = "mape,AtMost,MKE"
AMERICAN = re.compile(
    r"\b(?:\w*(?:colors?|behaviors?|neighbors?|favorites?|centers?|centered|labeled|canceled)"
    r"|\w{3,}(?:ize|izes|ized|izing|ization)s?)\b",
    re.IGNORECASE,
)
SAME_IN_BRITAIN = {"size", "sizes", "sized", "resize", "prize", "seize", "capsize"}


def test_every_word_is_spelled_right() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib", f"--ignore-words-list={ALLOWED}", *PAGES],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_spelling_is_british(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|https?://\S+", " ", text, flags=re.DOTALL)
    found = {word.lower() for word in AMERICAN.findall(prose)} - SAME_IN_BRITAIN
    assert not found
