"""The result of an echo cancellation as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noregret.proof.certificates.certificate import number

if TYPE_CHECKING:
    from noregret.echo.result import EchoResult, Reduction
    from noregret.proof.certificates.certificate import Certificate


def decibels(found: Reduction | None) -> dict[str, float | None] | None:
    """Return an echo reduction as a dictionary."""
    return None if found is None else found._asdict()


def without_filter(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate without the thousands of taps of the best filter."""
    made = certificate.to_dict()
    del made["hindsight"]["witness"], made["seal"]
    return made


def as_dict(result: EchoResult) -> dict[str, Any]:
    """Return the result as a dictionary for JSON."""
    known, certificate = result.known, result.certificate
    found: dict[str, Any] = {
        "far": result.far.path,
        "mic": result.mic.path,
        "rate": result.rate,
        "seconds": result.seconds,
        "tail": result.tail,
        "block": result.block,
        "suppress": result.suppress,
        "suppressor": result.suppressor if result.suppress else None,
        "denoise": result.denoise,
        "delay": result.delay,
        "erle": {"linear": decibels(result.erle(linear=True)), "output": decibels(result.erle())},
        "speed": result.speed,
        "notes": list(result.notes),
        "certificate": None if certificate is None else without_filter(certificate),
        "outputs": result.outputs,
    }
    if known is not None:
        found["near"] = {
            "sdr_before": number(known.before),
            "sdr_after": number(known.after),
            "change": number(known.near_change),
        }
    return found
