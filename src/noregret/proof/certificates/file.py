"""Certificate files: treated as untrusted, checked against the schema and against their seal."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noregret.base.json_schemas import fault_in, validator
from noregret.errors import CertificateError
from noregret.proof.certificates.certificate import (
    FORMAT,
    LINEAR,
    Best,
    Certificate,
    Interval,
    Paid,
    Played,
    Promise,
    Start,
    max_characters,
    seal,
)
from noregret.proof.record.parts_digest import Part
from noregret.proof.theorems.assumptions import Finding
from noregret.proof.theorems.registry import theorems_of

if TYPE_CHECKING:
    from noregret.proof.certificates.groups import Grouped
    from noregret.proof.theorems.theorem import Theorem

SCHEMA = "certificate.schema.json"
# Largest file in bytes; a certificate of a million features is smaller.
MAX_BYTES = 64 << 20
# Most values in a file, objects and lists, and values besides the witness.
MAX_VALUES = 1_100_000
MAX_CONTAINERS = 10_000
MAX_FIELDS = 20_000
TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def load_certificate(path: str | Path) -> Certificate:
    """Read a certificate from a file written by ``Certificate.save``.

    ``verify`` checks whether its figures follow from the data.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    CertificateError
        If the file is damaged, not a certificate, changed since it was issued, or from a newer
        version.

    Examples
    --------
    >>> import noregret, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "certificate.json"
    >>> game = noregret.play(noregret.WidrowHoff(rate=0.5), [({"size": 1.0}, 2.0)] * 20)
    >>> game.certificate().save(file)
    >>> noregret.load_certificate(file)
    <Certificate of widrow-hoff: 20 rounds, widrow-hoff>
    """
    contents = read_contents(path)
    try:
        return certificate_of(checked(contents))
    except CertificateError as error:
        error.at(file=path)
        raise


def read_contents(path: str | Path) -> Any:
    """Return the JSON of a file; raise CertificateError if it is not JSON."""
    with Path(path).open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    try:
        if len(raw) > MAX_BYTES:
            raise CertificateError("too large for a certificate")
        _check_counts(raw)
        return json.loads(
            raw.decode(),
            object_pairs_hook=_each_once,
            parse_float=_finite,
            parse_int=_whole,
            parse_constant=_finite,
        )
    except CertificateError as error:
        error.at(file=path)
        raise
    except UnicodeDecodeError as error:
        raise CertificateError(
            f"damaged: byte {error.start + 1} is not UTF-8 text", file=path
        ) from None
    except json.JSONDecodeError as error:
        what = "damaged" if b"{" in raw[:16] else "not a certificate, which is JSON"
        raise CertificateError(
            f"{what}: {error.msg}", file=path, line=error.lineno, column=error.colno
        ) from None
    except RecursionError:
        raise CertificateError("damaged: nested too deeply", file=path) from None


def _check_counts(raw: bytes) -> None:
    """Refuse JSON with more values than a certificate can have, before it is parsed."""
    bare = TEXT.sub(b"", raw)
    if bare.count(b",") > MAX_VALUES:
        raise CertificateError(f"too large for a certificate: more than {MAX_VALUES:,} values")
    if bare.count(b"[") + bare.count(b"{") > MAX_CONTAINERS:
        raise CertificateError(
            f"too large for a certificate: more than {MAX_CONTAINERS:,} objects and lists, or"
            " nested too deeply"
        )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name in times if times[name] > 1)
        raise CertificateError(f"{twice!r} is given twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise CertificateError(f"{text} is not a finite number")
    return number


def _whole(text: str) -> int:
    if len(text) > 20:  # more than a 64-bit integer holds
        raise CertificateError(f"{text[:20]}… is too large")
    return int(text)


def checked(contents: Any, *, sealed: bool = True) -> dict[str, Any]:
    """Return the contents of a certificate file; the error names the wrong field.

    With ``sealed``, they must match their seal too.
    """
    found = contents.get("format") if isinstance(contents, Mapping) else None
    if not isinstance(found, str) or not found.startswith("noregret.certificate/"):
        raise CertificateError("not a noregret certificate")
    if found != FORMAT:
        raise CertificateError(
            f"format {found!r}, this version reads {FORMAT!r}", "use a newer noregret"
        )
    _check_values(contents)
    try:
        fault = fault_in(_without_weights(contents), validator(SCHEMA), "the file")
        good = fault is not None or not sealed or is_sealed(contents)
    except (RecursionError, UnicodeEncodeError):  # nested too deeply, or an incomplete character
        raise CertificateError("nested too deeply, or contains invalid text") from None
    if fault is not None:
        raise CertificateError(fault)
    if not good:
        raise CertificateError(
            "the seal does not match: the contents have changed since the certificate was issued;"
            " ‘noregret verify’ shows which figures are still correct"
        )
    return dict(contents)


def _check_values(contents: Mapping[str, Any]) -> None:
    """Refuse fields with too many values, long strings, and numbers that JSON cannot hold.

    The weights of the witness are checked elsewhere.
    """
    todo, count = [("", contents)], 0
    while todo:
        path, value = todo.pop()
        if isinstance(value, str) and len(value) > max_characters(path, value):
            raise CertificateError(f"{path}: a string of {len(value):,} characters is too long")
        if isinstance(value, float) and not math.isfinite(value):
            raise CertificateError(f"{path}: {value} is not a finite number")
        if path == "hindsight.witness" or not isinstance(value, Mapping | list | tuple):
            continue
        count += len(value)
        if count > MAX_FIELDS:
            raise CertificateError(f"{path}: too many values")
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        todo += [(f"{path}.{key}" if path else str(key), child) for key, child in items]


def _without_weights(contents: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check the weights of the witness, and return the contents without them."""
    best = contents.get("hindsight")
    if not isinstance(best, Mapping) or not isinstance(best.get("witness"), Mapping):
        return contents
    witness = best["witness"]
    for name, weight in witness.items():
        if not isinstance(weight, int | float) or isinstance(weight, bool):
            raise CertificateError(f"hindsight.witness.{name}: {weight!r:.50} is not a number")
        if not math.isfinite(weight):
            raise CertificateError(f"hindsight.witness.{name}: {weight} is not a finite number")
    return {**contents, "hindsight": {**best, "witness": {}}}


