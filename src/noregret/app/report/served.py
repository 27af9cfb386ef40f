"""The report of a served model: one self-contained HTML page about its certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from noregret._version import __version__
from noregret.app.report.certificate.sheet import DIGITS, regret, sheet_of
from noregret.app.report.page.document import document, header, tile
from noregret.app.report.page.markup import Html, element, safe
from noregret.app.report.page.sections import bound_tile, facts, section
from noregret.app.report.run.certificate import contents
from noregret.base.numbers import brief, clean, count, figure, percent

if TYPE_CHECKING:
    from noregret.app.report.certificate.sheet import Sheet
    from noregret.proof.certificates.certificate import Certificate


def page(certificate: Certificate, name: str, verify: Sequence[str]) -> str:
    """Return the page.

    Parameters
    ----------
    certificate
        The certificate of what was served.
    name
        The name of the model.
    verify
        The commands that confirm the certificate.
    """
    sheet = sheet_of(certificate)
    heading = f"Model {name}: {sheet.learner}"
    sentence = (
        "Every prediction counts as it was served, before its label was known. The best in"
        " hindsight is the fixed predictor that one would have picked knowing all labels."
    )
    return document(
        heading,
        __version__,
        [
            header(heading, [sheet.verdict], sentence, tiles(certificate, sheet)),
            section("Certificate", *contents(certificate, sheet.verdict)),
            section("Details", facts(details(certificate, sheet))),
            section(
                "Check it",
                element("p", "Anyone with the labelled rows can confirm these figures:"),
                element("pre", element("code", Html("\n".join(map(safe, verify))))),
            ),
        ],
    )


def tiles(certificate: Certificate, sheet: Sheet) -> Iterable[Html]:
    """Yield the headline figures, familiar measures first."""
    rounds, paid, best = certificate.data.rounds, certificate.loss, certificate.hindsight
    yield tile("labels", figure(rounds), "learned, each after its prediction")
    if paid.mistakes is not None:
        yield tile("accuracy", percent(1 - paid.mistakes / rounds), "of the labels were predicted")
    if paid.name == "square":
        yield tile("RMSE", brief(math.sqrt(paid.mean)), "root of the mean squared error")
        words = "RMSE of the best fixed predictor in hindsight"
        yield tile("hindsight", brief(math.sqrt(max(0.0, best.loss) / rounds)), words)
    else:
        yield tile("mean loss", brief(paid.mean), f"{clean(paid.name)} loss")
        words = "mean loss of the best fixed predictor in hindsight"
        yield tile("hindsight", brief(best.loss / rounds), words)
    yield tile("regret", *regret(certificate))
    if certificate.theorem is not None:
        yield bound_tile(certificate.theorem, sheet.verdict.mood)


def details(certificate: Certificate, sheet: Sheet) -> Iterable[tuple[str, str]]:
    """Yield facts about the model and the rows."""
    yield "Learner", sheet.learner
    yield "Parameters", sheet.params or "none"
    yield "Preparation", ", ".join(map(clean, certificate.data.transforms)) or "none"
    for label, weight in sheet.weights:
        yield f"Weight of {label}", brief(weight)
    start = certificate.start
    if start is not None:
        digest = start.digest.partition(":")[2][:DIGITS]
        yield "Start", f"a model trained on {count(start.rounds, 'row')}; digest {digest}…"
