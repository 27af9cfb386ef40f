"""The role ``{course}``: a link to the page it is on as a notebook, which is written with the site.

Cells of code are the page's blocks of Python; the rest is text. Nothing is run: readers do that.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

CODE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[.*\n?.*\)\n", re.MULTILINE)
FOLDED = re.compile(r"^:::\{dropdown\} ([^\n]*)\n(.*?)^:::\n", re.MULTILINE | re.DOTALL)
ROLE, FOLDER = "{course}`notebook`", "_static"


def cell(kind: str, text: str) -> dict[str, Any]:
    """Return a cell of a notebook."""
    found: dict[str, Any] = {
        "cell_type": kind,
        "metadata": {},
        "source": text.strip().splitlines(keepends=True),
    }
    return found | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(page: str) -> dict[str, Any]:
    """Return a page as a notebook."""
    page = PICTURE.sub("", page.replace(ROLE, ""))
    page = FOLDED.sub(r"<details><summary>\1</summary>\n\n\2\n</details>\n", page)
    page = re.sub(r"\]\([^h][^)]*\)", "]", page)  # links within the site
    cells, end = [], 0
    for block in CODE.finditer(page):
        if before := page[end : block.start()].strip():
            cells.append(cell("markdown", before))
        cells.append(cell("code", block[1]))
        end = block.end()
    if rest := page[end:].strip():
        cells.append(cell("markdown", rest))
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


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks of all pages that link to theirs."""
    if error is not None or app.builder.format != "html":
        return
    for page in sorted(Path(app.srcdir).glob("course-*.md")):
        text = page.read_text(encoding="utf-8")
        if ROLE in text:
            place = Path(app.outdir, FOLDER, f"{page.stem}.ipynb")
            place.write_text(
                json.dumps(notebook(text), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the role."""
    app.add_role("course", link)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True}