def is_sealed(contents: Mapping[str, Any]) -> bool:
    """Return whether the contents of a file match their seal."""
    rest = {key: value for key, value in contents.items() if key != "seal"}
    return bool(contents["seal"] == seal(rest))


def certificate_of(contents: Mapping[str, Any]) -> Certificate:
    """Build a certificate from the checked contents of a file."""
    best, regret, theorem = (contents[part] for part in ("hindsight", "regret", "theorem"))
    name, family = contents["learner"]["name"], contents["learner"].get("family", LINEAR)
    known, data = theorems_of(name, family), contents["data"]
    parts = tuple(Part(**part) for part in data.get("parts", ()))
    start = contents["learner"].get("start")
    return Certificate(
        name,
        contents["learner"]["params"],
        Played(**{**data, "transforms": tuple(data["transforms"]), "parts": parts}),
        Paid(**contents["loss"]),
        Best(
            best["class"],
            best["loss"],
            math.inf if best["gap"] is None else best["gap"],
            best["witness"],
            best["exact"],
            best.get("tolerance"),
            best.get("seconds"),
        ),
        Interval(regret["lower"], math.inf if regret["upper"] is None else regret["upper"]),
        None if theorem is None else promise_of(theorem, known),
        contents.get("given", {}),
        contents["learner"].get("averaged", False),
        family,
        tuple(promise_of(each, known) for each in contents.get("further", ())),
        grouped_of(contents),
        contents["learner"].get("shards", 0),
        None if start is None else Start(**start),
    )


def grouped_of(contents: Mapping[str, Any]) -> Grouped | None:
    """Return the figures about groups, if a certificate has any."""
    if "groups" not in contents:
        return None
    from noregret.proof.certificates.groups import Grouped

    return Grouped.from_dict(contents["groups"])


def promise_of(contents: Mapping[str, Any], known: Mapping[str, Theorem]) -> Promise:
    """Return a promise from its part of a file."""
    findings = tuple(Finding(**found) for found in contents["assumptions"])
    theorem = known.get(contents["name"])
    wording = None if theorem is None else theorem.wording
    return Promise(**{**contents, "assumptions": findings, "wording": wording})
