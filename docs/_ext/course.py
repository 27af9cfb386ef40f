"""The role ``{course}``: a link to the page it is on as a notebook, which is written with the site.

Cells of code are the page's blocks of Python; the rest is text, with its pictures. The code runs
when the site is built, and the notebook has what it printed. That is kept until the code or the
package changes. A page that shows anything else is reported.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging

import noregret

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

# A block of Python, and what the page says that it prints.
CODE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"(?<=\]\()_static/([\w-]+\.svg)(?=\))")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")  # within the site
FOLDED = re.compile(r"^:::\{dropdown\} ([^\n]*)\n(.*?)^:::\n", re.MULTILINE | re.DOTALL)
ROLE, FOLDER = "{course}`notebook`", "_static"

logger = logging.getLogger(__name__)


def run(blocks: list[str]) -> list[str]:
    """Run blocks of code one after the other, and return what each prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    for block in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "<cell>", "exec"), names)
        printed.append(out.getvalue())
    return printed


def package() -> str:
    """Return what changes whenever a file of the package does."""
    place = Path(noregret.__file__).parent
    found = [(path, path.stat()) for path in sorted(place.rglob("*")) if path.suffix != ".pyc"]
    listed = [(str(path), about.st_size, about.st_mtime_ns) for path, about in found]
    return json.dumps([listed, sys.version])


def printed_by(blocks: list[str], cache: Path) -> list[str]:
    """Return what blocks of code print, from an earlier run if nothing has changed since."""
    text = json.dumps([blocks, package()])
    kept = cache / f"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}.json"
    if kept.exists():
        earlier: list[str] = json.loads(kept.read_text(encoding="utf-8"))
        return earlier
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve())],
            cwd=folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            input=json.dumps(blocks),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    cache.mkdir(parents=True, exist_ok=True)
    kept.write_text(done.stdout, encoding="utf-8")
    printed: list[str] = json.loads(done.stdout)
    return printed


def cell(text: str, printed: str | None = None) -> dict[str, Any]:
    """Return a cell of a notebook: text, or code with what it printed."""
    if printed is None:
        text = LINK.sub(r"\1", text)
    source = text.strip().splitlines(keepends=True)
    if printed is None:
        found: dict[str, Any] = {"cell_type": "markdown", "metadata": {}, "source": source}
        if names := PICTURE.findall(text):
            static = Path(__file__).parents[1] / FOLDER
            found["attachments"] = {
                name: {"image/svg+xml": base64.b64encode((static / name).read_bytes()).decode()}
                for name in names
            }
            found["source"] = [PICTURE.sub(r"attachment:\1", line) for line in source]
        return found
    shown = printed.splitlines(keepends=True)
    outputs = [{"name": "stdout", "output_type": "stream", "text": shown}] if shown else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": outputs,
        "source": source,
    }


def notebook(page: str, printed: list[str] | None = None) -> dict[str, Any]:
    """Return a page as a notebook, with what its code printed: by default, as the page shows it."""
    page = page.replace(ROLE, "")
    page = FOLDED.sub(r"<details><summary>\1</summary>\n\n\2\n</details>\n", page)
    cells, end = [], 0
    for k, block in enumerate(CODE.finditer(page)):
        if before := page[end : block.start()].strip():
            cells.append(cell(before))
        cells.append(cell(block[1], (block[2] or "") if printed is None else printed[k]))
        cells[-1]["execution_count"] = k + 1
        end = block.end()
    if rest := page[end:].strip():
        cells.append(cell(rest))
    for k, each in enumerate(cells):
        each["id"] = f"cell-{k}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def link(_name: str, _raw: str, text: str, *_more: Any) -> tuple[list[nodes.Node], list[Any]]:
    """Return a link to the notebook of this page."""
    line = _more[1] if len(_more) > 1 else None
    document = line.document.settings.env.docname if line is not None else ""
    target = f"{FOLDER}/{document}.ipynb"
    return [nodes.reference("", f"Download as a {text}", refuri=target)], []


def executed(name: str, text: str, cache: Path) -> list[str]:
    """Run a page's code, report where it prints something else than the page shows, return it."""
    blocks = CODE.findall(text)
    try:
        printed = printed_by([code for code, _ in blocks], cache)
    except RuntimeError as problem:
        logger.warning("%s: its code stops with %s", name, problem)
        return [shown for _, shown in blocks]
    for (code, shown), told in zip(blocks, printed, strict=True):
        if told != shown:
            first = code.strip().splitlines()[0]
            logger.warning("%s: the block %r prints %r, not %r", name, first, told, shown)
    return printed


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks of all pages that link to theirs."""
    if error is not None or app.builder.format != "html":
        return
    plain = app.config.html_theme == "basic"  # for tests, which run the pages apart
    for page in sorted(Path(app.srcdir).glob("course-*.md")):
        text = page.read_text(encoding="utf-8")
        if ROLE in text:
            printed = None if plain else executed(page.name, text, Path(app.doctreedir, "executed"))
            place = Path(app.outdir, FOLDER, f"{page.stem}.ipynb")
            made = json.dumps(notebook(text, printed), indent=1, ensure_ascii=False)
            place.write_text(f"{made}\n", encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the role."""
    app.add_role("course", link)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True}


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
