"""Objects as they show themselves: the one place where a lower package asks the report.

Learners, games and certificates have a card in a notebook and a text in a terminal, but know
nothing of pages: the report is imported when the first of them is shown. ``app.report.FORMS``
lists the forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


def as_text(form: str, thing: object) -> str:
    """Return an object as plain text or HTML, in a form of that name."""
    from noregret.app.report import renderer

    text: str = renderer(form)(thing)
    return text


def as_renderable(form: str, thing: object) -> RenderableType:
    """Return an object for Rich to print, in a form of that name."""
    from noregret.app.report import renderer

    found: RenderableType = renderer(form)(thing)
    return found
