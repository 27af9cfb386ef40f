"""Run what the pages of the documentation show, and write down what it prints now.

    python tools/shown.py docs/auto.md README.md …     # or without names: every page

A block of Python, or of commands, that is directly followed by a block of text prints that text;
tests compare the two. Where they differ by more than time and rounding, this writes the new text.
Read what changed before you commit it: the words around a figure have to be true as well.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.docs.test_docs import BLOCK, printed_by, steady  # noqa: E402

MORE = "\n…\n"


def printed(language: str, code: str, names: dict[str, Any]) -> str:
    """Return what a block prints."""
    if language == "sh":
        return printed_by(code, Path.cwd())
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "page", "exec"), names)
    return out.getvalue()


def rewritten(page: Path) -> str:
    """Return a page with what its blocks print now; commands that are only shown are not run."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def now(block: re.Match[str]) -> str:
        language, code, shown = block.groups()
        if language == "sh" and shown is None:
            return block[0]
        text = printed(language, code, names)
        if shown is not None and shown.endswith(MORE):  # the first lines only
            text = "\n".join(text.splitlines()[: shown.count("\n") - 1]) + MORE
        if shown is None or steady(text) == steady(shown):
            return block[0]
        tidy = re.sub(r" +$", "", text, flags=re.MULTILINE)
        return f"```{language}\n{code}```\n\n```text\n{tidy}```\n"

    return BLOCK.sub(now, page.read_text(encoding="utf-8"))


def main(pages: list[Path]) -> None:
    """Bring pages up to date, each in a folder of its own; the README in the repository's."""
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(ROOT if page.parent == ROOT else folder)
            text = rewritten(page)
            os.chdir(ROOT)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: changed")


if __name__ == "__main__":
    named = [Path(name).resolve() for name in sys.argv[1:]]
    main(named or sorted((ROOT / "docs").glob("*.md")))
