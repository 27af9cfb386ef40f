"""The report of a served model: one self-contained HTML page about its certificate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret._version import __version__
from noregret.app.report.certificate.sheet import DIGITS, regret, sheet_of
from noregret.app.report.helped import Plain, beneath, helped, ratio, unknown
from noregret.app.report.page.document import document, header, tile
from noregret.app.report.page.markup import Html, element, safe
from noregret.app.report.page.sections import bound_tile, facts, section
from noregret.app.report.run.certificate import contents
from noregret.app.report.run.words import error_against
from noregret.base.numbers import brief, clean, count, figure, percent

if TYPE_CHECKING:
    from noregret.app.report.certificate.sheet import Sheet
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.proof.certificates.certificate import Certificate


def helped_by(certificate: Certificate, told: Iterable[tuple[Any, float]]) -> Verdict | None:
    """Return whether what was served is better than predictions that take no learning.

    Parameters
    ----------
    certificate
        The certificate of what was served.
    told
        The label and the loss of each prediction, in the order of learning.
    """
    pairs = list(islice(told, certificate.data.rounds))
    if len(pairs) < 2:
        return unknown("There is one label only, and none before it to learn from.")
    labels = [label for label, _ in pairs]
    if len(set(labels)) == 1:
        return unknown("All labels are the same.")
    if certificate.loss.mistakes is not None:
        wrong = certificate.loss.mistakes / certificate.data.rounds
        return helped(against_classes(labels, wrong), len(labels))
    if certificate.loss.name == "square":
        return helped(against_numbers(labels, [loss for _, loss in pairs]), len(labels))
    return unknown(f"No plain alternative is known for the {clean(certificate.loss.name)} loss.")


def against_classes(labels: Sequence[Any], wrong: float) -> Iterator[Plain]:
    """Yield the comparisons of a share of wrong labels with plain predictions."""
    frequent = Counter(labels).most_common(1)[0][1] / len(labels)
    repeated = sum(a == b for a, b in pairwise(labels)) / (len(labels) - 1)
    for right, what in ((frequent, "with the most frequent"), (repeated, "by repeating the last")):
        words = f"{percent(1 - wrong)} of the labels right, {percent(right)} {what} one"
        yield Plain(ratio(wrong, 1 - right), words)


def against_numbers(labels: Sequence[float], losses: Sequence[float]) -> Iterator[Plain]:
    """Yield the comparisons of squared errors with plain predictions."""
    y, own = np.asarray(labels, dtype=np.float64), np.asarray(losses)
    with np.errstate(over="ignore", invalid="ignore"):
        pairs = [
            (own, (y - y.mean()) ** 2, "the best constant"),
            (own[1:], np.diff(y) ** 2, "repeating the previous value"),
        ]
        for mine, other, what in pairs:
            errors = math.sqrt(mine.mean()), math.sqrt(other.mean())
            words = error_against(*errors, what)
            words = words or f"RMSE {brief(errors[0])}, against {brief(errors[1])} with {what}"
            yield Plain(ratio(*errors), words)


def page(certificate: Certificate, name: str, verify: Sequence[str], lead: Verdict | None) -> str:
    """Return the page.

    Parameters
    ----------
    certificate
        The certificate of what was served.
    name
        The name of the model.
    verify
        The commands that confirm the certificate.
    lead
        Whether what was served is better than predictions that take no learning.
    """
    sheet = sheet_of(certificate)
    said = beneath(lead, sheet.verdict)
    heading = f"Model {name}: {sheet.learner}"
    sentence = (
        "Every prediction counts as it was served, before its label was known. The best in"
        " hindsight is the fixed predictor that one would have picked knowing all labels."
    )
    if lead is not None:
        sentence = f"{lead.words} {sentence}"
    return document(
        heading,
        __version__,
        [
            header(heading, [lead, said], sentence, tiles(certificate, sheet, said)),
            section("Certificate", *contents(certificate, said)),
            section("Details", facts(details(certificate, sheet))),
            section(
                "Check it",
                element("p", "Anyone with the labelled rows can confirm these figures:"),
                element("pre", element("code", Html("\n".join(map(safe, verify))))),
            ),
        ],
    )


def tiles(certificate: Certificate, sheet: Sheet, said: Verdict) -> Iterable[Html]:
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
        yield bound_tile(certificate.theorem, said.mood)


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
