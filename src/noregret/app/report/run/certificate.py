"""The certificate on the page: verdict, figures, assumptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from noregret.app.report.certificate.sheet import Assumed, sheet_of
from noregret.app.report.page.markup import Html, element
from noregret.app.report.page.sections import section
from noregret.base.numbers import percent

if TYPE_CHECKING:
    from noregret.app.report.certificate.verdict import Verdict
    from noregret.app.results.run import Result
    from noregret.proof.certificates.certificate import Certificate


def certificate_section(result: Result, said: Verdict) -> Html:
    """Return the section on the certificate and its verdict, or why there is none."""
    certificate = result.certificate
    if certificate is None:
        return section("Certificate", element("p", said.words, class_="aside"))
    return section("Certificate", *contents(certificate, said))


def contents(certificate: Certificate, said: Verdict) -> Iterable[str]:
    """Yield what a certificate says, after the verdict on it."""
    sheet = sheet_of(certificate)
    rows = [
        element(
            "tr",
            element("th", fact.label, scope="row"),
            element("td", fact.figure, class_="number"),
            element("td", fact.words),
        )
        for fact in sheet.facts
    ]
    yield promise_block(said)
    yield element("table", element("tbody", *rows), class_="sheet")
    yield assumptions(sheet.assumptions)
    for more in sheet.further:
        yield promise_block(more.verdict)
        yield assumptions(more.assumptions)
    yield digest(certificate)


def promise_block(said: Verdict) -> Html:
    """Return the verdict and the theorem."""
    meter = ""
    if said.share is not None:
        full = 100 * min(1.0, max(0.0, said.share))
        inner = element("div", style=f"width:{full:.2f}%")
        meter = element(
            "div",
            inner,
            class_="meter",
            role="img",
            aria_label=f"{percent(max(0.0, said.share))} of the bound",
        )
    theorem = f"Theorem {said.theorem}" + (f": {said.promise}" if said.promise else "")
    return element(
        "div",
        element("p", element("b", said.headline.capitalize()), class_="headline"),
        meter,
        element("p", said.words),
        element("p", theorem, class_="theorem") if said.theorem else "",
        class_=f"promise {said.mood}",
    )


def assumptions(found: list[Assumed]) -> str:
    """Return the assumptions of the theorem with their measured values."""
    if not found:
        return ""
    names = (("Assumption", ""), ("measured", "number"), ("limit", "number"), ("", ""))
    head = element(
        "tr", *(element("th", name, scope="col", class_=kind or None) for name, kind in names)
    )
    marks = {True: "held", False: "failed", None: "trust"}
    rows = [
        element(
            "tr",
            element("th", one.name, scope="row"),
            element("td", one.measured, class_="number"),
            element("td", one.limit, class_="number"),
            element("td", one.held, class_=marks[one.good]),
        )
        for one in found
    ]
    return element("table", element("thead", head), element("tbody", *rows), class_="assumptions")


def digest(certificate: Certificate) -> Html:
    """Return the digest of the data."""
    return element(
        "p", "Digest of the data ", element("code", certificate.data.digest), class_="digest"
    )
