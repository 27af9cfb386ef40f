"""Text and HTML representations: the only place where a lower package imports the report.

Learners, games and certificates show a card in a notebook and text in a terminal. The report is
imported when the first of them is shown. ``app.report.FORMS`` lists the forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


def as_text(form: str, thing: object) -> str:
    """Return an object as plain text or HTML, in the named form."""
    from noregret.app.report import renderer

    text: str = renderer(form)(thing)
    return text


def as_renderable(form: str, thing: object) -> RenderableType:
    """Return an object for Rich to print, in the named form."""
    from noregret.app.report import renderer

    found: RenderableType = renderer(form)(thing)
    return found
