"""Reports: results as text for a terminal, as a card in a notebook, as an HTML page, as JSON.

``page`` and ``charts`` draw; each other folder renders one kind of result.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

# Module and function that render each form.
FORMS = {
    "certificate card": ("certificate.html", "card"),
    "certificate panel": ("certificate.text", "panel"),
    "certificate text": ("certificate.text", "plain_text"),
    "echo card": ("echo.card", "echo_card"),
    "echo json": ("echo.json", "as_dict"),
    "echo page": ("echo.html", "page"),
    "echo text": ("echo.text", "summary"),
    "experts card": ("learner.html", "experts_card"),
    "game card": ("learner.html", "game_card"),
    "learner card": ("learner.html", "learner_card"),
    "mix json": ("mix.json", "as_dict"),
    "mix page": ("mix.html", "page"),
    "mix text": ("mix.text", "summary"),
    "portfolio json": ("portfolio.json", "as_dict"),
    "portfolio page": ("portfolio.html", "page"),
    "portfolio text": ("portfolio.text", "summary"),
    "quantiles json": ("mix.quantiles", "as_dict"),
    "quantiles text": ("mix.quantiles", "summary"),
    "run json": ("run.json", "as_dict"),
    "run page": ("run.html", "page"),
    "run text": ("run.text", "summary"),
    "tournament json": ("tournament.text", "as_dict"),
    "tournament page": ("mix.html", "page"),
    "tournament text": ("tournament.text", "summary"),
    "verification card": ("certificate.verification_html", "verification_card"),
    "verification table": ("certificate.verification_text", "table"),
    "verification text": ("certificate.verification_text", "plain_text"),
}


def renderer(form: str) -> Callable[[Any], Any]:
    """Return the function that renders a form; its module is imported on first use."""
    module, name = FORMS[form]
    found: Callable[[Any], Any] = getattr(import_module(f"{__name__}.{module}"), name)
    return found
